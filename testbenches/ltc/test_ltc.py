"""The reference toolchain's nets, rebuilt: cycles and firings of every known run, exactly.

The reference's runs are in ../../../shared/truth/ltc (or $LPN_SHARED/truth/ltc); without that
folder the runs of our own in tokens/ remain.
"""

import csv
import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", ROOT / "build")) / "python"))
sys.path.insert(0, str(HERE))

import lpn  # noqa: E402

import _tok  # noqa: E402

TRUTH = Path(os.environ.get("LPN_SHARED", ROOT.parent / "shared")) / "truth" / "ltc"
INTERPRETED = 200_000  # firings; longer runs are left to the compiled simulator
TRACED = 7_000  # firings; with every commit kept

# Places and transitions. The reference has as many transitions, but for PCIe, see pcie.py.
SIZES = {
    "jpeg": (22, 9),
    "menshen": (45, 30),
    "pcie": (84, 64),
    "vta": (23, 12),
    "protoacc": (162, 106),
}


def own_runs():
    with open(HERE / "tokens" / "expected.csv", newline="") as file:
        for row in csv.DictReader(file):
            path = HERE / "tokens" / row["token_file"]
            yield f"own-{row['input']}", row["accel"], path, row["cycles"], row["firings"]


def reference_runs():
    """Rows of golden.csv that have a token file; none without the folder."""
    if not (TRUTH / "golden.csv").exists():
        return
    with open(TRUTH / "golden.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["accel"] not in SIZES or not row["token_file"]:
                continue
            # The reference's Python is its definition, but its VTA counts fractions of a cycle.
            python = "" if row["accel"] == "vta" else row["cycles_python"]
            cycles = python or row["cycles_cpp"]
            path = TRUTH / row["token_file"]
            yield row["input"], row["accel"], path, cycles, row["firings"]


def runs(most_firings=None):
    found = [*own_runs(), *reference_runs()]
    return [
        pytest.param(accel, path, int(cycles), int(firings), id=f"{accel}-{name}")
        for name, accel, path, cycles, firings in found
        if most_firings is None or int(firings) < most_firings
    ]


@pytest.fixture(scope="module")
def nets():
    """One net per accelerator: the compiled simulator is per net, whatever the input."""
    return {}


def run(nets, accel, path, engine, **options):
    if accel not in nets:
        model = lpn.load(HERE / f"{accel}.py")
        nets[accel] = model, model.net()
    model, net = nets[accel]
    try:
        return lpn.simulate(net, model.workload(path, net), engine=engine, **options)
    except lpn.Error as error:
        if engine != "compiled" or error.code not in ("E-engine", "E-no-compiler"):
            raise
        pytest.skip(f"no compiled simulator here: {error}")


def check(result, cycles, firings):
    assert (result.latency, result.commits) == (cycles, firings)
    assert not result.stalled, (result.undrained, result.blocked)


@pytest.mark.parametrize("accel, path, cycles, firings", runs(INTERPRETED))
def test_interpreter_gives_the_cycles(nets, accel, path, cycles, firings):
    check(run(nets, accel, path, "interp"), cycles, firings)


@pytest.mark.parametrize("accel, path, cycles, firings", runs())
def test_compiled_simulator_gives_the_cycles(nets, accel, path, cycles, firings):
    check(run(nets, accel, path, "compiled"), cycles, firings)


@pytest.mark.parametrize("accel, path, cycles, firings", runs(TRACED))
def test_compiled_simulator_agrees_commit_for_commit(nets, accel, path, cycles, firings):
    compiled = run(nets, accel, path, "compiled", trace=True)
    assert compiled.trace == run(nets, accel, path, "interp", trace=True).trace
    assert len(compiled.trace) == firings


def test_reference_runs_are_there():
    if not (TRUTH / "golden.csv").exists():
        pytest.skip(
            f"no {TRUTH}: the reference's runs were not checked, only our own "
            "(set LPN_SHARED to the folder that has truth/ltc)"
        )


@pytest.mark.parametrize("accel", SIZES)
def test_size_and_text_form(accel):
    net = lpn.load(HERE / f"{accel}.py").net()
    assert (len(net.places), len(net.transitions)) == SIZES[accel]
    assert lpn.Net.parse(net.text()).text() == net.text()


@pytest.mark.parametrize(
    "text, message",
    [
        ("p4 4 0\n", ":1: expected 'P <place>"),
        ("P p4 four 0\n", ":1: expected 'P <place>"),
        ("P p4 -1 0\n", ":1: expected 'P <place>"),
        ("P ptasks 1 0\nP pvarlatency 1 2 nonzero\n", ":2: expected 'P <place>"),
        ("P pvarlatency 2 1 nonzero\n3\n", "pvarlatency has 1 values, not 2 x 1"),
        ("P pvarlatency 2 1 nonzero\n3\nmany\n", "tokens of pvarlatency: invalid literal"),
        ("P pvarlatency 1 1 nonzero\n99999999999999999999\n", "tokens of pvarlatency"),
    ],
)
def test_what_is_no_token_file(tmp_path, text, message):
    path = tmp_path / "bad.tok"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        _tok.read(path)
    assert message in str(error.value)


def test_tokens_that_the_net_does_not_have(tmp_path):
    path = tmp_path / "other.tok"
    path.write_text("P p99 1 0\n")
    model = lpn.load(HERE / "jpeg.py")
    with pytest.raises(ValueError, match="net 'ltc_jpeg' knows no place 'p99'"):
        model.workload(path, model.net())


def test_built_in_tokens_must_agree(tmp_path):
    path = tmp_path / "turn.tok"
    path.write_text("P d1_pidx 1 1 idx\n2\n")
    model = lpn.load(HERE / "pcie.py")
    with pytest.raises(ValueError, match="place 'd1_pidx' must have 1 tokens with idx 0"):
        model.workload(path, model.net())
