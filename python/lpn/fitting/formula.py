"""Formulas of the grammar: what a delay or interval may be, over the features of a firing.

A feature is a whole number per firing: a property of a token, a sum over the tokens of an arc, a
parameter. A formula is a constant plus whole multiples of terms, or the greater of two such sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Formula", "Term", "greater", "parts"]


@dataclass(frozen=True)
class Term:
    """`kind`: "x" the feature, "floor" and "ceil" the feature divided by `by`, "product" the feature
    times the feature `by`, "table" `values` by the feature, from `by` on.
    """

    kind: str
    feature: str
    by: object = None
    values: tuple = ()

    def at(self, columns):
        x = columns[self.feature]
        if self.kind == "x":
            return x
        if self.kind == "floor":
            return x // self.by
        if self.kind == "ceil":
            return -(-x // self.by)
        if self.kind == "product":
            return x * columns[self.by]
        return np.array(self.values, dtype=np.int64)[np.clip(x - self.by, 0, len(self.values) - 1)]

    @property
    def cost(self):
        costs = {"x": 1.0, "floor": 2.0, "ceil": 2.0, "product": 2.0}
        return costs.get(self.kind) or 1 + 0.5 * len(set(self.values))

    def features(self):
        return (self.feature, self.by) if self.kind == "product" else (self.feature,)

    def text(self):
        if self.kind == "x":
            return self.feature
        if self.kind == "floor":
            return f"{self.feature} // {self.by}"
        if self.kind == "ceil":
            return f"lpn.ceil_div({self.feature}, {self.by})"
        if self.kind == "product":
            return f"{self.by} * {self.feature}"
        index = self.feature if not self.by else f"{self.feature} - {self.by}"
        return f"lpn.lookup({list(self.values)}, {index})"


@dataclass(frozen=True)
class Formula:
    """`constant` + sum of coefficient * term; with `other`, the greater of the two."""

    constant: int
    terms: tuple = ()  # of (coefficient, Term)
    other: Formula | None = None

    def at(self, columns: dict[str, np.ndarray], size: int) -> np.ndarray:
        """Its values at firings whose features are `columns`."""
        total = np.full(size, self.constant, dtype=np.int64)
        for coefficient, term in self.terms:
            total = total + coefficient * term.at(columns)
        return total if self.other is None else np.maximum(total, self.other.at(columns, size))

    @property
    def cost(self) -> float:
        own = sum(t.cost + (0.5 if abs(c) != 1 else 0) for c, t in self.terms)
        if self.constant:
            own += 0.25
        if any(c < 0 for c, _ in self.terms):
            own += 0.5
        return own if self.other is None else own + self.other.cost + 1

    @property
    def coefficients(self) -> int:
        """How many numbers it has that a firing each has to decide."""
        own = 1 + sum(len(t.values) - 1 if t.kind == "table" else 1 for _, t in self.terms)
        own += sum(t.kind in ("floor", "ceil") for _, t in self.terms)
        return own if self.other is None else own + self.other.coefficients

    def features(self) -> set[str]:
        own = {name for _, term in self.terms for name in term.features()}
        return own if self.other is None else own | self.other.features()

    def text(self) -> str:
        """As Python, over arcs by name."""
        words = ""
        for coefficient, term in self.terms:
            sign = "-" if coefficient < 0 else "+"
            words += f" {sign} " if words else "-" if coefficient < 0 else ""
            size = abs(coefficient)
            inner = f"({term.text()})" if term.kind == "floor" else term.text()
            words += inner if size == 1 else f"{size} * {inner}"
        if self.constant or not words:
            sign = "-" if self.constant < 0 else "+"
            words += f" {sign} {abs(self.constant)}" if words else str(self.constant)
        return words if self.other is None else f"lpn.max({words}, {self.other.text()})"

    def build(self, exprs: dict):
        """The same over expressions: feature -> Expr of the net."""
        from ..authoring.expr import ceil_div, extreme, lookup

        total = self.constant
        for coefficient, term in self.terms:
            x = exprs[term.feature]
            if term.kind == "floor":
                x = x // term.by
            elif term.kind == "ceil":
                x = ceil_div(x, term.by)
            elif term.kind == "product":
                x = x * exprs[term.by]
            elif term.kind == "table":
                x = lookup(list(term.values), x - term.by)
            total = total + coefficient * x
        if self.other is not None:
            return extreme("max", [total, self.other.build(exprs)])
        return total


def greater(one: Formula, two: Formula) -> Formula:
    return Formula(one.constant, one.terms, Formula(two.constant, two.terms))


def parts(formula: Formula) -> list[Formula]:
    return [formula] if formula.other is None else [formula, *parts(formula.other)]
