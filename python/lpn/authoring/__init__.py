"""Nets as authors write them, and the tokens put into them: Net, Place, Token, Marking and the
functions of formulas.

Authors take these names from `lpn`; the rest of the package imports from the modules here.
"""
