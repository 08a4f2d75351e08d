"""An arbiter that classes do not cover, for the suites of proofs."""

import lpn
from lpn.lib import _arbiters

__all__ = ["by_free_counts"]


def by_free_counts(net, *args, **options):
    """A round robin whose guards read free counts, as lpn.lib has it for more than 8 inputs."""
    most, _arbiters.MOST_BY_TURNS = _arbiters.MOST_BY_TURNS, 0
    try:
        return lpn.lib.round_robin(net, *args, **options)
    finally:
        _arbiters.MOST_BY_TURNS = most
