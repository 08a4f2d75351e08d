"""Reads the text form of a net, as docs/lpn-format.md has it, into a `Net`.

Written from the page alone. Grammar errors are `Refused("E-text")` with `line:column: `; what reads well but
breaks a rule of nets gets that rule's own code.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

LEAST, MOST = -(2**63), 2**63 - 1
WORDS_OF_FORMULAS = set(
    "index true false and or not abs min max ceil_div select occupancy free taken sum min_of max_of"
    " lookup assume nothing".split()
)
LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "//", "%"]]  # below the comparisons
ARGUMENTS = {"abs": 1, "min": 2, "max": 2, "ceil_div": 2, "select": 3}


class Refused(Exception):
    """A net, input or request that is wrong before any run: `code` as in docs/errors.md."""

    def __init__(self, code, text):
        super().__init__(f"{text} [{code}]")
        self.code = code


@dataclass
class Type:
    name: str
    fields: list = field(default_factory=list)  # names
    ranges: list = field(default_factory=list)  # (least, most), or None, for each field


@dataclass
class Group:
    """Some equal-made tokens: a count (None: one) and a formula per field; of an output arc or initial."""

    count: Optional[tuple]
    values: list


@dataclass
class Place:
    name: str
    type: Type
    marks: set
    capacity: Optional[tuple] = None
    initial: list = field(default_factory=list)  # of Group


@dataclass
class Take:
    name: str
    place: int
    inhibits: bool = False
    weight: tuple = ("int", 1)
    threshold: Optional[tuple] = None
    guard: Optional[tuple] = None
    reads_own_head: bool = False


@dataclass
class Put:
    place: int
    groups: list


@dataclass
class Transition:
    name: str
    takes: list = field(default_factory=list)
    puts: list = field(default_factory=list)
    delay: Optional[tuple] = None
    servers: Optional[tuple] = None
    interval: Optional[tuple] = None
    ordered: bool = False
    clock: Optional[tuple] = None  # period
    phase: Optional[tuple] = None


@dataclass
class Net:
    name: str = ""
    params: dict = field(default_factory=dict)  # name: (default, range or None)
    types: dict = field(default_factory=dict)
    places: list = field(default_factory=list)
    transitions: list = field(default_factory=list)
    done: Optional[tuple] = None


class Token(NamedTuple):
    kind: str  # eol, number, word, quoted, string, op, end
    text: str
    at: int


TOKENS = re.compile(
    r"""(?P<space>[ \t]+|\#[^\n]*)|(?P<eol>\n)|(?P<number>[0-9]+(?![A-Za-z_0-9]))
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)|'(?P<quoted>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)'
    |(?P<string>"(?:[^"\\\n]|\\["\\nt]|\\x[0-9a-fA-F]{2})*")
    |(?P<op>\.\.|//|<<|>>|==|!=|<=|>=|[-+*%~&|^<>=.,:@?(){}\[\]])""",
    re.VERBOSE | re.ASCII,
)


def tokens_of(text):
    """The words of a text; newlines count except inside ( ) and [ ], and several count as one."""
    found, at, depth = [], 0, 0
    while at < len(text):
        match = TOKENS.match(text, at)
        if not match:
            raise Refused("E-text", f"{position(text, at)} found {text[at]!r}")
        kind, word = match.lastgroup, match.group(match.lastgroup)
        if word in "([" and kind == "op":
            depth += 1
        elif word in ")]" and kind == "op":
            depth = max(0, depth - 1)
        if kind != "space" and not (
            kind == "eol" and (depth or not found or found[-1].kind == "eol")
        ):
            found.append(Token(kind, word, at))
        at = match.end()
    return found + [Token("end", "", len(text))]


def position(text, at):
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}:"


