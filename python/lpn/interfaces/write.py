"""Interfaces as Python modules that need nothing but Python."""

import builtins
import itertools
import keyword
import re
import string
import textwrap
from fractions import Fraction

import _lpn

from ..spaces.text import span
from .closed_form import constants, unit_of
from .form import Form

__all__ = ["Formulas", "wrapped", "wrapped_lines", "write_list", "write_stream"]

_WIDTH = 100
# What a variable of `classify` must not be called: it has others, and what is built in.
_TAKEN = {*keyword.kwlist, *dir(builtins), *string.ascii_lowercase}
_TAKEN |= {"start", "SHAPES", "SUMS", "UNITS"}
_CALLS = re.compile(r"\w\(|\b(and|or|not|true|false)\b")  # what a bare formula cannot say


def kind_text(kind):
    return ",".join(f"{name}={value}" for name, value in kind)


class Formulas:
    """Writes forms as Python. Atoms are symbols while SymPy simplifies, and what they stand for
    then.
    """

    def __init__(self):
        self.symbols = {}

    def symbol(self, code):
        return self.symbols.setdefault(code, f"v{len(self.symbols)}")

    def text(self, terms, constant=Fraction(0)):
        """The text of constant + sum of coefficient * code, terms = [(coefficient, code)]."""
        parts = [f"({c.numerator})*{self.symbol(code)}/{c.denominator}" for c, code in terms]
        (text,) = _lpn.pi.simplify(
            [" + ".join([f"({constant.numerator})/{constant.denominator}", *parts])]
        )
        back = {name: code for code, name in self.symbols.items()}
        return (
            re.sub(r"\bv\d+\b", lambda m: back[m[0]], text).replace("*", " * ").replace("  ", " ")
        )


def single(place, text):
    """An atom of the only token of a place; `classify` calls its properties by the place's name."""
    if text.isidentifier():
        return f'{alias(place)}["{text}"]'
    if _CALLS.search(text):
        return f"{alias(place)}[{text!r}]"
    return "(" + re.sub(r"[A-Za-z_]\w*", lambda m: f'{alias(place)}["{m[0]}"]', text) + ")"


def properties(text):
    """What x must hold of a single token for an atom: its properties, or the atom itself."""
    return [text] if _CALLS.search(text) else sorted(set(re.findall(r"[A-Za-z_]\w*", text)))


def alias(place):
    """What `classify` calls a place: by its name, where that is one of Python's that means nothing yet."""
    return place if place.isidentifier() and place not in _TAKEN else f'x["{place}"]'


def _aliases(singles):
    """The lines that give the places their names."""
    named = [place for place, texts in singles.items() if texts and alias(place) == place]
    return [f'    {place} = x["{place}"]' for place in named]


def _letters(names):
    """{name: a, b, ...}: short names of bottlenecks within a branch."""
    return dict(zip(names, "abcdefghijklmnopqrstuvw"))


def key_of(stream, place, kind, text, merged):
    """What x calls the sum of an atom over a phase; without the place where there is but one."""
    name = text if len(stream.shape.many) == 1 else f"{place}.{text}"
    return name + ("" if merged or not kind else f" of {kind_text(kind)}")


def _pace_terms(stream, form, merged):
    terms, done = [], set()
    for (place, kind, text), coefficient in sorted(form.atoms.items(), key=repr):
        if kind is None:
            terms.append((coefficient, f'p["count"] * {single(place, text)}'))
            continue
        key = key_of(stream, place, kind, text, merged)
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
            key = key_of(stream, place, kind, text, merged)
            code = (
                f'(p["{key}"] / p["count"])' if size == 1 else f'(p["{key}"] / p["count"] / {size})'
            )
        totals[code] = totals.get(code, 0) + coefficient
    return [(coefficient, code) for code, coefficient in totals.items() if coefficient]


def merges(stream, chosen):
    """Whether every pace treats all kinds of tokens of a place alike, so that one sum does for
    them.
    """
    for each in chosen:
        for place in stream.shape.many:
            kinds = {constants(row) for row in stream.shape.unit(place)}
            texts = {text for (p, kind, text) in each.pace.atoms if p == place and kind is not None}
            for text in texts:
                if (
                    len(
                        {
                            each.pace.atoms.get((place, kind, text), 0) / stream.size(place, kind)
                            for kind in kinds
                        }
                    )
                    > 1
                ):
                    return False
    return True


