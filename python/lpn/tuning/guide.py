"""Which candidates are worth a trial next: a model of costs learnt from the trials so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import mistake

__all__ = ["Guide"]

# Of each batch so many are chosen at random: what the model is wrong about is found only there.
_RANDOM_SHARE = 0.25


class Guide:
    """Orders candidates by their predicted cost.

    `features`: a list of numbers per candidate; `prior`: a rough cost per candidate, or None. What
    is learnt is the logarithm of cost over prior, by extremely randomised trees.
    """

    def __init__(
        self, features: Sequence[Sequence[float]], prior: Sequence[float] | None, seed: int
    ) -> None:
        self._features = features
        self._prior = [math.log(max(p, 1e-300)) for p in prior] if prior is not None else None
        self._seed = seed
        try:
            from sklearn.ensemble import ExtraTreesRegressor
        except ImportError:
            raise mistake(
                "E-tune",
                "a guided search needs scikit-learn (Debian: apt-get install python3-sklearn); "
                "or search at random",
            ) from None
        self._regressor = ExtraTreesRegressor

    def choose(
        self, left: Sequence[int], costs: dict[int, float], number: int, random: Any
    ) -> list[int]:
        """So many of the candidates `left`, by their numbers; `costs` of those that were tried."""
        number = min(number, len(left))
        by_chance = max(1, round(number * _RANDOM_SHARE)) if number > 1 else 0
        predicted = self._predicted(left, costs)
        if predicted is None:
            return random.sample(list(left), number)
        ranked = sorted(range(len(left)), key=lambda i: (predicted[i], i))
        best = [left[i] for i in ranked[: number - by_chance]]
        rest = [left[i] for i in ranked[number - by_chance :]]
        return best + random.sample(rest, min(by_chance, len(rest)))

    def _predicted(self, left, costs):
        prior = self._prior
        tried = [n for n, cost in costs.items() if cost is not None and cost > 0]
        if len(tried) < 4:
            return None if prior is None else [prior[n] for n in left]
        base = prior if prior is not None else [0.0] * len(self._features)
        model = self._regressor(n_estimators=60, random_state=self._seed, n_jobs=1)
        model.fit([self._features[n] for n in tried], [math.log(costs[n]) - base[n] for n in tried])
        values = model.predict([self._features[n] for n in left])
        return [base[n] + value for n, value in zip(left, values)]
