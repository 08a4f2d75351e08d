"""Recorded waveforms: read (files, recording), which signals are channels (signals, maps, propose),
why channels waited (stalls), where two recordings, or a recording and a model, part (between, model).
"""
