"""What a bound rests on: the classes of a space, which of their paths have a latency, and runs."""

import _lpn

from ..errors import RunError
from ..spaces.partition import OUTCOMES, partition
from .answer import PARTITION, bug
from .goals import Goals
from .replay import Replays

__all__ = ["Basis"]


class Basis(Replays):
    """A space sorted into classes, for questions about its inputs and for those who check the
    answers.

    `term`, `denominator`: of the performance interface, None and 1 when there is none. What is
    known of the classes is written into `answer`. `undecided`: it is not known whether some input
    stalls or fails. `goals`: see there. Raises Error "E-space" when the space has no input.
    """

    def __init__(self, space, answer, term, denominator, seed, seconds, say):
        super().__init__(space, term, denominator)
        self._compared = None, None  # the run last compared with its path, and that
        self.parts = parts = partition(
            space.net,
            space,
            seconds=seconds,
            **{**PARTITION, "seed": seed},
            progress=lambda paths, open: say(f"{paths} paths, {open} begun"),
        )
        answer.classes = len(parts.classes)
        answer.paths = sum(len(c.paths) for c in parts.classes)
        answer.complete, answer.why = parts.complete, parts.why
        answer.unresolved, answer.interrupted = parts.unresolved, parts.interrupted
        if parts.complete and not parts.classes:
            raise self.no_input()
        self.undecided = False
        ending = self._sort(answer)
        self.goals = Goals(space.net, parts.core, ending, term)

    def evidence(self, seed):
        """What a certificate says about how the claim was proved."""
        return {"partition": {**PARTITION, "seed": seed}}

    def _sort(self, answer):
        """The paths that end, as [(class, path)]; about the others notes what there is to say."""
        ending, silent = [], 0
        for each in self.parts.classes:
            for path in each.paths:
                if path.outcome in ("latency", "none"):
                    silent += path.outcome == "none"
                    ending.append((each, path))
                elif path.samples:
                    if answer.stalled is None:
                        answer.stalled = self._stall(path)
                else:
                    self.undecided = True
                    answer.notes.append(
                        f"it is not known whether any input {OUTCOMES[path.outcome]} this way: "
                        f"{path.trouble}"
                    )
        if silent and silent == answer.paths:
            answer.silent = True
            answer.notes.append(
                "no input produces a done token, so none has a latency; give the space more "
                "tokens, "
                "or mark a place with done=True"
            )
        elif silent:
            answer.notes.append(
                "inputs that produce no done token have no latency and do not count in it"
            )
        return ending

    def _stall(self, path):
        """A path without end, its first sample run."""
        sample, why = path.samples[0], path.trouble
        try:
            run = self.run(sample)
            seen = "stalled" if run.stalled else "ended"
        except RunError as error:
            seen, why = "error", str(error)
        if seen != path.outcome:
            raise bug(f"an input is said to be '{path.outcome}', but run it is '{seen}'", sample)
        return {"outcome": path.outcome, "witness": sample, "why": why}

    def measured(self, run, atom, witness):
        if atom[0] != "stall":
            return super().measured(run, atom, witness)
        if run is not self._compared[0]:
            self._compared = run, self._same_times(run, witness)
        number, place = self.space.net._transitions[atom[1]], self.space.net[atom[2]]._number
        return self._compared[1].stall_of(number, place, self.space._ordered(witness))

    def _same_times(self, run, witness):
        """A witness's path, whose instants have been compared with every firing of its run.

        How long a transition waited for a place is no event of a run, but follows from the events
        (Measures::stall_of).
        """
        path = self.parts.path_of(witness)
        if path is None:
            raise bug("an input found is in no class", witness)
        measured = _lpn.MeasuredPath(self.parts.core, self.space.net._core, path._core)

        known = measured.times(self.space._ordered(witness))
        said = {
            (f.transition, f.number): (known[f.start], known[f.commit]) for f in path._core.firings
        }
        if said != {(c.transition, c.firing): (c.start, c.time) for c in run.trace}:
            raise bug("the firings of an input are not when its class says", witness)
        return measured
