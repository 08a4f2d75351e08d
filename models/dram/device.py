"""The net of a DRAM device's timing: when is each command of a sequence first legal?

    program -> arrive -> next -> decode -> waiting.COMMAND.WHERE -> COMMAND.WHERE -> issued

A command issues when it is its turn, the state of its bank and device allows it, and nothing holds
it: whoever issues puts tokens into `hold` places, one for each distance of a rule, which others are
inhibited by until the token's time is over. A command that only asks changes nothing.
"""

import inspect

import lpn

from .standard import KINDS, LAST

__all__ = ["LONGEST", "Over", "build", "codes", "named"]

LONGEST = 2**40  # cycles between two commands
_LETTER = {"rank": "r", "pseudochannel": "p", "bank_group": "g", "bank": "b"}


def label(standard, coordinate):
    """A coordinate in names: r0.g1.b2; empty for the whole device."""
    pairs = zip(standard.levels, coordinate)
    return ".".join(f"{_LETTER[level]}{n}" for level, n in pairs if n != -1)


def named(name, standard, coordinate):
    """The name of a place or transition at a coordinate."""
    where = label(standard, coordinate)
    return f"{name}.{where}" if where else name


def codes(standard) -> dict:
    """(command, coordinate) -> its number in the tokens of a program."""
    slots = [(c, where) for c in standard.kinds for where in standard.places_of(c)]
    return {slot: number for number, slot in enumerate(slots)}


class Over:
    """A function of arcs whose names are computed."""

    def __init__(self, names, function):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
        self._function = function

    def __call__(self, *arcs):
        return self._function(*arcs)


def _unless_asked(n=1):
    return lambda cmd: lpn.select(cmd.asks, 0, n)


class _Firing:
    """The arcs of one command at one coordinate, gathered by what it needs and does."""

    def __init__(self):
        self.take, self.put = {}, []

    def needs(self, name, place):
        """A token must be there; it stays."""
        self.take[name] = place.peek(1)

    def uses(self, name, place, n=1):
        """Takes n tokens, that must be there."""
        self.take[name] = place.take(_unless_asked(n), need=n)

    def refused_by(self, name, place):
        """Not while a token is there."""
        self.take[name] = place.empty()

    def clears(self, name, place):
        """Takes what is there."""
        self.take[name] = place.take(
            Over(["cmd", name], lambda cmd, own: lpn.select(cmd.asks, 0, own.count)), need=0
        )

    def fills(self, name, place, n):
        """Fills a place up to n tokens."""
        self.take[name] = place.watch()
        count = Over(["cmd", name], lambda cmd, own: lpn.select(cmd.asks, 0, n - own.count))
        self.put.append(place.emit(count=count))

    def puts(self, place, n=1):
        self.put.append(place.emit(count=_unless_asked(n)))


