"""Input classes: the inputs of a space sorted by what happens, as Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import _lpn

from ..authoring.net import Net
from ..errors import mistake, placed
from . import shared
from .space import InputSpace
from .text import Writer

__all__ = ["InputClass", "Partition", "Path", "partition"]

OUTCOMES = {
    "latency": "ends",
    "none": "ends without a done token",
    "stalled": "stalls",
    "error": "fails",
}
_MOST_PATHS = 8  # whose constraints a class's text spells out


class Path:
    """Inputs for which the same firings happen with the same tokens, in the same order where it
    matters.

    `outcome`: "latency" (it ends, with one), "none" (no done token), "stalled" or "error";
    `trouble` says why in the latter two. `samples`: inputs of the path, [{variable: int}]; none may
    have been found. `firings`: how many.
    """

    def __init__(self, owner, core):
        self._owner = owner
        self._core = core
        self.outcome = core.outcome
        self.trouble = core.trouble or None
        names = owner._names
        self.samples = [dict(zip(names, values)) for values in core.samples]
        self._firings = None

    @property
    def firings(self):
        if self._firings is None:
            self._firings = self._core.firings
        return len(self._firings)

    @property
    def constraints(self):
        """What distinguishes the path from others, in words; all hold. None: the whole space."""
        writer = self._owner._writer
        found = writer.all(self._core.conditions)
        if self._core.fault is not None:
            found.append(f"{writer.write(self._core.fault)} has no value")
        for before, after, strict in self._core.orders:
            found.append(
                f"{self._instant(before)} {'<' if strict else '<='} {self._instant(after)}"
            )
        return found

    def contains(self, values):
        """Whether an input of the space follows this path."""
        return self._owner.core.follows(self._core, self._owner.space._ordered(values))

    def latency(self, values):
        """Cycles, for an input of the path. Raises Error "E-space" for another one."""
        if self.outcome != "latency" or not self.contains(values):
            raise mistake(
                "E-space",
                "this input does not end with a latency on this path; ask "
                "partition.path_of(values)",
            )
        return self._owner.core.times(self._core, self._owner.space._ordered(values))[
            self._core.latency
        ]

    def _instant(self, instant):
        """'the end of huffman 3' for an instant of the path."""
        if instant == 0:
            return "0"
        self.firings
        names = self._owner._transitions
        for what in ("commit", "start"):
            for firing in self._firings:
                if getattr(firing, what) == instant:
                    when = "end" if what == "commit" else "start"
                    return f"{when} of {names[firing.transition]}[{firing.number}]"
        return f"instant {instant}"

    def __repr__(self):
        return f"<path of {self.firings} firings: {self.outcome}>"


class InputClass:
    """Inputs for which every transition commits equally often, and every firing takes and puts as
    many tokens: the union of its paths.

    `outcome`: as of Path. `commits`: {transition: how often}. `paths`: [Path], disjoint.
    """

    def __init__(self, owner, core):
        self._owner = owner
        self.outcome = core.outcome
        self.commits = dict(zip(owner._transitions, core.commits))
        self.paths = [Path(owner, path) for path in core.paths]

    @property
    def firings(self):
        """Commits of all transitions together."""
        return sum(self.commits.values())

    @property
    def sample(self):
        """An input of the class, {variable: int}; None when none was found."""
        return next((path.samples[0] for path in self.paths if path.samples), None)

    @property
    def trouble(self):
        """Why inputs of the class stall or fail, in words; None when they do not."""
        return next((path.trouble for path in self.paths if path.trouble), None)

    @property
    def constraints(self):
        """What distinguishes the class from others, in words; all hold. None: the whole space."""
        if len(self.paths) == 1:
            return self.paths[0].constraints
        joined = [" and ".join(path.constraints) or "true" for path in self.paths[:_MOST_PATHS]]
        more = len(self.paths) - _MOST_PATHS
        return [
            " or ".join(
                [
                    *(f"({text})" for text in joined),
                    *([f"... ({more} more paths)"] if more > 0 else []),
                ]
            )
        ]

    def marking(self):
        """The sample as lpn.Marking. Raises Error "E-space" when there is none."""
        if self.sample is None:
            raise mistake("E-space", "no input of this class was found")
        return self._owner.space.marking(self.sample)

    def contains(self, values):
        """Whether an input of the space is in the class."""
        return any(path.contains(values) for path in self.paths)

    def __repr__(self):
        return f"<input class: {self.outcome}, {self.firings} firings, {len(self.paths)} paths>"


class Partition:
    """The classes of an input space: `classes`, [InputClass], disjoint.

    `complete`: every input of the space is in one; if not, `why` says which limit was reached.
    `unresolved`: paths of which it is not known whether they have inputs. `interrupted`: Ctrl-C
    ended the work.
    """

    def __init__(self, space, core, interrupted, why):
        self.space = space
        self.core = core
        self.complete = core.complete
        self.why = why
        self.unresolved = core.unresolved
        self.interrupted = interrupted
        self._names = [v.name for v in space.variables]
        self._writer = Writer(core.variables, self._names)
        self._transitions = space.net.transitions
        self.classes = [InputClass(self, each) for each in core.classes]

    def path_of(self, values):
        """The path of an input of the space; None when it is in none, as may be when incomplete."""
        return next((p for c in self.classes for p in c.paths if p.contains(values)), None)

    def class_of(self, values):
        """The class of an input of the space; None when it is in none, as may be when
        incomplete.
        """
        return next((c for c in self.classes if c.contains(values)), None)

    def __repr__(self):
        return (
            f"<partition of {self.space!r}: {len(self.classes)} classes, "
            f"{'complete' if self.complete else 'incomplete'}>"
        )


def partition(
    net: Net,
    space: InputSpace,
    *,
    max_paths: int = 10_000,
    max_firings: int = 200_000,
    seconds: float | None = None,
    question_seconds: float = 2,
    enumerate: int = 4096,
    seed: int = 1,
    samples: Iterable[Mapping[str, int]] = (),
    progress: Callable[[int, int], object] | None = None,
    jobs: int | None = 1,
    scheduler: str | None = None,
) -> Partition:
    """The input classes of a space, by symbolic execution of the net; a Partition.

    `max_paths`, `max_firings` (of one path) and `seconds` limit the work; what was found by then is
    the result, which is then not complete. `question_seconds`: the most that one question to the
    solver may take. `enumerate`: up to so many assignments are tried one by one instead. `seed`: of
    the inputs that are tried; `samples`: inputs to be tried too. `progress(paths, open)` is called
    a few times per second; a true result ends the work, and so does Ctrl-C. `jobs`: processes that
    share the paths out once there are enough; `scheduler`: the address of a Dask cluster that does.
    Raises Error "E-partition" for a net that cannot be executed symbolically, saying why, and
    "E-scheduler" when the cluster cannot be used.
    """
    if not isinstance(net, Net) or not isinstance(space, InputSpace):
        raise mistake(
            "E-operand", f"partition needs a net and an input space, got {net!r} and {space!r}"
        )
    if space.net is not net:
        raise mistake(
            "E-foreign", f"the input space is of net '{space.net.name}', not of the net given"
        )
    net.done()
    try:
        core, interrupted, why = shared.partition(
            net,
            space,
            jobs,
            scheduler,
            progress,
            {
                "max_paths": max_paths,
                "max_firings": max_firings,
                "seconds": seconds or 0,
                "question_seconds": question_seconds,
                "enumerate": enumerate,
                "seed": seed,
            },
            [space._ordered(values) for values in samples],
        )
    except _lpn.Error as error:
        raise placed(error) from None
    return Partition(space, core, interrupted, why)
