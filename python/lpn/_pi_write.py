"""Interfaces as Python modules that need nothing but Python."""

import pprint
import re
import textwrap
from fractions import Fraction

import _lpn

from ._pi_class import constants, unit_of

__all__ = ["Formulas", "write_list", "write_stream"]

_WIDTH = 100


def kind_text(kind):
    return ",".join(f"{name}={value}" for name, value in kind)


class Formulas:
    """Forms as Python text. Atoms are symbols while SymPy simplifies, and what they stand for then."""

    def __init__(self):
        self.symbols = {}

    def symbol(self, code):
        return self.symbols.setdefault(code, f"v{len(self.symbols)}")

    def text(self, terms, constant=Fraction(0)):
        """The text of constant + sum of coefficient * code, terms = [(coefficient, code)]."""
        parts = [f"({c.numerator})*{self.symbol(code)}/{c.denominator}" for c, code in terms]
        (text,) = _lpn.pi.simplify([" + ".join([f"({constant.numerator})/{constant.denominator}", *parts])])
        back = {name: code for code, name in self.symbols.items()}
        return re.sub(r"\bv\d+\b", lambda m: back[m[0]], text).replace("*", " * ").replace("  ", " ")


def single(place, text):
    """A property of the only token of a place; `classify` calls its properties by the place's name."""
    return f'{alias(place)}["{text}"]'


def alias(place):
    return place.replace(".", "_")


def _letters(names):
    """{name: a, b, ...}: short names of bottlenecks within a branch."""
    return dict(zip(names, "abcdefgh"))


def key_of(place, kind, text, merged):
    return f"{place}.{text}" + ("" if merged or not kind else f" of {kind_text(kind)}")


def _pace_terms(stream, form, merged):
    terms, done = [], set()
    for (place, kind, text), coefficient in sorted(form.atoms.items(), key=repr):
        if kind is None:
            terms.append((coefficient, f'p["count"] * {single(place, text)}'))
            continue
        key = key_of(place, kind, text, merged)
        if key not in done:
            done.add(key)
            terms.append((coefficient / stream.size(place, kind), f'p["{key}"]'))
    return terms


def _once_terms(stream, form, merged):
    totals = {}
    for (place, kind, text), coefficient in sorted(form.atoms.items(), key=repr):
        if kind is None:
            code = single(place, text)
        else:
            size = len(stream.shape.unit(place)) if merged else stream.size(place, kind)
            key = key_of(place, kind, text, merged)
            code, coefficient = f'(p["{key}"] / p["count"])', coefficient / size
        totals[code] = totals.get(code, 0) + coefficient
    return [(coefficient, code) for code, coefficient in totals.items() if coefficient]


def merges(stream, chosen):
    """Whether every pace treats all kinds of tokens of a place alike, so that one sum does for them."""
    for each in chosen:
        for place in stream.shape.many:
            kinds = {constants(row) for row in stream.shape.unit(place)}
            texts = {text for (p, kind, text) in each.pace.atoms if p == place and kind is not None}
            for text in texts:
                if len({each.pace.atoms.get((place, kind, text), 0) / stream.size(place, kind) for kind in kinds}) > 1:
                    return False
    return True


def _dict(entries, indent, used):
    """{key: text, ...} within the width; `used` columns of its first line are taken."""
    one = "{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}"
    if used + len(one) <= _WIDTH:
        return one
    pad = " " * (indent + 4)
    lines = []
    for key, text in entries:
        if len(f"{pad}{key}: {text},") > _WIDTH:
            broken = textwrap.wrap(text, _WIDTH - indent - 10, break_long_words=False, break_on_hyphens=False)
            text = "(\n" + "\n".join(f"{pad}    {part}" for part in broken) + ")"
        lines.append(f"{pad}{key}: {text},")
    return "{\n" + "\n".join(lines) + "\n" + " " * indent + "}"


def _documented(header):
    return '"""' + header.strip() + '\n"""\n\n'


