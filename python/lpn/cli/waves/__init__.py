"""The commands that read recorded waveforms: lpn wave and lpn fit."""