class Parser:
    def __init__(self, text):
        # Bytes as characters: strings may hold any byte, and columns count bytes.
        self.text = text.encode("utf-8", "surrogateescape").decode("latin-1")
        self.tokens = tokens_of(self.text)
        self.at = 0
        self.net = Net()
        self.place_of = {}
        self.texts = {}  # of assume, by their number

    # ---- words ----

    def fail(self, wanted):
        token = self.tokens[self.at]
        found = {"eol": "the end of the line", "end": "the end of the text"}.get(
            token.kind, repr(token.text)
        )
        where = position(self.text, token.at)
        raise Refused("E-text", f"{where} found {found}; expected {wanted}")

    def sees(self, *texts):
        token = self.tokens[self.at]
        return token.kind in ("word", "op") and token.text in texts

    def accept(self, *texts):
        if not self.sees(*texts):
            return None
        self.at += 1
        return self.tokens[self.at - 1].text

    def expect(self, text):
        return self.accept(text) or self.fail(f"'{text}'")

    def another(self, end):
        """After an item of a list, which may end with a comma."""
        return self.accept(",") and not self.sees(end)

    def take(self, kind, wanted):
        if self.tokens[self.at].kind != kind:
            self.fail(wanted)
        self.at += 1
        return self.tokens[self.at - 1].text

    def end_of_line(self):
        self.take("eol", "the end of the line")

    def name(self):
        if self.tokens[self.at].kind == "quoted":
            name = self.take("quoted", "a name")
        else:
            name = self.take("word", "a name")
            while self.accept("."):
                name += "." + self.take("word", "a name")
        return name if len(name) <= 200 else self.fail("a name of at most 200 characters")

    def integer(self):
        sign = "-" if self.accept("-") else ""
        return self.number(sign)

    def number(self, sign=""):
        value = int(sign + self.take("number", "a number"))
        if not LEAST <= value <= MOST:
            self.at -= 1
            self.fail("a number of 64 bits")
        return value

    def range(self):
        least = self.integer()
        self.expect("..")
        most = self.integer()
        return (least, most) if least <= most else self.fail("a range that is not empty")

    def source(self):
        if self.accept("@") and not self.accept("?"):
            self.line()
            if self.accept(":"):
                self.line()

    def line(self):
        line = self.number()
        if line < 2**32:
            return line
        self.at -= 1
        self.fail("a number of a line")

    # ---- items ----

    def parse(self):
        for word in ("lpn", "1"):
            token = self.tokens[self.at]
            if token.text != word or token.kind not in ("word", "number"):
                self.fail("'lpn 1'")
            self.at += 1
        self.end_of_line()
        self.expect("net")
        self.net.name = self.name()
        self.end_of_line()
        items = {"file": self.file, "param": self.param, "type": self.type, "place": self.place}
        items |= {"done": self.done, "transition": self.transition, "frequency": self.frequency}
        while not self.sees("end"):
            item = self.accept(*items) or self.fail("a declaration, or 'end': the text is cut off")
            items[item]()
            self.end_of_line()
        self.at += 1
        if self.tokens[self.at].kind == "eol":
            self.at += 1
        if self.tokens[self.at].kind != "end":
            self.fail("nothing after 'end'")
        if self.net.done and not any("done" in place.marks for place in self.net.places):
            raise Refused("E-done", "a done count needs a place that is done")
        return self.net

    def frequency(self):
        self.integer()  # for people

    def file(self):
        self.take("string", "a file's name in quotes")

    def param(self):
        name = self.fresh(self.net.params, "parameter")
        self.expect("=")
        default, allowed = self.integer(), None
        if self.accept("in"):
            allowed = self.range()
            if not allowed[0] <= default <= allowed[1]:
                raise Refused("E-param", f"parameter '{name}' is {default}, outside its range")
        self.source()
        self.net.params[name] = (default, allowed)

    def type(self):
        made = Type(self.fresh(self.net.types, "type"))
        self.expect("(")
        while not self.sees(")"):
            made.fields.append(self.fresh(made.fields, "field"))
            made.ranges.append(self.range() if self.accept(":") else None)
            if not self.accept(","):
                break
        self.expect(")")
        self.source()
        if len(made.fields) > 64:
            raise Refused("E-limit", f"type '{made.name}' has more than 64 fields")
        self.net.types[made.name] = made

    def fresh(self, taken, what):
        name = self.name()
        if name in taken:
            raise Refused("E-text", f"there is a {what} '{name}' already")
        return name

    def declared(self, table, what):
        name = self.name()
        if name not in table:
            self.at -= 1
            self.fail(f"a {what} that is declared above, not '{name}'")
        return table[name]

    def place(self):
        name = self.fresh(self.place_of, "place")
        self.expect(":")
        place = Place(name, self.declared(self.net.types, "type"), set())
        while mark := self.accept("start", "done", "drain", "sink"):
            if mark in place.marks:
                self.fail("each mark once")
            place.marks.add(mark)
        self.source()
        if self.accept("capacity"):
            place.capacity = self.formula(Scope(self.net), "int")
        if self.accept("initial"):
            place.initial = self.groups(place.type, Scope(self.net), Scope(self.net, index=True))
        if {"start", "done"} <= place.marks:
            raise Refused("E-place", f"place '{name}' is both start and done")
        self.place_of[name] = len(self.net.places)
        self.net.places.append(place)

    def done(self):
        if self.net.done:
            self.fail("one done count")
        self.net.done = self.formula(Scope(self.net), "int")

    def transition(self):
        t = Transition(self.fresh([t.name for t in self.net.transitions], "transition"))
        self.source()
        self.expect("{")
        self.end_of_line()
        self.waiting = []  # formulas, resolved when all arcs are known
        clauses = ["take", "empty", "delay", "servers", "interval", "ordered", "clock", "put"]
        seen = set()
        while not self.accept("}"):
            clause = self.accept(*clauses) or self.fail("a line of a transition, or '}'")
            if clause in seen:
                self.fail(f"'{clause}' once")
            if clause not in ("take", "empty", "put"):
                seen.add(clause)
            if clause in ("take", "empty"):
                t.takes.append(self.arc(t, clause))
            elif clause == "put":
                t.puts.append(self.put())
            elif clause == "ordered":
                t.ordered = True
            else:
                setattr(t, clause, self.later())
                if clause == "clock" and self.accept("phase"):
                    t.phase = self.later()
            self.end_of_line()
        if t.delay is None:
            self.fail("a delay")
        self.resolve(t)
        self.net.transitions.append(t)

    def arc(self, t, clause):
        arc = Take(self.fresh([a.name for a in t.takes], "arc"), 0, clause == "empty")
        self.expect("in" if arc.inhibits else "from")
        arc.place = self.declared(self.place_of, "place")
        if arc.place in [a.place for a in t.takes]:
            raise Refused("E-arc", f"transition '{t.name}' has two arcs from one place")
        self.source()
        if not arc.inhibits:
            for word, part in (("weight", "weight"), ("need", "threshold"), ("when", "guard")):
                if self.accept(word):
                    setattr(arc, part, self.later())
        return arc

    def put(self):
        place = self.declared(self.place_of, "place")
        self.source()
        if self.accept("nothing"):
            return Put(place, [])
        if self.tokens[self.at].kind == "eol" and not self.net.places[place].type.fields:
            return Put(place, [Group(None, [])])
        return Put(place, self.groups(self.net.places[place].type, None, None))

    def groups(self, type, count_scope, value_scope):
        """Groups of tokens; the formulas are resolved at once where there are scopes, else later."""

        def formula(scope):
            return self.formula(scope, "int") if scope else self.later()

        groups = []
        while not groups or self.accept(","):
            if not type.fields:
                groups.append(Group(formula(count_scope), []))
                continue
            self.expect("(")
            values = [formula(value_scope)]
            while self.another(")"):
                values.append(formula(value_scope))
            self.expect(")")
            if len(values) != len(type.fields):
                raise Refused("E-text", f"type '{type.name}' has {len(type.fields)} fields")
            groups.append(Group(formula(count_scope) if self.accept("times") else None, values))
        return groups

    def resolve(self, t):
        """Names in the formulas of a transition to arcs and fields, and what each formula may read."""
        net, arcs = self.net, t.takes
        for i, arc in enumerate(arcs):
            if arc.inhibits:
                continue
            numbers = Scope(net, arcs, readable=i, own=i)
            arc.weight = numbers.resolve(arc.weight, "int")
            arc.threshold = arc.threshold and numbers.resolve(arc.threshold, "int")
            arc.reads_own_head = numbers.read_own
            if arc.guard:
                arc.guard = Scope(net, arcs, readable=i + 1).resolve(arc.guard, "bool")
        firing = Scope(net, arcs, readable=len(arcs))
        t.delay = firing.resolve(t.delay, "int")
        t.interval = t.interval and firing.resolve(t.interval, "int")
        for part in ("servers", "clock", "phase"):
            if getattr(t, part):
                setattr(t, part, Scope(net).resolve(getattr(t, part), "int"))
        values = Scope(net, arcs, readable=len(arcs), index=True)
        for put in t.puts:
            for group in put.groups:
                group.count = group.count and firing.resolve(group.count, "int")
                group.values = [values.resolve(value, "int") for value in group.values]

    # ---- formulas: raw trees, whose names `Scope.resolve` looks up ----

    def later(self):
        raw = self.disjunction()
        self.source()
        return raw

    def formula(self, scope, wanted):
        return scope.resolve(self.later(), wanted)

    def disjunction(self):
        left = self.conjunction()
        while self.accept("or"):
            left = ("or", left, self.conjunction())
        return left

    def conjunction(self):
        left = self.negation()
        while self.accept("and"):
            left = ("and", left, self.negation())
        return left

    def negation(self):
        return ("not", self.negation()) if self.accept("not") else self.comparison()

    def comparison(self):
        left = self.binary(0)
        sign = self.accept("==", "!=", "<=", ">=", "<", ">")
        if not sign:
            return left
        right = self.binary(0)
        if self.sees("==", "!=", "<=", ">=", "<", ">"):
            self.fail("'and': comparisons do not chain")
        # `a > b` is read as `b < a`, so b is evaluated first.
        return (
            (sign, left, right)
            if sign not in (">", ">=")
            else (sign.replace(">", "<"), right, left)
        )

    def binary(self, level):
        if level == len(LEVELS):
            return self.signed()
        left = self.binary(level + 1)
        while sign := self.accept(*LEVELS[level]):
            left = (sign, left, self.binary(level + 1))
        return left

    def signed(self):
        minus = self.tokens[self.at]
        if not self.accept("-", "~"):
            return self.value()
        after = self.tokens[self.at]
        if minus.text == "-" and after.kind == "number":
            return ("int", self.number("-"))
        return ("neg" if minus.text == "-" else "~", self.signed())

    def value(self):
        kind, text, _ = self.tokens[self.at]
        if kind == "number":
            return ("int", self.number())
        if self.accept("("):
            inner = self.disjunction()
            self.expect(")")
            return inner
        if kind == "word" and text in WORDS_OF_FORMULAS:
            self.at += 1
            return self.keyword(text)
        quoted = kind == "quoted"
        words = [self.take(kind, "a value")] if quoted or kind == "word" else self.fail("a value")
        index = None
        if self.accept("["):
            index = self.disjunction()
            self.expect("]")
            self.expect(".")
            return ("token", words[0], index, self.name())
        while self.accept("."):
            words.append(self.name())
        return ("dotted", words, quoted)

    def keyword(self, word):
        if word == "index":
            return ("index",)
        if word in ("true", "false"):
            return ("bool", word == "true")
        if word in ("and", "or", "not", "nothing"):
            self.at -= 1
            self.fail("a value")
        self.expect("(")
        made = self.call(word)
        self.expect(")")
        return made

    def call(self, word):
        if word in ARGUMENTS:
            operands = [self.disjunction()]
            while self.accept(","):
                operands.append(self.disjunction())
            if len(operands) != ARGUMENTS[word]:
                self.fail(f"{ARGUMENTS[word]} operands of '{word}'")
            return (word, *operands)
        if word in ("occupancy", "free", "taken"):
            return (word, self.name())
        if word == "lookup":
            self.expect("[")
            table = [self.integer()]
            while self.another("]"):
                table.append(self.integer())
            self.expect("]")
            self.expect(",")
            return ("lookup", table, self.disjunction())
        if word == "assume":
            condition = self.disjunction()
            self.expect(",")
            value = self.disjunction()
            self.expect(",")
            text = self.take("string", "a text in quotes")
            return ("assume", condition, value, self.texts.setdefault(text, len(self.texts)))
        loop = self.name()
        if loop == "index":
            self.fail("another name for the position of a token")
        self.expect("in")
        arc = self.name()
        self.expect(":")
        return (word, loop, arc, self.disjunction())


