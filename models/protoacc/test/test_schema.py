"""Messages from a .proto file, in text format and in binary."""

import shutil

import pytest
from conftest import DEMO

pytest.importorskip("google.protobuf")
pytestmark = pytest.mark.skipif(not shutil.which("protoc"), reason="no protoc")


@pytest.fixture
def folder(tmp_path):
    shutil.copy(DEMO / "shop.proto", tmp_path)
    return tmp_path


@pytest.fixture
def text(folder):
    """text("fields", type) is the name of a message in text format."""

    def write(fields, type="Item"):
        path = folder / "message.txtpb"
        path.write_text(f"# proto-file: shop.proto\n# proto-message: {type}\n{fields}\n")
        return str(path)

    return write


@pytest.fixture
def binary(folder, written):
    """binary(b"...") is the name of a JSON file that names it."""

    def write(data, type="shop.Item", proto="shop.proto"):
        (folder / "message.bin").write_bytes(data)
        return written({"proto": proto, "message": type, "data": "message.bin"})

    return write


def test_text_and_binary_are_the_same_message(serialise):
    once = serialise(str(DEMO / "item.txtpb"))
    twice = serialise(str(DEMO / "two_items.json"))
    assert not once.stalled and twice.done_tokens == 2 and twice.latency > once.latency


def test_one_file_twice_is_two_messages(serialise, written, folder):
    shutil.copy(DEMO / "item.bin", folder)
    data = {"proto": "shop.proto", "message": "Item", "data": ["item.bin"] * 3}
    assert serialise(written(data)).done_tokens == 3


def test_a_schema_whose_name_begins_like_an_option(folder, serialise, written):
    shutil.copy(DEMO / "item.bin", folder)
    shutil.copy(DEMO / "shop.proto", folder / "-shop.proto")
    data = {"proto": "-shop.proto", "message": "Item", "data": "item.bin"}
    found = serialise(written(data))
    assert found.latency == serialise(written({**data, "proto": "shop.proto"})).latency > 0


def test_bytes_are_those_of_protobuf(model):
    (message,) = model.module.read(str(DEMO / "item.txtpb"))
    (size,) = model.module.Lowered([message], 6).sizes
    # The hardware writes a negative sint32 in five bytes, protobuf -4 in one.
    assert size == (DEMO / "item.bin").stat().st_size + 4


@pytest.mark.parametrize(
    "fields, tree",
    [
        ("price: -1", ["int32", 2, 0, 1, [10]]),
        ("price: 300", ["int32", 2, 0, 1, [2]]),
        ("change: 63", ["sint32", 9, 0, 1, [1]]),
        ("change: -1", ["sint32", 9, 0, 1, [5]]),
        ('name: "\u00e9\u00e9"', ["string", 1, 0, [4], 0]),
        ("codes: [1, 2]", ["fixed64", 5, 1, 2, [8, 8]]),
        ("weight: 0", ["double", 14, 0, 1, [8]]),
        ("colour: RED", ["enum", 8, 0, 1, [1]]),
    ],
)
def test_values(model, text, fields, tree):
    (message,) = model.module.read(text(fields))
    (expected,) = model.module.messages_of([[tree]])
    assert message.fields == expected.fields
    assert (message.lowest, message.highest) == (1, 14) and message.submessages == {7, 11}


@pytest.mark.parametrize(
    "fields, reason",
    [
        ("colour: BROKEN", "colour: a negative enum value"),
        ("packed: 1", "packed: packed repeated fields are not implemented"),
        ("many {}", "many: repeated submessages (maps too) are not implemented"),
        ('part { name: "" }', "part.name: an empty string"),
        ("size: 1", 'no field named "size"'),
        ("", None),
    ],
)
def test_what_the_hardware_does_not_serialise(serialise, text, fields, reason):
    if reason is None:
        assert serialise(text(fields)).latency > 0
        return
    with pytest.raises(ValueError) as refused:
        serialise(text(fields))
    assert reason in str(refused.value)


def test_text_that_is_nested_for_ever(serialise, text):
    for levels in (24, 5000):
        with pytest.raises(ValueError, match="nested|no shop.Item"):
            serialise(text("part {" * levels + "}" * levels))


def test_other_types(serialise, text, folder):
    with pytest.raises(ValueError, match="the required field number is missing"):
        serialise(text("", "Order"))
    with pytest.raises(ValueError, match="notes: repeated submessages"):
        serialise(text('number: 1 notes { key: "a" value: "b" }', "shop.Order"))
    with pytest.raises(ValueError, match="has no message type Nothing; it has: shop.Item, shop.Or"):
        serialise(text("", "Nothing"))
    (folder / "shop.proto").write_text("message {")
    with pytest.raises(ValueError, match="protoc refuses .*shop.proto:1:9"):
        serialise(text(""))


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"\x08\x05", "field 1 (name) has the wrong wire type 0"),
        (b"\xf8\x06\x05", "shop.Item has no field 111"),
        (b"\x3a\x02\x08\x05", "part: field 1 (name) has the wrong wire type 0"),
        (b"\xff\xff", "message.bin is no shop.Item"),
        (b"\x0c", "message.bin is no shop.Item"),  # the end of a group that never began
        (b"\x10\x01\x00", "message.bin is no shop.Item"),  # a price, then a field 0
        (b"\x40\x63", "field 8 (colour) has a value that shop.Colour does not have"),
    ],
)
def test_binary_messages_of_another_type(serialise, binary, data, reason):
    with pytest.raises(ValueError) as refused:
        serialise(binary(data))
    assert reason in str(refused.value)


def test_what_is_missing(serialise, binary, written, folder):
    with pytest.raises(ValueError, match="there is no file"):
        serialise(binary(b"", proto="none.proto"))
    (folder / "plain.txtpb").write_text("price: 1\n")
    with pytest.raises(ValueError, match="needs the comments '# proto-file"):
        serialise(str(folder / "plain.txtpb"))
    with pytest.raises(OSError):
        serialise(written({"proto": "shop.proto", "message": "Item", "data": "none.bin"}))
