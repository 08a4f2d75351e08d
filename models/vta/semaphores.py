"""What the semaphores between two units say about every run of a program."""

import numpy

# core/Semaphore.scala: eight bits; a post at 255 is lost.
MOST = 255


class Pair:
    """Two units and the semaphores between them: of each unit, per instruction in its order,
    whether it posts (push) and takes (pop). The k-th take matches the k-th post.
    """

    def __init__(self, one, other):
        self.one, self.other = one, other

    def before(self):
        """Per instruction of `one`: so many of `other` are surely done when it starts."""
        posts = numpy.flatnonzero(self.other["push"])
        taken = numpy.cumsum(self.one["pop"])
        ends = numpy.append(0, posts + 1)
        return ends[numpy.minimum(taken, len(posts))]

    def until(self):
        """Per instruction of `one`: the first of `other` that surely starts after its end."""
        takes = numpy.flatnonzero(self.other["pop"])
        posted = numpy.cumsum(self.one["push"]) - self.one["push"]
        starts = numpy.append(takes, len(self.other["pop"]))
        return starts[numpy.minimum(posted, len(takes))]

    def most(self):
        """At most so many posts of `one` wait at any time."""
        if numpy.count_nonzero(self.one["push"]) <= MOST:
            return 0
        posted = numpy.cumsum(self.one["push"])
        taken = numpy.append(0, numpy.cumsum(self.other["pop"]))
        return int((posted - taken[self.before()]).max())


def check(units):
    """Refuses programs in which a semaphore could be posted at 255, where it forgets.

    `units`: name -> unit -> {"push", "pop"} towards the other, as "load": {"compute": ...}.
    """
    for one, others in units.items():
        for other, flags in others.items():
            most = Pair(flags, units[other][one]).most()
            if most > MOST:
                raise ValueError(
                    f"up to {most} posts of the {one} unit may wait for the {other} unit; the "
                    f"semaphore holds {MOST} and forgets the rest"
                )
