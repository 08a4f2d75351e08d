"""The net against the serialiser's registers (registers.py), on messages and memories at random.

The registers themselves are compared with the RTL's figures.
"""

import os
import random

import pytest
from registers import completions

SLOW = os.environ.get("LPN_SLOW")
RUNS = 200 if SLOW else 15
MOST_BITS = 100  # has bits of a batch, unless LPN_SLOW


class Messages:
    """Random messages of a model: any shape, absent fields and submessages, large strings."""

    def __init__(self, module, seed):
        self._module, self._random = module, random.Random(seed)
        self._kind = module.Kind

    def batch(self):
        return [self._message(1) for _ in range(self._random.choice((1, 1, 2, 4)))]

    def _message(self, depth):
        highest = self._random.choice((1, 2, 4, 8, 20, 40))
        numbers = [n for n in range(1, highest + 1) if self._random.random() < 0.65]
        fields = [self._field(n, depth, highest) for n in numbers]
        children = {field.number for field in fields if field.child is not None}
        if self._random.random() < 0.3:
            children |= {self._random.randint(1, highest)} - set(numbers)  # declared, absent
        return self._module.Message(fields, 1, highest, frozenset(children))

    def _field(self, number, depth, highest):
        draw, kind = self._random, self._kind
        what = draw.random()
        if what < 0.25 and depth < 5 and highest <= 20:
            return self._module.Field(number, kind.CLOSE, child=self._message(depth + 1))
        repeated = draw.random() < 0.25
        if what < 0.6:
            most = draw.choice((60, 60, 60, 60, 60, 60, 60, 60, 3000))
            sizes = [draw.randint(1, most) for _ in range(draw.randint(1, 6) if repeated else 1)]
            skew = draw.choice((0, 0, draw.randint(0, 15)))
            return self._module.Field(number, kind.STRING, sizes, repeated, skew)
        sizes = [draw.randint(1, 10) for _ in range(draw.randint(0, 20) if repeated else 1)]
        return self._module.Field(number, kind.SCALAR, sizes, repeated)


def test_registers_are_exact(truth, model):
    rows = list(model.module.truth_rows(truth / "messages.jsonl.gz"))
    for batch, parameters, measured in rows if SLOW else rows[::10]:
        if measured > 2000 and not SLOW:
            continue
        lowered = model.module.Lowered(batch.messages, 6)
        assert completions(lowered, **parameters)[-1] == measured, batch.name


@pytest.mark.parametrize("seed", [1])
def test_net_and_registers_agree(model, serialise, seed):
    messages = Messages(model.module, seed)
    draw = random.Random(seed)
    for run in range(RUNS):
        batch = messages.batch()
        parameters = {
            "read_latency": draw.choice((1, 2, 3, 5, 10, 30, 100)),
            "write_ack_latency": draw.choice((1, 1, 3, 40)),
            "command_interval": draw.choice((1, 29)),
        }
        lowered = model.module.Lowered(batch, 6)
        if len(lowered.bits) > MOST_BITS and not SLOW:
            continue
        clocks = completions(lowered, **parameters)
        found = serialise(batch, **parameters)
        assert not found.stalled and found.latency == clocks[-1], (seed, run, parameters)
