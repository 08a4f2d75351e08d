"""lpn viz -o run.json: what lpn sim --trace writes, and parts of it."""

import gzip
import json

import pytest
from conftest import DEMO

JPEG = DEMO / "grad_16x16_q90_420.jpg"


def test_the_same_file_as_the_trace_of_lpn_sim(tmp_path, lpn_command):
    assert lpn_command("sim", "jpeg", JPEG, "--trace", tmp_path / "a.json").status == 0
    for name in ("b.json", "b.perfetto", "b.json.gz"):
        answer = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / name, "--json").json
        assert (answer["format"], answer["stalled"], answer["bytes"]) == (
            "perfetto", False, (tmp_path / name).stat().st_size)
        data = (tmp_path / name).read_bytes()
        assert (gzip.decompress(data) if name.endswith(".gz") else data) == (tmp_path / "a.json").read_bytes()


@pytest.mark.parametrize("begin,end", [(0, 200), (500, 700), (611, 611), (1300, 9999)])
def test_a_window(begin, end, tmp_path, lpn_command):
    events = {}
    for name, more in (("whole", []), ("part", ["--window", f"{begin}:{end}"])):
        assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "x.json", *more).status == 0
        events[name] = json.loads((tmp_path / "x.json").read_text())["traceEvents"]

    def firings(which):
        return {(e["name"], e["args"]["firing"], e["ts"], e["dur"]) for e in events[which] if e["ph"] == "X"}

    def counters(which):
        seen = {}
        for e in events[which]:
            if e["ph"] == "C":
                seen.setdefault(e["name"], []).append((e["ts"], e["args"]["tokens"]))
        return seen

    assert firings("part") == {f for f in firings("whole") if f[2] <= end and f[2] + f[3] >= begin} != set()
    whole = counters("whole")
    assert counters("part") == {
        place: [(begin, [v for t, v in changes if t <= begin][-1])] + [c for c in changes if begin < c[0] <= end]
        for place, changes in whole.items()}
