"""A net as PNML (ISO/IEC 15909-2), and what PNML cannot say about it.

A place/transition net: places with their numbers of tokens, transitions, arcs with whole numbers.
What changes no marking that can be reached without time is said in another form: a capacity is a
complementary place, a threshold above the weight takes more and gives it back. All else is in the
file as `toolspecific` elements of tool "lpn", and in the report that `write` returns.
"""

import xml.etree.ElementTree as ElementTree

import _lpn

from ..authoring.unknown import require_known
from ..errors import mistake
from ..output_file import written

__all__ = ["LOST", "write"]

PNML = "http://www.pnml.org/version-2009/grammar/pnml"
PTNET = "http://www.pnml.org/version-2009/grammar/ptnet"
OURS = "urn:lpn"  # of what stands inside toolspecific elements

# What a place/transition net has no word for -> what a reader of the file misses.
LOST = {
    "time": "delays are gone: every firing is one step",
    "order": "places are sets of tokens, not queues",
    "priority": "of two ready transitions either may fire, not the one declared first",
    "end": "no done places: a run has no end and no latency",
    "delay": "left out",
    "servers": "left out: steps take no time",
    "interval": "left out",
    "ordered": "left out",
    "clock": "left out",
    "guard": "left out: the transition fires more often",
    "inhibitor": "left out: the transition fires more often",
    "weight": "1 instead of a number that depends on tokens",
    "threshold": "left out where it depends on tokens",
    "count": "1 instead of a number that depends on tokens",
    "properties": "tokens only count",
    "values": "left out, like the properties",
}


_BELOW = 48  # px from a place to what stands for its room


class _Report:
    def __init__(self, core):
        self._core = core
        self.rows = []

    def add(self, what, kind, name, formula=None, source=None):
        where = self._core.where(*source) if source else ""
        self.rows.append(
            {
                "what": what,
                "kind": kind,
                "name": name,
                "formula": formula,
                "instead": LOST[what],
                "line": where or None,
            }
        )


