"""Bounds and properties of all inputs of a space: questions, their answers, certificates and those
who check them.

Commands and notebooks import maximize, minimize, prove and check from `question` and `certificate`.
"""
