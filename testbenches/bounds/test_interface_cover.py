"""An interface of lpn pi answers for the inputs that it was made for, and refuses all others."""

import lpn
import pytest
from lpn.interfaces.extract import extract
from lpn.interfaces.input import aggregate, execute_interface, rows_of


class Job(lpn.Token):
    kind: lpn.Int[0, 1]
    size: lpn.Int[1, 1000]


def net():
    net = lpn.Net("two_units")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True, sink=True)
    net.transition(
        "fast",
        take={"j": jobs.take(guard=lambda j: j.kind == 0)},
        put=[done],
        delay=lambda j: j.size,
        servers=1,
    )
    net.transition(
        "slow",
        take={"j": jobs.take(guard=lambda j: j.kind == 1)},
        put=[done],
        delay=lambda j: 100 * j.size,
        servers=1,
    )
    return net


def interface(net, jobs, require=None, **properties):
    space = lpn.InputSpace(net)
    tokens = space.tokens("jobs", jobs, **properties)
    if require:
        space.require(require(tokens))
    return execute_interface(extract(net, space).text, "interface.py")


def marking(net, rows):
    marking = lpn.Marking(net)
    for kind, size in rows:
        marking.add("jobs", kind=kind, size=size)
    return marking


def predicted(net, interface, rows):
    return interface.latency(aggregate(interface, rows_of(net, marking(net, rows))))


def simulated(net, rows):
    return lpn.simulate(net, marking(net, rows), engine="interp").latency


def test_a_constant_of_a_single_token_counts():
    """A guard reads it, no formula of the interface does."""
    made = net()
    found = interface(made, 1, kind=0, size=(1, 10))
    assert predicted(made, found, [(0, 5)]) == simulated(made, [(0, 5)]) == 5
    with pytest.raises(NotImplementedError, match=r"jobs\[0\].kind is 1, but .* is for 0"):
        predicted(made, found, [(1, 5)])


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_token_must_be_in_its_range_not_their_sum_alone(jobs):
    made = net()
    found = interface(made, jobs, kind=0, size=(10, 20))
    good = [(0, 10 + k) for k in range(jobs)]
    assert predicted(made, found, good) == simulated(made, good)
    for k in range(jobs):
        for size in (9, 21):
            rows = list(good)
            rows[k] = (0, size)
            with pytest.raises(NotImplementedError, match=rf"jobs\[{k}\].size is {size}, but"):
                predicted(made, found, rows)


def sink_of_two():
    """A list, since its tokens differ: the first is of kind 1."""
    made = net()
    found = interface(
        made,
        2,
        lambda tokens: tokens[0].size + tokens[1].size <= 30,
        kind=[1, 0],
        size=(10, 20),
    )
    return made, found


def test_conditions_of_the_space_are_looked_at():
    made, found = sink_of_two()
    good = [(1, 15), (0, 15)]
    assert predicted(made, found, good) == simulated(made, good)
    with pytest.raises(NotImplementedError, match=r"jobs\[0\].size \+ jobs\[1\].size <= 30"):
        predicted(made, found, [(1, 16), (0, 15)])


def test_an_interface_without_what_it_covers_is_none():
    made = net()
    space = lpn.InputSpace(made)
    space.tokens("jobs", 1, kind=0, size=(1, 10))
    text = extract(made, space).text.replace("COVERED", "SPOILT")
    with pytest.raises(lpn.Error, match="it has no COVERED") as caught:
        execute_interface(text, "interface.py")
    assert caught.value.code == "E-pi-file"
