"""Certificates of bounds by reachable states, and of spaces with arrivals and done counts."""

import copy
import json

import lpn
import pytest

from lpn.proofs import states
from lpn.proofs.certificate import check

from _round_robin import by_free_counts


class Request(lpn.Token):
    words: lpn.Int[1, 8]
    born: lpn.Birth


def two_masters(stuck=None):
    """Two masters that ask now and then, and a bus: (net, space). Requests of `stuck` words stay."""
    net = lpn.Net("masters")
    waiting = [net.place(f"m{k}", Request, start=True) for k in range(2)]
    out, done = net.place("out", Request, drain=True), net.place("done", Request, done=True)
    by_free_counts(net, "bus", waiting, out, delay=lambda t: t.words + 2)
    net.transition(
        "end",
        take={"t": out.take(guard=lambda t: t.words != (stuck or 0))},
        put=[done.forward("t")],
        delay=1,
    )
    space = lpn.InputSpace(net)
    space.tokens("m0", 3, at=space.periodic(9, jitter=2), words=(1, 4))
    space.tokens("m1", 2, at=(0, 6), words=(2, 8))
    return net, space


def by_states(space, quantity, ask=lpn.maximize):
    answer = ask(space, quantity, tries=0, seconds=60)
    assert answer.states and answer.certificate is not None
    return answer, json.loads(json.dumps(answer.certificate))


def changed(data, change):
    other = copy.deepcopy(data)
    change(other)
    return other


def claimed(data, proved):
    """The same with another number, consistently."""
    other = copy.deepcopy(data)
    other["claim"]["proved"] = proved
    sign = 1 if "largest" in data["claim"] else -1
    for bound in other["bounds"]:
        bound["most"] = sign * proved
    return other


@pytest.mark.parametrize(
    "quantity", ["response(done)", "backlog(m0)", "completion(2)", "2*busy(end) - commits(end)"]
)
def test_it_is_checked_again_and_a_better_one_is_refused(quantity):
    _, space = two_masters()
    answer, data = by_states(space, quantity)
    found = check(data)
    assert found.holds and found.stalls is False and found.states > 0
    assert found.claim == f"{quantity} <= {answer.upper}, for all inputs of the space"
    refused = check(claimed(data, answer.upper - 1))
    assert not refused.holds and refused.why.endswith(f": states give {answer.upper} only")
    assert check(claimed(data, answer.upper + 1)).holds  # true, too


def test_a_least_value():
    _, space = two_masters()
    answer, data = by_states(space, "completion(5)", lpn.minimize)
    assert check(data).holds
    assert not check(claimed(data, answer.lower + 1)).holds


def test_what_it_says_of_how_states_are_joined_is_not_trusted():
    """Any settings give a bound; what is not enough, or none, is refused."""
    _, space = two_masters()
    answer, data = by_states(space, "response(done)")
    for name, values in (("zones", (0, 1, 9)), ("values", (0, 1, 2**61)), ("enough", (None, 0))):
        for value in values:
            found = check(
                changed(data, lambda d: d["bounds"][0]["reached"][0].update({name: value}))
            )
            assert found.holds or "states give" in found.why
    beyond = 2**61
    forged = claimed(data, answer.upper - 1)
    for enough in (answer.upper - 1, 0, -beyond, beyond):
        forged["bounds"][0]["reached"][0]["enough"] = enough
        assert not check(forged).holds
    forged["states"]["most"] = 3
    assert not check(forged).holds


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda d: d["bounds"][0].pop("reached"), "a bound has no 'reached'"),
        (lambda d: d["bounds"][0].update(paths=0), "a bound has 'paths', which nobody knows"),
        (lambda d: d["bounds"][0].update(reached=[]), "a bound by states of other quantities"),
        (
            lambda d: d["bounds"][0]["reached"][0].update(atom=["latency"]),
            "a bound by states of another quantity",
        ),
        (
            lambda d: d["bounds"][0]["reached"][0].update(zones=-1),
            "'zones' is outside 0..4294967295",
        ),
        (lambda d: d["states"].update(most=10**7), "the number of states is outside 1..1000000"),
        (lambda d: d.update(tried={"inputs": 3}), "it has 'states', which nobody knows"),
        (lambda d: d["space"].update(done_count=-1), "the done count is outside 0..2**63 - 1"),
        (lambda d: d["space"]["tokens"][0].update(at=[]), "times of no tokens"),
        (lambda d: d.update(stalls="no"), "'stalls' is neither true nor false"),
    ],
)
def test_another_form_is_refused(change, why):
    _, space = two_masters()
    _, data = by_states(space, "response(done)")
    with pytest.raises(lpn.Error) as refused:
        check(changed(data, change))
    assert refused.value.code == "E-certificate"
    assert str(refused.value) == (
        f"this is no certificate as `lpn smt --certificate` writes it ({why})"
    )


def test_other_arrivals_are_another_claim():
    """The space is what the claim is about: with later or closer tokens it has to hold there."""
    _, space = two_masters()
    answer, data = by_states(space, "response(done)")
    data["space"]["variables"] = [
        [name, lo, hi + 3 if name.endswith(".words") and hi == 4 else hi]
        for name, lo, hi in data["space"]["variables"]
    ]
    found = check(data)
    assert not found.holds and "states give" in found.why
    data["space"]["constraints"] = []
    for entry in data["space"]["tokens"]:
        entry.pop("at")
    assert not check(data).holds


def test_inputs_that_may_stall_are_said_to():
    _, space = two_masters(stuck=3)
    _, data = by_states(space, "completion(1)")
    assert data["stalls"] is None
    found = check(data)
    assert found.holds and found.stalls is None
    data["stalls"] = False
    refused = check(data)
    assert not refused.holds and refused.why == (
        "not all inputs of the space are known: some input may stall or fail, as far as its states "
        "tell"
    )


def test_runs_that_end_by_a_count():
    net, _ = two_masters()
    space = lpn.InputSpace(net)
    space.tokens("m0", 2, at=space.periodic(5, jitter=1), words=(1, 2))
    space.tokens("m1", 1, at=(0, 3), words=(2, 4))
    space.done_count = 2
    answer, data = by_states(space, "latency")
    assert data["space"]["done_count"] == 2 and check(data).holds
    later = changed(data, lambda d: d["space"].update(done_count=3))
    assert not check(later).holds
    tried = lpn.maximize(space, "latency")
    assert tried.inputs and tried.upper == answer.upper
    assert check(json.loads(json.dumps(tried.certificate))).holds


def test_states_that_were_not_all_looked_at_have_none(monkeypatch):
    """The clock ended it: another run would end elsewhere."""
    whole = states._reach

    def cut(*given):
        found, interrupted = whole(*given)
        return {**found, "why": "the work was ended"}, interrupted

    monkeypatch.setattr(states, "_reach", cut)
    _, space = two_masters()
    answer = lpn.maximize(space, "backlog(m0)", tries=0, seconds=60)
    assert answer.states and answer.upper is not None and answer.certificate is None
