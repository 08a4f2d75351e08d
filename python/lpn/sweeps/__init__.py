"""One model for many parameter values and inputs: sweep.sweep, and the parts that the command `lpn
sweep` uses.

`definition` says what the rows are, `queue` hands them out, `points` runs them, `files` keeps them.
"""
