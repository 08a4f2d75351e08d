"""What memory contention leaves to a function: three models of the rate, evaluated without any
library.

`Boosted` holds the regression trees that `training` fitted (gradient boosting on the competitors'
performance counters, the black box of SLOMO and Yala), `Stochastic` those of stochastic gradient
boosting on logarithms, which averages over the noise of a profile; `WhiteBox` is a law of few constants with
meaning. Both map a dict of profile columns to packets per microsecond.
"""

import math
import struct
from dataclasses import dataclass

from lpn import Error

from .profile_table import FLOWS

__all__ = ["Boosted", "Stochastic", "WhiteBox", "memory_model"]

_FLOAT32 = struct.Struct("f")


@dataclass(frozen=True)
class Boosted:
    """Gradient-boosted regression trees: rate = base + rate_of_learning * sum of one leaf per tree.

    features: columns; trees: lists of nodes, [feature, threshold, left, right] or [value], the root
    first. As scikit-learn does, inputs are rounded to single precision and go left when <=
    threshold.
    """

    features: tuple
    base: float
    learning_rate: float
    trees: list

    kind = "boosting"

    def rate(self, row):
        return self.base + self.learning_rate * self.leaves(row)

    def leaves(self, row):
        """The sum of the trees' answers."""
        values = [_FLOAT32.unpack(_FLOAT32.pack(row[name]))[0] for name in self.features]
        total = 0.0
        for tree in self.trees:
            node = tree[0]
            while len(node) == 4:
                node = tree[node[2] if values[node[0]] <= node[1] else node[3]]
            total += node[0]
        return total

    def data(self):
        return {
            "kind": self.kind,
            "features": list(self.features),
            "base": self.base,
            "learning_rate": self.learning_rate,
            "trees": self.trees,
        }


@dataclass(frozen=True)
class Stochastic(Boosted):
    """The same with rate = exp(base + rate_of_learning * sum of one leaf per tree)."""

    kind = "stochastic"

    def rate(self, row):
        return math.exp(self.base + self.learning_rate * self.leaves(row))


_MOST_LOG = 700.0  # exp() of it is still a number
_TREES = {model.kind: model for model in (Boosted, Stochastic)}


@dataclass(frozen=True)
class WhiteBox:
    """Time per packet [us] = t0 + f F + w W + wc W C + wf W F, the rate its inverse.

    W: working set of the competitors [MB], up to `wss_knee` (what does not fit the cache adds
    nothing); C: their L2 accesses, reads and writes [1e8/s]; F: flows of the function itself, up to
    `flow_knee` (its table has outgrown the cache). The constants belong to one function; none is
    negative, as contention helps nobody.
    """

    t0: float
    f: float
    w: float
    wc: float
    wf: float
    wss_knee: float
    flow_knee: float

    kind = "white-box"
    features = ("comp_wss_MB", "comp_l2d_rd_per_s", "comp_l2d_wr_per_s", FLOWS)

    def time(self, row):
        wss = min(row["comp_wss_MB"], self.wss_knee)
        accesses = (row["comp_l2d_rd_per_s"] + row["comp_l2d_wr_per_s"]) / 1e8
        flows = min(row.get(FLOWS, 0.0), self.flow_knee)
        return (
            self.t0
            + self.f * flows
            + self.w * wss
            + self.wc * wss * accesses
            + self.wf * wss * flows
        )

    def rate(self, row):
        return 1 / self.time(row)

    def data(self):
        return {
            "kind": self.kind,
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
        }


def memory_model(data, where):
    """The model of `data()`; `where` names the file for E-predictor."""
    try:
        if data["kind"] == "white-box":
            model = WhiteBox(**{name: float(data[name]) for name in WhiteBox.__dataclass_fields__})
            if not (
                model.t0 > 0
                and all(
                    math.isfinite(getattr(model, n)) and getattr(model, n) >= 0
                    for n in WhiteBox.__dataclass_fields__
                )
            ):
                raise ValueError("constants must be finite and not negative, t0 positive")
            return model
        if data["kind"] in _TREES:
            model = _TREES[data["kind"]](
                tuple(data["features"]),
                float(data["base"]),
                float(data["learning_rate"]),
                data["trees"],
            )
            for tree in model.trees:
                for place, node in enumerate(tree):
                    leaf = len(node) == 1
                    # Children behind their parent: a walk ends.
                    if not leaf and not (
                        len(node) == 4
                        and all(type(node[k]) is int for k in (0, 2, 3))
                        and 0 <= node[0] < len(model.features)
                        and place < node[2] < len(tree)
                        and place < node[3] < len(tree)
                    ):
                        raise ValueError(f"node {node} of a tree")
                    if not math.isfinite(node[0] if leaf else node[1]):
                        raise ValueError(f"node {node} of a tree")
                if not tree:
                    raise ValueError("an empty tree")
            most = sum(max(abs(n[0]) for n in tree if len(n) == 1) for tree in model.trees)
            reached = abs(model.base) + abs(model.learning_rate) * most
            if not reached < _MOST_LOG:
                raise ValueError(
                    f"base {model.base:g} and learning rate {model.learning_rate:g} with leaves that "
                    f"add up to {most:g}"
                )
            return model
        raise ValueError(f"kind '{data['kind']}' of memory model")
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Error("E-predictor", f"{where}: memory model: {error!r}; train it again") from None