def wrapped(text, indent, first=0):
    """Python text over as many lines as the width asks for; names in quotes stay whole, and a statement is
    broken within its brackets alone."""
    whole = re.sub(r"\"[^\"]*\"|'[^']*'", lambda m: m[0].replace(" ", "\0"), text)
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", lambda m: "_" * len(m[0]), text)
    depths = list(itertools.accumulate((c in "([{") - (c in ")]}") for c in plain))
    outside = "".join(c for c, depth in zip(plain, depths) if depth == 0)
    if re.match(r"(return|if|def) ", outside) or " = " in outside:
        whole = "".join("\0" if c == " " and not d else c for c, d in zip(whole, depths))
    lines = textwrap.wrap(
        whole,
        _WIDTH,
        initial_indent=" " * first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")


def _entries(entries):
    return "{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}"


def wrapped_lines(lines):
    """The text of a module's docstring."""
    return "\n".join(
        part
        for line in lines
        for part in (textwrap.wrap(line, 98, subsequent_indent="    ") or [""])
    )


def _documented(header):
    return '"""' + header.strip() + '\n"""\n\n'


def write_stream(header, model, parameters, clock, classes):
    """The module of streams; classes: [(Stream, chosen bottlenecks)]."""
    formulas = Formulas()
    sums, singles, branches = {}, {place: {} for place in classes[0][0].shape.singles}, []
    start = _shared([b.ends for _, chosen in classes for b in chosen])
    shared = "start + " if start.atoms else ""
    for number, (stream, chosen) in enumerate(classes):
        merged = merges(stream, chosen)
        for place, kind, text in stream.keys(chosen):
            if kind is None:
                singles[place].update(stream.single_limits(place, text, properties(text)))
                continue
            key = key_of(stream, place, kind, text, merged)
            limits = sums.setdefault(key, [(0, 0)] * len(classes))
            least, most = stream.limits(place, kind, text)
            limits[number] = limits[number][0] + least, limits[number][1] + most
        short = _letters([b.name for b in chosen])
        paces = [
            (
                short[b.name],
                formulas.text(
                    [*_pace_terms(stream, b.pace, merged), (b.pace.constant, 'p["count"]')]
                ),
            )
            for b in chosen
        ]
        ends = [
            (
                short[b.name],
                shared
                + formulas.text(
                    _once_terms(stream, b.ends.add(start, -1), merged), b.ends.constant
                ),
            )
            for b in chosen
        ]
        borders = []
        for a in chosen:
            for b in chosen:
                form = None if a is b else stream.border(a, b)
                if form is not None:
                    borders.append(
                        (
                            f"({short[a.name]}, {short[b.name]})",
                            formulas.text(_once_terms(stream, form, merged), form.constant),
                        )
                    )
        branches.append((number, short, [paces, ends, borders]))
    first = unit_of(classes[0][0].shape)
    constants = {place: [n for n in unit if n != "tokens"] for place, unit in first.items()}
    lines = [
        f"STREAM, CLOCK_PERIOD = True, {clock!r}  # nanoseconds per cycle",
        wrapped(f"MODEL, PARAMETERS, CONSTANTS = {model!r}, {parameters!r}, {constants!r}", 4),
        _constant("SINGLES", singles),
        _constant("SUMS", sums),
        _constant("UNITS", [unit_of(stream.shape) for stream, _ in classes]),
        _constant("COVERED", [stream.shape.covered() for stream, _ in classes]),
        "",
        "",
        "def classify(x):",
        '    """Cycles of a phase p per bottleneck: its work; the ends around it; a change '
        'to it."""',
    ]
    lines += _aliases(singles)
    if shared:
        lines.append(wrapped(f"start = {formulas.text(_once_terms(None, start, True))}", 8, 4))
    for number, short, (paces, ends, borders) in branches:
        lines.append(f'    if x["unit"] == UNITS[{number}]:')
        lines.append(_named(short))
        lines.append(wrapped(f"return (lambda p: {_entries(paces)},", 20, 8))
        lines.append(wrapped(f"lambda p: {_entries(ends)},", 20, 16))
        lines.append(wrapped(f"lambda p: {_entries(borders)})", 20, 16))
    lines.append(
        "    raise NotImplementedError(f\"no class repeats {x['unit']}; covered: {UNITS}\")"
    )
    lines.append(_STREAM_TAIL)
    return _documented(header) + "\n".join(lines)


def _shared(forms):
    """What all forms read of single tokens, when they agree on it."""
    parts = [{atom: c for atom, c in form.atoms.items() if atom[1] is None} for form in forms]
    return Form(0, parts[0] if all(part == parts[0] for part in parts) else {})


def _named(short):
    """The line that gives bottlenecks their short names."""
    if len(short) == 1:
        return f"        a = {next(iter(short))!r}"
    return wrapped(f"{', '.join(short.values())} = ({', '.join(map(repr, short))})", 12, 8)


def _constant(name, value):
    return wrapped(f"{name} = {value!r}", 4)


_STREAM_TAIL = '''

def latency(x):
    """Cycles from the first clock to the last result."""
    pace, ends, change = classify(x)
    phases, first, unit = x["phases"], x["first"], UNITS.index(x["unit"])
    given = [(n, x[place][n], r) for place, names in SINGLES.items() for n, r in names.items()]
    given += [(n, p[n] / p["count"], r[unit]) for p in phases.values() for n, r in SUMS.items()]
    for name, value, (least, most) in given:
        if not least <= value <= most:
            raise NotImplementedError(f"{name} must be {least}..{most}, got {value}")
    total = ends(phases[first])[first] + sum(pace(p)[k] for k, p in phases.items())
    return total + sum(p["count"] * change(p)[k] for k, p in x["borders"].items())


def throughput(x):
    """Units per cycle while the pipeline is full."""
    pace, phases = classify(x)[0], x["phases"]
    return sum(p["count"] for p in phases.values()) / sum(pace(p)[k] for k, p in phases.items())


def bottleneck(x):
    """What the pipeline waits for longest."""
    return max(x["phases"], key=lambda k: classify(x)[0](x["phases"][k])[k])
'''


def _phases(chosen):
    """{(place, text): [indices of tokens that every formula treats alike]}, several per key."""
    treated = {}
    for number, each in enumerate(chosen):
        for (place, index, text), c in each.form.atoms.items():
            treated.setdefault((place, text), {}).setdefault(index, []).append((number, c))
    found = {}
    for key, tokens in treated.items():
        groups = {}
        for index, how in sorted(tokens.items()):
            groups.setdefault(tuple(how), []).append(index)
        found[key] = list(groups.values())
    return found


def write_list(
    header, model, parameters, clock, classes, conditions, formulas=None, done_count=None
):
    """The module of lists of tokens; classes: [(TokenList, digests, chosen chains)]; `conditions`:
    of the space on its tokens (conditions.py); `formulas`: writes them; `done_count`: of the space.
    """
    formulas = formulas or Formulas()
    singles, sums, fixed, branches, used = {}, {}, {}, [], []
    for number, (analysis, digests, chosen) in enumerate(classes):
        shape = analysis.shape
        used.append([])
        for place in shape.singles:
            singles.setdefault(place, {})
        for place in shape.many:
            fixed[place] = [name for name, _ in constants(shape.tokens[place][0])]
        codes = {}  # (place, index, text) -> Python
        for (place, text), groups in _phases(chosen).items():
            for indices in groups:
                if place in shape.singles:
                    singles[place].update(analysis.single_limits(place, text, properties(text)))
                    codes[place, 0, text] = single(place, text)
                    continue
                key = f"{place}.{text} of {span(indices)}"
                least, most = analysis.limits(place, text, indices)
                known = sums.get(key, (least, most))
                sums[key] = min(least, known[0]), max(most, known[1])
                used[-1].append(key)
                codes[place, indices[0], text] = f"s[{list(sums).index(key)}]"
        short = _letters([each.name for each in chosen])
        entries = [
            (
                short[each.name],
                formulas.text(
                    [
                        (each.form.atoms[atom], code)
                        for atom, code in codes.items()
                        if atom in each.form.atoms
                    ],
                    each.form.constant,
                ),
            )
            for each in chosen
        ]
        branches.append((number, short, digests, entries))
    lines = [
        f"STREAM, CLOCK_PERIOD = False, {clock!r}  # nanoseconds per cycle",
        f"MODEL, PARAMETERS = {model!r}, {parameters!r}",
        _constant("SINGLES", singles),
        _constant("SUMS", sums),
        *([_constant("USED", used)] if len(classes) > 1 else []),
        _constant("CONSTANTS", fixed),
        _constant("SHAPES", [digests for _, _, digests, _ in branches]),
        _constant("COVERED", [analysis.shape.covered() for analysis, _, _ in classes]),
        _constant("CONDITIONS", conditions),
        *(
            []
            if done_count is None
            else [f"DONE_COUNT = {done_count}  # done tokens that end a run"]
        ),
        "",
        "",
        "def classify(x):",
        '    """Cycles per bottleneck; the largest decides. s: the sums, in the order of SUMS."""',
    ]
    lines += _aliases(singles)
    if sums:
        lines.append("    s = [x[key] for key in SUMS]")
    for number, short, _, entries in branches:
        lines.append(f'    if x["shape"] == SHAPES[{number}]:')
        lines.append(_named(short))
        lines.append(wrapped(f"return {_entries(entries)}", 16, 8))
    lines.append(
        "    raise NotImplementedError(f\"tokens like {x['shape']} are in no class; covered: "
        '{SHAPES}")'
    )
    read = _ONE if len(classes) == 1 else _SEVERAL
    lines.append(_LIST_TAIL.replace("READ", read))
    return _documented(header) + "\n".join(lines)


# The sums that an input of one class, or of several, is asked for.
_ONE = "[(n, x[n], r) for n, r in SUMS.items()]"
_SEVERAL = '[(n, x[n], SUMS[n]) for n in USED[SHAPES.index(x["shape"])]]'
_LIST_TAIL = '''

def latency(x):
    """Cycles from the first clock to the last result."""
    cycles = classify(x)
    given = [(n, x[place][n], r) for place, names in SINGLES.items() for n, r in names.items()]
    given += READ
    for name, value, (least, most) in given:
        if not least <= value <= most:
            raise NotImplementedError(f"{name} must be {least}..{most}, got {value}")
    return max(cycles.values())


def throughput(x):
    """Inputs like this one per cycle, one after the other."""
    return 1 / (latency(x) or float("nan"))  # no pace without a cycle


def bottleneck(x):
    """What decides the latency."""
    cycles = classify(x)
    return max(cycles, key=cycles.get)
'''