class Scope:
    """What a formula may read, by the table of docs/semantics.md: tokens of the first `readable` arcs, the
    head of arc `own` (whose weight or threshold it is), `index`. No arcs: parameters alone."""

    def __init__(self, net, arcs=(), readable=0, own=None, index=False):
        self.net, self.arcs, self.readable, self.own, self.index = net, arcs, readable, own, index
        self.arc_of = {arc.name: i for i, arc in enumerate(arcs)}
        self.loops, self.read_own, self.nodes = [], False, 0

    def resolve(self, raw, wanted):
        """The tree with arcs and fields by number. `wanted`: int or bool."""
        self.nodes = 0
        tree, kind = self.walk(raw, 1)
        if kind != wanted:
            raise Refused("E-expr", f"found {kind}; expected {wanted}")
        return tree

    def walk(self, raw, level):
        op = raw[0]
        self.nodes += 1
        if level > 500 or self.nodes > 65536:
            raise Refused("E-expr", "the formula is too large")
        if op in ("int", "bool"):
            return raw, op
        if op == "index":
            if not self.index:
                raise Refused("E-text", "'index' outside of the values of tokens")
            return raw, "int"
        if op == "dotted":
            return self.dotted(*raw[1:]), "int"
        if op == "token":
            return self.token(raw[1], self.int(raw[2], level), raw[3]), "int"
        if op in ("occupancy", "free", "taken"):
            arc = self.arc(raw[1])
            if op == "taken" and arc >= self.readable:
                raise Refused("E-expr", f"what arc '{raw[1]}' takes is not known here")
            return (op, arc), "int"
        if op in ("sum", "min_of", "max_of"):
            return self.fold(raw, level), "int"
        if op == "lookup":
            return (op, raw[1], self.int(raw[2], level)), "int"
        if op in ("and", "or", "not"):
            return (op, *(self.bool(part, level) for part in raw[1:])), "bool"
        if op in ("==", "!=", "<", "<="):
            return (op, self.int(raw[1], level), self.int(raw[2], level)), "bool"
        if op in ("select", "assume"):
            condition = self.bool(raw[1], level)
            sides = [
                self.walk(part, level + 1) for part in (raw[2:3] if op == "assume" else raw[2:])
            ]
            if len({kind for _, kind in sides}) > 1:
                raise Refused("E-text", "the sides of a select are an integer and a condition")
            rest = raw[3:] if op == "assume" else ()
            return (op, condition, *(tree for tree, _ in sides), *rest), sides[0][1]
        return (op, *(self.int(part, level) for part in raw[1:])), "int"

    def int(self, raw, level):
        return self.of_kind(raw, level, "int")

    def bool(self, raw, level):
        return self.of_kind(raw, level, "bool")

    def of_kind(self, raw, level, wanted):
        tree, kind = self.walk(raw, level + 1)
        if kind != wanted:
            raise Refused("E-text", f"found {kind}; expected {wanted}")
        return tree

    def dotted(self, words, quoted):
        """A parameter, the position in an aggregate, or a field of an arc's first token."""
        if len(words) > 1 and words[0] in self.arc_of:
            return self.token(words[0], ("int", 0), ".".join(words[1:]))
        name = ".".join(words)
        if quoted and len(words) > 1:
            raise Refused("E-text", f"there is no arc '{words[0]}'")
        if name in self.loops:
            return ("loop", self.loops.index(name))
        if name not in self.net.params:
            raise Refused("E-text", f"there is no parameter '{name}'")
        return ("param", name)

    def arc(self, name):
        if name not in self.arc_of:
            raise Refused("E-text", f"there is no arc '{name}'")
        return self.arc_of[name]

    def token(self, name, index, wanted):
        arc = self.arc(name)
        if self.arcs[arc].inhibits:
            raise Refused("E-text", f"arc '{name}' needs its place empty")
        if arc >= self.readable and (arc != self.own or index != ("int", 0)):
            raise Refused("E-expr", f"tokens of arc '{name}' are not known here")
        self.read_own |= arc == self.own
        fields = self.net.places[self.arcs[arc].place].type.fields
        if wanted not in fields:
            raise Refused("E-text", f"tokens of arc '{name}' have no '{wanted}'")
        return ("token", arc, index, fields.index(wanted))

    def fold(self, raw, level):
        op, loop, name, body = raw
        arc = self.arc(name)
        if arc >= self.readable or self.arcs[arc].inhibits:
            raise Refused("E-expr", f"tokens of arc '{name}' are not known here")
        if loop in self.loops:
            raise Refused("E-text", f"'{loop}' is the position of an outer aggregate already")
        if len(self.loops) >= 8:
            raise Refused("E-expr", "aggregates inside aggregates, more than 8")
        self.loops.append(loop)
        tree = self.int(body, level)
        self.loops.pop()
        return (op, arc, len(self.loops), tree)


def parse(text):
    """The net of a text; raises Refused."""
    return Parser(text).parse()
