"""Clocks of the net against the RTL's, message by message."""

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


def test_a_wrong_truth_is_seen(truth, model, net, tmp_path):
    """The comparison can fail: other cycles, and other bytes than those of the input."""
    import gzip
    import json

    with gzip.open(truth / "messages.jsonl.gz", "rt") as lines:
        row = json.loads(lines.readline())
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "ser_bytes": [99]}) + "\n")
    with pytest.raises(ValueError, match="has other bytes than its input"):
        list(model.module.truth_rows(tmp_path / "rows.jsonl"))
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "shape": None}) + "\n")
    with pytest.raises(ValueError, match="has no shape"):
        list(model.module.truth_rows(tmp_path / "rows.jsonl"))
