"""Random lines of a user of the package `lpn`, given the names that lines before have made."""

from scene import COMPILED, NETS
from values import integer, odd, small, sometimes, word

_GOLDEN = sorted(p.stem for p in NETS.glob("*.lpn") if p.stat().st_size < 4000)
_TYPES = ["None", "Plain", "Narrow", "Request", "lpn.Token"]


def _part(value, name):
    """An attribute; None where there is none, whatever asking for it raises."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


class Lines:
    """line(): the source of the next call. `names`: the scene, which the caller runs it in."""

    def __init__(self, rng, names):
        self.rng = rng
        self.names = names
        self.made = 0

    # What is there.

    def of(self, *kinds):
        """The names of what lines made, of these types by name."""
        return [
            name
            for name, value in self.names.items()
            if name[-1:].isdigit() and name[0] == "v" and type(value).__name__ in kinds
        ]

    def all_made(self):
        return [n for n in self.names if n[0] == "v" and n[-1:].isdigit()]

    def one(self, *kinds):
        found = self.of(*kinds)
        if not found or self.rng.random() < 0.01:
            return odd(self.rng, self.all_made())
        return self.rng.choice(found[-4:])

    def new(self):
        self.made += 1
        return f"v{self.made}"

    def some(self, text, share=0.04):
        return sometimes(self.rng, text, share, self.all_made())

    def place(self, net):
        there = _part(self.names.get(net), "places")
        if isinstance(there, dict) and there and self.rng.random() < 0.9:
            name = repr(self.rng.choice(list(there)))
            return name if self.rng.random() < 0.5 else f"{net}[{name}]"
        return self.some(f"{net}[{word(self.rng, 'p')}]", 0.1)

    def net_of(self, made):
        """The name of the net that a marking or a space belongs to."""
        owner = _part(self.names.get(made), "net")
        for name in self.of("Net"):
            if self.names[name] is owner and owner is not None:
                return name
        return self.one("Net")

    def fields(self, net, place):
        """Values for all properties of a place, as keyword arguments."""
        try:
            kind = eval(place if "[" in place else f"{net}[{place}]", dict(self.names))._type
            return {f: r for f, r in zip(kind.fields, kind.ranges)}
        except Exception:
            return {"a": None}

    def value(self, range_):
        if range_ and self.rng.random() < 0.9:
            return str(self.rng.randint(range_[0], min(range_[1], range_[0] + 40)))
        return self.some(integer(self.rng))

    def keywords(self, net, place):
        given = {f: self.value(r) for f, r in self.fields(net, place).items()}
        if self.rng.random() < 0.05 and given:
            given.pop(self.rng.choice(list(given)))
        if self.rng.random() < 0.03:
            given["zz"] = integer(self.rng)
        return "".join(f", {f}={v}" for f, v in given.items())

    # The lines.

    def line(self):
        return self.rng.choice(self._WAYS)(self)

    def begin(self):
        if self.rng.random() < 0.45:
            name = self.rng.choice(_GOLDEN)
            return f"{self.new()} = lpn.Net.parse(text_of({name!r}))"
        return self.net()

    def net(self):
        return f"{self.new()} = lpn.Net({word(self.rng, 'n')})"

    def param(self):
        more = ""
        if self.rng.random() < 0.5:
            more = f", range=({self.some('0')}, {self.some(integer(self.rng))})"
        return (
            f"{self.new()} = {self.one('Net')}.param({word(self.rng, 'k')}, "
            f"{self.some(integer(self.rng))}{more})"
        )

    def add_place(self):
        r = self.rng
        kind = self.some(r.choice(_TYPES), 0.02)
        more = []
        if r.random() < 0.3:
            more.append(f"capacity={self.some(r.choice([small(r), self.one('Expr')]), 0.1)}")
        if r.random() < 0.4:
            plain = f"lpn.tokens({integer(r)}, a=1)" if r.random() < 0.5 else small(r)
            more.append(f"init={self.some(plain, 0.05)}")
        for flag in ("start", "done", "drain", "sink"):
            if r.random() < 0.25:
                more.append(f"{flag}={self.some('True')}")
        return f"{self.new()} = {self.one('Net')}.place({word(r, 'p')}, {', '.join([kind, *more])})"

    def formula(self, arcs, truth=False):
        r = self.rng
        arc = r.choice(arcs or ["x"])
        number = r.choice(
            [
                small(r), integer(r), self.one("Expr"), f"lambda {arc}: {arc}.a",
                f"lambda {arc}: {arc}.count * {integer(r)}", f"lambda {arc}: {arc}[0].a // {small(r)}",
                f"lambda {arc}: lpn.max({arc}.a, {integer(r)})", f"lambda {arc}: {arc}.a << {small(r)}",
                f"lambda {arc}: lpn.select({arc}.a > 3, {small(r)}, {integer(r)})",
                f"lambda {arc}: lpn.lookup([1, 2, {integer(r)}], {arc}.a)",
                f"lambda {arc}: lpn.sum({arc}, lambda t: t.a)", f"lambda {arc}: {arc}",
                f"lambda {arc}: 1 // ({arc}.a - {arc}.a)", f"lambda {arc}: {arc}.a ** 2",
                "lambda: 3", "lambda *a: 3", "raises",
            ]
        )  # fmt: skip
        if truth:
            number = f"lambda {arc}: {arc}.a {r.choice(['<', '>=', '==', '!='])} {integer(r)}"
        return self.some(number, 0.05)

    def transition(self):
        r = self.rng
        net = self.one("Net")
        arcs, takes = [], []
        for k in range(r.choice([0, 1, 1, 1, 2, 3])):
            arc, place = f"x{k}", f"{net}[{word(r, 'p')}]" if r.random() < 0.1 else self.place(net)
            if "[" not in place:
                place = f"{net}[{place}]"
            how = r.choice(["", "", ".take()", f".take({integer(r)})", ".peek()", ".empty()", ".watch()",
                            f".take(2, need={integer(r)})"])  # fmt: skip
            arcs.append(arc)
            takes.append(f"'{arc}': {self.some(place + how, 0.02)}")
        puts = []
        for _ in range(r.choice([0, 1, 1, 2])):
            place = self.place(net)
            if "[" not in place:
                place = f"{net}[{place}]"
            how = r.random()
            if how < 0.4 and arcs:
                puts.append(f"{place}.forward({r.choice(arcs)!r})")
            elif how < 0.6:
                puts.append(place)
            else:
                fields = "".join(
                    f", {f}={self.formula(arcs) if r.random() < 0.4 else self.value(v)}"
                    for f, v in self.fields(net, place).items()
                )
                count = small(r) if r.random() < 0.8 else self.formula(arcs)
                puts.append(f"{place}.emit({count}{fields})")
        more = []
        for option, share in (("delay", 0.9), ("interval", 0.15), ("servers", 0.4)):
            if r.random() < share:
                plain = small(r) if r.random() < 0.6 else self.formula(arcs)
                more.append(f"{option}={plain}")
        if r.random() < 0.2:
            more.append(f"guard={self.formula(arcs, truth=True)}")
        if r.random() < 0.1:
            more.append(f"clock={self.some(f'({integer(r)}, {small(r)})', 0.1)}")
        if r.random() < 0.1:
            more.append(f"ordered={self.some('True')}")
        return (
            f"{net}.transition({word(r, 't')}, {{{', '.join(takes)}}}, [{', '.join(puts)}]"
            + "".join(f", {m}" for m in more)
            + ")"
        )

    def instance(self):
        r = self.rng
        outer, part = self.one("Net"), self.one("Net")
        more = ""
        if r.random() < 0.7:
            more += f", connect={{{self.place(part)}: {self.place(outer)}}}"
        if r.random() < 0.3:
            more += f", params={{{word(r, 'k')}: {integer(r)}}}"
        if r.random() < 0.3:
            more += f", clock=({integer(r)}, {integer(r)})"
        return f"{self.new()} = {outer}.instance({part}, {word(r, 'i')}{more})"

    def whole_net(self):
        net = self.one("Net")
        return self.rng.choice(
            [
                f"{net}.done()", f"{self.new()} = {net}.text()", f"{self.new()} = lpn.Net.parse({net}.text())",
                f"{self.new()} = pickle.loads(pickle.dumps({net}))", f"{self.new()} = copy.deepcopy({net})",
                f"{net}.done_count = {self.some(integer(self.rng), 0.1)}", f"{net}.core.lint()",
                f"{self.new()} = _lpn.structure({net}.done().core, list({net}.params.values()))",
                f"{self.new()} = lpn.Net.parse(text_of({self.rng.choice(_GOLDEN)!r})[:{self.rng.randrange(600)}])",
                f"repr({net})", f"{net}.bound = {{'k': 3}}", f"{self.new()} = {net}.core.copy()",
                f"{self.new()} = {net}.core.print()", "gc.collect()",
                f"del {self.rng.choice(self.all_made() or ['v0'])}",
            ]
        )  # fmt: skip

    def marking(self):
        return f"{self.new()} = lpn.Marking({self.one('Net')})"

    def add(self):
        r = self.rng
        marking = self.one("Marking")
        net = self.net_of(marking)
        place = self.place(net)
        at = f", at={self.some(integer(r), 0.1)}" if r.random() < 0.15 else ""
        way = r.random()
        if way < 0.5:
            count = small(r) if r.random() < 0.8 else integer(r)
            return f"{marking}.add({place}, {self.some(count)}{at}{self.keywords(net, place)})"
        fields = self.fields(net, place)
        if way < 0.8:
            rows = [
                "(" + "".join(f"{self.value(v)}, " for v in fields.values()) + ")"
                for _ in range(r.randrange(4))
            ]
            at = f", at=[{', '.join(small(r) for _ in rows)}]" if at else ""
            return f"{marking}.add_rows({place}, {self.some('[' + ', '.join(rows) + ']')}{at})"
        columns = "".join(
            f", {f}={self.some(f'array({chr(39)}q{chr(39)}, [{small(r)}] * {small(r)})', 0.15)}"
            for f in fields
        )
        return f"{marking}.add_columns({place}{columns}{at})"

    def whole_marking(self):
        r = self.rng
        m = self.one("Marking")
        net = self.net_of(m)
        cut = f"[:{r.randrange(80)}]" if r.random() < 0.4 else ""
        noise = f" + bytes([{r.randrange(256)}] * {r.randrange(9)})" if r.random() < 0.4 else ""
        return r.choice(
            [
                f"{self.new()} = {m}.save_bytes()",
                f"{self.new()} = lpn.Marking.parse({net}, {m}.save_bytes(){cut}{noise})",
                f"{self.new()} = pickle.loads(pickle.dumps({m}))",
                f"{m}.done_count = {self.some(integer(r), 0.1)}", f"repr({m})",
                f"{self.new()} = {m}.rows({self.place(net)})", f"{self.new()} = {m}.times({self.place(net)})",
                f"{self.new()} = {m}.count({self.place(net)})",
            ]
        )  # fmt: skip

    def parameters(self, net):
        there = _part(self.names.get(net), "params")
        if not isinstance(there, dict) or self.rng.random() < 0.6:
            return ""
        given = ", ".join(f"{name!r}: {self.some(integer(self.rng))}" for name in there)
        return f", params={{{given}}}"

    def simulate(self):
        r = self.rng
        marking = self.one("Marking") if r.random() < 0.7 else "None"
        net = self.one("Net") if marking == "None" or r.random() < 0.03 else self.net_of(marking)
        more = self.parameters(net)
        if r.random() < 0.85:
            more += f", limit={self.some(r.choice(['0', '10', '1000', '5000', integer(r)]), 0.03)}"
        # Nearly every run has an end: a net without one would cost its 2 s of processor time.
        more += f", max_time={self.some('0.05', 0.01)}, max_memory={self.some('1 << 24', 0.01)}"
        for option, values in (
            ("trace", ["True", "lambda c: None", "raises", "print", f"lambda c: {self.one('Net')}.place('late')"]),
            ("stats", ["True"]),
            ("path", ["True", "0", "5", integer(r)]),
            ("path_memory", [integer(r), "1 << 16"]),
            ("read", [f"[{self.place(net)}]", f"[{self.place(net)}, {self.place(net)}]"]),
            ("max_tokens", [integer(r)]), ("max_groups", [integer(r)]), ("max_firings", [integer(r)]),
            ("engine", ["'interp'", "'compiled'", "'fast'"]),
        ):  # fmt: skip
            if r.random() < 0.2:
                more += f", {option}={self.some(r.choice(values))}"
        return f"{self.new()} = lpn.simulate({net}, {marking}{more})"

    def batch(self):
        r = self.rng
        if r.random() < 0.6:  # one of those that are compiled
            net = f"lpn.Net.parse(text_of({r.choice(COMPILED)!r}))"
            call = f"lambda n: lpn.run_batch(n, [lpn.Marking(n)] * {small(r)}"
        else:
            net, marking = self.one("Net"), self.one("Marking")
            call = f"lambda n: lpn.run_batch(n, [{marking}] * {small(r)}"
        more = f", threads={self.some(r.choice(['1', '2', '0', '-1']))}, max_time=0.2, max_memory=1 << 24"
        for option, values in (
            ("limit", [small(r), "1000", integer(r)]), ("errors", ["'return'", "'raise'", "'x'"]),
            ("params", ["{}", "[{}]", "{'k': 1}"]), ("read", ["['p0']", "[n['out']]", "list(n.places)"]),
            ("max_tokens", [integer(r)]), ("max_groups", [integer(r)]),
        ):  # fmt: skip
            if r.random() < 0.3:
                more += f", {option}={self.some(r.choice(values))}"
        return f"{self.new()} = ({call}{more}))({net})"

    def space(self):
        r = self.rng
        if not self.of("InputSpace") or r.random() < 0.3:
            return f"{self.new()} = lpn.InputSpace({self.one('Net')})"
        space = self.one("InputSpace")
        net = self.net_of(space)
        term = self.one("Expr", "Variable")
        bound = self.some(f"{small(r)}, {small(r)}", 0.05)
        place = self.place(net)
        fields = "".join(
            f", {f}={self.some(r.choice([self.value(v), f'({small(r)}, {small(r)})', term]))}"
            for f, v in self.fields(net, place).items()
        )
        return r.choice(
            [
                f"{self.new()} = {space}.integer({word(r, 'i')}, {bound})",
                f"{self.new()} = {space}.integers({word(r, 'j')}, {integer(r)}, {bound})",
                f"{self.new()} = {space}.param({word(r, 'k')}, {bound})",
                f"{self.new()} = {space}.tokens({place}, {self.some(small(r))}{fields})",
                f"{self.new()} = {space}.tokens({place}, count=({small(r)}, {small(r)}){fields})",
                f"{space}.require({term} {r.choice(['<', '==', '!=', '>='])} {integer(r)})",
                f"{space}.require({odd(r, self.all_made())})", f"{space}.done()", f"{space}.describe()",
                f"{self.new()} = list({space}.inputs({self.some('50')}))",
                f"{self.new()} = lpn.InputSpace.from_json({net}, {space}.to_json())",
                f"{self.new()} = {space}.marking({odd(r, self.all_made())})",
                f"{self.new()} = pickle.loads(pickle.dumps({space}))",
                f"{space}.done_count = {self.some(integer(r))}",
                f"{self.new()} = lpn.partition({space}, max_seconds={self.some('0.2')})",
                f"{self.new()} = lpn.partition({space}, seconds={self.some('0.2')}, max_paths={small(r)})",
                f"{self.new()} = lpn.{r.choice(['maximize', 'minimize'])}({space}, 'latency', seconds=0.3)",
                f"{self.new()} = lpn.prove({space}, 'latency <= {small(r)}', seconds=0.3)",
            ]
        )  # fmt: skip

    def expression(self):
        r = self.rng
        a, b = self.one("Expr", "Variable"), r.choice([self.one("Expr", "Variable"), integer(r)])
        operator = r.choice(["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "<", "==", ">="])
        return r.choice(
            [
                f"{self.new()} = {a} {operator} {b}", f"{self.new()} = lpn.select({a} > {b}, {a}, {b})",
                f"{self.new()} = lpn.ceil_div({a}, {b})", f"{self.new()} = lpn.max({a}, {b})",
                f"{self.new()} = lpn.lookup([{integer(r)}, 2], {a})", f"{self.new()} = ~{a}", f"repr({a})",
                f"bool({a})", f"{self.new()} = -{a}", f"hash({a})", f"{self.new()} = lpn.total([{a}, {b}])",
            ]
        )  # fmt: skip

    def traffic(self):
        r = self.rng
        if not self.of("Traffic") or r.random() < 0.3:
            return f"{self.new()} = lpn.Traffic({self.one('Net')}, {self.some(small(r))})"
        traffic = self.one("Traffic")
        net = self.net_of(traffic)
        process = r.choice(
            [f"lpn.periodic({integer(r)})", f"lpn.poisson({integer(r)})", f"lpn.bursts({integer(r)}, 9)",
             "[1, 2, 3]", "[3, 1]", f"lpn.poisson({odd(r)})"]
        )  # fmt: skip
        place = self.place(net)
        return r.choice(
            [
                f"{traffic}.stream({place}, {process}, {self.some(small(r))}{self.keywords(net, place)})",
                f"{traffic}.stream({place}, {process}, requests={self.some(small(r))}{self.keywords(net, place)})",
                f"{self.new()} = {traffic}.marking()",
                f"{self.new()} = [b for b, _ in zip({traffic}.blocks(), range(3))]",
            ]
        )  # fmt: skip

    def any_method(self):
        """Some method or property of something that is there."""
        r = self.rng
        found = [
            n
            for n in self.all_made()
            if type(self.names[n]).__module__.split(".")[0] in ("lpn", "_lpn")
        ]
        if not found:
            return self.net()
        name = r.choice(found)
        # Files belong nobody here, and copies of the outside world neither.
        listed = [
            a
            for a in dir(type(self.names[name]))
            if not a.startswith("_") and a not in ("save", "core")
        ]
        if not listed:
            return f"repr({name})"
        attribute = r.choice(listed)
        if not callable(_part(type(self.names[name]), attribute)):
            return f"{self.new()} = {name}.{attribute}"
        given = [odd(r, self.all_made()) for _ in range(r.choice([0, 1, 1, 2, 2, 3]))]
        return f"{self.new()} = {name}.{attribute}({', '.join(given)})"

    _WAYS = (
        [net] + [param] + [add_place] * 5 + [transition] * 6 + [instance] + [whole_net] * 3 + [marking] * 3
        + [add] * 6 + [whole_marking] * 2 + [simulate] * 6 + [batch] + [space] * 4 + [expression] * 2
        + [traffic] + [any_method] * 3
    )  # fmt: skip