class _Writer:
    def __init__(self, net, values, marking, where):
        self.where = where
        self.core = net._core
        self.values = values
        self.tokens = _lpn.sim.initial_tokens(self.core, values, marking._core, True)
        self.report = _Report(self.core)
        self.rewritten = []
        self.types = self.core.types
        self.places = self.core.places
        self.arcs = 0
        self.capacities = {}  # place number -> capacity
        for k, place in enumerate(self.places):
            if place.capacity is not None:
                self.capacities[k] = self.core.over_params(place.capacity[0], values)

    # Parts of the document.

    def element(self, parent, tag, text=None, **attributes):
        made = ElementTree.SubElement(parent, f"{{{PNML}}}{tag}", attributes)
        if text is not None:
            made.text = str(text)
        return made

    def label(self, parent, tag, text):
        self.element(self.element(parent, tag), "text", text)

    def graphics(self, node, kind, number, below=0):
        """Where the node is in the net's picture, where that is known."""
        at = self.where.get((kind, number))
        if at is not None:
            x, y = (f"{value:.0f}" for value in (at[0], at[1] + below))
            self.element(self.element(node, "graphics"), "position", x=x, y=y)

    def own(self, parent, entries):
        """What only LPN says of a node: [(word, text, attributes)]."""
        if not entries:
            return
        specific = self.element(parent, "toolspecific", tool="lpn", version="1")
        for word, text, attributes in entries:
            made = ElementTree.SubElement(specific, f"{{{OURS}}}{word}", attributes)
            if text is not None:
                made.text = text

    def arc(self, page, source, target, weight):
        self.arcs += 1
        arc = self.element(page, "arc", id=f"a{self.arcs}", source=source, target=target)
        if weight != 1:
            self.label(arc, "inscription", weight)

    # The net.

    def document(self):
        root = ElementTree.Element(f"{{{PNML}}}pnml")
        net = self.element(root, "net", id="net", type=PTNET)
        self.label(net, "name", self.core.name)
        page = self.element(net, "page", id="page")
        for what in ("time", "order", "priority"):
            self.report.add(what, "net", self.core.name)
        for k, place in enumerate(self.places):
            self.place(page, k, place)
        for k, t in enumerate(self.core.transitions):
            self.transition(page, k, t)
        if self.core.done_count or any(p.done for p in self.places):
            self.report.add("end", "net", self.core.name)
        lost = [
            ("parameter", None, {"name": p.name, "value": str(v)})
            for p, v in zip(self.core.params, self.values)
        ]
        for row in self.report.rows:
            attributes = {"what": row["what"], "kind": row["kind"], "name": row["name"]}
            if row["line"]:
                attributes["line"] = row["line"]
            lost.append(("lost", row["formula"], attributes))
        lost += [("rewritten", None, row) for row in self.rewritten]
        self.own(net, lost)
        return root

    def place(self, page, k, place):
        node = self.element(page, "place", id=f"p.{place.name}")
        self.label(node, "name", place.name)
        self.graphics(node, "place", k)
        self.label(node, "initialMarking", self.tokens[k])
        fields = self.types[place.type].fields
        own = [
            (flag, None, {}) for flag in ("start", "done", "drain", "sink") if getattr(place, flag)
        ]
        for field in fields:
            limits = (
                {}
                if field.range is None
                else {"from": str(field.range[0]), "to": str(field.range[1])}
            )
            own.append(("property", None, {"name": field.name, **limits}))
        if place.capacity is not None:
            own.append(("capacity", self.text(None, place.capacity), {}))
        self.own(node, own)
        if fields:
            self.report.add(
                "properties", "place", place.name, ", ".join(f.name for f in fields), place.source
            )
            if self.tokens[k]:
                self.report.add(
                    "values",
                    "place",
                    place.name,
                    f"of {self.tokens[k]} tokens at the start",
                    place.source,
                )
        if k in self.capacities:
            slots = self.element(page, "place", id=f"c.{place.name}")
            self.label(slots, "name", f"room in {place.name}")
            self.graphics(slots, "place", k, _BELOW)
            self.label(slots, "initialMarking", self.capacities[k] - self.tokens[k])
            self.rewritten.append(
                {
                    "what": "capacity",
                    "name": place.name,
                    "as": f"complementary place c.{place.name}",
                }
            )

    def transition(self, page, k, t):
        node = self.element(page, "transition", id=f"t.{t.name}")
        self.label(node, "name", t.name)
        self.graphics(node, "transition", k)
        own = []
        for what in ("delay", "servers", "interval"):
            formula = getattr(t, what)
            if formula is None or what == "delay" and self.constant(t, formula) == 0:
                continue
            own.append((what, self.text(t, formula), {}))
            self.lost(what, t, formula)
        if t.ordered:
            own.append(("ordered", None, {}))
            self.lost("ordered", t)
        if t.clock is not None:
            period, phase = (self.text(t, part) for part in t.clock)
            own.append(("clock", None, {"period": period, "phase": phase}))
            self.report.add("clock", "transition", t.name, f"{period}, phase {phase}", t.source)
        takes, gives = {}, {}  # place number -> tokens
        for arc in t.inputs:
            self.input(t, arc, takes, gives, own)
        extra = dict(gives)  # what thresholds give back is no product
        produced = {}
        for arc in t.outputs:
            self.output(t, arc, produced, own)
        for place, tokens in produced.items():
            gives[place] = gives.get(place, 0) + tokens
        for place in sorted({*takes, *produced} & self.capacities.keys()):
            taken = takes.get(place, 0) - extra.get(place, 0)
            more = produced.get(place, 0) - taken
            name = f"c.{self.places[place].name}"
            if more > 0:
                self.arc(page, name, f"t.{t.name}", more)
            elif more < 0:
                self.arc(page, f"t.{t.name}", name, -more)
        for place, tokens in takes.items():
            self.arc(page, f"p.{self.places[place].name}", f"t.{t.name}", tokens)
        for place, tokens in gives.items():
            self.arc(page, f"t.{t.name}", f"p.{self.places[place].name}", tokens)
        self.own(node, own)

    def input(self, t, arc, takes, gives, own):
        name = self.places[arc.place].name
        about = {"arc": arc.name, "place": name}
        if arc.inhibit:
            own.append(("inhibitor", None, about))
            self.report.add(
                "inhibitor", "arc", f"{t.name}.{arc.name}", f"{name} is empty", arc.source
            )
            return
        weight = self.constant(t, arc.weight)
        if weight is None:
            own.append(("weight", self.text(t, arc.weight), about))
            self.lost("weight", t, arc.weight, arc)
            weight = 1
        needs = weight
        if arc.threshold is not None:
            threshold = self.constant(t, arc.threshold)
            if threshold is None:
                own.append(("threshold", self.text(t, arc.threshold), about))
                self.lost("threshold", t, arc.threshold, arc)
            elif threshold > weight:
                needs = threshold
                self.rewritten.append(
                    {
                        "what": "threshold",
                        "name": f"{t.name}.{arc.name}",
                        "as": f"takes {needs}, gives back {needs - weight}",
                    }
                )
        if arc.guard is not None:
            own.append(("guard", self.text(t, arc.guard), about))
            self.lost("guard", t, arc.guard, arc)
        if needs:
            takes[arc.place] = needs
        if needs > weight:
            gives[arc.place] = needs - weight

    def output(self, t, arc, produced, own):
        place = self.places[arc.place]
        fields = self.types[place.type].fields
        for emission in arc.emissions:
            count = self.constant(t, emission.count)
            about = {"place": place.name}
            if count is None:
                own.append(("count", self.text(t, emission.count), about))
                self.lost("count", t, emission.count, place=place.name)
                count = 1
            for field, formula in zip(fields, emission.fields):
                own.append(("property", self.text(t, formula), {**about, "name": field.name}))
            if count:
                produced[arc.place] = produced.get(arc.place, 0) + count

    def constant(self, t, formula):
        """The number that a formula always is with these parameters, else None."""
        value = self.core.over_params(formula[0], self.values)
        if value is None:
            lo, hi = self.core.bounds(t, formula[0])
            value = lo if lo == hi else None
        if value is not None and value < 0:
            raise mistake(
                "E-param-value",
                f"transition '{t.name}': {self.text(t, formula)} is {value} "
                "with these parameters; it must be >= 0",
            )
        return value

    def text(self, t, formula):
        return self.core.text(t, formula[0])

    def lost(self, what, t, formula=None, arc=None, place=None):
        kind, name = ("transition", t.name) if arc is None else ("arc", f"{t.name}.{arc.name}")
        if place is not None:
            kind, name = "arc", f"{t.name} to {place}"
        source = formula[1:] if formula is not None and formula[2] else t.source
        self.report.add(
            what, kind, name, None if formula is None else self.text(t, formula), source
        )


def write(net, values, marking, path, where=None):
    """Writes the net with the tokens of `marking` as a PNML file.

    `where`: the middles of its parts as image.positions() has them; None: the file says nothing of
    that, and other tools lay it out. `values`: those of the net's parameters, which PNML has none
    of. Returns (lost, rewritten): `lost` a list of {what, kind, name, formula, instead, line} for
    everything that the file's standard part does not say, `rewritten` of {what, name, as} for what
    it says in another form. Raises Error "E-param-value" for a formula over parameters that has no
    value, "E-unknown" for a net with lpn.unknown(), whose numbers a file would have to invent,
    OSError.
    """
    require_known(net)
    ElementTree.register_namespace("", PNML)
    ElementTree.register_namespace("lpn", OURS)
    writer = _Writer(net, values, marking, where or {})
    tree = ElementTree.ElementTree(writer.document())
    ElementTree.indent(tree)
    with written(path, binary=True) as file:
        tree.write(file, encoding="utf-8", xml_declaration=True)
    return writer.report.rows, writer.rewritten
