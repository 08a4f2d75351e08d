"""Random calls of `_lpn` itself, the C++ side: whatever its docstrings say can be called, with arguments
of the types that they name, and at times with others. A new binding takes part by itself.
"""

import re

import _lpn
from lines import Lines
from scene import compiled
from values import integer, odd, small, sometimes, word

_SIGNATURE = re.compile(r"(\w+)\((.*?)\) -> (.*)$", re.MULTILINE)
# Not called: what ends by a limit only (a run of a net without an end has one from `Lines`), what
# takes as long as it is told to, compiles, or writes files.
_LEFT_OUT = {
    "run",
    "run_recorded",
    "run_observed",
    "every_input",
    "buffer_front",
    "write_program",
    "build",
    "simplify",
}


def _functions():
    """[(how it is called, docstring)] of the modules and classes."""
    found = []
    for module in ("_lpn", "_lpn.sim", "_lpn.viz", "_lpn.wave", "_lpn.pi"):
        space = eval(module, {"_lpn": _lpn})
        for name in sorted(vars(space)):
            value = getattr(space, name)
            if isinstance(value, type) and not issubclass(value, BaseException):
                found.append((f"{module}.{name}", value.__init__.__doc__ or ""))
                for method in sorted(vars(value)):
                    if not method.startswith("_") and callable(getattr(value, method)):
                        found.append(
                            (f"{module}.{name}.{method}", getattr(value, method).__doc__ or "")
                        )
            elif callable(value) and not name.startswith("_"):
                found.append((f"{module}.{name}", value.__doc__ or ""))
    return [(n, _SIGNATURE.findall(d)) for n, d in found if n.split(".")[-1] not in _LEFT_OUT]


def _split(text):
    """At commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += letter in "[(<" and 1 or letter in "])>" and -1 or 0
        if letter == "," and depth == 0:
            parts.append(text[start:k])
            start = k + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


class CoreLines(Lines):
    """Lines as a user's, and between them calls of `_lpn`."""

    functions = [(name, found) for name, found in _functions() if found]

    def argument(self, kind):
        r = self.rng
        if r.random() < 0.04:
            return odd(r, self.all_made())
        inner = re.match(r"(List|Optional|Tuple|Dict|Set)\[(.*)\]$", kind)
        if inner:
            of = _split(inner[2])
            if inner[1] == "List":
                return (
                    "["
                    + ", ".join(self.argument(of[0]) for _ in range(r.choice([0, 1, 1, 2, 3])))
                    + "]"
                )
            if inner[1] == "Tuple":
                return "(" + "".join(self.argument(k) + ", " for k in of) + ")"
            if inner[1] == "Optional":
                return "None" if r.random() < 0.4 else self.argument(of[0])
            return "{}"
        if kind == "int":
            return small(r) if r.random() < 0.9 else integer(r)
        if kind == "bool":
            return r.choice(["True", "False"])
        if kind == "float":
            return r.choice(["0.1", "0.0", "0.2", "-1.0", "float('nan')"])
        if kind == "str":
            return r.choice([word(r, "p"), word(r, "t"), "'latency'", "'busy'", "'p_0 + 1'"])
        if kind in ("bytes", "buffer"):
            return r.choice(
                [
                    "b''",
                    "b'LPNM'",
                    "array('q', [1, 2, 3])",
                    "array('q', [0])",
                    "array('q')",
                    "b'12345678'",
                ]
            )
        if kind in ("function", "object", "Callable"):
            return r.choice(["None", "stop", "go_on", "raises", "None"])
        if kind == "_lpn.Net":
            return f"{self.one('Net')}.core"
        if kind == "_lpn.Marking":
            return f"{self.one('Marking')}._core"
        if kind == "_lpn.InputSpace":
            return f"{self.one('InputSpace')}.core"
        if kind == "_lpn.Partition":
            return f"{self.one('Partition')}._core"
        return self.one(kind.split(".")[-1])

    def call(self):
        name, found = self.rng.choice(self.functions)
        _, parameters, _ = self.rng.choice(found)
        given, keyword = [], False
        for parameter in _split(parameters):
            if parameter == "*":
                keyword = True
                continue
            what, _, rest = parameter.partition(":")
            kind = rest.partition("=")[0].strip()
            if what == "self" and kind and name.endswith("." + kind.split(".")[-1]):
                continue  # a class: it is called itself
            if "=" in rest and self.rng.random() < 0.6:
                keyword = True
                continue
            text = self.argument(kind) if kind else odd(self.rng, self.all_made())
            given.append(f"{what}={text}" if keyword else text)
        return f"{self.new()} = {name}({', '.join(given)})"

    def interp(self):
        """An engine that can be stepped."""
        marking = self.one("Marking")
        net = self.net_of(marking)
        options = "".join(
            f", {o}={sometimes(self.rng, 'True', 0.1)}"
            for o in ("stats", "trace", "full_scan")
            if self.rng.random() < 0.4
        )
        return (
            f"{self.new()} = _lpn.Interp({net}.done().core, list({net}.params.values()), {marking}._core{options}, "
            "budget=_lpn.Budget(memory=1 << 24, seconds=0.2))"
        )

    def simulator(self):
        there = compiled()
        if not there:
            return self.interp()
        name = self.rng.choice(there)
        return (
            f"{self.new()} = (lambda n: _lpn.sim.Simulator(_lpn.sim.Library.open(n.core, "
            f"library({name!r}, {self.rng.randrange(2)})), list(n.params.values()), "
            "lpn.Marking(n)._core, budget=_lpn.Budget(memory=1 << 24, seconds=0.2)))"
            f"(lpn.Net.parse(text_of({name!r})))"
        )

    def step(self):
        engine = self.one("Interp", "Simulator")
        r = self.rng
        observer = r.choice(["None", "None", "lambda c: None", "raises", self.one("Recorder", "Timeline", "Vcd"),
                             f"lambda c: {engine}.run(9)", f"lambda c: {engine}.push(0, [], 5)"])  # fmt: skip
        return r.choice(
            [
                f"{self.new()} = {engine}.run({small(r)})",
                f"{self.new()} = {engine}.run({integer(r)})",
                f"{self.new()} = _lpn.sim.run({engine}, {integer(r)}, {observer}, {r.choice(['None', 'stop', 'raises'])}, 0.0)",
                f"{engine}.push({small(r)}, [{integer(r)}], {integer(r)})",
                f"{engine}.push({small(r)}, [], {small(r)})",
                f"{self.new()} = {engine}.take({small(r)})",
                f"{engine}.collect({small(r)})",
                f"_lpn.sim.feed({engine}, {small(r)}, array('q', [{small(r)}]), array('q', [{integer(r)}]))",
                f"{self.new()} = {engine}.stats()",
                f"{self.new()} = {engine}.tokens({small(r)})",
            ]
        )

    _WAYS = Lines._WAYS + [call] * 40 + [interp] * 3 + [simulator] * 2 + [step] * 12


