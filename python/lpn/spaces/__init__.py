"""All inputs of a net at once: input spaces (space.InputSpace) and their classes
(partition.partition).

`text` prints their terms, `shared` hands the work to processes and clusters.
"""
