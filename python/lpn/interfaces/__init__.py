"""Performance interfaces of models: extracted from a net, written as Python, used and compared.

Import extract.extract to make one, input.load_interface to use one, compare.compare for two.
"""
