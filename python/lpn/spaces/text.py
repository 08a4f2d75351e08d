"""Input spaces in words: terms as an author would write them, long sums and lists shortened."""

import re

import _lpn

from ..authoring.token import BORN

__all__ = ["Writer", "describe", "span", "term"]

_OPERATORS = _lpn.OPERATORS
_TIGHT = _OPERATORS["constant"].level
_NOT = _OPERATORS["logical_not"].level
_COMPARED = _OPERATORS["eq"].level
_ADDED = _OPERATORS["add"].level
_TURNED = {"lt": "le", "le": "lt", "eq": "ne", "ne": "eq"}
_INDEX = re.compile(r"(?<=\w)\[(\d+)\]")  # of a token or of one of several variables
_ANY = 1 << 64
_MOST = 12  # summands, joined conditions and values that are written out


def span(numbers):
    """[0, 1, 2, 5] as '0..2,5'."""
    runs = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(a) if a == b else f"{a}..{b}" for a, b in runs)


class Writer:
    """Writes terms: `core` holds them, `names` are those of its parameters."""

    def __init__(self, core, names):
        self.core = core
        self.names = names

    def write(self, number, outer=0):
        made_by, *given = self.core.node(number)
        if made_by == "constant":
            return str(given[0])
        if made_by == "boolean":
            return "true" if given[0] else "false"
        if made_by == "param":
            return self.names[given[0]]
        if made_by == "lookup":
            table = ", ".join(map(str, given[0][:_MOST])) + (
                ", ..." if len(given[0]) > _MOST else ""
            )
            return f"lookup([{table}], {self.write(given[1])})"
        if made_by == "assume":
            return self.write(given[1], outer)
        if made_by == "logical_not":
            return self.negated(given[0], outer)
        if made_by == "add":
            return self.wrapped(self.sum(number), _ADDED, outer)
        operator = _OPERATORS[made_by]
        if made_by in ("logical_and", "logical_or"):
            return self.wrapped(self.joined(number, made_by), operator.level, outer)
        if operator.prefix:
            return f"{operator.text}{self.write(given[0], _TIGHT)}"
        if not operator.infix:
            return f"{operator.text}({', '.join(self.write(k) for k in given)})"
        left, right = given
        if made_by in ("lt", "le") and self.core.value(left) is not None:
            return self.compared(right, ">" if made_by == "lt" else ">=", left, outer)
        if operator.level == _COMPARED:
            return self.compared(left, operator.text, right, outer)
        return self.wrapped(
            f"{self.write(left, operator.level)} {operator.text} "
            f"{self.write(right, operator.level + 1)}",
            operator.level,
            outer,
        )

    def compared(self, left, sign, right, outer):
        level = _COMPARED + 1
        return self.wrapped(
            f"{self.write(left, level)} {sign} {self.write(right, level)}", _COMPARED, outer
        )

    @staticmethod
    def wrapped(text, strength, outer):
        return f"({text})" if strength < outer else text

    def negated(self, number, outer):
        made_by, *given = self.core.node(number)
        if made_by in _TURNED:
            left, right = given
            if made_by in ("eq", "ne"):
                return self.compared(left, _OPERATORS[_TURNED[made_by]].text, right, outer)
            sign = ">=" if made_by == "lt" else ">"
            if self.core.value(left) is not None:
                left, right, sign = right, left, {">=": "<=", ">": "<"}[sign]
            return self.compared(left, sign, right, outer)
        return self.wrapped(f"not {self.write(number, _NOT + 1)}", _NOT, outer)

    def all(self, conditions):
        """Conditions that hold together, as a list: what is said about one term is said at once."""
        terms, others = {}, []
        pending = list(reversed(conditions))
        while pending:
            number = pending.pop()
            made_by, *given = self.core.node(number)
            if made_by == "logical_and":
                pending += [given[1], given[0]]
                continue
            about = self.about_one(number)
            if about is None:
                others.append((number,))
                continue
            term, lo, hi, out = about
            if term not in terms:
                terms[term] = [*self.core.bounds(None, term), set()]
                others.append(term)
            known = terms[term]
            known[0], known[1] = max(known[0], lo), min(known[1], hi)
            known[2] |= out
        found = []
        for each in others:
            if isinstance(each, tuple):
                found.append(self.write(each[0]))
            else:
                found += self.within(each, *terms[each])
        return list(dict.fromkeys(found))

    def about_one(self, number):
        """(term, least, most, values it has not) when a condition compares one term with a
        number.
        """
        made_by, *given = self.core.node(number)
        negated = made_by == "logical_not"
        if negated:
            made_by, *given = self.core.node(given[0])
        if made_by not in ("eq", "ne", "lt", "le"):
            return None
        left, right = given
        value, turned = self.core.value(right), False
        if value is None:
            left, value, turned = right, self.core.value(left), True
        if value is None:
            return None
        inner, *parts = self.core.node(left)
        if inner == "add" and self.core.value(parts[1]) is not None:
            left, value = parts[0], value - self.core.value(parts[1])
        if made_by in ("eq", "ne"):
            if (made_by == "eq") != negated:
                return left, value, value, set()
            return left, -_ANY, _ANY, {value}
        strict = (made_by == "lt") != negated
        if turned != negated:  # value < term, value <= term
            return left, value + 1 if strict else value, _ANY, set()
        return left, -_ANY, value - 1 if strict else value, set()

    def within(self, term, lo, hi, out):
        """A term in lo..hi but for some values, as a list of conditions."""
        while lo in out:
            lo += 1
        while hi in out:
            hi -= 1
        text = self.write(term, _COMPARED)
        least, most = self.core.bounds(None, term)
        if lo == hi:
            return [f"{text} == {lo}"]
        found = []
        if lo > least and hi < most:
            found.append(f"{lo} <= {text} <= {hi}")
        elif lo > least:
            found.append(f"{text} >= {lo}")
        elif hi < most:
            found.append(f"{text} <= {hi}")
        return found + [f"{text} != {value}" for value in sorted(out) if lo < value < hi]

    def leaves(self, number, operator):
        """The operands of nested equal operators, from the left."""
        found, pending = [], [number]
        while pending:
            top = pending.pop()
            made_by, *given = self.core.node(top)
            if made_by == operator:
                pending += [given[1], given[0]]
            else:
                found.append(top)
        return found

    def joined(self, number, operator):
        made = _OPERATORS[operator]
        parts = [self.write(k, made.level + 1) for k in self.leaves(number, operator)]
        if len(parts) > _MOST:
            parts[_MOST - 1 :] = [f"... ({len(parts) - _MOST + 1} more)"]
        return f" {made.text} ".join(parts)

    def sum(self, number):
        """Summands; of those that differ in the token only, which tokens they belong to."""
        parts, groups, constant = [], {}, 0
        for k in self.leaves(number, "add"):
            value = self.core.value(k)
            if value is not None:
                constant += value
                continue
            text = self.write(k, _ADDED)
            indices = set(_INDEX.findall(text))
            if len(indices) != 1:
                parts.append(text)
                continue
            key = _INDEX.sub("[]", text)
            if key not in groups:
                groups[key] = []
                parts.append((key,))
            groups[key].append((int(*indices), text))
        written = []
        for part in parts:
            if isinstance(part, str):
                written.append(part)
                continue
            (key,) = part
            indices = [k for k, _ in groups[key]]
            if len(indices) < 4 or len(set(indices)) < len(indices):
                written += [text for _, text in groups[key]]
            else:
                written.append(f"sum({key.replace('[]', f'[{span(indices)}]')})")
        if len(written) > _MOST:
            written[_MOST - 1 :] = [f"... ({len(written) - _MOST + 1} more)"]
        text = " + ".join(written).replace("+ -", "- ")
        if constant:
            text += f" {'+' if constant > 0 else '-'} {abs(constant)}"
        return text


