"""Interfaces of streams: the bottlenecks of a class, what filling and draining cost, and phases."""

import itertools
import random
from fractions import Fraction

from ..errors import mistake
from .closed_form import Chains, constants, mean_form, named
from .counted_list import merge_thresholds, single_limits
from .form import evaluate

__all__ = ["Bottleneck", "Stream", "cut"]

_UNITS = 16  # of half the stream that chains are taken from: long enough for a chain to settle
_MOST_CANDIDATES = 16
_MOST_KEPT = 4
_WORTH_MEAN, _WORTH_WORST = (
    0.001,
    0.005,
)  # of the error: what one more line of the interface must bring


class Bottleneck:
    """A loop that can set the pace. `pace`: cycles per unit; `ends`: cycles before and after a
    stream of which it is the bottleneck throughout, filling and draining the pipeline.
    """

    def __init__(self, name, pace, ends, point):
        self.name = name
        self.pace = pace
        self.ends = ends
        self.point = point


class Stream:
    """The bottlenecks of a class whose workload repeats a unit of tokens."""

    def __init__(self, shape, seed=1):
        self.shape = shape
        self.random = random.Random(seed)
        self.chains = Chains(shape, 2 * _UNITS)
        self.widths = (
            {}
        )  # (place, index in the unit, property) -> (least, most), of those that vary
        for place in shape.many:
            for index, row in enumerate(shape.unit(place)):
                for name in row:
                    lo, hi = shape.unit_width(place, name, index)
                    if lo != hi:
                        self.widths[place, index, name] = lo, hi
        self.dropped = []  # (name, why)
        self._borders = {}
        self.candidates = self._candidates()
        if not self.candidates:
            raise mistake(
                "E-pi",
                self.chains.missing()
                or "no loop of the net sets the pace of this class: its latency does not grow with "
                "the input",
            )

    def _points(self):
        """Units, all alike, that make different loops slow."""
        lo = {key: width[0] for key, width in self.widths.items()}
        hi = {key: width[1] for key, width in self.widths.items()}
        yield lo
        yield hi
        for part in range(1, 8):
            yield {key: a + (hi[key] - a) * part // 8 for key, a in lo.items()}
        for key in self.widths:
            yield {**lo, key: hi[key]}
            yield {**hi, key: lo[key]}
        for level in [1, 1, 2, 2, 4, 4, 8, 8]:
            yield {key: self.random.randint(a, a + (hi[key] - a) // level) for key, a in lo.items()}

    def _values(self, first, second):
        """A stream whose units are like `first`, and from its middle on like `second`."""
        sizes = {place: len(self.shape.unit(place)) for place in self.shape.many}

        def value_of(place, index, name):
            if place in sizes and (place, index % sizes[place], name) in first:
                half = first if index < _UNITS * sizes[place] else second
                return half[place, index % sizes[place], name]
            return self.shape.width(place, name)[0]

        return self.chains.input(value_of)

    def _candidates(self):
        found = {}
        for point in self._points():
            values = self._values(point, point)
            known = self.chains.chain(values)
            each = None if known is None else self._loop(*known, point)
            if each is not None and each.pace.key not in found:
                found[each.pace.key] = each
        kept = list(found.values())
        for number, each in enumerate(kept):
            same = [other for other in kept[:number] if other.name.split(" (")[0] == each.name]
            if same:
                each.name = f"{each.name} ({len(same) + 1})"
        return kept[:_MOST_CANDIDATES]

    def _loop(self, links, commits, point):
        """The loop that the middle of a chain goes round."""
        units = 2 * _UNITS
        counts = {}
        for transition, _ in commits.values():
            counts[transition] = counts.get(transition, 0) + 1
        visits = {}
        for k, (_, to, _, _) in enumerate(links):
            if to not in commits:
                continue
            transition, number = commits[to]
            per_unit, rest = divmod(counts[transition], units)
            if rest or not per_unit:
                continue
            unit, position = divmod(number, per_unit)
            if units // 4 <= unit < 3 * units // 4:
                visits.setdefault((transition, position), []).append((unit, k))
        best = max(visits.values(), key=lambda seen: seen[-1][0] - seen[0][0], default=None)
        if best is None or best[-1][0] == best[0][0]:
            return None
        (from_unit, a), (to_unit, b) = best[0], best[-1]
        rounds = to_unit - from_unit

        def total(part):
            return mean_form(self.shape, self.chains.total(part))

        pace = total(links[a + 1 : b + 1]).scaled(Fraction(1, rounds))
        ends = total(links).add(pace, -units)
        return Bottleneck(named(self.chains, links[a + 1 : b + 1], commits), pace, ends, point)

    def border(self, one, other):
        """Cycles that a change from one bottleneck to another adds beside the ends of the first;
        negative where both work at once. None: there is no such change.
        """
        key = one.pace.key, other.pace.key
        if key not in self._borders:
            known = self.chains.chain(self._values(one.point, other.point))
            form = None
            if known is not None:
                form = mean_form(self.shape, self.chains.total(known[0]))
                for part, times in ((one.ends, 1), (one.pace, _UNITS), (other.pace, _UNITS)):
                    form = form.add(part, -times)
            self._borders[key] = form
        return self._borders[key]

    def limits(self, place, kind, text):
        """(least, most) sum of an atom over the tokens of a kind in a unit."""
        rows = self.shape.unit(place)
        known = [
            (index % len(rows), limits)
            for (p, index, t), limits in self.chains.reader.limits.items()
            if (p, t) == (place, text)
        ]
        found = []
        for k, row in enumerate(rows):
            if (
                constants(row) == kind
            ):  # a token that no chain passes has the range of those that some do
                own = [limits for index, limits in known if index == k] or [
                    limits for _, limits in known
                ]
                found.append((min(lo for lo, _ in own), max(hi for _, hi in own)))
        return sum(lo for lo, _ in found), sum(hi for _, hi in found)

    def single_limits(self, place, text, names):
        return single_limits(self, place, text, names)

    # Numbers.

    def number(self, kind_sums, form, count=1):
        """A form's value for sums over tokens of `count` units."""
        total = form.constant * count
        for (place, kind, text), coefficient in form.atoms.items():
            if kind is None:
                total += coefficient * kind_sums[place, None, text]
            else:
                total += coefficient * kind_sums[place, kind, text] / self.size(place, kind)
        return total

    def size(self, place, kind):
        """Tokens of a kind in a unit."""
        return sum(constants(row) == kind for row in self.shape.unit(place))

    def keys(self, chosen):
        """What the forms of some bottlenecks and their borders are made of."""
        forms = itertools.chain.from_iterable((b.pace, b.ends) for b in chosen)
        borders = (self.border(a, b) for a in chosen for b in chosen if a is not b)
        return sorted(
            {key for form in itertools.chain(forms, borders) if form for key in form.atoms},
            key=repr,
        )

    def sums(self, keys, sample):
        """Per unit of a sample {place: [{property: value}]}: {key: sum}; singles are in every
        unit.
        """
        units = []
        number = next(
            len(sample[place]) // len(self.shape.unit(place)) for place in self.shape.many
        )
        for u in range(number):
            sums = {}
            for place, kind, text in keys:
                rows = sample[place]
                if kind is not None:
                    size = len(self.shape.unit(place))
                    rows = [
                        row
                        for row, like in zip(
                            rows[u * size : (u + 1) * size], self.shape.unit(place)
                        )
                        if constants(like) == kind
                    ]
                sums[place, kind, text] = sum(evaluate(text, row) for row in rows)
            units.append(sums)
        return units

    def predict(self, chosen, units):
        """The latency of a stream that is cut into phases of `chosen` bottlenecks."""
        mean = {key: Fraction(sum(u[key] for u in units), len(units)) for key in units[0]}

        def once(form):
            return float(self.number(mean, form))

        paces = [[float(self.number(u, b.pace)) for b in chosen] for u in units]
        forms = [[None if a is b else self.border(a, b) for b in chosen] for a in chosen]
        borders = [
            [
                [None if form is None else float(self.number(u, form)) for form in row]
                for row in forms
            ]
            for u in units
        ]
        return cut(paces, [once(b.ends) for b in chosen], borders)[0]

    def choose(self, samples, resolution=0):
        """The fewest bottlenecks that explain the samples [(sample, latency)]."""
        keys = self.keys(self.candidates)
        known = [(self.sums(keys, sample), latency) for sample, latency in samples]

        def error(chosen):
            errors = [
                abs(self.predict(chosen, units) - latency) / latency for units, latency in known
            ]
            return sum(errors) / len(errors), max(errors)

        chosen, now = [], (float("inf"), float("inf"))
        while len(chosen) < min(_MOST_KEPT, len(self.candidates)):
            tried = [
                (error([*chosen, each]), number)
                for number, each in enumerate(self.candidates)
                if each not in chosen
            ]
            best, number = min(tried)
            if chosen and now[0] - best[0] < _WORTH_MEAN and now[1] - best[1] < _WORTH_WORST:
                break
            chosen.append(self.candidates[number])
            now = best
        for each in self.candidates:
            if each not in chosen:
                with_it = error([*chosen, each])
                self.dropped.append(
                    (
                        each.name,
                        f"on the samples it changes the mean error by "
                        f"{abs(with_it[0] - now[0]):.3%}",
                    )
                )
        while True:
            pairs = merge_thresholds(chosen, self._totals(chosen, samples))
            if not pairs or pairs[0][0] > resolution:
                return chosen
            _, a, b = pairs[0]
            one, other = chosen[a], chosen[b]
            middle = Bottleneck(
                f"{one.name} / {other.name}",
                one.pace.add(other.pace).half(),
                one.ends.add(other.ends).half(),
                one.point,
            )
            chosen = [each for k, each in enumerate(chosen) if k not in (a, b)] + [middle]

    def mean_error(self, chosen, samples):
        keys = self.keys(chosen)
        errors = [
            abs(self.predict(chosen, self.sums(keys, sample)) - latency) / latency
            for sample, latency in samples
        ]
        return sum(errors) / len(errors)

    def _totals(self, chosen, samples):
        """Per bottleneck the latencies of the samples, were it the only one."""
        keys = self.keys(chosen)
        units = [self.sums(keys, sample) for sample, _ in samples]
        return [[self.predict([each], one) for one in units] for each in chosen]

    def thresholds(self, chosen, samples):
        """Resolutions, in cycles, from which on two of the bottlenecks are one."""
        return [cycles for cycles, _, _ in merge_thresholds(chosen, self._totals(chosen, samples))]


def cut(paces, ends, borders):
    """(latency, bottleneck per unit): the stream cut into phases so that the chain through them is
    longest.

    Every sequence of phases is a chain of delays that the input has to go through, so the longest
    decides; a change costs its border, which is why short disturbances make no phase of their own.
    `borders`: per unit the cycles of a change to it, [from][to]; None where there is no such
    change.
    """
    number = len(ends)
    best = [ends[k] + paces[0][k] for k in range(number)]
    back = []
    for unit, border in zip(paces[1:], borders[1:]):
        came = []
        for k in range(number):
            options = [
                (best[j] if j == k else best[j] + border[j][k], j == k, j)
                for j in range(number)
                if j == k or border[j][k] is not None
            ]
            came.append(max(options))
        back.append([c[2] for c in came])
        best = [came[k][0] + unit[k] for k in range(number)]
    total, last = max((best[k], k) for k in range(number))
    path = [last]
    for came in reversed(back):
        path.append(came[path[-1]])
    return total, path[::-1]
