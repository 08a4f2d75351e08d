"""lpn fit: unknowns inside of formulas, those that several formulas share, and those that are given."""

import json

import lpn
import pytest
from lpn.authoring.unknown import settle
from lpn.fitting.history import Observed
from lpn.fitting.report import described
from lpn.fitting.result import errors, total
from lpn.fitting.solve import Fit
from lpn.fitting.write import as_lpn, as_python
from test_fitting import (  # noqa: F401
    ARRIVALS,
    MAP,
    SKELETON,
    WORDS,
    Packet,
    dump,
    files,
    lpn_fit,
    made,
    observed,
    refused,
)


def net_of(fetch, send=lambda pkt: lpn.max(pkt.words, 30), capacity=3, servers=1):
    """The skeleton whose truth is 2 * words + 5, max(words, 30), room for 3."""
    net = lpn.Net("dma")
    queue = net.place("queue", Packet, start=True)
    buffer = net.place("buffer", Packet, capacity=capacity)
    sent = net.place("sent", done=True)
    net.transition("fetch", take={"pkt": queue}, put=[buffer.forward("pkt")], delay=fetch,
                   servers=servers)  # fmt: skip
    net.transition("send", take={"pkt": buffer}, put=[sent.emit()], delay=send, servers=1)
    return net


def fitted(net, commits=None):
    """(the Fit, instants recorded, of them exact)."""
    fit = Fit([observed(net, commits or made())])
    fit.solve()
    return fit, *total(errors(fit.cases[0].observed, fit.filled(net), fit.number_values()))


@pytest.mark.parametrize(
    "delay, value",
    [
        (lambda pkt: 2 * pkt.words + 9 - lpn.unknown("u"), 4),
        (lambda pkt: 2 * pkt.words + 9 + lpn.unknown("u"), -4),
        (lambda pkt: 2 * pkt.words + lpn.unknown("u", least=-9), 5),
        (lambda pkt: 2 * pkt.words + lpn.unknown("u", least=5), 5),
    ],
)
def test_a_number_is_subtracted_or_less_than_0(delay, value):
    fit, compared, exact = fitted(net_of(delay))
    assert fit.number_values()["u"] == value
    assert (compared, exact) == (120, 120)


def test_no_number_is_less_than_its_least():
    for delay in (
        lambda pkt: 2 * pkt.words + lpn.unknown("u", least=8),
        lpn.unknown("u", least=200),
    ):
        fit, compared, exact = fitted(net_of(delay))
        assert exact < compared
        (row,) = described(fit, [])
        assert row["formula"] in ("u = 8", "200")


def test_no_delay_is_negative_where_all_bounds_are():
    """Commits long before what they follow: no formula, and an answer all the same."""
    commits = made()
    commits["send"] = [max(0, t - 150) for t in commits["send"]]
    fit, compared, exact = fitted(net_of(lpn.unknown(), lpn.unknown()), commits)
    assert exact < compared
    assert fit.found["send", "delay"].formula.text() == "0"


def test_one_number_of_two_formulas_is_found_once():
    """What one formula leaves open, the other one decides; what they say differently is no fit."""
    net = net_of(lambda pkt: 2 * pkt.words + lpn.unknown("u"),
                 lambda pkt: pkt.words if pkt.words > 30 else 6 * lpn.unknown("u"))  # fmt: skip
    fit, compared, exact = fitted(net)
    assert fit.number_values() == {"u": 5}
    assert (compared, exact) == (120, 120)
    net = net_of(lambda pkt: 2 * pkt.words + lpn.unknown("u"),
                 lambda pkt: pkt.words if pkt.words > 30 else 10 * lpn.unknown("u"))  # fmt: skip
    fit, compared, exact = fitted(net)
    rows = described(fit, [net])
    assert exact < compared and len({r["formula"] for r in rows}) == 1


def test_a_number_is_not_looked_for_in_two_ways():
    net = net_of(lambda pkt: lpn.unknown("n") * pkt.words + 5, capacity=lpn.unknown("n"))
    assert refused("E-fit-shape", lambda: Fit([observed(net, made())])) == (
        "the unknown 'n' stands in the capacity of place 'buffer' and in the delay of transition "
        "'fetch', and no search goes through both; give each a name of its own"
    )


