"""Clocks of the net against the RTL's, message by message."""

import gzip
import json
import os

import pytest
from conftest import lpn

SLOW = os.environ.get("LPN_SLOW")
MOST = 30_000  # clocks of a row, unless LPN_SLOW

# What the project asks for; the model is exact on all of these.
MEAN_ERROR = 0.02
WORST_ERROR = 0.06


@pytest.mark.parametrize("name, rows", [("messages", 251), ("hyperprotobench", 123)])
def test_every_row_is_exact(truth, model, net, name, rows):
    wanted = list(model.module.truth_rows(truth / f"{name}.jsonl.gz"))
    assert len(wanted) == rows
    errors, differ = [], []
    for batch, parameters, measured in wanted:
        if measured > MOST and not SLOW:
            continue
        run = lpn.simulate(
            net,
            model.workload(batch, net),
            params=parameters,
            engine="compiled" if SLOW else "interp",
        )
        assert not run.stalled, batch.name
        errors.append(abs(run.latency - measured) / measured)
        if run.latency != measured:
            differ.append((batch.name, parameters, measured, run.latency))
    assert sum(errors) / len(errors) <= MEAN_ERROR and max(errors) <= WORST_ERROR
    assert not differ
    print(f"{name}: {len(errors)} of {len(wanted)} rows, all exact")


def test_rows_that_are_not_covered(truth, model, net, tmp_path):
    """Other bytes than those of the input, and what the hardware does not serialise."""
    (tmp_path / "hyperprotobench_processed").symlink_to(truth / "hyperprotobench_processed")
    with gzip.open(truth / "messages.jsonl.gz", "rt") as lines:
        row = json.loads(lines.readline())

    def refused(**other):
        (tmp_path / "rows.jsonl").write_text(json.dumps({**row, **other}) + "\n")
        ((batch, _, _),) = model.module.truth_rows(tmp_path / "rows.jsonl")
        with pytest.raises(ValueError) as error:
            model.workload(batch, net)
        return str(error.value)

    assert "the row's messages have [99] bytes, its input [2]" in refused(ser_bytes=[99])
    assert "has no shape" in refused(shape=None)
    assert "bench 0 has 10 messages" in refused(shape=None, name="HPB0_batch11")
    assert "an empty string" in refused(shape=[[["string", 1, 0, [0], 0]]])
