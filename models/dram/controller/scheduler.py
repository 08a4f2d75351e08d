"""The scheduler: which bank is next, which command it is given, and what waits for it."""

from typing import NamedTuple

import lpn

from ..device import Over
from .formulas import (
    Heard,
    State,
    bit_number,
    both,
    cycles_type,
    fields_of,
    heard_of,
    lowest,
    one_of,
    padded,
    when,
)
from .tokens import (
    ACTIVATES,
    BANKS,
    CLOSE,
    Chosen,
    END,
    PRECHARGES,
    READS,
    TICKS,
    WRITES,
    Wants,
)


class Pick(NamedTuple):
    """The command that is next: the banks that could be given one, the kind of command, with its
    bank (Chosen.command), and the bank that issued last then.
    """

    any: object
    kind: object
    command: object
    turn: object


class Scheduler:
    """The part of a Channel that gives commands."""

    def _scheduler(self):
        s = self.standard
        self.windows = [(slots, cycles) for _, slots, cycles, _ in s.windows]
        ranks = list(dict.fromkeys(self.units))
        self.ranks = ranks
        self.rank_of = [ranks.index(s.unit_of((*g, 0))) for g in self.groups]
        n = len(self.groups)
        self.group_masks = [
            sum(1 << k for k, g in enumerate(self.group_of) if g == group) for group in range(n)
        ]
        self.rank_masks = [
            sum(1 << k for k, unit in enumerate(self.units) if unit == rank) for rank in ranks
        ]
        # When each command is next possible: accesses of each group; rows of each group or rank.
        bus = [f"{t}{g}" for t in ("read", "write") for g in range(n)]
        rows = [f"act{g}" for g in range(n)] + [f"pre{g}" for g in range(n)]
        rows += [f"refresh{r}" for r in range(len(ranks))]
        rows += [
            f"slot{w}_{r}_{k}"
            for w, (slots, _) in enumerate(self.windows)
            for r in range(len(ranks))
            for k in range(slots)
        ]
        self.makes = {k: found for k in [*bus, *rows] if (found := self.distances(k))}
        bus = [name for name in bus if name in self.makes]
        rows = [name for name in rows if name in self.makes or name.startswith("slot")]
        self.bus = self.place("bus", cycles_type("Bus", bus), init=[dict.fromkeys(bus, 0)])
        self.rows = self.place("rows", cycles_type("Rows", rows), init=[dict.fromkeys(rows, 0)])
        self.step(
            "hear",
            take={
                "e": self.events.take(guard=lambda e: e.count > 1),
                "w": self.wants,
            },
            put=[self.wants.emit(**{k: heard_of(k) for k in fields_of(Wants)})],
            servers=1,
        )
        self.chosen = self.place("chosen", Chosen)
        self._choose()
        if self.twice:
            self.second = self.place("second", Wants)
            self._choose_second()
        for rank in range(len(ranks)):
            self._refresh(rank)

    def _slot(self, rows, group):
        """When windows have room for another activation in the rank of a group."""
        rank = self.rank_of[group]
        first, *more = (getattr(rows, f"slot{w}_{rank}_0") for w in range(len(self.windows)))
        return lpn.max(first, *more) if more else first

    def _possible(self, state, now, bus, rows):
        """The banks to which each kind of command could be given now, by kind."""
        w = state

        def legal(kind, tokens):
            found = 0
            for g, mask in enumerate(self.group_masks):
                name = f"{kind}{g}"
                allowed = now >= getattr(tokens, name) if name in self.makes else None
                if kind == "act":
                    slot = now >= self._slot(rows, g)
                    allowed = slot if allowed is None else both(allowed, slot)
                found = found + (mask if allowed is None else when(allowed, mask))
            return found

        free = ~w["blocked"]
        closable = legal("pre", rows)
        return {
            READS: w["read"] & w["read_ok"] & legal("read", bus) & free,
            WRITES: w["write"] & w["write_ok"] & legal("write", bus) & free,
            ACTIVATES: w["act"] & w["act_ok"] & legal("act", rows) & free,
            PRECHARGES: w["pre"] & closable & free,
            CLOSE: w["close"] & closable,
        }

    def _refreshable(self, state, now, rows):
        """The banks of a rank that can be refreshed now."""
        due = 0
        for r, mask in enumerate(self.rank_masks):
            closed = (state["open"] & mask) + (mask - (state["blocked"] & mask)) == 0
            due = due + when(both(closed, now >= getattr(rows, f"refresh{r}")), mask)
        return due

    def _pick(self, state, now, bus, rows, first=True):
        """A Pick. A refresh comes first, and not as a second command."""
        can = self._possible(state, now, bus, rows)
        refresh = self._refreshable(state, now, rows) if first else 0
        if not first:
            can[CLOSE] = 0
        some = can[READS] | can[WRITES] | can[ACTIVATES] | can[PRECHARGES]
        all_banks = 2 ** len(self.banks) - 1
        above = some & lpn.lookup([all_banks & -(2 << k) for k in range(BANKS)], state["turn"])
        in_turn = lpn.select(above != 0, lowest(above), lowest(some))
        first = lpn.select(can[CLOSE] != 0, lowest(can[CLOSE]), in_turn)
        bit = lpn.select(refresh != 0, lowest(refresh), first)
        older = lpn.select(bit & can[WRITES] & state["older"] == 0, READS, WRITES)
        access = lpn.select(bit & can[READS] == 0, WRITES, older)
        closing = can[CLOSE] | when(can[CLOSE] == 0, can[PRECHARGES])
        opening = lpn.select(bit & can[ACTIVATES] != 0, ACTIVATES, access)
        kind = lpn.select(bit & closing != 0, PRECHARGES, opening)
        bank = bit_number(bit)
        rank = lpn.lookup(padded([self.ranks.index(unit) for unit in self.units]), bank)
        return Pick(
            any=some | can[CLOSE] | refresh,
            kind=kind,
            command=lpn.select(refresh != 0, 4 * BANKS + rank, 4 * bank + kind),
            turn=lpn.select(can[CLOSE] | refresh == 0, bank, state["turn"]),
        )

    def _choose(self):
        """The next bank in turn that can be given a command now, and which. Where there is none:
        when will it be? One transition, as every dispatch costs more than its formulas.
        """

        def picked(part):
            def formula(e, w, bus, rows):
                state = Heard(e, w)
                return part(self._pick(state, state["at"], bus, rows))

            return formula

        heard = {k: heard_of(k) for k in fields_of(Wants)}
        rests = heard | {
            "wake": lambda e, w, bus, rows: lpn.select(
                self._sleeps(e, w, bus, rows) != 0, self._possible_at(e, w, bus, rows), w.wake
            )
        }
        heard |= dict(turn=picked(lambda p: p.turn), command=picked(lambda p: p.command))
        heard |= dict(second=False)
        self.step(
            "choose",
            take={
                "e": self.events,
                "w": self.wants,
                "bus": self.bus.peek(1),
                "rows": self.rows.peek(1),
            },
            put=[
                self.chosen.emit(count=picked(lambda p: when(p.any != 0, 1)), **heard),
                self.wants.emit(count=picked(lambda p: when(p.any == 0, 1)), **rests),
                self.later.emit(
                    count=self._sleeps,
                    wait=lambda e, w, bus, rows: TICKS
                    * lpn.max(0, self._possible_at(e, w, bus, rows) - Heard(e, w)["at"]),
                    at=lambda e, w, bus, rows: self._possible_at(e, w, bus, rows),
                    banks=0,
                    what=0,
                ),
            ],
            clock=(TICKS, 0),
            servers=1,
        )

    def _possible_at(self, e, w, bus, rows):
        """The cycle in which the first of the commands that banks want will be possible; END: none
        ever, or one is now.
        """
        state = Heard(e, w)
        found = END
        free = ~state["blocked"]
        sets = {
            "read": (state["read"] & state["read_ok"] & free, bus),
            "write": (state["write"] & state["write_ok"] & free, bus),
            "act": (state["act"] & state["act_ok"] & free, rows),
            "pre": (state["pre"] & free | state["close"], rows),
        }
        for kind, (mask, tokens) in sets.items():
            for g, group in enumerate(self.group_masks):
                if f"{kind}{g}" in self.makes:
                    at = getattr(tokens, f"{kind}{g}")
                    if kind == "act":
                        at = lpn.max(at, self._slot(rows, g))
                    found = lpn.min(found, lpn.select(mask & group != 0, at, END))
        for r, mask in enumerate(self.rank_masks):
            closed = (state["open"] & mask) + (mask - (state["blocked"] & mask)) == 0
            found = lpn.min(found, lpn.select(closed, getattr(rows, f"refresh{r}"), END))
        # Most of the time one is, and this is not worked out.
        return lpn.select(self._pick(state, state["at"], bus, rows).any == 0, found, END)

    def _sleeps(self, e, w, bus, rows):
        """1 when it has to be looked at then, and that is not said yet."""
        at = self._possible_at(e, w, bus, rows)
        new = lpn.select(w.wake <= Heard(e, w)["at"], 1, lpn.select(at < w.wake, 1, 0))
        return lpn.select(at < END, new, 0)

    def _choose_second(self):
        """A second command in the same cycle, when one of the two is an access. The next in turn
        that could be given counts as the last that issued even where it is not.
        """

        def picked(part):
            def formula(w, bus, rows):
                return part(self._pick(State(w), w.at, bus, rows, first=False), w)

            return formula

        def pairs(p, w):
            access = lpn.select(one_of(p.kind, READS, WRITES), 1, 2)
            return both(p.any != 0, access != w.issued)

        arcs = {"w": self.second, "bus": self.bus.peek(1)}
        same = {k: Over(["w"], lambda w, k=k: getattr(w, k)) for k in fields_of(Wants)}
        self.step(
            "choose_second",
            take={**arcs, "rows": self.rows.peek(1, guard=picked(pairs))},
            put=[
                self.chosen.emit(
                    **{**same, "turn": picked(lambda p, w: p.turn)},
                    command=picked(lambda p, w: p.command),
                    second=True,
                )
            ],
            servers=1,
        )
        turn = picked(lambda p, w: lpn.select(p.any != 0, p.turn, w.turn))
        self.step(
            "no_second",
            take={**arcs, "rows": self.rows.peek(1)},
            put=[self.wants.forward("w", issued=0, turn=turn)],
            servers=1,
        )
