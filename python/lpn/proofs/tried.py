"""Bounds by trying: every input of a small space is run, where sorting the inputs into classes is
refused or does not end.
"""

import os
import time

import _lpn

from ..errors import RunError, mistake
from ..runs.engines import library_of
from .answer import PARTITION, bug
from .replay import Replays

__all__ = ["MOST_INPUTS", "WORTH_COMPILING", "Tried", "estimate", "possible"]

MOST_INPUTS = 10_000_000  # assignments of the variables; more are not tried
_SAMPLE = 8  # assignments run in each of as many places to see how long one takes
WORTH_COMPILING = 3.0  # seconds of interpreting


def possible(space, forms, most=MOST_INPUTS):
    """How many assignments there are to try for the linear forms; None when it is no way: there are
    more than `most`, or a form has what a run does not tell.
    """
    if any(atom and atom[0] == "stall" for form in forms for atom in form):
        return None
    return space.core.assignments(most)


def estimate(space, forms, total, term):
    """Seconds to interpret all inputs, from a few of them, on all processors."""
    spots = max(1, min(_SAMPLE, total // _SAMPLE))
    began = time.monotonic()
    looked = 0
    for k in range(spots):
        found, interrupted = _lpn.every_input(
            space.net._core,
            space.core,
            [_plain(form, space.net, term) for form in forms],
            threads=1,
            first=k * (total // spots),
            most=_SAMPLE,
            max_commits=PARTITION["max_firings"],
        )
        if interrupted:
            raise KeyboardInterrupt
        looked += found["assignments"]
        if time.monotonic() - began > 1:
            break
    each = (time.monotonic() - began) / max(looked, 1)
    return each * total / (os.cpu_count() or 1)


class Tried(Replays):
    """What all inputs of a space say about linear forms, by running them.

    Fills `answer` as a Basis does. `compile`: whether runs are compiled, where that can be done; the
    interpreter gives the same values. `seconds`: a limit, 0 for none. `undecided`: it is not known
    of all inputs how they end.
    """

    def __init__(self, space, answer, term, denominator, forms, seconds, say, compile=False):
        super().__init__(space, term, denominator)
        self.forms = [self.rescaled(form)[0] for form in forms]
        total = possible(space, self.forms)
        end = time.monotonic() + seconds if seconds else None
        library = None
        if compile:
            say("compiling the net, to run every input")
            library, _ = library_of(space.net, "compiled")

        def progress(looked):
            say(f"{looked} of {total} inputs run, {100 * looked // total} %")
            return end is not None and time.monotonic() > end

        found, interrupted = _lpn.every_input(
            space.net._core,
            space.core,
            [_plain(form, space.net, term) for form in self.forms],
            library=library,
            max_commits=PARTITION["max_firings"],
            progress=progress,
        )
        self.inputs = found["inputs"]
        self.found = dict(zip(map(_key, self.forms), found["largest"]))
        self.undecided = False
        self._tell(answer, found, interrupted, total)

    def _tell(self, answer, found, interrupted, total):
        answer.inputs, answer.classes, answer.paths = found["inputs"], 0, 0
        answer.interrupted |= interrupted
        answer.complete, answer.why = found["complete"], None
        if found["complete"] and not found["inputs"]:
            raise self.no_input()
        if not found["complete"]:
            answer.why = f"{found['assignments']} of {total} inputs were run"
        if found["endless"] is not None:
            self.undecided = True
            answer.complete = False
            answer.why = (
                f"a run of {self._named(found['endless'])} is not over after "
                f"{PARTITION['max_firings']} firings, or 1 GiB of tokens"
            )
        troubled = [each for each in (found["stalled"], found["failed"]) if each is not None]
        if troubled:
            answer.stalled = self._trouble(min(troubled))
        if found["silent"] and found["silent"] == found["inputs"]:
            answer.silent = True
        if found["silent"]:
            answer.notes.append(
                f"{found['silent']} inputs produce no done token; they have no latency and do not "
                "count in it"
            )

    def _named(self, input):
        return self.space.assignment(input)

    def _trouble(self, input):
        """What an input without an end does, run again by itself."""
        witness = self._named(input)
        try:
            run = self.run(witness)
        except RunError as error:
            return {"outcome": "error", "witness": witness, "why": str(error)}
        if not run.stalled:
            raise bug("an input is said to stall, but run by itself it ends", witness)
        waits = ", ".join(
            f"'{transition}': {reason}" + (f" ({what})" if what else "")
            for transition, reason, what in run.blocked
        )
        why = f"left in {', '.join(run.undrained)}" + (f"; {waits}" if waits else "")
        return {"outcome": "stalled", "witness": witness, "why": why}

    def evidence(self, seed):
        """What a certificate says about how the claim was proved."""
        return {"tried": {"inputs": self.inputs}}

    def largest(self, form):
        """(value, witness) of a form over all inputs run; (None, None) when none has a value."""
        best = self.found[_key(form)]
        return (None, None) if best is None else (best[0], self._named(best[1]))


def _key(form):
    return frozenset(form.items())


def _plain(form, net, term):
    """A form as _lpn.every_input reads it. Raises "E-property" for factors beyond 64 bits."""
    out = []
    for atom, c in form.items():
        if not -(2**63) <= c < 2**63:
            raise mistake("E-property", f"the factor {c} does not fit in 64 bits; use smaller ones")
        kind, index = atom[0] if atom else "one", 0
        if kind == "E":
            kind, index = "term", term
        elif kind == "completion":
            index = atom[1]
        elif kind in ("busy", "commits"):
            index = net._transitions[atom[1]]
        elif kind in ("response", "backlog"):
            index = net[atom[1]]._number
        out.append(((kind, index), c))
    return out