class CLines(Lines):
    """Calls of the C interface: any numbers in any order."""

    def begin(self):
        return self.instance_of()

    def instance_of(self):
        there = compiled()
        if not there:
            return self.net()
        r = self.rng
        params = "" if r.random() < 0.7 else f", [{integer(r)}, {integer(r)}]"
        made = f"library({r.choice(there)!r}, {r.randrange(2)})"
        return f"{self.new()} = Instance({made}{params})"

    def call_of(self):
        r = self.rng
        i = self.one("Instance")
        place = small(r) if r.random() < 0.9 else integer(r)
        time = r.choice(
            ["0", "1", "2", "5", "10", f"{i}.now()", f"{i}.next()", f"{i}.now() + 1", integer(r)]
        )
        return r.choice(
            [
                f"{i}.load({place}, {integer(r)}, [{integer(r)}, {small(r)}])", f"{i}.set_done({integer(r)})",
                f"{i}.set_observer({r.choice(['True', 'False'])})", f"{i}.set_mode({integer(r)})",
                f"{i}.set_poll({r.choice(['True', 'False'])})", f"{i}.run({time})", f"{i}.run({time})",
                f"{i}.run(2**63 - 1)", f"{i}.run_batch([{self.one('Instance')}], {small(r)})",
                f"{i}.push({place}, [{integer(r)}, {small(r)}], {time})", f"{i}.push({place}, [{small(r)}], {time})",
                f"{i}.feed({place}, [{small(r)}, {integer(r)}], [{integer(r)}])", f"{i}.now()", f"{i}.next()",
                f"{i}.tokens({place})", f"{i}.fault()", f"{i}.stats()", f"{i}.room({place})",
                f"{i}.hold({place}, {integer(r)})", f"{i}.release({place}, {integer(r)}, {time})",
                f"{i}.collect({place})", f"{i}.take({place}, {integer(r)})", f"{i}.enter({time})", f"{i}.commit()",
                f"{i}.start()", f"{i}.enter({i}.next())", f"{i}.halve({small(r)})", f"{i}.path({small(r)}, {small(r)})",
                f"{i}.set_path_budget({integer(r)})", f"{i}.destroy()" if r.random() < 0.15 else f"{i}.start()",
            ]
        )  # fmt: skip

    _WAYS = [instance_of] + [call_of] * 12


PROFILES = {"user": Lines, "core": CoreLines, "c": CLines}