class _Device:
    def __init__(self, standard, net):
        self.standard = standard
        self.net = net
        self.holds = {}  # (scope, key, targets, cycles) -> place
        self.held_by = {}  # (scope, key, target) -> its hold places

    def place(self, name, coordinate, init=0):
        return self.net.place(named(name, self.standard, coordinate), init=init)

    def build(self):
        """Places of the state, the front end and every command."""
        s = self.standard
        numbers = codes(s)

        class Command(lpn.Token):
            """A command of the program: which and where, and when."""

            code: lpn.Int[0, len(numbers) - 1]
            gap: lpn.Int[0, LONGEST]  # not earlier than so long after the one before could come
            asks: bool  # when would it be legal? It changes nothing

        self.turn = self.net.place("turn", init=1)
        self._front_end(Command, numbers)
        self.issued = self.net.place("issued", done=True)
        self.asked = self.net.place("asked", sink=True)
        self._states()
        self._windows()
        self._holds()
        for command, where in numbers:
            for variant in s.variants(command):
                self._command(variant, where, Command)
        return self.net

    def _front_end(self, token, numbers):
        net = self.net
        program = net.place("program", token, start=True)
        following = net.place("next", token, drain=True)
        net.transition(
            "arrive",
            take={"cmd": program},
            put=[following.forward("cmd")],
            delay=lambda cmd: cmd.gap,
            servers=1,
        )
        self.waiting = {
            slot: net.place(named(f"waiting.{slot[0]}", self.standard, slot[1]), token, drain=True)
            for slot in numbers
        }

        def is_it(number):
            return lambda cmd: lpn.select(cmd.code == number, 1, 0)

        net.transition(
            "decode",
            take={"cmd": following, "turn": self.turn},
            put=[
                place.emit(
                    count=is_it(numbers[slot]),
                    code=lambda cmd: cmd.code,
                    gap=lambda cmd: cmd.gap,
                    asks=lambda cmd: cmd.asks,
                )
                for slot, place in self.waiting.items()
            ],
        )

    def _states(self):
        s = self.standard
        kinds = set(s.kinds.values())
        self.open = {bank: self.place("open", bank) for bank in s.banks}
        self.powered_down = {d: self.place("powered_down", d) for d in s.devices}
        self.asleep = {d: self.place("asleep", d) for d in s.devices}
        self.owes = {u: self.place("owes_refresh", u) for u in s.units}
        self.deep, self.off = {}, {}
        if "deep power down" in kinds:
            self.deep = {d: self.place("deep_powered_down", d) for d in s.devices}
            self.off = {d: self.place("off", d) for d in s.devices}
        if s.round and s.round["order"] == "fixed":
            self.due = {b: self.place("due", b, int(b[-1] == 0)) for b in s.paired}
        elif s.round:
            self.visited = {b: self.place("visited", b) for b in s.paired}
            self.to_go = {
                u: self.place("to_go", u, len(self._of(s.paired, u)) - 1) for u in s.units
            }

    def _of(self, banks, unit):
        return [b for b in banks if self.standard.unit_of(b) == unit]

    def _windows(self):
        self.slots = {}
        for name, number, cycles, lost in self.standard.windows:
            for unit in self.standard.units:
                free = self.place(f"free.{name}", unit, number)
                if lost:
                    self.slots.setdefault(unit, []).append((name, free, None))
                    continue
                taken = self.place(f"taken.{name}", unit)
                self.net.transition(
                    named(f"window.{name}", self.standard, unit),
                    take={"slot": taken},
                    put=[free],
                    delay=cycles,
                    servers=number,
                )
                self.slots.setdefault(unit, []).append((name, free, taken))

    # Timing.

    def _holds(self):
        """The hold places of all rules, each with what empties it in time."""
        s = self.standard
        for (scope, source), row in s.distances().items():
            for cycles in sorted(set(row.values())):
                targets = tuple(sorted(b for b, n in row.items() if n == cycles))
                for where in s.places_of(s.base(source)):
                    for key in s.reach(scope, where):
                        self._hold(scope, key, targets, cycles)

    def _hold(self, scope, key, targets, cycles):
        identity = (scope, key, targets, cycles)
        if identity in self.holds:
            return
        number = sum(k[0] == scope and k[1] == key for k in self.holds)
        over = label(self.standard, key)
        name = ".".join(filter(None, [f"{scope}{number}", over]))
        place = self.net.place(f"hold.{name}")
        # Two commands at most start in a cycle, one on each bus.
        self.net.transition(
            f"release.{name}", take={"held": place}, delay=cycles, servers=2 * cycles
        )
        self.holds[identity] = place
        for target in targets:
            self.held_by.setdefault((scope, key, target), []).append(place)

    def _times(self, firing, variant, where):
        """What holds a command, and whom it holds."""
        s = self.standard
        places = [
            place
            for scope in s.scopes
            for key in s.waits_at(scope, where)
            for place in self.held_by.get((scope, key, variant), ())
        ]
        for k, place in enumerate(dict.fromkeys(places)):
            firing.refused_by(f"hold{k}", place)
        for (scope, source), row in s.distances().items():
            if source != variant:
                continue
            for cycles in sorted(set(row.values())):
                targets = tuple(sorted(b for b, n in row.items() if n == cycles))
                for key in s.reach(scope, where):
                    firing.puts(self.holds[scope, key, targets, cycles])

    # Commands.

    def _command(self, variant, where, token):
        s = self.standard
        command = s.base(variant)
        firing = _Firing()
        firing.take["cmd"] = self.waiting[command, where]
        kind = s.kinds[command]
        _STATE[kind](self, firing, where, variant)
        self._times(firing, variant, where)
        firing.put.append(self.turn.emit())
        firing.put.append(self.issued.emit(count=lambda cmd: lpn.select(cmd.asks, 0, 1)))
        firing.put.append(self.asked.emit(count=lambda cmd: lpn.select(cmd.asks, 1, 0)))
        self.net.transition(named(variant, s, where), take=firing.take, put=firing.put, servers=1)

    def _awake(self, firing, where, also_on=True):
        """Refused in power-down and, unless a bank must be open for it anyway, the deeper states."""
        device = self.standard.device_of(where)
        firing.refused_by("powered_down", self.powered_down[device])
        if not also_on:
            return
        firing.refused_by("asleep", self.asleep[device])
        if self.deep:
            firing.refused_by("deep", self.deep[device])
            firing.refused_by("off", self.off[device])

    def _banks_below(self, where):
        """The banks of a unit or device."""
        return [b for b in self.standard.banks if where[0] in (-1, b[0])]

    def _units_below(self, where):
        return [u for u in self.standard.units if where[0] in (-1, u[0])]

    def _all_closed(self, firing, where):
        for k, bank in enumerate(self._banks_below(where)):
            firing.refused_by(f"open{k}", self.open[bank])

    def _slots(self, firing, where, n=1, back=1):
        for name, free, taken in self.slots.get(self.standard.unit_of(where), ()):
            firing.uses(f"slot_{name}", free, n)
            if taken is not None:
                firing.puts(taken, back)

    def _new_round(self, firing, unit):
        """All banks of the unit are to be refreshed again."""
        s = self.standard
        if not s.round:
            return
        banks = self._of(s.paired, unit)
        tag = label(s, unit).replace(".", "_")
        if s.round["order"] == "fixed":
            for k, bank in enumerate(banks[1:], 1):
                firing.clears(f"due{k}{tag}", self.due[bank])
            firing.fills(f"due0{tag}", self.due[banks[0]], 1)
            return
        for k, bank in enumerate(banks):
            firing.clears(f"visited{k}{tag}", self.visited[bank])
        firing.fills(f"to_go{tag}", self.to_go[unit], len(banks) - 1)

    def _cleared_by(self, firing, where, variant):
        if self.standard.round and variant in self.standard.round["cleared_by"]:
            for unit in self._units_below(where):
                self._new_round(firing, unit)

    def activate(self, firing, where, variant):
        firing.refused_by("open", self.open[where])
        self._awake(firing, where)
        self._slots(firing, where)
        firing.puts(self.open[where])

    def access(self, firing, where, variant):
        firing.needs("open", self.open[where])
        self._awake(firing, where, also_on=False)

    def access_precharge(self, firing, where, variant):
        firing.uses("open", self.open[where])
        self._awake(firing, where, also_on=False)

    def precharge(self, firing, where, variant):
        self._awake(firing, where)
        firing.clears("open", self.open[where])

    def precharge_all(self, firing, where, variant):
        self._awake(firing, where)
        for k, bank in enumerate(self._banks_below(where)):
            firing.clears(f"open{k}", self.open[bank])

    def refresh_all(self, firing, where, variant):
        self._all_closed(firing, where)
        self._awake(firing, where)
        firing.clears("owes", self.owes[where])
        self._new_round(firing, where)

    def refresh(self, firing, where, variant):
        """Of one bank, or of a pair; the last of a round is a variant of its own."""
        s = self.standard
        unit = s.unit_of(where)
        if s.round["order"] == "fixed":
            firing.refused_by("open", self.open[where])
            self._awake(firing, where)
            self._slots(firing, where)
            banks = self._of(s.paired, unit)
            following = banks[(banks.index(where) + 1) % len(banks)]
            if following is not where:
                firing.uses("due", self.due[where])
                firing.puts(self.due[following])
            if following == banks[0]:
                firing.clears("owes", self.owes[unit])
            return
        last = variant.endswith(LAST)
        if not (last and "last_refresh_unchecked" in s.deviations):
            for k, bank in enumerate(filter(None, [where, s.partner(where)])):
                firing.refused_by(f"open{k}", self.open[bank])
            self._awake(firing, where)
            if not (last and "last_refresh_free" in s.deviations):
                n = 2 if s.pairs else 1
                self._slots(firing, where, n, 1 if "paired_slots_lost" in s.deviations else n)
        firing.refused_by("visited", self.visited[where])
        if not last:
            firing.uses("to_go", self.to_go[unit])
            firing.puts(self.visited[where])
            return
        firing.refused_by("to_go", self.to_go[unit])
        firing.clears("owes", self.owes[unit])
        others = [b for b in self._of(s.paired, unit) if b != where]
        for k, bank in enumerate(others):
            firing.clears(f"visited{k}", self.visited[bank])
        firing.puts(self.to_go[unit], len(others))

    def power_down(self, firing, where, variant):
        self._awake(firing, where)
        firing.puts(self.powered_down[where])

    def power_up(self, firing, where, variant):
        firing.uses("powered_down", self.powered_down[where])

    def sleep(self, firing, where, variant):
        self._all_closed(firing, where)
        self._awake(firing, where)
        for k, unit in enumerate(self._units_below(where)):
            firing.refused_by(f"owes{k}", self.owes[unit])
        self._cleared_by(firing, where, variant)
        firing.puts(self.asleep[where])

    def wake(self, firing, where, variant):
        firing.uses("asleep", self.asleep[where])
        self._cleared_by(firing, where, variant)
        for unit in self._units_below(where):
            firing.puts(self.owes[unit])

    def deep_power_down(self, firing, where, variant):
        self._all_closed(firing, where)
        self._awake(firing, where)
        firing.puts(self.deep[where])

    def deep_power_up(self, firing, where, variant):
        firing.uses("deep", self.deep[where])
        firing.puts(self.off[where])

    def reset(self, firing, where, variant):
        firing.uses("off", self.off[where])


_STATE = {kind: getattr(_Device, kind.replace(" ", "_")) for kind in KINDS}


def build(standard) -> lpn.Net:
    """The net of a Standard; `program` takes the commands, numbered by codes()."""
    return _Device(standard, lpn.Net("dram")).build()