def term(space, expr):
    return _writer(space).write(expr._id)


def _writer(space):
    return Writer(space._terms, [v.name for v in space._variables])


def describe(space):
    """The lines of InputSpace.describe."""
    writer = _writer(space)
    ranges = {v.name: v for v in space._variables}
    net = space._net
    lines = [
        f"{net.name}: {len(space._variables)} variable"
        + ("" if len(space._variables) == 1 else "s")
    ]
    shown = set()
    for place, tokens in space._tokens.items():
        number = f"{len(tokens)} token" + ("" if len(tokens) == 1 else "s")
        if place in space._counts:
            count = space._counts[place]
            lo, hi = count._bounds()
            number = f"{lo}..{hi} tokens ({writer.write(count._id)})"
            shown.add(f"{place}.count")
        about = [
            f"{name} {_column([t._values[name] for t in tokens], writer, ranges, shown)}"
            for name in (tokens[0]._values if tokens else [])
            if name != BORN or any(_id(token._values[name]) != _id(token._at) for token in tokens)
        ]
        if any(not isinstance(token._at, int) or token._at for token in tokens):
            about.append(f"at {_column([t._at for t in tokens], writer, ranges, shown)}")
        lines.append("  " + f"{place}: " + ", ".join([number, *about]))
    params = [
        f"{name} = {_one(value, writer, ranges, shown)}" for name, value in space._params.items()
    ]
    if params:
        lines.append("  parameters: " + ", ".join(params))
    others = {}
    for v in space._variables:
        if v.name in shown:
            continue
        indexed = re.fullmatch(r"(.*)\[(\d+)\]", v.name)
        key = (indexed[1] if indexed else v.name, v.lo, v.hi)
        others.setdefault(key, []).append(int(indexed[2]) if indexed else None)
    for (name, lo, hi), indices in others.items():
        which = f"[{span(indices)}]" if indices[0] is not None else ""
        lines.append(f"  {name}{which} {lo}..{hi}")
    if space._constraints:
        lines.append("such that")
    for k, constraint in enumerate(space._constraints):
        if k == 40:
            lines.append(f"  ... ({len(space._constraints) - k} more conditions)")
            break
        lines.append(f"  {writer.write(constraint._id)}")
    return "\n".join(lines)


def _id(value):
    return value if isinstance(value, int) else (value._id,)


def _one(value, writer, ranges, shown):
    if isinstance(value, int):
        return str(value)
    text = writer.write(value._id)
    if text in ranges:
        shown.add(text)
        return f"{ranges[text].lo}..{ranges[text].hi}"
    return text


def _column(values, writer, ranges, shown):
    """A property of all tokens of a place: '5', '0..63 each', '1, 2, 3, ...', '0, 0, 4'."""
    texts = [_one(value, writer, ranges, shown) for value in values]
    if len(set(texts)) == 1:
        own = not isinstance(values[0], int) and len(values) > 1
        return texts[0] + (" each" if own and ".." in texts[0] else "")
    if len(texts) > _MOST:
        texts[_MOST:] = ["..."]
    return ", ".join(texts)