def write_stream(header, model, parameters, clock, classes):
    """The module of streams; classes: [(Stream, chosen bottlenecks)]."""
    formulas = Formulas()
    merged = {id(stream): merges(stream, chosen) for stream, chosen in classes}
    sums, branches = set(), []
    for number, (stream, chosen) in enumerate(classes):
        one = merged[id(stream)]
        for place, kind, text in stream.keys(chosen):
            if kind is not None:
                sums.add(key_of(place, kind, text, one))
        short = _letters([b.name for b in chosen])
        paces = [(short[b.name], formulas.text([*_pace_terms(stream, b.pace, one), (b.pace.constant, 'p["count"]')]))
                 for b in chosen]
        ends = [(short[b.name], formulas.text(_once_terms(stream, b.ends, one), b.ends.constant)) for b in chosen]
        borders = []
        for a in chosen:
            for b in chosen:
                form = None if a is b else stream.border(a, b)
                if form is not None:
                    borders.append((f"({short[a.name]}, {short[b.name]})",
                                    formulas.text(_once_terms(stream, form, one), form.constant)))
        branches.append((number, short, [paces, ends, borders]))
    first = classes[0][0].shape
    singles = {place: sorted({t for stream, chosen in classes for p, kind, t in stream.keys(chosen)
                              if kind is None and p == place}) for place in first.singles}
    lines = [f"STREAM, CLOCK_PERIOD = True, {clock!r}" + "  # nanoseconds per cycle",
             f"MODEL, PARAMETERS = {model!r}, {parameters!r}",
             _constant("SINGLES", singles),
             _constant("SUMS", sorted(sums)),
             _constant("CONSTANTS", {place: list(unit) for place, unit in unit_of(first).items()}),
             _constant("RANGES", _ranges(classes)),
             _constant("UNITS", [unit_of(stream.shape) for stream, _ in classes]),
             "", "", "def classify(x):",
             '    """Cycles per bottleneck of a phase p: its work, the ends around it, changes to it from another."""']
    lines += [f'    {alias(place)} = x["{place}"]' for place, texts in singles.items() if texts]
    for number, short, parts in branches:
        lines.append(f'    if x["unit"] == UNITS[{number}]:')
        lines.append(f"        {_named(short)}")
        for what, entries in zip(("pace", "ends", "change"), parts):
            lines.append(f"        {what} = lambda p: {_dict(entries, 8, len(what) + 22)}")
        lines.append("        return pace, ends, change")
    lines.append('    raise NotImplementedError(f"no class repeats {x[\'unit\']}; covered: {UNITS}")')
    lines.append(_STREAM_TAIL)
    return _documented(header) + "\n".join(lines)


def _named(short):
    line = f"{', '.join(short.values())} = {', '.join(map(repr, short))}"
    return line if len(line) < _WIDTH - 8 else f"{', '.join(short.values())} = (\n            " + ",\n            ".join(
        map(repr, short)) + ",\n        )"


def _constant(name, value):
    text = pprint.pformat(value, width=_WIDTH - 4, compact=True, sort_dicts=False)
    if "\n" in text:  # on lines of its own, so that it needs no alignment
        return f"{name} = {text[0]}\n {text[1:-1]}\n{text[-1]}"
    return f"{name} = {text}"


def _ranges(classes):
    """Where properties may lie, of those the space lets vary."""
    found = {}
    for stream, chosen in classes:
        for place, kind, text in stream.keys(chosen):
            for row in stream.shape.unit(place) if kind is not None else stream.shape.tokens[place]:
                if isinstance(row.get(text), tuple):
                    lo, hi = row[text]
                    old = found.get(f"{place}.{text}", (lo, hi))
                    found[f"{place}.{text}"] = min(lo, old[0]), max(hi, old[1])
    return dict(sorted(found.items()))


