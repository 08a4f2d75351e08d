"""The input spaces of models and testbenches: what is in them, and that their nets are the right
ones.
"""

import os
import random
import sys
from pathlib import Path

import lpn
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TRUTH = Path(os.environ.get("LPN_SHARED", ROOT.parent / "shared")) / "truth"
sys.path[:0] = [str(HERE), str(ROOT / "testbenches" / "ltc")]

import pipeline  # noqa: E402


def latency(net, marking, params=None):
    run = lpn.simulate(net, marking, params=params, engine="interp")
    assert not run.stalled
    return run.latency


def recurrence(x, slopes, constants, capacities):
    """When the last block leaves the pipeline."""
    t = {}
    for i in range(len(x)):
        for j in range(len(slopes)):
            before = [t.get((i, j - 1), 0), t.get((i - 1, j), 0)]
            if j + 1 < len(slopes):
                before.append(t.get((i - capacities[j], j + 1), 0))
            t[i, j] = max(before) + slopes[j] * x[i] + constants[j]
    return t[len(x) - 1, len(slopes) - 1]


def test_the_pipeline_is_its_recurrence():
    random.seed(1)
    net = pipeline.net()
    for k in (1, 2, 3, 7, 20):
        space = pipeline.space(net, k, budget=63 * k)
        for _ in range(20):
            x = [random.randint(0, 63) for _ in range(k)]
            expected = recurrence(x, pipeline.SLOPES, pipeline.CONSTANTS, (2, 2, 2))
            assert latency(net, space.marking(x)) == expected


def test_random_pipelines_are_their_recurrence():
    random.seed(2)
    for _ in range(30):
        n = random.randint(1, 6)
        slopes = [random.randint(0, 4) for _ in range(n)]
        constants = [random.randint(0, 70) for _ in range(n)]
        capacities = [random.randint(1, 4) for _ in range(n - 1)]
        net = pipeline.net(slopes=slopes, constants=constants, capacities=capacities)
        space = pipeline.space(net, 9, budget=1000)
        x = [random.randint(0, 63) for _ in range(9)]
        assert latency(net, space.marking(x)) == recurrence(x, slopes, constants, capacities)
    net = pipeline.net(stages=6)
    assert len(net.transitions) == 6
    assert net.params["constant5"] == 65


def test_the_pipelines_space():
    space = pipeline.space(pipeline.net(), 4)
    assert space.contains([63, 9, 0, 0])
    assert not space.contains([63, 10, 0, 0])
    assert not space.contains([64, 0, 0, 0])


