"""Bounds by reachable states: what cannot pass the worst input found is looked at last."""

import _lpn

import lpn
from lpn.runs import simulate


class Request(lpn.Token):
    bank: lpn.Int[0, 2]


def servers(requests, width=3):
    """Requests for one of `width` servers, the later the slower: (net, space). All for the last one
    take longest, and few other inputs come near.
    """
    net = lpn.Net("servers")
    done = net.place("done", done=True)
    for m in range(2):
        queue = net.place(f"queue{m}", Request, start=True)
        for s in range(width):
            wait = net.place(f"wait{m}_{s}", capacity=1)
            net.transition(
                f"route{m}_{s}",
                take={"rq": queue.take(guard=lambda rq, s=s: rq.bank == s)},
                put=[wait],
                delay=1,
            )
    for s in range(width):
        free = net.place(f"free{s}", init=1)
        for m in range(2):
            net.transition(
                f"serve{m}_{s}",
                take={"rq": net[f"wait{m}_{s}"], "free": free},
                put=[done, free],
                delay=10 + 10 * s,
            )
    space = lpn.InputSpace(net)
    for m in range(2):
        space.tokens(f"queue{m}", requests, bank=(0, width - 1))
    return net, space


def test_what_cannot_pass_the_worst_input_found_is_looked_at_last():
    net, space = servers(5)
    every, _ = _lpn.every_input(net._core, space.core, [[(("latency", 0), 1)]])
    truth = every["largest"][0][0]
    assert truth == 10 * 30 + 1

    def bound(states=0, **options):
        return _lpn.bound_by_states(net._core, space.core, "latency", states=states, **options)[0]

    whole = bound()
    assert whole["complete"] and whole["bound"] == truth
    few = whole["states"] // 2
    assert bound(few)["bound"] > truth
    met = bound(few, enough=truth)
    assert met["bound"] == truth and not met["complete"] and met["may_stall"]
    assert bound(enough=truth) == {**whole, "states": bound(enough=truth)["states"]}


def test_a_crossbar_whose_routes_are_in_the_input(monkeypatch):
    monkeypatch.setattr("lpn.proofs.states._STATES", 6000)
    _, space = servers(7)
    answer = lpn.maximize(space, seconds=600, tries=0)
    assert answer.verdict == "optimal" and answer.upper == 14 * 30 + 1
    run = simulate(space.net, space.marking(answer.witness), engine="interp")
    assert run.latency == answer.upper
