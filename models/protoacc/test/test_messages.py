"""What tokens a message is, trees and the HyperProtoBench form, and what is refused."""

import gzip
import json

import pytest

ONE = [["bool", 1, 0, 1, [1]]]


def test_one_scalar_takes_its_reads(serialise):
    # Has bits, descriptor and value are three reads one after the other; the rest is 29 clocks.
    for latency in (10, 50, 100):
        run = serialise_tree(serialise, ONE, read_latency=latency)
        assert run.latency == 29 + 3 * latency and not run.stalled


def serialise_tree(serialise, *trees, **parameters):
    from_trees = pytest.importorskip("lpn").load("protoacc").module
    return serialise(from_trees.Batch("trees", from_trees.messages_of(list(trees))), **parameters)


def test_bytes_of_a_message(model):
    module = model.module
    tree = [
        ["string", 17, 0, [200], 0],  # 200 + key of 2 + length of 2
        ["message", 3, [["uint64", 2, 1, 2, [1, 10]]]],  # (1 + 1) + (10 + 1), key, length
        ["fixed32", 1, 0, 1, [4]],
    ]
    lowered = module.Lowered(module.messages_of([tree, []]), 6)
    assert lowered.sizes == [204 + 13 + 2 + 5, 0]


def test_has_bits_are_scanned_from_the_highest(model):
    module = model.module
    (message,) = module.messages_of([[["bool", 33, 0, 1, [1]], ["message", 2, ONE]]])
    bits = [(present, child) for present, child, _, _ in module.Lowered([message], 6).bits]
    first = [(True, False), (False, False)]  # 33 and 32
    second = [(False, False)] * 29 + [(True, True)]  # 31 to 2
    assert bits == first + second + [(True, False)] * 2 + [(False, False), (True, False)]


def test_fields_go_to_the_handlers_in_turn(model):
    module = model.module
    tree = [[["bool", n, 0, 1, [1]] for n in range(5, 0, -1)]]
    for handlers, counts in ((1, [6]), (4, [2, 2, 1, 1]), (6, [1] * 6)):
        lowered = module.Lowered(module.messages_of(tree), handlers)
        assert [len(items) for items in lowered.items] == counts


def test_more_handlers_are_not_slower(model):
    lpn = pytest.importorskip("lpn")
    module = model.module
    tree = [[["string", n, 0, [100], 0] for n in range(15, 0, -1)]]
    latency = []
    for handlers in (1, 3, 6):
        net = model.net(handlers=handlers)
        marking = module.Lowered(module.messages_of(tree), handlers).marking(net)
        latency.append(lpn.simulate(net, marking, engine="interp").latency)
    assert latency[0] > latency[1] > latency[2]


def test_a_batch_overlaps(serialise):
    alone = serialise_tree(serialise, ONE).latency
    run = serialise_tree(serialise, ONE, ONE, command_interval=1)
    assert alone < run.latency < 2 * alone and run.done_tokens == 2


def test_an_empty_repeated_field_is_absent(serialise):
    empty = [["fixed64", 2, 1, 0, []], *ONE]
    assert serialise_tree(serialise, empty).latency == serialise_tree(serialise, ONE).latency + 1
    assert serialise_tree(serialise, [["message", 1, []]]).latency > 0
    assert not serialise_tree(serialise, []).stalled


def nested(levels):
    return [["message", 1, nested(levels - 1)]] if levels > 1 else ONE


def test_as_deep_as_the_stack(serialise):
    assert not serialise_tree(serialise, nested(24)).stalled
    with pytest.raises(ValueError, match="nested deeper than 24 levels"):
        serialise_tree(serialise, nested(25))


def test_trees_and_benchmarks_in_files(serialise, written, tmp_path):
    tree = serialise(written([[["fixed64", 2, 0, 1, [8]], ["string", 1, 0, [20], 0]]]))
    fields = {
        "f1": {"type": "scalar", "is_repeated": False, "data": [8]},
        "f2": {"type": "nonscalar", "is_repeated": False, "data": [20]},
    }
    assert serialise(written([fields])).latency == tree.latency
    packed = tmp_path / "bench.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(fields).encode()))
    assert serialise(str(packed)).latency == tree.latency


@pytest.mark.parametrize(
    "data, reason",
    [
        ([], "expected a list of messages"),
        ([3], "expected a list of fields"),
        ([[["float8", 1, 0, 1, [1]]]], "field 0 (float8 1): the hardware has no type 'float8'"),
        ([[["bool", 1, 0, 1, [2]]]], "a value of this type is never 2 bytes"),
        ([[["fixed32", 1, 0, 1, [8]]]], "a value of this type is never 8 bytes"),
        ([[["int64", 1, 0, 2, [8, 8]]]], "it is not repeated, but has 2 values"),
        ([[["int64", 1, 1, 3, [8, 8]]]], "its count is 3, but it has 2 values"),
        ([[["int64", 0, 0, 1, [8]]]], "a field number is 1 to 536870911, got 0"),
        ([[ONE[0], ONE[0]]], "the field number 1 is there twice"),
        ([[["string", 1, 0, [0], 0]]], "an empty string"),
        ([[["string", 1, 0, [5], 16]]], "a misalignment is 0 to 15"),
        ([[["message", 1, [["message", 1, 2]]]]], "field 0 (message 1), field 0 (message 1)"),
        ([[["bool", 2**20 + 1, 0, 1, [1]]]], "scans every one"),
        ({"f": {"type": "vector", "data": [1]}}, "f: the type 'vector' is not scalar"),
        ({"f": {"type": "submessage", "data": [{}]}}, "repeated submessages are not implemented"),
        ({"f": {"type": "scalar", "data": [11]}}, "a scalar is 1 to 10 bytes"),
        ({"proto": "a.proto"}, 'expected exactly "proto", "message" and "data"'),
    ],
)
def test_what_is_refused(serialise, written, data, reason):
    with pytest.raises(ValueError) as refused:
        serialise(written(data))
    assert reason in str(refused.value)


def test_files_that_are_no_messages(serialise, written, model):
    with pytest.raises(ValueError, match="nested too deeply"):
        serialise(written("[" * 100_000, "deep.json"))
    for levels in (200, 400, 480):
        far = "[" + '[["message", 1, ' * levels + "[]" + "]]" * levels + "]"
        with pytest.raises(ValueError, match="nested (far deeper|deeper|too deeply)"):
            serialise(written(far, "far.json"))
    with pytest.raises(ValueError, match="neither JSON nor"):
        serialise(written("{", "open.json"))
    with pytest.raises(ValueError, match="a schema is no message"):
        serialise(written("", "a.proto"))
    with pytest.raises(model.module.lpn.Error, match="handlers must be 1 to 14"):
        model.net(handlers=15)
