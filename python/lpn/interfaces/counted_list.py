"""Interfaces of lists of tokens: the chains of delays that decide the latency of one class.

Each chain is a lower bound, exact for some inputs. Tokens that all chosen chains treat alike are
summed up together: they are a phase of the list.
"""

import math
import random

from ..errors import mistake
from .closed_form import Chains
from .form import evaluate

__all__ = ["Chain", "TokenList", "merge_thresholds", "single_limits"]

_POINTS = 64  # inputs, beside those with one outstanding token, whose chains are looked at
_MOST_SINGLED = 256
_MOST_KEPT = 16
_GOOD = 0.002  # worst error on the samples at which no more chains are added
_WORTH = 0.0002  # mean plus a third of the worst error: what one more line must bring


class Chain:
    """A formula: a constant and {(place, index, text): coefficient}."""

    def __init__(self, name, form):
        self.name = name
        self.form = form

    def value(self, atoms):
        return float(
            self.form.constant + sum(c * atoms[atom] for atom, c in self.form.atoms.items())
        )


class TokenList:
    """The chains of a class that is a list of tokens."""

    def __init__(self, shape, seed=1):
        self.shape = shape
        shape.widen()
        self.chains = Chains(shape)
        self.dropped = []
        self.found = {}
        rng = random.Random(seed)
        lowest, highest = self.sample(rng, edge=0), self.sample(rng, edge=1)
        points = [lowest, highest] + [self.sample(rng) for _ in range(_POINTS)]
        for place in shape.many:
            rows = range(len(shape.tokens[place]))
            varying = [k for k in rows if lowest[place][k] != highest[place][k]]
            for index in varying[:_MOST_SINGLED]:
                rows = list(lowest[place])
                rows[index] = highest[place][index]
                points.append({**lowest, place: rows})
        for number, tokens in enumerate(points):
            shape.say(f"chain {number + 1} of {len(points)}")
            self.look_at(tokens)
        if not self.found:
            raise mistake("E-pi", self.chains.missing() or "no chain of delays decides its latency")

    def look_at(self, tokens):
        """Adds the chain that decides the latency of an input to those known."""
        values = self.chains.input(lambda place, index, name: tokens[place][index][name])
        known = self.chains.chain(values)
        if known is None:
            return
        form = self.chains.total(known[0])
        if form.key not in self.found:
            self.found[form.key] = Chain(self._name(*known, tokens), form)

    def sample(self, rng, edge=None):
        """Tokens of a member; `edge` 0 or 1: the least or largest. Wide ranges are drawn by size,
        as they are met: most tokens small, some very large; or all alike.
        """
        alike = rng.random() < 0.5
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
                    wide = hi - lo > 1000
                    level = (
                        levels.setdefault((place, name), rng.random())
                        if alike or not wide
                        else rng.random()
                    )
                    most = (hi - lo) ** level if wide else (hi - lo) * level
                    values[name] = lo + min(hi - lo, math.floor(most * rng.random() + 0.5))
                made.append(values)
            tokens[place] = made
        return tokens

    def _name(self, links, commits, tokens):
        """The two transitions that most of a chain's time goes to."""
        spent, names = {}, self.shape.net.transitions
        for _, to, delay, extra in links:
            if to in commits:
                form = self.chains.reader.read(delay)
                time = (
                    extra
                    + form.constant
                    + sum(
                        c * evaluate(text, tokens[place][index])
                        for (place, index, text), c in form.atoms.items()
                    )
                )
                name = names[commits[to][0]]
                spent[name] = spent.get(name, 0) + time
        most = sorted((n for n in spent if spent[n]), key=lambda n: -spent[n])[:2]
        return " + ".join(most) or "arrival"

    def _values(self, chains, samples):
        """Per chain its value for each sample (tokens, latency)."""
        atoms = {atom for each in chains for atom in each.form.atoms}
        known = [
            {
                (place, index, text): evaluate(text, tokens[place][index])
                for place, index, text in atoms
            }
            for tokens, _ in samples
        ]
        return [[each.value(one) for one in known] for each in chains]

    def choose(self, samples, resolution=0):
        """The fewest chains that explain the samples [(tokens, latency)]."""
        for tokens, _ in samples:
            self.look_at(tokens)
        candidates = list(self.found.values())
        truth = [latency for _, latency in samples]
        values = self._values(candidates, samples)

        def errors(now):
            return [abs(v - t) / t for v, t in zip(now, truth)]

        def cost(now):
            found = errors(now)
            return sum(found) / len(found) + max(found) / 3

        chosen, now, before = [], [-math.inf] * len(truth), math.inf
        while len(chosen) < min(_MOST_KEPT, len(candidates)):
            best, number = min(
                (cost(list(map(max, now, values[k]))), k)
                for k in range(len(values))
                if k not in chosen
            )
            if before - best < _WORTH:
                break
            chosen.append(number)
            now, before = list(map(max, now, values[number])), best
            if max(errors(now)) < _GOOD:
                break
        left = [k for k in range(len(candidates)) if k not in chosen]
        if left:
            gains = [max((v - w) / t for v, w, t in zip(values[k], now, truth)) for k in left]
            self.dropped.append(
                (
                    f"{len(left)} more chains",
                    "on the samples none is more than "
                    f"{max(0, *gains) if len(gains) > 1 else max(0, gains[0]):.2%} above the "
                    "others",
                )
            )
        kept = [candidates[k] for k in chosen]
        for number, each in enumerate(kept):
            same = sum(other.name.split(" (")[0] == each.name for other in kept[:number])
            if same:
                each.name = f"{each.name} ({same + 1})"
        while True:
            pairs = merge_thresholds(kept, self._values(kept, samples))
            if not pairs or pairs[0][0] > resolution:
                return kept
            _, a, b = pairs[0]
            middle = Chain(
                f"{kept[a].name} / {kept[b].name}", kept[a].form.add(kept[b].form).half()
            )
            kept = [each for k, each in enumerate(kept) if k not in (a, b)] + [middle]

    def mean_error(self, chosen, samples):
        now = (
            map(max, *self._values(chosen, samples))
            if len(chosen) > 1
            else self._values(chosen, samples)[0]
        )
        return sum(abs(v - latency) / latency for v, (_, latency) in zip(now, samples)) / len(
            samples
        )

    def thresholds(self, chosen, samples):
        """Resolutions, in cycles, from which on two of the formulas are one."""
        return [cycles for cycles, _, _ in merge_thresholds(chosen, self._values(chosen, samples))]

    def single_limits(self, place, text, names):
        return single_limits(self, place, text, names)

    def limits(self, place, text, indices):
        """(least, most) sum of an atom over tokens."""
        known = [self.chains.reader.limits[place, index, text] for index in indices]
        return sum(lo for lo, _ in known), sum(hi for _, hi in known)


def single_limits(analysis, place, text, names):
    """{property: (least, most)} of a single token's properties, or of an atom that x holds as
    such.
    """
    if names == [text] and not text.isidentifier():
        return {text: analysis.chains.reader.limits[place, 0, text]}
    row = analysis.shape.tokens[place][0]
    return {
        name: row[name] if isinstance(row[name], tuple) else (row[name], row[name])
        for name in names
    }


def merge_thresholds(kept, values):
    """[(cycles, a, b)], least first: from which resolution on formulas a and b may be one. A merge
    is allowed when half its spread, rounded up, is at most the resolution.
    """
    pairs = []
    for b in range(len(kept)):
        for a in range(b):
            spread = max((abs(x - y) for x, y in zip(values[a], values[b])), default=0)
            pairs.append((math.ceil(spread / 2), a, b))
    return sorted(pairs)
