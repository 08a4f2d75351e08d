"""Files of SDF3 (https://www.es.ele.tue.nl/sdf3): dataflow graphs, SDF and CSDF, as XML."""

from __future__ import annotations

import re
from fractions import Fraction
from math import lcm
from typing import Any
from xml.parsers import expat

from ..errors import near, without_place
from .dataflow import Actor, Channel, Graph, Phases

__all__ = ["read_sdf3"]

_MOST_PHASES = 1_000_000  # of an actor
_MOST_BYTES = 1 << 28
_KINDS = ("sdf", "csdf")
_SCENARIOS = ("sadf", "fsmsadf")
_PROPERTIES = ("sdfProperties", "csdfProperties")
# What may stand in an element that is read, or beside one: {its path: (elements, attributes)}. Others may,
# too (its tools add some), unless they look like one of these.
_KNOWN: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    (): (("applicationGraph", "architectureGraph", "storageDistributionSet"), ()),
    ("applicationGraph",): ((*_KINDS, *_SCENARIOS, *_PROPERTIES), ("name",)),
}
for _kind in _KINDS:
    _above = ("applicationGraph", _kind)
    _KNOWN |= {
        _above: (("actor", "channel"), ("name", "type")),
        (*_above, "actor"): (("port",), ("name", "type")),
        (*_above, "actor", "port"): ((), ("name", "type", "rate")),
        (*_above, "channel"): (
            (),
            ("name", "srcActor", "srcPort", "dstActor", "dstPort", "initialTokens"),
        ),
    }
for _kind in _PROPERTIES:
    _above = ("applicationGraph", _kind)
    _KNOWN |= {
        _above: (("actorProperties", "channelProperties", "graphProperties"), ()),
        (*_above, "actorProperties"): (("processor",), ("actor",)),
        (*_above, "actorProperties", "processor"): (
            ("executionTime", "memory"),
            ("type", "default"),
        ),
        (*_above, "actorProperties", "processor", "executionTime"): ((), ("time",)),
    }
_DEEPEST = max(map(len, _KNOWN))
_COUNT = re.compile(r"\s*\+?([0-9]{1,30})\s*", re.ASCII)
_TIME = re.compile(r"\s*\+?([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*", re.ASCII)


def read_sdf3(path: str) -> Graph:
    """The graph of an SDF3 file: applicationGraph with sdf or csdf, and the times of its actors.

    Of several processors of an actor, the last one marked as default counts, else the last one.
    Rates and times are lists, "n*v" for v n times, and "a;b" where a comes once; a list of one
    holds for all phases of its actor. Sizes of tokens, memory, connections, bandwidths and
    constraints are not read; what looks like a misspelt name of what is read is refused. Raises
    OSError, and Error "E-dataflow" with path and line for everything else that is wrong.
    """
    with open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise without_place("E-dataflow", f"{path} has more than {_MOST_BYTES >> 20} MiB")
    return _Reader(path).read(data)


class _Element:
    __slots__ = ("attributes", "line")

    def __init__(self, attributes, line):
        self.attributes = attributes
        self.line = line


