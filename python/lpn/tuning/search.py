"""lpn.tune: the cheapest of many candidates, by trying some of them."""

from __future__ import annotations

import math
import os
import random as randomness
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import listed, mistake
from ..interrupt import Interrupt
from .guide import Guide
from .journal import Journal, key

__all__ = ["STRATEGIES", "Trial", "Tuning", "tune"]

# A batch is at least this part of the trials before it: what they teach changes ever less.
_GROWTH = 8
STRATEGIES = ("guided", "random", "exhaustive")


@dataclass(frozen=True)
class Trial:
    """A candidate that was tried; `cost` None: it cannot be run."""

    number: int  # from 1, in the order of the search
    candidate: Any
    cost: float | None


@dataclass
class Tuning:
    """What a search found. `best`: the cheapest trial, the first of equals, or None. `ending`:
    "done", or "interrupted" by Ctrl-C. `candidates`: of how many.
    """

    candidates: int
    trials: list[Trial] = field(default_factory=list)
    ending: str = "done"

    @property
    def best(self) -> Trial | None:
        able = [(trial.cost, trial.number) for trial in self.trials if trial.cost is not None]
        return self.trials[min(able)[1] - 1] if able else None

    def so_far(self) -> list[tuple[int, float]]:
        """(trials, least cost in them) wherever it fell: the convergence of the search."""
        points: list[tuple[int, float]] = []
        for trial in self.trials:
            if trial.cost is not None and (not points or trial.cost < points[-1][1]):
                points.append((trial.number, trial.cost))
        return points


def tune(
    candidates: Sequence[Any],
    cost: Callable[[list[Any]], Sequence[float | None]],
    *,
    trials: int | None = None,
    strategy: str = "guided",
    features: Callable[[Any], Sequence[float]] | None = None,
    prior: Callable[[Any], float] | None = None,
    batch: int = 4,
    seed: int = 1,
    journal: str | os.PathLike[str] | None = None,
    subject: Any = None,
    on_batch: Callable[[Tuning], None] | None = None,
) -> Tuning:
    """Searches the candidate of least cost: a Tuning.

    `candidates`: JSON values, such as dicts of numbers. `cost(batch)`: the cost of each of a list of
    candidates, for instance latencies of lpn.run_batch; None where it cannot be run. `trials`: at
    most so many; default all. `strategy`: "random", without repetition; "exhaustive", in their
    order; "guided" by a model of costs that is learnt from `features(candidate)`, a list of numbers
    (default: the numbers in the candidate), and starts from `prior(candidate)`, a rough cost.
    `batch`: candidates between two looks at the model and at Ctrl-C, which keeps what was found, at
    first; an eighth of the trials later on.
    `journal`: a file of trials, from which the same search goes on; `subject`, a dict, says in it
    what is tuned. `on_batch(tuning)` is called after each batch. The same seed gives the same
    search. Raises Error "E-tune" for options that cannot be, "E-tune-file" for a journal that is of
    another search.
    """
    _check(candidates, strategy, trials, batch)
    everything = {
        "strategy": strategy,
        "seed": seed,
        "batch": batch,
        "candidates": len(candidates),
        "subject": subject,
    }
    chooser = _Chooser(candidates, strategy, features, prior, seed)
    kept = Journal(journal, everything)
    result = Tuning(len(candidates))
    most = len(candidates) if trials is None else min(trials, len(candidates))
    try:
        with Interrupt() as interrupt:
            while len(result.trials) < most and not interrupt.asked:
                size = max(batch, len(result.trials) // _GROWTH)
                numbers = chooser.next(min(size, most - len(result.trials)))
                found = _costs([candidates[n] for n in numbers], cost, kept, interrupt)
                for number, value in zip(numbers, found):
                    chooser.costs[number] = value
                    trial = Trial(len(result.trials) + 1, candidates[number], value)
                    result.trials.append(trial)
                if on_batch is not None:
                    on_batch(result)
            if interrupt.asked and len(result.trials) < most:
                result.ending = "interrupted"
    except KeyboardInterrupt:
        result.ending = "interrupted"
    finally:
        kept.close()
    return result


def _check(candidates, strategy, trials, batch):
    if strategy not in STRATEGIES:
        raise mistake("E-tune", f"strategy must be {listed(STRATEGIES)}, got {strategy!r}")
    if not len(candidates):
        raise mistake("E-tune", "there is no candidate to try")
    for name, value in (("trials", trials), ("batch", batch)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise mistake("E-tune", f"{name} must be at least 1, got {value!r}")


def _costs(batch, cost, kept, interrupt):
    """The costs of a batch: from the journal, else computed and written there."""
    missing = [candidate for candidate in batch if key(candidate) not in kept.known]
    if missing:
        with interrupt.immediately():
            found = list(cost(missing))
        if len(found) != len(missing):
            raise mistake(
                "E-tune", f"cost() must return {len(missing)} numbers for as many, got {len(found)}"
            )
        for candidate, value in zip(missing, found):
            if value is not None and not math.isfinite(value):
                raise mistake("E-tune", f"cost() must return finite numbers or None, got {value!r}")
            kept.add(candidate, value)
    return [kept.known[key(candidate)] for candidate in batch]


class _Chooser:
    """What is tried next; `costs` of those that were, by their numbers."""

    def __init__(self, candidates, strategy, features, prior, seed):
        self.costs: dict[int, float | None] = {}
        self._random = randomness.Random(seed)
        self._order = list(range(len(candidates)))
        self._guide = None
        if strategy == "random":
            self._random.shuffle(self._order)
        elif strategy == "guided":
            rows = [_numbers(candidate, features) for candidate in candidates]
            rough = None if prior is None else [prior(candidate) for candidate in candidates]
            self._guide = Guide(rows, rough, seed)

    def next(self, number):
        left = [n for n in self._order if n not in self.costs]
        if self._guide is None:
            return left[:number]
        return self._guide.choose(left, self.costs, number, self._random)


def _numbers(candidate, features):
    if features is not None:
        return list(features(candidate))
    values = candidate.values() if isinstance(candidate, dict) else candidate
    numbers = [float(x) for x in values if isinstance(x, (int, float))]
    if not numbers:
        raise mistake(
            "E-tune", f"a guided search needs features of {candidate!r}: it has no number"
        )
    return numbers
