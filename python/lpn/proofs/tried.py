"""Bounds by trying: every input of a small space is run, where sorting the inputs into classes is
refused or does not end.
"""

import os
import time

import _lpn

from ..errors import Error, RunError, mistake
from ..runs.background import PATIENCE, background_of
from .answer import PARTITION, bug
from .property import text_of
from .replay import Replays

__all__ = [
    "MOST_INPUTS",
    "WORTH_COMPILING",
    "Tried",
    "absent",
    "estimate",
    "lacked",
    "possible",
]

MOST_INPUTS = 10_000_000  # assignments of the variables; more are not tried
_SAMPLE = 8  # assignments run in each of as many places to see how long one takes
WORTH_COMPILING = 3.0  # seconds of interpreting
_WATCHED = ("completion", "commits", "busy", "response", "backlog")
_CHUNK = 256  # assignments run at a time, at first; then as many as take about so many seconds
_CHUNK_SECONDS = 0.5


def possible(space, forms, most=MOST_INPUTS):
    """How many assignments there are to try for the linear forms; None when it is no way: there are
    more than `most`, or a form has what a run does not tell.
    """
    if any(atom and atom[0] == "stall" for form in forms for atom in form):
        return None
    return space.core.assignments(most)


def lacked(form):
    """What of a form an input that ends may not have, beside a latency, in words."""
    atoms = [atom for atom in form if atom and atom[0] in ("completion", "response")]
    return " or ".join(map(text_of, atoms))


def absent(names):
    return mistake("E-property", f"no input of the space has {names}; ask for what some have")


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
        found, interrupted = self._run(total, seconds, say, compile)
        self.inputs = found["inputs"]
        self.found = dict(zip(map(_key, self.forms), found["largest"]))
        self.undecided = False
        self._tell(answer, found, interrupted, total)

    def _run(self, total, seconds, say, compile):
        """(what all inputs say, whether Ctrl-C came): some at a time, interpreted until the net is
        compiled, which a limit of time must not wait for.
        """
        end = time.monotonic() + seconds if seconds else None
        plain = [_plain(form, self.space.net, self.term) for form in self.forms]
        if any(atom and atom[0] in _WATCHED for form in self.forms for atom in form):
            compile = False  # only the interpreter tells
        compiling = background_of(self.space.net, False, False) if compile else None
        found = _Found(len(plain))
        chunk = _CHUNK

        def progress(looked):
            looked += found["assignments"]
            say(f"{looked} of {total} inputs run, {100 * looked // total} %")
            return end is not None and time.monotonic() > end

        try:
            while True:
                there = compiling is not None and compiling.there(PATIENCE + 1)
                began = time.monotonic()
                each, interrupted = _lpn.every_input(
                    self.space.net._core,
                    self.space.core,
                    plain,
                    library=compiling.libraries[0] if there else None,
                    first=found["assignments"],
                    most=min(chunk, total - found["assignments"]),
                    max_commits=PARTITION["max_firings"],
                    progress=progress,
                )
                found.add(each)
                if interrupted or not each["complete"] or found["assignments"] >= total:
                    return found, interrupted
                if end is not None and time.monotonic() > end:  # a short chunk asks nobody
                    found["complete"] = False
                    return found, False
                if time.monotonic() - began < _CHUNK_SECONDS:
                    chunk *= 2
                elif time.monotonic() - began > 4 * _CHUNK_SECONDS and chunk > _CHUNK:
                    chunk //= 2
        finally:
            if compiling is not None:
                compiling.close()

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
        for form, best, without in zip(self.forms, found["largest"], found["without"]):
            names = lacked(form)
            if not without or not names:
                continue
            if best is None and answer.complete and not troubled:
                raise absent(names)
            answer.notes.append(
                f"{without} inputs have no {names}; they do not count in it"
                if without > 1
                else f"1 input has no {names}; it does not count in it"
            )
        if found["silent"]:
            answer.notes.append(
                f"{found['silent']} inputs produce no done token; they have no latency and do not "
                "count in it"
                if found["silent"] > 1
                else "1 input produces no done token; it has no latency and does not count in it"
            )

    def _named(self, input):
        return self.space.assignment(input)

    def _trouble(self, input):
        """What an input without an end does, run again by itself."""
        witness = self._named(input)
        try:
            run = self.run(witness)
            for atom in {atom for form in self.forms for atom in form if atom[:1] == ("response",)}:
                self.response(witness, atom[1])  # fails where a request is done before it is born
        except (Error, RunError) as error:
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


class _Found(dict):
    """What _lpn.every_input says of several parts of a space, in their order."""

    def __init__(self, forms):
        super().__init__(assignments=0, inputs=0, silent=0, complete=True, largest=[None] * forms)
        self["without"] = [0] * forms
        self.update(stalled=None, failed=None, endless=None)

    def add(self, part):
        for name in ("assignments", "inputs", "silent"):
            self[name] += part[name]
        self["complete"] = part["complete"]
        for name in ("stalled", "failed", "endless"):
            if self[name] is None:
                self[name] = part[name]
        self["without"] = [a + b for a, b in zip(self["without"], part["without"])]
        for k, best in enumerate(part["largest"]):
            if best is not None and (self["largest"][k] is None or best[0] > self["largest"][k][0]):
                self["largest"][k] = best


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
