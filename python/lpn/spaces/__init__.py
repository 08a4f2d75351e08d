"""All inputs of a net at once: input spaces (space.InputSpace) and their classes
(partition.partition).

A space is made of variables and tokens (`token`) whose properties are terms over the variables
(`terms`); `nodes` has terms as data, `document` a whole space, `text` prints both. `shared` hands
the work to processes and clusters.
"""
