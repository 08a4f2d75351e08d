"""What the net of the reference (testbenches/ltc/protoacc.py) does not answer, or wrongly."""

import pytest
from conftest import lpn

ltc = pytest.importorskip("protoacc")

TYPES = {"scalar": ltc.Kind.SCALAR, "string": ltc.Kind.NONSCALAR}


def reference(message):
    """The reference's run of a message: a list of (type, sizes or fields), lowered as it does."""
    net = ltc.net()
    control, fields, elements = [], [], []

    def visit(message, end):
        run = 0
        for type, data in [*message, (end, [1])]:
            if type == "message":
                control.extend((ltc.Kind.NONSUBMESSAGE, n) for n in [run] if n)
                control.append((ltc.Kind.SUBMESSAGE, 0))
                run = 0
                visit(data, ltc.Kind.END_OF_MESSAGE)
                continue
            run += 1
            fields.append((TYPES.get(type, type), len(data)))
            elements.extend((size,) for size in data)
        control.append((ltc.Kind.NONSUBMESSAGE, run))

    visit(message, ltc.Kind.END_OF_MESSAGE_TOP_LEVEL)
    marking = lpn.Marking(net)
    marking.add_rows("messages", control)
    marking.add_rows("fields", fields)
    marking.add_rows("elements", elements)
    return lpn.simulate(net, marking, engine="interp")


def test_an_empty_repeated_field(serialise):
    scalars = [("scalar", [8])] * 6
    assert not reference([("scalar", [8]), *scalars]).stalled
    # Handler 1 never finishes the empty field; the seventh waits for it.
    assert reference([("scalar", []), *scalars]).stalled
    tree = [["fixed64", 7, 1, 0, []], *(["fixed64", n, 0, 1, [8]] for n in range(6, 0, -1))]
    run = serialise([tree])
    assert not run.stalled and run.done_tokens == 1


def nested(levels):
    return [("message", nested(levels - 1))] if levels else [("scalar", [8])]


def tree(levels):
    return [["message", 1, tree(levels - 1)]] if levels else [["fixed64", 1, 0, 1, [8]]]


def test_deep_nesting(serialise, truth, model):
    # The reference takes any depth, also one that the hardware's stack of levels has not ...
    assert not reference(nested(60)).stalled
    assert not serialise([tree(23)]).stalled
    with pytest.raises(ValueError, match="nested deeper than 24 levels"):
        serialise([tree(60)])
    # ... and at twelve it says half of what the RTL takes.
    measured = {
        batch.name: clocks
        for batch, parameters, clocks in model.module.truth_rows(truth / "messages.jsonl.gz")
        if parameters == {"read_latency": 10, "write_ack_latency": 1}
    }
    assert serialise([tree(12)], read_latency=10).latency == measured["A_nest12"]
    assert reference(nested(12)).latency < 0.6 * measured["A_nest12"]


def test_memory_that_is_not_ten_cycles_away(serialise):
    """The reference's constant; one scalar takes three reads."""
    slow, fast = (
        serialise([[["fixed64", 1, 0, 1, [8]]]], read_latency=latency).latency
        for latency in (100, 10)
    )
    assert slow - fast == 3 * 90
