"""Hardware idioms as functions over a net: each only calls net.place and net.transition.

Read them as documentation of the idiom; copy and change them when yours differs. `name` prefixes
every place and transition that a function adds. Where an argument is a delay, it may be a function
of the arc `t`, the token that passes.
"""

from ._arbiters import priority, round_robin
from ._forks import fork, join
from ._queues import credit, fifo, pipeline

__all__ = ["credit", "fifo", "fork", "join", "pipeline", "priority", "round_robin"]
