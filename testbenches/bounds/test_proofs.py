"""What is proved about real models: known optima, replayed, with certificates that stand being
checked.
"""

import copy
import json
import subprocess
import sys
from pathlib import Path

import _lpn
import lpn
import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "testbenches" / "ltc")]

import jpeg as ltc_jpeg  # noqa: E402
import pipeline  # noqa: E402
import protoacc as ltc_protoacc  # noqa: E402

STALLS = " + ".join(f"stall(start_{plane}, pixel_slots)" for plane in ("y", "cb", "cr"))


def checked(answer):
    """The answer, its certificate verified from its JSON, and refused when it claims more than is
    true.
    """
    assert answer.replayed and answer.complete
    data = json.loads(json.dumps(answer.certificate))
    found = lpn.check_certificate(data)
    assert found.holds, found.why
    maximum = data["bounds"][0]["maximum"]
    wrong = copy.deepcopy(data)
    better = -1 if maximum else 1
    for bound in wrong["bounds"]:
        bound["most"] -= 1
        for certificate in bound["certificates"]:
            certificate["bound"] += better
    if "proved" in wrong["claim"]:
        wrong["claim"]["proved"] += -1 if "largest" in wrong["claim"] else 1
        assert not lpn.check_certificate(wrong).holds
    return answer


def optimum(ask, space, expected):
    answer = checked(ask(space))
    assert answer.verdict == "optimal" and answer.lower == answer.upper == expected
    return answer


@pytest.mark.parametrize(
    "blocks, expected", [(6, 853), (12, 1508), (18, 2215), (30, 3553), (48, 5561)]
)
def test_pipeline(blocks, expected):
    optimum(lpn.maximize, pipeline.space(pipeline.net(), blocks), expected)


@pytest.mark.parametrize("blocks, expected", [(6, 668), (12, 1188), (18, 1714)])
def test_the_least_of_the_reference_jpeg(blocks, expected):
    net = ltc_jpeg.net()
    optimum(
        lpn.minimize,
        ltc_jpeg.space(net, blocks, sum_from=17 * blocks, sum_below=18 * blocks),
        expected,
    )


@pytest.mark.parametrize("blocks", [6, 12, 18])
def test_the_greatest_of_the_reference_jpeg(blocks):
    net = ltc_jpeg.net()
    space = ltc_jpeg.space(net, blocks, sum_from=17 * blocks, sum_below=18 * blocks)
    answer = checked(lpn.maximize(space))
    assert answer.verdict == "optimal"
    # No picture of the space that is tried is slower.
    for first in range(0, blocks, 2):
        left, values = 18 * blocks - 1, {}
        for k in range(blocks):
            name = space.variables[(first + k) % blocks].name
            values[name] = min(63, left)
            left -= values[name]
        assert lpn.simulate(net, space.marking(values), engine="interp").latency <= answer.upper


@pytest.mark.parametrize("compression", [75, 90])
def test_own_jpeg(compression):
    model = lpn.load("jpeg")
    net = model.net()
    space = model.space(net, blocks=18, compression=compression)
    least, greatest = checked(lpn.minimize(space)), checked(lpn.maximize(space))
    assert least.verdict == greatest.verdict == "optimal" and least.upper < greatest.upper


def test_own_jpeg_of_300_blocks_within_a_percent():
    model = lpn.load("jpeg")
    answer = lpn.maximize(model.space(model.net(), blocks=300, nonzero_sum=5400), seconds=8)
    assert answer.replayed and answer.upper - answer.lower <= 0.01 * answer.lower
    assert answer.why is None or "limit of 8 s" in answer.why or "states" in answer.why


def test_a_limit_is_for_the_search_but_for_what_checking_takes(monkeypatch):
    """It had 0.4 of its seconds."""
    given, bound = [], _lpn.bound

    def watched(*arguments, seconds, **options):
        given.append(seconds)
        return bound(*arguments, seconds=seconds, **options)

    monkeypatch.setattr(_lpn, "bound", watched)
    model = lpn.load("jpeg")
    answer = lpn.maximize(model.space(model.net(), blocks=18), seconds=100, states=False)
    assert answer.verdict == "optimal" and 70 < given[0] < 80


def test_protoacc():
    optimum(lpn.maximize, ltc_protoacc.space(ltc_protoacc.net()), 246)