TWICE = SKELETON.replace(
    'servers=1,\n                   delay=lambda pkt: lpn.unknown() * pkt.words + lpn.unknown("setup")',
    'servers=1,\n                   delay=lambda pkt: 2 * pkt.words + lpn.unknown("setup")',
).replace(
    "delay=lpn.unknown())",
    'delay=lambda pkt: pkt.words if pkt.words > 30 else 6 * lpn.unknown("setup"))',
)


def test_all_calls_of_a_number_are_replaced(tmp_path):
    (tmp_path / "twice.py").write_text(TWICE)
    net = lpn.load(str(tmp_path / "twice.py")).net()
    fit, compared, exact = fitted(net)
    text = as_python(fit, net, str(tmp_path / "twice.py"))
    assert (compared, exact) == (120, 120)
    assert "unknown" not in text
    assert "2 * pkt.words + 5" in text and "6 * 5)" in text


def test_a_token_that_cannot_be_is_told_with_its_cycle():
    words = [*WORDS[:7], 65, *WORDS[8:]]
    fit = Fit([observed(net_of(lpn.unknown()), made(), words)])
    assert refused("E-range", fit.solve) == (
        "r: the net cannot follow the recording: place 'queue': pushed value 65 for 'words' is outside "
        "its range 1..64; it comes at cycle 28"
    )


# Numbers that -p gives.


def given(skeleton, **numbers):
    skeleton.bound = numbers
    settled = settle(skeleton)
    known = {n: numbers[n] for n in settled}
    one = observed(skeleton, made())
    one.values, one.settled = known, settled
    return one


def test_a_given_number_is_not_looked_for(files):  # noqa: F811
    skeleton = lpn.load(str(files / "skeleton.py")).net()
    fit = Fit([given(skeleton, setup=5, **{"send.delay": 30})])
    fit.solve()
    assert fit.number_values() == {"buffer.capacity": 3, "fetch.delay": 2}
    assert "param setup = 5" in as_lpn(fit, skeleton)
    text = as_python(fit, skeleton, str(files / "skeleton.py"))
    assert "2 * pkt.words + 5" in text and "delay=30)" in text
    other = lpn.load(str(files / "skeleton.py")).net()
    two = Fit([fit.cases[0].observed, given(other, setup=6, **{"send.delay": 30})])
    assert refused("E-fit-output", lambda: as_lpn(two, skeleton)) == (
        "the unknown 'setup' was given another number for each recording (5, 6); declare it as a "
        "parameter of the net (net.param)"
    )


def test_the_command_takes_given_numbers(files):  # noqa: F811
    words = ["skeleton.py", "one.vcd", "--map", "map.toml", "-o", "fitted.py"]
    status, out, err = lpn_fit(files, *words, "-p", "setup=9", "--json")
    found = json.loads(out)
    assert (status, err, found["exact"]) == (1, "", False)
    assert "setup" not in json.dumps(found["unknowns"])
    assert "pkt.words + 9" in (files / "fitted.py").read_text()
    every = "-p setup=5 -p fetch.delay=2 -p send.delay=30 -p buffer.capacity=3".split()
    assert lpn_fit(files, *words, *every) == (
        2,
        "",
        "error: all unknowns of the skeleton are given (-p): nothing is to be found [E-unknown]\n",
    )


class Signed(lpn.Token):
    kind: lpn.Int[-9, 9]


def test_a_table_has_all_values_that_firings_have():
    """Firings that the recording does not reach looked outside of it, and the fit ended in an error."""
    net = lpn.Net("kinds")
    jobs, done = net.place("jobs", Signed, start=True), net.place("done", done=True)
    net.transition("work", take={"j": jobs}, put=[done], servers=1, delay=lpn.unknown())
    costs = {0: 9, 1: 4, 2: 30, 3: 5}
    kinds, commits, time = [k * k * 7 % 4 if k % 3 else k % 4 for k in range(80)], [], 0
    for kind in kinds:
        time += costs[kind]
        commits.append(time)
    marking = lpn.Marking(net)
    marking.add_rows("jobs", [(kind,) for kind in (*kinds, -5)])
    seen = Observed("r", net, marking, {}, {}, {"work": commits})
    fit = Fit([seen])
    fit.solve()
    found = fit.found["work", "delay"].formula
    assert "lookup" in found.text()
    [row] = errors(seen, fit.filled(net), fit.number_values())
    assert (row["compared"], row["exact"], row["missing"]) == (80, 80, 0)
