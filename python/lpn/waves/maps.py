"""Which signals of a design are its channels: the map, a TOML file of a few lines (docs/cli.md)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from ..errors import listed, near, without_place
from ..toml_file import read_toml

__all__ = ["Arrival", "Channel", "Clock", "Firing", "Map", "read_map"]

_TOP = (
    "clock",
    "edge",
    "reset",
    "origin",
    "clocks",
    "channels",
    "transitions",
    "parameters",
    "places",
)
_CLOCK = ("signal", "edge", "reset")
_CHANNEL = (
    *("valid", "ready", "accept", "strobe", "start", "done", "busy", "count"),
    *("payload", "clock", "until", "arc"),
)
_FIELD = ("signal", "signed")
_FIRING = (
    *("channel", "event", "every", "transfer", "where", "offset", "payload", "of", "trailing"),
    "given",
)
_ARRIVAL = ("channel", "every", "transfer", "where", "offset", "properties")
_UNITS = {"s": 10**15, "ms": 10**12, "us": 10**9, "ns": 10**6, "ps": 10**3, "fs": 1}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(s|ms|us|ns|ps|fs)")
_KINDS = (
    *(({"valid"}, 0), ({"valid", "ready"}, 0), ({"start", "done"}, 1), ({"busy"}, 2)),
    ({"count"}, 3),
)


@dataclass
class Clock:
    """A signal, which of its edges counts, and signals that hold its channels in reset. With a
    `period`, in femtoseconds, there is no signal but an edge at each multiple of it.
    """

    signal: str
    falling: bool = False
    resets: list[str] = field(default_factory=list)
    period: int = 0


@dataclass
class Channel:
    """`kind`: 0 valid with or without ready, 1 start and done, 2 busy, 3 a count of transfers;
    `first` and `second` the signals, all of which have to be 1. `until`: the channel whose last
    transfer ends this one. `signed`: the fields of the payload that are numbers in two's complement.
    """

    name: str
    kind: int
    clock: str
    first: list[str]
    second: list[str]
    payload: dict[str, str]
    until: str | None = None
    arc: str | None = None
    signed: list[str] = field(default_factory=list)


@dataclass
class Firing:
    """Which transfers of `channel` are the firings of a transition: of those with `where`, numbers
    `transfer`, `transfer` + `every`, ...; `offset` cycles after the model's start or commit
    (`event`). `payload`: field of the channel -> "arc.property" of a token that the firing takes.
    `trailing`: there may be more of them than firings. `given`: they come from outside, which the
    net does not say (lpn fit). `name`: of this comparison.
    """

    transition: str
    channel: str
    event: str = "commit"
    every: int = 1
    transfer: int = 0
    where: dict[str, int] = field(default_factory=dict)
    offset: int = 0
    payload: dict[str, str] = field(default_factory=dict)
    name: str = ""
    trailing: bool = False
    parameters: list[str] = field(default_factory=list)  # of the net, added to the offset
    given: bool = False


@dataclass
class Arrival:
    """Which transfers of `channel` are tokens that come into `place` from outside, `offset` cycles
    before the transfer. `properties`: property -> field of the channel, or a number.
    """

    place: str
    channel: str
    every: int = 1
    transfer: int = 0
    where: dict[str, int] = field(default_factory=dict)
    offset: int = 0
    properties: dict[str, str | int] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)

    @property
    def payload(self) -> dict[str, str]:
        """Fields that are to be kept of each transfer."""
        return {str(v): str(v) for v in self.properties.values() if isinstance(v, str)}


@dataclass
class Map:
    """`origin`: None (the first edge out of reset), a channel's name, or femtoseconds."""

    file: str
    clocks: dict[str, Clock]
    channels: list[Channel]
    origin: str | int | None = None
    firings: list[Firing] = field(default_factory=list)
    parameters: dict[str, int] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)


def read_map(path: str) -> Map:
    """The map in a TOML file. Raises Error "E-wave-map", with the file and the key, for what is
    none.
    """
    return _Reader(path).map(read_toml(path, "E-wave-map"))


