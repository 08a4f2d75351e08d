"""Interfaces of lists of tokens: the chains of delays of one class, over sums and maxima of its tokens."""

import math
import random
from fractions import Fraction

from ._pi_class import Chains, constants
from ._pi_form import evaluate

__all__ = ["TokenList", "merge_thresholds"]

_POINTS = 48
_MOST_KEPT = 6
_WORTH = 0.002  # of the error, mean plus a fifth of the worst: what one more line must bring


class Chain:
    """A formula: `terms` [(coefficient, (place, kind, text, "sum" or "max"))] and a constant."""

    def __init__(self, name, constant, terms):
        self.name = name
        self.constant = constant
        self.terms = terms
        self.key = constant, tuple(sorted(((code, c) for c, code in terms), key=repr))

    def value(self, aggregates):
        return self.constant + sum(c * aggregates[code] for c, code in self.terms)


class TokenList:
    """The chains of a class that is a list of tokens."""

    def __init__(self, shape, seed=1):
        self.shape = shape
        shape.widen()
        self.chains = Chains(shape)
        self.dropped = []
        self.members = {}  # (place, kind) -> its tokens
        for place in shape.many:
            for row in shape.tokens[place]:
                key = place, constants(row)
                self.members[key] = self.members.get(key, 0) + 1
        rng = random.Random(seed)
        found = {}
        for k in range(_POINTS):
            tokens = self.sample(rng, edge=k if k < 2 else None)
            values = self.chains.input(lambda place, index, name: tokens[place][index][name])
            known = self.chains.chain(values)
            if known is not None:
                for each in self._formulas(*known, values):
                    found.setdefault(each.key, each)
        self.candidates = list(found.values())

    def sample(self, rng, edge=None):
        """Tokens of a member; `edge` 0 or 1: the least or largest. Wide ranges are drawn by size."""
        levels, tokens = {}, {}
        for place, rows in self.shape.tokens.items():
            made = []
            for index, row in enumerate(rows):
                values = {}
                for name in row:
                    lo, hi = self.shape.width(place, name, index)
                    if edge is not None or lo == hi:
                        values[name] = hi if edge else lo
                        continue
                    level = levels.setdefault((place, name), rng.random())
                    span = (hi - lo) ** level if hi - lo > 1000 else (hi - lo) * level
                    values[name] = lo + min(hi - lo, math.floor(span * 2 * rng.random() + 0.5))
                made.append(values)
            tokens[place] = made
        return tokens

    def _formulas(self, links, commits, values):
        """A chain with means, and with maxima, in place of the tokens that it picks out."""
        form = self.chains.total(links)
        groups, singles = {}, []
        for (place, index, text), coefficient in form.atoms.items():
            rows = self.shape.tokens[place]
            if len(rows) == 1:
                singles.append((coefficient, (place, None, text, "sum")))
            else:
                groups.setdefault((place, constants(rows[index]), text), []).append(coefficient)
        name = self._name(links, commits, values)
        for how in ("sum", "max"):
            terms = list(singles)
            for (place, kind, text), coefficients in groups.items():
                number = self.members[place, kind]
                common = min(coefficients) if len(coefficients) == number else Fraction(0)
                if how == "sum":
                    terms.append((sum(coefficients) / number, (place, kind, text, "sum")))
                else:
                    terms.append((common, (place, kind, text, "sum")))
                    terms.append((sum(coefficients) - common * number, (place, kind, text, "max")))
            yield Chain(name, form.constant, [(Fraction(c), code) for c, code in terms if c])

    def _name(self, links, commits, values):
        """The transitions that most of a chain's time goes to."""
        spent, reader = {}, self.chains.reader
        names = self.shape.net.transitions
        for _, to, delay, extra in links:
            if to in commits:
                form = reader.read(delay)
                time = form.constant + extra
                for (place, index, text), c in form.atoms.items():
                    row = {name: values.get(f"{place}[{index}].{name}", low)
                           for name, low in ((n, self.shape.width(place, n, index)[0])
                                             for n in self.shape.tokens[place][index])}
                    time += c * evaluate(text, row)
                name = names[commits[to][0]]
                spent[name] = spent.get(name, 0) + time
        most = sorted((n for n in spent if spent[n]), key=lambda n: -spent[n])[:2]
        return " + ".join(most) or "arrival"

    def aggregates(self, tokens):
        """{code: value} for everything that the candidates read."""
        codes = {code for each in self.candidates for _, code in each.terms}
        found = {}
        for place, kind, text, how in codes:
            rows = tokens[place]
            if kind is not None:
                rows = [row for row, like in zip(rows, self.shape.tokens[place]) if constants(like) == kind]
            values = [evaluate(text, row) for row in rows]
            found[place, kind, text, how] = sum(values) if how == "sum" else max(values)
        return found

    def choose(self, samples, resolution=0):
        """The fewest chains that explain the samples [(tokens, latency)]."""
        known = [self.aggregates(tokens) for tokens, _ in samples]
        truth = [latency for _, latency in samples]
        values = [[float(each.value(a)) for a in known] for each in self.candidates]

        def cost(now):
            errors = [abs(v - t) / t for v, t in zip(now, truth)]
            return sum(errors) / len(errors) + max(errors) / 5

        chosen, now, before = [], [-math.inf] * len(truth), math.inf
        while len(chosen) < min(_MOST_KEPT, len(self.candidates)):
            best, number = min((cost([max(a, b) for a, b in zip(now, values[k])]), k)
                               for k in range(len(values)) if k not in chosen)
            if before - best < _WORTH:
                break
            chosen.append(number)
            now, before = [max(a, b) for a, b in zip(now, values[number])], best
        self.dropped += [(each.name, "on the samples it changes the error by less than "
                          f"{_WORTH:.1%}") for k, each in enumerate(self.candidates) if k not in chosen]
        kept = [self.candidates[k] for k in chosen]
        for number, each in enumerate(kept):
            same = sum(other.name.split(" (")[0] == each.name for other in kept[:number])
            if same:
                each.name = f"{each.name} ({same + 1})"
        return self._merged(kept, samples, resolution)

    def _merged(self, kept, samples, resolution):
        while True:
            pairs = merge_thresholds(kept, self._values(kept, samples))
            if not pairs or pairs[0][0] > resolution:
                return kept
            _, a, b = pairs[0]
            one, other = kept[a], kept[b]
            terms = {}
            for c, code in one.terms + other.terms:
                terms[code] = terms.get(code, 0) + c / 2
            middle = Chain(f"{one.name} / {other.name}", (one.constant + other.constant) / 2,
                           [(c, code) for code, c in terms.items() if c])
            kept = [each for k, each in enumerate(kept) if k not in (a, b)] + [middle]

    def _values(self, kept, samples):
        known = [self.aggregates(tokens) for tokens, _ in samples]
        return [[float(each.value(a)) for a in known] for each in kept]

    def thresholds(self, chosen, samples):
        """Resolutions, in cycles, from which on two of the formulas are one."""
        return [cycles for cycles, _, _ in merge_thresholds(chosen, self._values(chosen, samples))]

    def ranges(self, chosen):
        """{'place.property': (least, most)} of what the formulas read."""
        found = {}
        for each in chosen:
            for _, (place, kind, text, _) in each.terms:
                for index, row in enumerate(self.shape.tokens[place]):
                    if text in row and (kind is None or constants(row) == kind):
                        lo, hi = self.shape.width(place, text, index)
                        key = f"{place}.{text}" + (" of " + ",".join(f"{n}={v}" for n, v in kind) if kind else "")
                        old = found.get(key, (lo, hi))
                        found[key] = min(lo, old[0]), max(hi, old[1])
        return found


def merge_thresholds(kept, values):
    """[(cycles, a, b)], least first: from which resolution on formulas a and b may be one. A merge is
    allowed when half its spread, rounded up, is at most the resolution.
    """
    pairs = []
    for b in range(len(kept)):
        for a in range(b):
            spread = max((abs(x - y) for x, y in zip(values[a], values[b])), default=0)
            pairs.append((math.ceil(spread / 2), a, b))
    return sorted(pairs)
