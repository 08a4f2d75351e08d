"""Claims whose inputs are too many to be run: all at once, by states of the second interpreter."""

import copy
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "second"), str(HERE.parent / "fuzz")]

import certificate_fuzz  # noqa: E402
import check as second  # noqa: E402
import lpn  # noqa: E402
from document import Refused, Unknown  # noqa: E402


class Request(lpn.Token):
    row: lpn.Int[0, 3]
    size: lpn.Int[1, 9]


def memory(requests, **constraint):
    """Requests to a bank that keeps its row open; what they carry besides nobody reads."""
    net = lpn.Net("memory")
    asked, done = net.place("asked", Request, start=True), net.place("done", done=True)
    row, free = net.place("row", Request, init=[{"row": 0, "size": 1}]), net.place("free", init=2)
    opened = row.emit(row=lambda rq, at: rq.row, size=1)
    net.transition(
        "access",
        take={"rq": asked, "at": row},
        put=[opened, done.emit()],
        delay=lambda rq, at: lpn.select(rq.row == at.row, 4, 9),
        servers=1,
    )
    net.transition("refresh", take={"f": free}, put=[done.emit()], delay=30, servers=1)
    space = lpn.InputSpace(net.done())
    space.tokens("asked", requests, row=(0, 3), size=(1, 9), **constraint)
    return space


def checked(data, inputs=0):
    made = second.Check(copy.deepcopy(data), inputs, 20, 0)
    made.run()
    return made.seen


@pytest.mark.parametrize("quantity", ["latency", "busy(access)", "backlog(done)", "completion(3)"])
def test_more_inputs_than_can_be_run(quantity):
    space = memory(12)
    data = json.loads(json.dumps(by_states(space, quantity)))
    size = 36**12
    said = checked(data)
    assert said.startswith(f"{size} inputs by ") and int(said.split()[-2]) < 500, said
    better = copy.deepcopy(data)
    better["claim"]["proved"] -= 1
    better["bounds"][0]["most"] -= 1
    with pytest.raises(Refused, match=r"an input has \d+, not at most \d+"):
        better["witness"] = None
        checked(better)
    data["stalls"] = True
    with pytest.raises(Refused, match="no input stalls or fails"):
        checked(data)


def by_states(space, quantity):
    """A claim by states, whichever way our search would take."""
    value = second_value(space, quantity)
    atom = quantity.replace("(", " ").replace(")", "").split()
    atom = [int(part) if part.isdigit() else part for part in atom]
    reached = {"atom": atom, "zones": 1, "values": 2, "enough": None}
    return {
        "lpn certificate": 1, "claim": {"largest": quantity, "proved": value}, "stalls": False,
        "net": space.net.text(), "space": space.to_json(), "interface denominator": 1,
        "states": {"most": 500_000}, "bounds": [{"most": value, "reached": [reached]}], "witness": None,
    }  # fmt: skip


def second_value(space, quantity):
    """Rows that differ from the open one each time are the worst, whatever is asked."""
    requests = len(space.tokens_of["asked"])
    return {
        "latency": max(9 * requests, 60), "busy(access)": 9 * requests, "backlog(done)": requests + 2,
        "completion(3)": 27,
    }[quantity]  # fmt: skip


def test_our_checker_says_the_same():
    data = by_states(memory(2), "latency")
    assert lpn.check_certificate(data).holds and checked(data) and checked(data, 10**6)


def test_claims_of_small_spaces_are_the_same_by_states_and_by_runs():
    for data in certificate_fuzz.originals():
        if "partition" in data:
            continue
        try:
            assert " inputs by " in checked(data)
        except Unknown as unknown:
            known = (
                "quantities that are largest in different inputs",
                "a quantity that states do not",
            )
            assert str(unknown).endswith(", perhaps") or any(why in str(unknown) for why in known)
        assert " inputs run" in checked(data, 10**6)


def test_conditions_join_what_is_decided():
    """Two requests to one row: the second finds it open."""
    space = memory(2)
    rows = [token.row for token in space.tokens_of["asked"]]
    space.require(rows[0] == rows[1])
    data = by_states(space, "latency")
    data["bounds"][0]["most"] = data["claim"]["proved"] = 60
    assert checked(data).startswith(f"{4 * 81} inputs by ")
    data = by_states(space, "busy(access)")
    data["bounds"][0]["most"] = data["claim"]["proved"] = 9 + 4
    assert checked(data).startswith(f"{4 * 81} inputs by ")


def test_a_net_that_goes_on_is_unknown():
    net = lpn.Net("endless")
    tick, done = net.place("tick", init=1), net.place("done", Request, done=True)
    jobs = net.place("jobs", Request, start=True)
    net.transition("again", take={"t": tick}, put=[tick], delay=3)
    net.transition("work", take={"j": jobs}, put=[done.forward("j")], delay=lambda j: j.size)
    space = lpn.InputSpace(net.done())
    space.tokens("jobs", 2, row=1, size=(1, 9))
    data = by_states(memory(2), "latency")
    data.update(net=net.text(), space=space.to_json())
    with pytest.raises(Unknown, match="a run that may have no end"):
        checked(data)
    space.done_count = 2
    data.update(space=space.to_json())
    data["bounds"][0]["most"] = data["claim"]["proved"] = 9
    assert checked(data).startswith("81 inputs by ")
