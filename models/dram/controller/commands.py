"""What a command says to the scheduler: what its bank no longer wants, and what waits for it."""

import lpn

from ..device import Over
from .formulas import fields_of, of_chosen, when
from .tokens import ACTIVATES, BANKS, PRECHARGES, READS, REFRESHES, WRITES, Wants


class Commands:
    """The part of a Channel that is in each of its commands."""

    def given(self, kind, number):
        """The arcs of a command of a bank: (take, put), what it takes and what it says to the
        scheduler. It goes from tick 0 to 1; the second of a cycle is there at 1.
        """
        bit = 1 << number

        def less(field):
            return Over(["c"], lambda c: getattr(c, field) & ~bit)

        after = {k: less(k) for k in ("act", "read", "write", "older", "pre", "close")}
        if kind == ACTIVATES:
            after |= dict(act_ok=less("act_ok"), open=lambda c: c.open | bit)
        if kind in self.closing_kinds:
            after |= {k: less(k) for k in ("read_ok", "write_ok", "open")}
        take, put = self._given(kind, self.group_of[number], kind + 4 * number, after)
        if self.closes or kind in (ACTIVATES, PRECHARGES):  # others: see Banks._access
            put.append(self._look(bit))
        return take, put

    def others(self, c, bit):
        """Not 0 where other banks want something, for which the next cycle is looked at."""
        wanted = c.read & c.read_ok | c.write & c.write_ok | c.act & c.act_ok | c.pre
        return wanted & ~bit | c.close | c.blocked

    def _look(self, bit):
        return self.events.emit(
            count=lambda c: when(self.others(c, bit) != 0, lpn.select(c.second, 0, 1)),
            at=lambda c: c.at + 1,
            banks=0,
            what=0,
        )

    def _given(self, kind, group, command, after):
        take = {"c": self.chosen.take(guard=lambda c: c.command == command)}
        after = {k: of_chosen(getattr, k) for k in fields_of(Wants)} | after | {"issued": 0}
        if self.twice:
            first = lambda c: lpn.select(c.second, 0, 1)  # noqa: E731
            access = 1 if kind in (READS, WRITES) else 2
            put = [
                self.wants.emit(count=lambda c: when(c.second, 1), **after),
                self.second.emit(count=first, **{**after, "issued": access}),
            ]
        else:
            put = [self.wants.emit(**after)]
        for arc, place in (("bus", self.bus), ("rows", self.rows)):
            later = {k: f for k in place.fields if (f := self._later(k, arc, kind, group))}
            if later:
                take[arc] = place
                put.append(place.forward(arc, **later))
        return take, put

    def _later(self, name, arc, kind, group):
        """When `name` is next possible after a command in a group; None: as before."""
        if name in self.makes:
            cycles = self.makes[name][kind, group]
            new = lambda c, t: lpn.max(getattr(t, name), c.at + cycles)  # noqa: E731
            return Over(["c", arc], new) if cycles else None
        w, r, k = map(int, name[4:].split("_"))
        if kind != ACTIVATES or self.rank_of[group] != r:
            return None
        slots, cycles = self.windows[w]
        if k + 1 < slots:
            return Over([arc], lambda t: getattr(t, f"slot{w}_{r}_{k + 1}"))
        return lambda c: c.at + cycles

    def _refresh(self, rank):
        """A rank is refreshed."""
        mask = self.rank_masks[rank]
        group = self.rank_of.index(rank)
        take, put = self._given(REFRESHES, group, 4 * BANKS + rank, {"blocked": 0})
        put += [self._look(mask & -mask), self.refreshed.emit(at=lambda c: c.at + 1)]
        self.step(f"REF{rank}", take=take, put=put, delay=1, servers=1)

    def command_delay(self):
        """Ticks of a command."""
        return (lambda c: lpn.select(c.second, 0, 1)) if self.twice else 1

    def distances(self, name):
        """What a command of a kind in a group, {(kind, group): cycles}, adds to the cycle `name`."""
        if name.startswith("slot"):
            return {}
        targets = {"read": self.read, "write": self.write, "act": "ACT", "pre": "PRE"}
        to = name.rstrip("0123456789")
        number = int(name[len(to) :])
        found = {}
        for kind, command in enumerate(self.names):
            for group in range(len(self.groups)):
                if to == "refresh":
                    relation = "unit" if self.rank_of[group] == number else None
                elif command == "REF" and self.rank_of[group] == self.rank_of[number]:
                    relation = "unit"
                else:
                    relation = self._relation(group, number)
                target = targets.get(to, "REF")
                found[kind, group] = self.distance(command, relation, target) if relation else 0
        return found if any(found.values()) else {}

    def _relation(self, a, b):
        if a == b:
            return "group"
        return "rank" if self.groups[a][0] == self.groups[b][0] else "other"