_STREAM_TAIL = '''

def latency(x):
    """Cycles from the first clock to the last result."""
    pace, ends, change = classify(x)
    for key, (least, most) in RANGES.items():
        place, name = key.rsplit(".", 1)
        n = max([len(v) for v in x["unit"].get(place, {}).values()], default=1)
        phases = [p[key] / p["count"] / n for p in x["phases"].values() if key in p]
        if not all(least <= v <= most for v in phases or [x.get(place, {}).get(name, least)]):
            raise NotImplementedError(f"{key} must be {least}..{most}")
    phases, first = x["phases"], x["first"]
    total = ends(phases[first])[first] + sum(max(pace(p).values()) for p in phases.values())
    return total + sum(n * change(phases[b])[a, b] for (a, b), n in x["borders"].items())


def throughput(x):
    """Units per cycle while the pipeline is full."""
    pace, phases = classify(x)[0], x["phases"].values()
    return sum(p["count"] for p in phases) / sum(max(pace(p).values()) for p in phases)


def bottleneck(x):
    """Of each phase."""
    pace = classify(x)[0]
    return {k: max(pace(p), key=pace(p).get) for k, p in x["phases"].items()}
'''


def write_list(header, model, parameters, clock, classes):
    """The module of lists of tokens; classes: [(shape, digests, [(name, form over codes)], ranges)]."""
    formulas = Formulas()
    singles, sums, fixed, ranges, branches = {}, set(), {}, {}, []
    for number, (shape, digests, bottlenecks, limits) in enumerate(classes):
        for place in shape.singles:
            singles.setdefault(place, set())
        for place in shape.many:
            fixed[place] = sorted({name for row in shape.tokens[place] for name, _ in constants(row)},
                                  key=list(shape.tokens[place][0]).index)
        entries = []
        short = _letters([name for name, _, _ in bottlenecks])
        for name, terms, constant in bottlenecks:
            coded = []
            for coefficient, (place, kind, text, how) in terms:
                if place in shape.singles:
                    singles[place].add(text)
                    coded.append((coefficient, single(place, text)))
                    continue
                key = key_of(place, kind, text, False)
                sums.add(key)
                coded.append((coefficient, f'x["{key}"]["{how}"]'))
            entries.append((short[name], formulas.text(coded, constant)))
        ranges.update(limits)
        branches.append((number, short, digests, entries))
    lines = [f"STREAM, CLOCK_PERIOD = False, {clock!r}" + "  # nanoseconds per cycle",
             f"MODEL, PARAMETERS = {model!r}, {parameters!r}",
             _constant("SINGLES", {place: sorted(texts) for place, texts in singles.items()}),
             _constant("SUMS", sorted(sums)),
             _constant("CONSTANTS", fixed),
             _constant("RANGES", dict(sorted(ranges.items()))),
             _constant("SHAPES", [digests for _, _, digests, _ in branches]),
             "", "", "def classify(x):",
             '    """Cycles per bottleneck; the largest decides."""']
    lines += [f'    {alias(place)} = x["{place}"]' for place, texts in singles.items() if texts]
    for number, short, _, entries in branches:
        lines.append(f'    if x["shape"] == SHAPES[{number}]:')
        lines.append(f"        {_named(short)}")
        lines.append(f"        return {_dict(entries, 8, 15)}")
    lines.append('    raise NotImplementedError("the constant properties of the tokens are not those of a covered class")')
    lines.append(_LIST_TAIL)
    return _documented(header) + "\n".join(lines)


_LIST_TAIL = '''

def latency(x):
    """Cycles from the first clock to the last result."""
    for key, (least, most) in RANGES.items():
        place, name = key.rsplit(".", 1)
        value = x[place][name] if place in x else x[key]["max"]
        if not least <= value <= most:
            raise NotImplementedError(f"{key} must be {least}..{most}, got {value}")
    return max(classify(x).values())


def throughput(x):
    """Inputs like this one per cycle, one after the other."""
    return 1 / latency(x)


def bottleneck(x):
    """What decides the latency."""
    cycles = classify(x)
    return max(cycles, key=cycles.get)
'''