def test_buffers_of_the_reference_jpeg():
    for buffers, verdict in ((3, "refuted"), (4, "proved"), (5, "proved")):
        net = ltc_jpeg.net()
        answer = lpn.prove(ltc_jpeg.space(net, 18, buffers=buffers), f"({STALLS}) / latency <= 0.4")
        assert answer.verdict == verdict
        assert (answer.stalled is not None) == (buffers == 3)
        if verdict == "proved":
            checked(answer)


def test_throughput():
    net = ltc_jpeg.net()
    space = ltc_jpeg.space(net, 12)
    # Tokens 4 to 8 are 4 tokens; what they take at most is proved as times first.
    apart = lpn.maximize(space, "completion(8) - completion(4)")
    assert apart.verdict == "optimal"
    assert checked(lpn.prove(space, f"throughput(4, 8) >= 4/{apart.upper}")).verdict == "proved"
    assert lpn.prove(space, f"throughput(4, 8) >= 4/{apart.upper - 1}").verdict == "refuted"


def test_an_interface_compared():
    """A hand-written formula within 35 % for all pictures, and one that is not, with the picture."""
    net = ltc_jpeg.net()
    space = ltc_jpeg.space(net, 12)

    def good(x):
        return lpn.max(sum(3 * blk.nonzero + 6 for blk in x.coded) + 66 + 4 * 65, 1188)

    def bad(x):
        return sum(3 * blk.nonzero + 6 for blk in x.coded)

    answer = lpn.prove(space, "abs(E - latency) <= 0.35*latency", interface=good, seconds=20)
    assert answer.verdict == "proved", answer
    answer = lpn.prove(space, "abs(E - latency) <= 0.25*latency", interface=bad, seconds=20)
    assert answer.verdict == "refuted" and answer.replayed


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-P", "-m", "lpn", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_exact_interface_of_lpn_pi(tmp_path):
    """What lpn pi says of the Protoacc messages is exact: proved for all of them."""
    model, module = (
        HERE.parents[1] / "testbenches" / "ltc" / "protoacc.py",
        tmp_path / "protoacc_pi.py",
    )
    made = command("pi", model, "-o", module)
    assert made.returncode == 0, made.stderr
    for claim, status in (("E == latency", 0), ("E < latency", 1)):
        asked = command("smt", model, "--interface", module, "--prove", claim, "--limit", 120)
        assert asked.returncode == status, (asked.stdout, asked.stderr)


def test_the_jpeg_interface_of_lpn_pi(tmp_path):
    """Within 20 % for all pictures of a compression, certified; and no better than 10 %, with the
    picture.
    """
    module, proof = tmp_path / "jpeg_pi.py", tmp_path / "proof.json"
    made = command("pi", "jpeg", "-o", module)
    assert made.returncode == 0, made.stderr
    ask = [
        "smt",
        "jpeg",
        "--space",
        "blocks=18",
        "compression=75",
        "--interface",
        module,
        "--limit",
        60,
        "--prove",
    ]
    asked = command(*ask, "abs(E - latency) <= 0.2*latency", "--certificate", proof)
    assert asked.returncode == 0, (asked.stdout, asked.stderr)
    assert command("smt", "--check", proof).returncode == 0
    data = json.loads(proof.read_text())
    data["interface denominator"] += 1
    assert not lpn.check_certificate(data).holds
    asked = command(*ask, "abs(E - latency) <= 0.1*latency", "--json")
    assert asked.returncode == 1 and json.loads(asked.stdout)["replayed"], (
        asked.stdout,
        asked.stderr,
    )
    # Fractions of a cycle: strictly less would need more care.
    assert command(*ask, "E < latency").returncode == 2


def test_delays_beyond_what_bounds_compute_with():
    """An instant is never negative, whatever its range; the bounds of classes end at 2**44 and say so."""

    class Far(lpn.Token):
        d: lpn.Int[0, 2**62]

    net = lpn.Net("far")
    a, b = net.place("a", Far, start=True), net.place("b", done=True)
    net.transition("t", take={"x": a}, put=[b.emit()], delay=lambda x: x.d)
    space = lpn.InputSpace(net)
    space.tokens("a", 1)
    answer = lpn.prove(space, "latency >= 0")
    assert answer.verdict == "proved" and answer.certificate is None
    assert any("classes compute with numbers up to 2**44" in note for note in answer.notes)
    assert lpn.prove(space, "latency >= 1").verdict == "refuted"
    answer = lpn.maximize(space, seconds=2)
    assert answer.verdict != "optimal" and answer.lower <= 2**62
    assert any("classes compute with numbers up to 2**44" in note for note in answer.notes)