class _Reader:
    def __init__(self, path):
        self._path = os.fspath(path)

    def _fail(self, what):
        raise without_place("E-wave-map", f"{self._path}: {what}")

    def _keys(self, table, known, where):
        if not isinstance(table, dict):
            self._fail(f"{where} is a table, not {table!r}")
        for key in table:
            if key not in known:
                self._fail(f"{where} has no '{key}'; there is {listed(known)}{near(key, known)}")

    def _text(self, value, where):
        if not isinstance(value, str) or not value.strip():
            self._fail(f"{where} is the name of a signal in quotes, not {value!r}")
        return value.strip()

    def _texts(self, value, where):
        return [self._text(v, where) for v in (value if isinstance(value, list) else [value])]

    def map(self, data):
        self._keys(data, _TOP, "the map")
        clocks = {}
        if "clock" in data:
            clocks[""] = self._clock(
                {"signal": data["clock"], **{k: data[k] for k in ("edge", "reset") if k in data}},
                "clock",
            )
        elif "edge" in data:
            self._fail("edge is that of clock; with [clocks] each says its own")
        named = data.get("clocks", {})
        self._keys(named, named if isinstance(named, dict) else (), "clocks")
        for name, table in named.items():
            clocks[name] = self._clock(
                {"signal": table} if isinstance(table, str) else table, f"clocks.{name}"
            )
            if "reset" in data and not clocks[name].resets:
                clocks[name].resets = self._texts(data["reset"], "reset")
        if not clocks:
            self._fail('which signal is the clock? Write clock = "tb.clk"')
        tables = data.get("channels", {})
        if not isinstance(tables, dict) or not tables:
            self._fail("there is no channel; write [channels.NAME] with valid and ready")
        channels = [self._channel(name, table, clocks) for name, table in tables.items()]
        parameters = data.get("parameters", {})
        self._keys(parameters, parameters if isinstance(parameters, dict) else (), "parameters")
        for name, value in parameters.items():
            self._whole(value, f"parameters.{name}")
        firings = data.get("transitions", {})
        self._keys(firings, firings if isinstance(firings, dict) else (), "transitions")
        arrivals = data.get("places", {})
        self._keys(arrivals, arrivals if isinstance(arrivals, dict) else (), "places")
        return Map(
            self._path,
            clocks,
            channels,
            self._origin(data.get("origin"), channels),
            [self._firing(name, table, channels) for name, table in firings.items()],
            parameters,
            [self._arrival(name, table, channels) for name, table in arrivals.items()],
        )

    def _clock(self, table, where):
        self._keys(table, _CLOCK, where)
        edge = table.get("edge", "rising")
        if edge not in ("rising", "falling"):
            self._fail(f'{where}: edge is "rising" or "falling", not {edge!r}')
        signal = self._text(table.get("signal"), where)
        period = self._time(signal) or 0
        if period and "edge" in table:
            self._fail(f"{where} is a time, {signal!r}, which has no edge; leave edge out")
        return Clock(
            signal,
            edge == "falling",
            self._texts(table.get("reset", []), f"{where}: reset"),
            period,
        )

    def _time(self, text):
        """Femtoseconds of "65 ns"; None for what is no time. Parts of a femtosecond are cut off."""
        time = _TIME.fullmatch(text.strip())
        if not time:
            return None
        from fractions import Fraction

        return int(Fraction(time[1]) * _UNITS[time[2]])

    def _channel(self, name, table, clocks):
        where = f"channels.{name}"
        self._keys(table, _CHANNEL, where)
        found = {}
        for key in _CHANNEL[:8]:
            if key in table:
                meaning = {"accept": "ready", "strobe": "valid"}.get(key, key)
                if meaning in found:
                    self._fail(f"{where} says {meaning} twice; '{key}' is another word for it")
                found[meaning] = self._texts(table[key], f"{where}.{key}")
        kind = next((kind for keys, kind in _KINDS if keys == set(found)), None)
        if kind is None:
            self._fail(
                f"{where} has {listed(found)}; a channel has valid (or strobe) with or without "
                "ready (or accept), or start and done, or busy, or count"
            )
        if "" in clocks:
            default = ""
        else:
            default = next(iter(clocks)) if len(clocks) == 1 else None
        clock = table.get("clock", default)
        if clock not in list(clocks):  # a list has no hash
            names = listed(repr(c) for c in clocks if c)
            self._fail(f"{where}: clock is one of [clocks] ({names}), not {clock!r}")
        payload = table.get("payload", {})
        if isinstance(payload, (str, list)):
            texts = self._texts(payload, f"{where}.payload")
            names = [re.sub(r".*\.", "", text) for text in texts]
            payload = dict(zip(names, texts))
            if len(payload) < len(names):
                twice = next(n for n in names if names.count(n) > 1)
                self._fail(
                    f"{where}.payload has two signals '{twice}'; give them names, as in "
                    f"payload = {{ one = {texts[0]!r}, other = ... }}"
                )
        self._keys(payload, payload if isinstance(payload, dict) else (), f"{where}.payload")
        signed = []
        for key, value in payload.items():
            of_field = f"{where}.payload.{key}"
            if isinstance(value, dict):
                self._keys(value, _FIELD, of_field)
                if self._flag(value.get("signed", False), f"{of_field}.signed"):
                    signed.append(key)
                value = value.get("signal")
            payload = {**payload, key: self._text(value, of_field)}
        first, second = [
            found.get(k, [])
            for k in (("valid", "ready"), ("start", "done"), ("busy", ""), ("count", ""))[kind]
        ]
        return Channel(
            name, kind, clock, first, second, payload, table.get("until"), table.get("arc"), signed
        )

    def _origin(self, origin, channels):
        if origin is None:
            return None
        if isinstance(origin, str):
            time = self._time(origin)
            if time is not None:
                return time
            if any(origin == c.name or "*" in c.name for c in channels):
                return origin
        self._fail(
            f'origin is the name of a channel (cycle 0 is its first valid) or a time as "65 ns", not {origin!r}'
        )

    def _whole(self, value, where, least=None):
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or (least is not None and value < least)
        ):
            self._fail(
                f"{where} is a whole number{'' if least is None else f' from {least} on'}, not {value!r}"
            )
        return value

    def _value(self, value, where, name, channel):
        """Of a field of the channel's payload, in `where`."""
        return self._whole(value, f"{where}.where.{name}", None if name in channel.signed else 0)

    def _channel_of(self, table, where, channels):
        channel = table.get("channel")
        if channel not in [c.name for c in channels]:
            names = [c.name for c in channels]
            self._fail(f"{where}: there is no channel {channel!r}{near(channel, names)}")
        return channel

    def _arrival(self, name, table, channels):
        where = f"places.{name}"
        self._keys(table, _ARRIVAL, where)
        channel = self._channel_of(table, where, channels)
        own = next(c for c in channels if c.name == channel)
        fields = table.get("where", {})
        self._keys(fields, own.payload, f"{where}.where")
        for field_name, value in fields.items():
            self._value(value, where, field_name, own)
        properties = table.get("properties", {})
        self._keys(properties, properties if isinstance(properties, dict) else (), where)
        for property, value in properties.items():
            if isinstance(value, str) and value not in own.payload:
                self._fail(
                    f"{where}.properties.{property}: channel '{channel}' has no field "
                    f"{value!r}; there is {listed(own.payload)}{near(value, own.payload)}"
                )
            if not isinstance(value, str):
                self._whole(value, f"{where}.properties.{property}")
        offset, parameters = self._offset(table.get("offset", 0), f"{where}.offset")
        return Arrival(
            name,
            channel,
            self._whole(table.get("every", 1), f"{where}.every", 1),
            self._whole(table.get("transfer", 0), f"{where}.transfer", 0),
            fields,
            offset,
            properties,
            parameters,
        )

    def _firing(self, name, table, channels):
        where = f"transitions.{name}"
        self._keys(table, _FIRING, where)
        channel = self._channel_of(table, where, channels)
        event = table.get("event", "commit")
        if event not in ("start", "commit"):
            self._fail(f'{where}: event is "start" or "commit", not {event!r}')
        own = next(c for c in channels if c.name == channel)
        for key in ("where", "payload"):
            fields = table.get(key, {})
            self._keys(fields, own.payload, f"{where}.{key}")
            for field_name, value in fields.items():
                if key == "where":
                    self._value(value, where, field_name, own)
                else:
                    self._text(value, f"{where}.payload.{field_name}")
        offset, parameters = self._offset(table.get("offset", 0), f"{where}.offset")
        return Firing(
            self._text(table.get("of", name), f"{where}.of"),
            channel,
            event,
            self._whole(table.get("every", 1), f"{where}.every", 1),
            self._whole(table.get("transfer", 0), f"{where}.transfer", 0),
            table.get("where", {}),
            offset,
            table.get("payload", {}),
            name,
            self._flag(table.get("trailing", False), f"{where}.trailing"),
            parameters,
            self._flag(table.get("given", False), f"{where}.given"),
        )

    def _offset(self, value, where):
        """3 or "3 + slow": (number, names of parameters)."""
        if not isinstance(value, str):
            return self._whole(value, where), []
        terms = [term.strip() for term in value.split("+")]
        numbers = [term for term in terms if re.fullmatch(r"-?[0-9]+", term)]
        names = [term for term in terms if term not in numbers]
        if not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names):
            self._fail(f'{where} is a whole number, or a sum with parameters as "3 + slow"')
        return sum(map(int, numbers)), names

    def _flag(self, value, where):
        if not isinstance(value, bool):
            self._fail(f"{where} is true or false, not {value!r}")
        return value