def test_nonzero_coefficients_of_a_jpeg_block_follow_from_its_symbols():
    # Every way to place nonzero coefficients in positions 1..63, as (nonzero, zeros in front,
    # symbols).
    reached = {(0, 0, 1)}
    for _ in range(63):
        reached = {
            state
            for n, zeros, symbols in reached
            for state in ((n, zeros + 1, symbols), (n + 1, 0, symbols + zeros // 16 + 1))
        }
    pairs = {(n, symbols + (1 if zeros else 0)) for n, zeros, symbols in reached}
    least, most = lpn.load("jpeg").module._nonzero_limits(True)
    for symbols in range(2, 65):
        expected = sorted(n for n, s in pairs if s == symbols)
        assert expected == list(range(least[symbols - 2], most[symbols - 2] + 1))
    assert {symbols for _, symbols in pairs} == set(range(2, 65))


def test_jpeg_blocks_without_runs_of_sixteen_zeros():
    least, most = lpn.load("jpeg").module._nonzero_limits(False)
    for symbols in range(2, 65):
        found = range(least[symbols - 2], most[symbols - 2] + 1)
        expected = [
            n for n in range(64) if symbols == n + 2 and n < 63 or symbols == n + 1 and n >= 4
        ]
        assert list(found) == expected


def test_the_jpeg_decoders_space():
    model = lpn.load("jpeg")
    net = model.net()
    space = model.space(net, compression=75)
    assert len(space.variables) == 18
    full, empty = 64, 2
    assert space.contains([full] * 4 + [empty] * 14)  # 4 * 63 = 252 nonzero
    assert not space.contains([full] * 5 + [empty] * 13)
    # 64 symbols: 62 or 63 nonzero coefficients; 7: at least 2; 3..6 can be a single one, far
    # behind.
    exactly = model.space(net, blocks=6, nonzero_sum=63)
    assert exactly.contains([full] + [empty] * 5)
    assert exactly.contains([full, 6] + [empty] * 4)
    assert not exactly.contains([full, 7] + [empty] * 4)
    assert not exactly.contains([6] * 6)
    plain = model.space(net, blocks=6, nonzero_sum=4, zrl=0)
    assert not plain.contains([10] + [empty] * 5)
    assert model.space(net, blocks=6, nonzero_sum=4).contains([9] + [empty] * 5)
    assert latency(net, space.marking([full] * 4 + [empty] * 14)) == 3059
    assert len(model.space(net, waits=3).variables) == 36
    for wrong in ({"blocks": 8}, {"compression": 101}, {"nonzero_sum": 10_000}):
        with pytest.raises(ValueError):
            model.space(net, **wrong)


def test_the_references_jpeg_space():
    model = lpn.load(ROOT / "testbenches" / "ltc" / "jpeg.py")
    net = model.net()
    space = model.space(net, blocks=6, sum_from=10, sum_below=12, buffers=(4, 6))
    assert space.contains([10, 0, 0, 0, 0, 0, 5])
    assert not space.contains([12, 0, 0, 0, 0, 0, 5])
    assert not space.contains([9, 0, 0, 0, 0, 0, 5])
    values = [10, 1, 0, 0, 0, 0, 6]
    assert space.parameters(values) == {"buffers": 6}
    assert latency(net, space.marking(values), space.parameters(values)) > 0


def test_the_references_message_space():
    model = lpn.load(ROOT / "testbenches" / "ltc" / "protoacc.py")
    net = model.net()
    space = model.space(net)
    sizes = [16, 47, 352, 176]
    assert latency(net, space.marking(sizes)) == 197
    assert not space.contains([1000, 0, 0, 0])
    assert not space.contains([500, 500, 0, 0])
    known = TRUTH / "ltc" / "tokens" / "protoacc" / "lpn_message.tok"
    if known.exists():
        assert model.workload(known, net).save_bytes() == space.marking(sizes).save_bytes()


def test_unknown_bounds_are_named_with_the_known_ones():
    model = lpn.load(HERE / "pipeline.py")
    with pytest.raises(lpn.Error) as caught:
        model.space(model.net(), block=3)
    assert caught.value.code == "E-space"
    text = str(caught.value)
    assert "no bound 'block'; did you mean 'blocks'?" in text
    assert "blocks=18, budget=None, most=63" in text
    assert "budget: default 18 per block." in text


def test_a_clock_beyond_64_bits_ends_with_an_error(tmp_path):
    """A least delay times a period may overflow; the search for earlier contenders never ended
    then.
    """
    file = tmp_path / "late.lpn"
    file.write_text(
        """lpn 1
net late
type unit ()
type sized (size: 0..7)
place token : unit start
place turn : unit
place job : sized done
place out : unit done
transition feed {
  take a from token
  delay 1
  servers 2
  put turn
}
transition rival {
  take a from job need 3
  take b from token
  delay 6
  put out
}
transition late {
  take a from turn
  delay 9223372036854775786
  clock 4 phase 2
  put turn
}
end
"""
    )
    net = lpn.load(str(file)).net()
    space = lpn.InputSpace(net)
    for place, tokens in {"turn": 3, "job": 7, "token": 2}.items():
        space.tokens(place, tokens)
    found = lpn.partition(net, space)
    assert found.complete and [c.outcome for c in found.classes] == ["error"]


def test_a_weight_fails_while_the_interval_holds_back(tmp_path):
    """What is held back by an interval or a clock is evaluated nevertheless: the rival is too late."""
    for waits in ("interval 100", "clock 100 phase 0"):
        file = tmp_path / "held.lpn"
        file.write_text(
            f"""lpn 1
net held
type unit ()
type sized (size: 0..9)
place jobs : sized start
place out : unit done
place used : unit done
transition first {{
  take a from jobs weight 1 need 1 + 8 // a.size
  delay 1
  {waits}
  put out
}}
transition second {{
  take a from jobs need 2
  delay 1
  interval 10
  put used
}}
end
"""
        )
        net = lpn.load(str(file)).net()
        space = lpn.InputSpace(net)
        jobs = space.tokens("jobs", 4)
        for job, size in zip(jobs, (9, 9, 0, 9)):
            space.require(job.size == size)
        marking = lpn.Marking(net)
        for size in (9, 9, 0, 9):
            marking.add("jobs", size=size)
        with pytest.raises(lpn.Error):
            lpn.simulate(net, marking, engine="interp")
        found = lpn.partition(net, space)
        assert found.complete and [c.outcome for c in found.classes] == ["error"], waits
