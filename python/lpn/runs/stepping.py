"""A run that one goes through an instant at a time: what happened, what waits, and back again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _lpn

from ..errors import listed, near, without_place
from .condition import Condition
from .engines import start
from .ready import Ready
from .result import waiting
from .run import named_blocked

__all__ = ["ENDS", "Stepping"]

# What go() answers when the run goes no further.
ENDS = ("quiet", "done")


class Stepping:
    """A run by the interpreter, an instant after the other.

    An instant is a time at which something happens, and all that happens then. `now`: its time, -1
    before the first. `instants`: how many have been. `events`: of the last one, each a dict of
    `cycle`, `event` ("start", "commit" or "arrival"), the `transition` with the number of its
    `firing` and when it is `due` (or was started, `start`), or the `place`, and `tokens`, the
    places that it took from or put into with how many. `breaks`: names and conditions at which runs
    stop.
    """

    def __init__(self, ready: Ready) -> None:
        self.net = ready.net
        self._values, self._marking = ready.values, ready.read()
        self._core = self.net.core
        self._names = {
            "place": {p.name: k for k, p in enumerate(self._core.places)},
            "transition": {t.name: k for k, t in enumerate(self._core.transitions)},
        }
        self.breaks: list[str] = []
        self.restart()

    def restart(self) -> None:
        """Back to before the first instant; breaks stay."""
        self._machine = start(self.net, self._values, self._marking, None)
        self._stepper = _lpn.Stepper(self._core, self._machine, self._values)
        self._set_all(self.breaks)

    @property
    def now(self) -> int:
        return self._machine.now if self.instants else -1

    @property
    def next(self) -> int | None:
        """When something may happen next; None: never."""
        return self._machine.next

    @property
    def instants(self) -> int:
        return self._stepper.instants

    @property
    def commits(self) -> int:
        return self._stepper.commits

    @property
    def result(self) -> Any:
        """Of the run so far, with `latency` and `stalled` once it has ended."""
        return self._stepper.result

    def go(
        self,
        until: int | None = None,
        steps: int | None = None,
        log: Callable[[], object] | None = None,
    ) -> str:
        """Goes on for so many instants, or to time `until`, inclusive, or to a break.

        `log()` is called after each instant. Answers why it stopped: "steps", "limit" (nothing more
        up to `until`), "break", "interrupted" (Ctrl-C), or an end: "quiet" (nothing can happen any
        more), "done". Raises RunError for an error of the run, which can then only be gone back
        from.
        """
        until = _lpn.FOREVER if until is None else until
        steps = 2**64 - 1 if steps is None else steps
        return self._stepper.go(until, steps, log)

    def back(self, instants: int) -> None:
        """To so many instants before, by running anew; breaks do not stop that. Of Ctrl-C in it
        the run is wherever it came.
        """
        to = max(0, self.instants - instants)
        kept, self.breaks = self.breaks, []
        self.restart()
        self.breaks = kept
        if to:
            self._stepper.go(steps=to)
        self._set_all(kept)

    def kind_of(self, name: str) -> str:
        """ "place" or "transition". Raises Error "E-debug" for another name."""
        for kind, names in self._names.items():
            if name in names:
                return kind
        every = [*self._names["place"], *self._names["transition"]]
        raise without_place(
            "E-debug",
            f"net '{self.net.name}' has no place and no transition '{name}'{near(name, every)}",
        )

    def _number(self, kind, name):
        if self.kind_of(name) != kind:
            raise without_place("E-debug", f"'{name}' is a {self.kind_of(name)}, no {kind}")
        return self._names[kind][name]

    def _set_all(self, breaks):
        for name in breaks:
            if not self.is_condition(name):
                self._set(name, True)
        self._conditions = [Condition(self.net, name) for name in breaks if self.is_condition(name)]
        self._stepper.set_conditions([each.core for each in self._conditions])

    def _set(self, name, on):
        kind = self.kind_of(name)
        self._stepper.set_break(kind == "place", self._names[kind][name], on)

    def is_condition(self, name: str) -> bool:
        """Whether a break is a condition and no name."""
        names = (*self._names["place"], *self._names["transition"])
        return name not in names and any(sign in name for sign in "<>=!( ")

    def stop_at(self, name: str) -> None:
        """Runs stop behind an instant in which this transition starts or commits, or in which
        tokens come to this place or leave it; or, of a condition (lpn.runs.condition), after which
        it holds and before which it did not. Raises Error "E-debug", "E-condition".
        """
        if name in self.breaks:
            return
        if self.is_condition(name):
            Condition(self.net, name)
        else:
            self._set(name, True)
        self.breaks.append(name)
        self._set_all(self.breaks)

    @property
    def met(self) -> list[str]:
        """The conditions that came to hold in the last instant, each with its counts."""
        conditions = [self._conditions[k] for k in self._stepper.met]
        return [f"{each.text} ({each.values(self._machine)})" for each in conditions]

    def pass_by(self, name: str) -> None:
        """No longer. Raises Error "E-debug" where there was no such break."""
        if name not in self.breaks:
            raise without_place(
                "E-debug", f"there is no break on '{name}'; breaks: {listed(self.breaks)}"
            )
        self.breaks.remove(name)
        if self.is_condition(name):
            self._set_all(self.breaks)
        else:
            self._set(name, False)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [self._event(*event) for event in self._stepper.events]

    def _event(self, what, which, firing, begun, due, tokens):
        if what == "arrival":
            return {"cycle": begun, "event": what, "place": self._core.places[which].name}
        transition = self._core.transitions[which]
        arcs = transition.inputs if what == "start" else transition.outputs
        moved: dict[str, int] = {}
        for arc, count in zip(arcs, tokens):
            if count:
                place = self._core.places[arc.place].name
                moved[place] = moved.get(place, 0) + count
        return {
            "cycle": begun if what == "start" else due,
            "event": what,
            "transition": transition.name,
            "firing": firing,
            **({"due": due} if what == "start" else {"start": begun}),
            "tokens": moved,
        }

    @property
    def flying(self) -> list[dict[str, Any]]:
        """Firings that have started and not committed, by when they are due."""
        found = [
            {"transition": self._core.transitions[t].name, "firing": k, "start": begun, "due": due}
            for t, k, begun, due in self._stepper.flying
        ]
        return sorted(found, key=lambda row: row["due"])

    def places(self) -> dict[str, int]:
        """Place -> its tokens, those that a firing in flight will still take away included."""
        return {name: self._machine.occupancy(k) for name, k in self._names["place"].items()}

    def tokens(self, place: str) -> list[dict[str, int]]:
        """The free tokens of a place, oldest first, as property -> value. Raises Error "E-debug"."""
        number = self._number("place", place)
        fields = list(self.net[place]._type.fields)
        flat = self._machine.tokens(number)
        if not fields:
            return [{} for _ in range(self._machine.free_tokens(number))]
        rows = (flat[k : k + len(fields)] for k in range(0, len(flat), len(fields)))
        return [dict(zip(fields, row)) for row in rows]

    def why(self, transition: str) -> dict[str, Any]:
        """Why a transition does not start now: `reason`, `arc`, `place`, `line`, and `text`. Raises
        Error "E-debug".
        """
        number = self._number("transition", transition)
        if not self.instants:
            text = f"{transition} is not looked at before the first instant; step"
            return {"transition": transition, "reason": "not begun", "text": text}
        blocked = self._machine.why(number)
        ((name, reason, what),) = named_blocked(self._core, [blocked])
        if reason == "ready":
            text = f"{transition} could start: the run is over"
            return {"transition": transition, "reason": "over", "text": text}
        # What a firing in flight has taken keeps its room, but is there for nobody else.
        there = self.places()
        if reason in ("no token", "guard"):
            there = {n: self._machine.free_tokens(k) for n, k in self._names["place"].items()}
        coming = {
            self._core.places[arc.place].name
            for t, *_ in self._stepper.flying
            for arc in self._core.transitions[t].outputs
        }
        return waiting(self.net, there, name, reason, what, what in coming)

    def waiting(self) -> list[dict[str, Any]]:
        """why() of every transition that has a token in front of it and is not in flight."""
        busy = {row["transition"] for row in self.flying}
        there = self.places()
        found = []
        for transition in self._core.transitions:
            arcs = (self._core.places[arc.place].name for arc in transition.inputs)
            if transition.name not in busy and any(there[name] for name in arcs):
                found.append(self.why(transition.name))
        return found
