"""A field handler of the serialiser, a state machine with a client of the read port."""

from .parts import FIRST_HANDLER
from .tokens import Kind, Loading, string_words


def handler(parts, k):
    """fieldhandler_serializer.scala: the states of field handler `k`, one element at a time.

    Requests that are issued in successive cycles are put at once: the port takes one in two.
    """
    net, fields, words = parts.net, parts.fields[k], parts.words[k]
    client, outside = FIRST_HANDLER + k, parts.outside
    requests, responses = parts.requests[client], parts.responses[client]
    items = net.place(f"items{k}", outside.Item, start=True)

    def state(name, type=None, **options):
        return net.place(f"{name}{k}", type, **(options or {"drain": True}))

    def step(name, take, put, delay=1):
        parts.step(f"{name}{k}", take, put, delay)

    wait = state("wait", init=1)  # S_WAIT_CMD
    unrolling = state("unrolling")  # S_UNPACKED_REP_RECVPTR
    element = state("element")  # S_SCALAR_DISPATCH_REQ, S_STRING_GETPTR
    value, pointer, header = state("value"), state("pointer"), state("header")
    loading, key = state("loading", Loading), state("key")  # S_STRING_LOADDATA, S_WRITE_KEY

    def word(bytes, last=False, ends=False):
        return words.emit(bytes=bytes, last=last, ends=ends)

    def waiting(guard):
        return {"wait": wait, "field": fields.peek(), "item": items.peek(guard=guard)}

    def words_of(item):
        return string_words(item.bytes, item.skew)

    def value_bytes(item):
        assert item.bytes <= 16, "a value or a length is one word"
        return item.bytes

    def word_bytes(item, load):
        """From the last word of the string to the first; both may be parts of one."""
        end = (item.bytes + item.skew - 1) % 16 + 1
        upto = end if load.left == words_of(item) else 16
        return upto - item.skew if load.left == 1 else upto

    step("start", waiting(lambda item: item.kind <= Kind.STRING and not item.repeated), [element])
    step(
        "start_repeated",
        waiting(lambda item: item.kind <= Kind.STRING and item.repeated),
        [parts.read(client, 2, beats=1), unrolling],
        delay=2,
    )
    step("take_repeated", {"at": unrolling, "response": responses.take(2)}, [element])
    step(
        "read_element",
        {"at": element, "item": items.peek()},
        [
            parts.read(client, beats=1),
            value.emit(lambda item: item.kind == Kind.SCALAR),
            pointer.emit(lambda item: item.kind == Kind.STRING),
        ],
    )
    step(
        "take_value",
        {"at": value, "response": responses, "item": items.peek()},
        [word(value_bytes), key],
    )
    step(
        "read_header",
        {"at": pointer, "response": responses},
        [parts.read(client, 2, beats=1), header],
    )
    step(
        "take_header",
        {"at": header, "response": responses.take(2), "item": items.peek()},
        [
            requests.emit(words_of, **outside.string(client)),
            loading.emit(left=words_of),
        ],
        delay=2,
    )
    step(
        "take_word",
        {"load": loading, "response": responses, "item": items.peek()},
        [
            word(word_bytes),
            loading.emit(lambda load: load.left > 1, left=lambda load: load.left - 1),
            key.emit(lambda load: load.left == 1),
        ],
    )
    step(
        "write_key",
        {"at": key, "item": items, "field": fields.take(lambda item: item.last)},
        [
            word(lambda item: item.key, last=lambda item: item.last),
            element.emit(lambda item: not item.last),
            wait.emit(lambda item: item.last),
        ],
    )
    step("close", waiting(lambda item: item.kind == Kind.CLOSE), [word(value_bytes), key])
    at_end = items.take(guard=lambda item: item.kind == Kind.END)
    step(
        "end",
        {"wait": wait, "field": fields, "item": at_end},
        [word(0, last=True, ends=True), wait],
    )