class _Reader:
    def __init__(self, path):
        self._path = path
        self._line = 0
        self._stack: list[str] = []
        self._actors: dict[str, _Element] = {}
        self._ports: dict[tuple[str, str], _Element] = {}
        self._channels: dict[str, _Element] = {}
        self._properties: dict[str, _Element] = {}
        self._times: dict[str, _Element] = {}
        self._default: dict[str, bool] = {}
        self._name: str | None = None
        self._kind: str | None = None
        self._actor: str | None = None  # of the actor or actorProperties being read
        self._is_default = False
        self._lists: dict[tuple[str, bool], tuple[list[Any] | None, list[Any]]] = {}

    def _wrong(self, message, line=None):
        return without_place("E-dataflow", f"{self._path}:{line or self._line}: {message}")

    def read(self, data):
        parser = expat.ParserCreate()
        parser.buffer_text = True

        def start(name, attributes):
            self._line = parser.CurrentLineNumber
            self._start(name, attributes)

        def doctype(*_):
            self._line = parser.CurrentLineNumber
            raise self._wrong(
                "a DOCTYPE, which could name other files or grow without end, is not read; delete it"
            )

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda name: self._stack.pop()
        parser.StartDoctypeDeclHandler = doctype
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            why = expat.errors.messages[error.code]
            raise self._wrong(f"no whole XML file: {why}", error.lineno) from None
        except (LookupError, ValueError) as error:  # an encoding that Python has not
            raise self._wrong(f"no XML that can be read: {error}", 1) from None
        return self._graph()

    # Elements, by where they stand.

    def _start(self, name, attributes):
        depth = len(self._stack)
        self._stack.append(name)
        if depth > _DEEPEST:
            return
        if depth == 0:
            if name != "sdf3":
                raise self._wrong(f"not a file of SDF3: its root is <{name}>, not <sdf3>")
            return
        self._misspelt(name, attributes)
        place = self._stack[1:]
        if place[0] != "applicationGraph":
            return
        if depth == 1:
            if self._name is not None:
                raise self._wrong("a second <applicationGraph>; write one file per graph")
            self._name = attributes.get("name", "")
        elif depth == 2 and name in _KINDS:
            if self._kind is not None:
                raise self._wrong(f"a second graph, <{name}>; write one file per graph")
            self._kind = name
        elif depth == 2 and name in _SCENARIOS:
            raise self._wrong(f"<{name}>: scenario-aware graphs are not read, only sdf and csdf")
        elif place[1] in _KINDS:
            self._in_graph(place[2:], attributes)
        elif place[1] in _PROPERTIES:
            self._in_properties(place[2:], attributes)

    def _misspelt(self, name, attributes):
        """Raises where an element or attribute looks like one that is read: it would do nothing."""
        path = tuple(self._stack[1:])
        elements, _ = _KNOWN.get(path[:-1], ((), ()))
        if name not in elements and (hint := near(name, elements)):
            raise self._wrong(f"there is no <{name}> in <{self._stack[-2]}>{hint}")
        _, known = _KNOWN.get(path, ((), ()))
        for key in attributes:
            if key not in known and (hint := near(key, known)):
                raise self._wrong(f"<{name}> has no attribute '{key}'{hint}")

    def _get(self, attributes, key, what):
        value = attributes.get(key)
        if not value:
            raise self._wrong(f"{what} has no {key}")
        return value

    def _add(self, table, key, attributes, what):
        if key in table:
            raise self._wrong(f"{what} stands twice; the first is in line {table[key].line}")
        table[key] = _Element(attributes, self._line)

    def _in_graph(self, place, attributes):
        if place == ["actor"]:
            self._actor = self._get(attributes, "name", "an actor")
            self._add(self._actors, self._actor, attributes, f"actor '{self._actor}'")
        elif place == ["actor", "port"]:
            name = self._get(attributes, "name", f"a port of actor '{self._actor}'")
            key = (self._actor, name)
            self._add(self._ports, key, attributes, f"port '{name}' of actor '{self._actor}'")
        elif place == ["channel"]:
            name = self._get(attributes, "name", "a channel")
            self._add(self._channels, name, attributes, f"channel '{name}'")

    def _in_properties(self, place, attributes):
        if place == ["actorProperties"]:
            self._actor = self._get(attributes, "actor", "an actorProperties")
            what = f"actorProperties of actor '{self._actor}'"
            self._add(self._properties, self._actor, attributes, what)
        elif place == ["actorProperties", "processor"]:
            self._is_default = attributes.get("default", "").strip() in ("true", "1")
        elif place == ["actorProperties", "processor", "executionTime"]:
            if self._is_default or not self._default.get(self._actor):
                self._times[self._actor] = _Element(attributes, self._line)
                self._default[self._actor] = self._is_default

    # The graph.

    def _graph(self):
        if self._kind is None:
            raise self._wrong("no graph: there is no <sdf> or <csdf> in an <applicationGraph>", 1)
        for name, element in self._times.items():
            if name not in self._actors:
                raise self._wrong(
                    f"there is no actor '{name}'{near(name, self._actors)}", element.line
                )
        graph = Graph(self._name or "graph")
        ends = [self._ends(name, element) for name, element in self._channels.items()]
        shapes = self._shapes(ends)
        for name in self._actors:
            times = self._list_of(self._times[name], "time", True, f"actor '{name}'")
            graph.actors.append(Actor(name, self._shaped(times, shapes[name], name, "time")))
        for name, element, source, put, target, taken in ends:
            tokens = element.attributes.get("initialTokens", "0")
            if not _COUNT.fullmatch(tokens):
                raise self._wrong(
                    f"channel '{name}': initialTokens must be a whole number, got '{tokens}'",
                    element.line,
                )
            graph.channels.append(
                Channel(
                    name,
                    source,
                    target,
                    self._shaped(put, shapes[source], source, "rate"),
                    self._shaped(taken, shapes[target], target, "rate"),
                    int(tokens),
                )
            )
        return graph

    def _ends(self, name, element):
        """(name, element, source, its rates, target, its rates) of a channel."""
        found = []
        for end, direction in (("src", "out"), ("dst", "in")):
            self._line = element.line
            actor = self._get(element.attributes, f"{end}Actor", f"channel '{name}'")
            port = self._get(element.attributes, f"{end}Port", f"channel '{name}'")
            if actor not in self._actors:
                raise self._wrong(
                    f"channel '{name}': there is no actor '{actor}'{near(actor, self._actors)}"
                )
            declared = self._ports.get((actor, port))
            if declared is None:
                known = [p for a, p in self._ports if a == actor]
                raise self._wrong(
                    f"channel '{name}': actor '{actor}' has no port '{port}'{near(port, known)}"
                )
            what = f"port '{port}' of actor '{actor}'"
            kind = declared.attributes.get("type", direction)
            if kind != direction:
                raise self._wrong(
                    f"channel '{name}': {what} has type '{kind}', it must be '{direction}'"
                )
            if declared.attributes.setdefault(".channel", (name, end)) != (name, end):
                other = declared.attributes[".channel"][0]
                raise self._wrong(f"channel '{name}': {what} already belongs to channel '{other}'")
            found += [actor, self._list_of(declared, "rate", False, what)]
        return (name, element, *found)

    def _list_of(self, element, key, fractions, what):
        """(those that come once or None, those that recur, line) of an element's list."""
        self._line = element.line
        text = self._get(element.attributes, key, what)
        parsed = self._lists.get((text, fractions))
        if parsed is None:
            once, semicolon, recurring = text.rpartition(";")
            parsed = (
                self._parse(once, fractions, key, what) if semicolon else None,
                self._parse(recurring, fractions, key, what),
            )
            self._lists[text, fractions] = parsed
        return (*parsed, element.line)

    def _parse(self, text, fractions, key, what):
        values = []
        for item in text.split(","):
            times, star, value = item.rpartition("*")
            number = (_TIME if fractions else _COUNT).fullmatch(value)
            count = _COUNT.fullmatch(times) if star else None
            if number is None or star and count is None:
                need = "numbers, none negative" if fractions else "whole numbers, none negative"
                raise self._wrong(
                    f"{what}: {key} must be a list of {need}, as 1,0,2*3; got '{text[:60]}'"
                )
            repeat = int(count[1]) if count else 1
            if len(values) + repeat > _MOST_PHASES:
                raise self._wrong(f"{what}: {key} has more than {_MOST_PHASES} phases")
            if fractions and "." in number[1]:
                exact = Fraction(number[1])
                values += [exact.numerator if exact.denominator == 1 else exact] * repeat
            else:
                values += [int(number[1])] * repeat
        return values

    def _shapes(self, ends):
        """Per actor, how many phases come once and how many recur: as its lists have, of which some
        may be shorter by a factor.
        """
        lists: dict[str, list[Any]] = {}
        for name, element in self._actors.items():
            if name not in self._times:
                raise self._wrong(
                    f"actor '{name}' has no executionTime; write time=\"0\" if it takes none",
                    element.line,
                )
            lists[name] = [self._list_of(self._times[name], "time", True, f"actor '{name}'")]
        for _, _, source, put, target, taken in ends:
            lists[source].append(put)
            lists[target].append(taken)
        shapes = {}
        for name, given in lists.items():
            recurring = 1
            for _, values, line in given:
                recurring = lcm(recurring, len(values))
                if recurring > _MOST_PHASES:
                    raise self._wrong(
                        f"actor '{name}': its lists of rates and times have no common length of at "
                        f"most {_MOST_PHASES} phases",
                        line,
                    )
            once = max(len(first) for first, _, _ in [([], 0, 0), *given] if first is not None)
            shapes[name] = (once, recurring)
        return shapes

    def _shaped(self, values, shape, actor, what):
        once, recurring, line = values
        if once is None:
            once = []
        if len(once) != shape[0]:
            raise self._wrong(
                f"actor '{actor}' has {shape[0]} phases that come once, but a {what} for {len(once)} "
                "of them; give each, before a ';'",
                line,
            )
        return Phases(tuple(once), tuple(recurring * (shape[1] // len(recurring))))
