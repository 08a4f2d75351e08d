"""The net of Protoacc's serialiser: which unit takes, waits for and hands on what, cycle by cycle.

A place is a queue or a state of a state machine, a transition what happens in one cycle: what one
register or queue takes over at a clock edge is a firing of one cycle. Sources: Scala file and name
in hardware/chisel/src/main/scala of MJChku/protoacc, commit ebfb4c7. `Queue` of Chisel shows what
came in, and has room for what went out, in the next cycle, as a place with a capacity does.
"""

import lpn

from .tokens import Advance, Beat, Beats, Bit, Bytes, Chunk, Entry, Item, Kind, Loading, Turn, Word

WORD = 16  # bytes that are read, and written, at once
MOST_HANDLERS = 14  # of the types in tokens.py
SCAN, DESCRIPTORS, FIRST_HANDLER = 0, 1, 2  # clients of the read port, highest priority first


class _Parts:
    """The net, and the places that its parts share."""

    def __init__(self, net, handlers):
        self.net = net
        clients = range(FIRST_HANDLER + handlers)
        # l1shim_interface.scala: queues of 160, which only a string's words can fill.
        self.requests = [net.place(f"requests{k}", Beats, drain=True) for k in clients]
        self.responses = [net.place(f"responses{k}", capacity=160) for k in clients]
        self.loader = net.place("loader", drain=True)  # s_hasBitsLoader_IsSubmessageLoad
        self.entries = net.place("entries", Entry, drain=True)  # descr_request_Q
        self.entry_room = net.place("entry_room", init=4)
        # multi_fieldhandler.scala, FieldDispatchRouter; the last is taken out when it is done.
        self.fields = [net.place(f"fields{k}", capacity=4) for k in range(handlers)]
        self.words = [net.place(f"words{k}", Word, capacity=4) for k in range(handlers)]

    def step(self, name, take, put, delay=1):
        """What a unit does, usually in a cycle."""
        self.net.transition(name, take=take, put=put, delay=delay, servers=1)


def build(handlers: int) -> lpn.Net:
    """The serialiser with so many field handlers; see model.py for its parameters."""
    net = lpn.Net("protoacc")
    latency = net.param("read_latency", 20, range=(1, 10**6))
    acknowledge = net.param("write_ack_latency", 1, range=(1, 10**6))
    interval = net.param("command_interval", 29, range=(1, 10**6))
    parts = _Parts(net, handlers)
    _scan(parts, interval)
    _descriptors(parts)
    for k in range(handlers):
        _handler(parts, k)
    _writer(parts, acknowledge)
    _memory(parts, latency)
    return net


def _scan(parts, interval):
    """commandrouter_serializer.scala; has bits of descriptortablehandler_serializer.scala."""
    net = parts.net
    messages = net.place("messages", start=True)
    chunks = net.place("chunks", Chunk, start=True)
    bits = net.place("bits", Bit, start=True)
    commands = net.place("commands", drain=True)
    unoccupied = net.place("unoccupied", init=1)  # depth is 0
    consumer = net.place("consumer", init=1)  # s_hasBitsCONSUMER_AcceptIsSubmessage
    scanning = net.place("scanning", drain=True)
    requests, responses = parts.requests[SCAN], parts.responses[SCAN]
    advance = [
        parts.loader.emit(lambda now: now.advance == Advance.NEXT_WORD),
        unoccupied.emit(lambda now: now.advance == Advance.NEXT_MESSAGE),
    ]

    net.transition("host", take=messages, put=[commands], delay=0, interval=interval, servers=1)
    parts.step("accept", {"command": commands, "free": unoccupied}, [parts.loader])
    # Both words, in two cycles; but the port takes a read of a client every second cycle only.
    parts.step("load", {"loader": parts.loader}, [requests.emit(2, beats=1)])
    parts.step(
        "take_submessages",
        {"consumer": consumer, "word": responses, "now": chunks},
        [scanning, *advance],
    )
    # One field number per cycle, absent or not, and only while there is room for a present one.
    parts.step(
        "scan",
        {
            "now": bits,
            "scanning": scanning.take(lambda now: now.last, need=1),
            "word": responses.take(lambda now: now.last, need=1),
            "room": parts.entry_room.take(lambda now: now.present, need=1),
        },
        [
            parts.entries.emit(lambda now: now.present, child=lambda now: now.child),
            consumer.emit(lambda now: now.last),
            *advance,
        ],
    )


def _descriptors(parts):
    """descriptortablehandler_serializer.scala from descr_request_Q on, and FieldDispatchRouter."""
    net, handlers = parts.net, len(parts.fields)
    requests, responses = parts.requests[DESCRIPTORS], parts.responses[DESCRIPTORS]
    ready = net.place("ready", init=1)  # sWaitForRequest
    fetching = net.place("fetching", init=4)  # descriptor_req_meta_Q
    expected = net.place("expected", Entry, drain=True)  # regular_response_path
    one = net.place("one_response", init=1)  # in a cycle
    child_entry, child_object = (net.place(f"child_{k}", drain=True) for k in ("entry", "object"))
    dispatched = net.place("dispatched", capacity=4)  # serFieldHandlerOutput_Q
    turn = net.place("turn", Turn, init=[{"handler": 0}])

    parts.step(
        "fetch_entry",
        {
            "entry": parts.entries.take(guard=lambda entry: not entry.child),
            "ready": ready,
            "room": fetching,
        },
        [requests.emit(beats=1), expected.emit(child=False), ready, parts.entry_room],
    )
    parts.step(
        "take_entry",
        {
            "kind": expected.take(guard=lambda kind: not kind.child),
            "one": one,
            "response": responses,
        },
        [dispatched, fetching, one],
    )
    # A submessage: its entry, then the object's address and the head of its table, one at a time.
    parts.step(
        "fetch_child",
        {"entry": parts.entries.take(guard=lambda entry: entry.child), "ready": ready},
        [requests.emit(beats=2), expected.emit(child=True), child_entry],
    )
    parts.step(
        "fetch_child_object",
        {
            "at": child_entry,
            "kind": expected.take(guard=lambda kind: kind.child),
            "one": one,
            "response": responses,
        },
        [
            requests.emit(beats=1),
            requests.emit(beats=2),
            expected.emit(2, child=True),
            child_object,
            one,
        ],
        delay=2,
    )
    parts.step(
        "enter_child",
        {"at": child_object, "kind": expected.take(2), "response": responses.take(2)},
        [parts.loader, ready, parts.entry_room],
    )
    parts.step(
        "dispatch",
        {"field": dispatched, "turn": turn},
        [
            turn.emit(handler=lambda turn: (turn.handler + 1) % handlers),
            *(
                fields.emit(lambda turn, k=k: turn.handler == k)
                for k, fields in enumerate(parts.fields)
            ),
        ],
    )


def _handler(parts, k):
    """fieldhandler_serializer.scala: the states of field handler `k`, one element at a time.

    Requests that are issued in successive cycles are put at once: the port takes one in two.
    """
    net, fields, words = parts.net, parts.fields[k], parts.words[k]
    requests, responses = parts.requests[FIRST_HANDLER + k], parts.responses[FIRST_HANDLER + k]
    items = net.place(f"items{k}", Item, start=True)

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

    def string_words(item):
        return (item.bytes + item.skew + 15) // 16

    def value_bytes(item):
        assert item.bytes <= 16, "a value or a length is one word"
        return item.bytes

    def word_bytes(item, load):
        """From the last word of the string to the first; both may be parts of one."""
        end = (item.bytes + item.skew - 1) % 16 + 1
        upto = end if load.left == string_words(item) else 16
        return upto - item.skew if load.left == 1 else upto

    step("start", waiting(lambda item: item.kind <= Kind.STRING and not item.repeated), [element])
    step(
        "start_repeated",
        waiting(lambda item: item.kind <= Kind.STRING and item.repeated),
        [requests.emit(2, beats=1), unrolling],
        delay=2,
    )
    step("take_repeated", {"at": unrolling, "response": responses.take(2)}, [element])
    step(
        "read_element",
        {"at": element, "item": items.peek()},
        [
            requests.emit(beats=1),
            value.emit(lambda item: item.kind == Kind.SCALAR),
            pointer.emit(lambda item: item.kind == Kind.STRING),
        ],
    )
    step(
        "take_value",
        {"at": value, "response": responses, "item": items.peek()},
        [word(value_bytes), key],
    )
    step("read_header", {"at": pointer, "response": responses}, [requests.emit(2, beats=1), header])
    step(
        "take_header",
        {"at": header, "response": responses.take(2), "item": items.peek()},
        [requests.emit(string_words, beats=2), loading.emit(left=string_words)],
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


def _writer(parts, acknowledge):
    """MemWriteArbiter of multi_fieldhandler.scala, memwriter_serializer.scala, and the write half
    of L1WriteMemHelper (l1shim_interface.scala) and VME (VMESimple.scala)."""
    net, handlers = parts.net, len(parts.words)
    turns = [net.place(f"turn{k}", init=k == 0) for k in range(handlers)]
    collected = net.place("collected", Word, capacity=4)  # writes_input_IF_Q
    sized = net.place("sized", Word, capacity=4)  # write_inject_Q
    # mem_resp_queues: a token is a byte. Sixteen queues of sixteen, filled in turn; all must have
    # room.
    output, room = net.place("output", drain=True), net.place("room", init=WORD * WORD)
    # Bytes so far; the output is written downwards from an address that 16 divides.
    poured, written = (net.place(k, Bytes, init=[{"total": 0}]) for k in ("poured", "written"))
    ends = net.place("ends", Bytes, capacity=10)  # write_ptrs_Q
    writes = net.place("writes", Beats, capacity=16)
    bus, addressed = net.place("bus", init=1), net.place("addressed", Beats, drain=True)
    completed = net.place("completed", done=True)

    for k, words in enumerate(parts.words):
        parts.step(
            f"collect{k}",
            {"turn": turns[k], "word": words},
            [
                collected.forward("word"),
                turns[k].emit(lambda word: not word.last),
                turns[(k + 1) % handlers].emit(lambda word: word.last),
            ],
        )
    parts.step("size", {"word": collected}, [sized.forward("word")])
    parts.step(
        "pour",
        {"sum": poured, "word": sized, "room": room.take(lambda word: word.bytes, need=WORD)},
        [
            output.emit(lambda word: word.bytes),
            poured.emit(total=lambda sum, word: sum.total + word.bytes),
            ends.emit(lambda word: word.ends, total=lambda sum: sum.total),
        ],
    )
    # The pointer goes before the next message's bytes, once this message's are written.
    parts.step(
        "complete",
        {"sum": written, "end": ends.take(guard=lambda sum, end: end.total <= sum.total)},
        [completed, written.forward("sum"), writes.emit(beats=1)],
    )

    # Of the bytes that are there the largest piece that is aligned.
    for size in (16, 8, 4, 2, 1):
        parts.step(
            f"write{size}",
            {
                "sum": written.take(guard=lambda sum, size=size: sum.total % size == 0),
                "byte": output.take(size),
            },
            [
                written.emit(total=lambda sum, size=size: sum.total + size),
                room.emit(size),
                writes.emit(beats=2 if size == 16 else 1),
            ],
        )
    parts.step("issue", {"write": writes, "bus": bus}, [addressed.forward("write")])
    # Address, the beats, the acknowledgement; then sWriteIdle.
    busy = lambda write: 1 + write.beats + acknowledge
    parts.step("transfer", {"write": addressed}, [bus], busy)


def _memory(parts, latency):
    """L1ReadMemHelper (l1shim_interface.scala) of each client and the read half of VME
    (VMESimple.scala), on a memory that answers in order, eight bytes per cycle."""
    net = parts.net
    tags = net.place("tags", init=16)  # RequestQueueDepth
    port = net.place("port", init=1)
    memory, arrived = net.place("memory", Beat, drain=True), net.place("arrived", Beat, drain=True)
    landed = net.place("landed", Beat, drain=True)
    quiet = net.place("quiet", init=1)  # no last beat comes back in this cycle

    def last(read):
        return read.last

    def beats(place, used, k):
        count = lambda read: lpn.select(used, read.beats, 0)
        return place.emit(count, client=k, last=lambda read, i: i == read.beats - 1)

    # Before the addresses, which see whether it is quiet.
    parts.step(
        "beat",
        {"read": arrived, "quiet": quiet.take(last)},
        [landed.forward("read"), tags.emit(last), quiet.emit(last)],
    )
    routes = []
    for k, (requests, responses) in enumerate(zip(parts.requests, parts.responses)):
        outstanding = net.place(f"outstanding{k}", init=16)
        slot, command = net.place(f"slot{k}", init=1), net.place(f"command{k}", Beats, drain=True)
        data = net.place(f"data{k}", drain=True)  # vmeDataQueues
        parts.step(
            f"command{k}",
            {"read": requests, "credit": outstanding, "slot": slot},
            [command.forward("read")],
        )
        # The first client with a command. A latency of 1 is no wait.
        parts.step(
            f"address{k}",
            {"read": command, "port": port, "quiet": quiet.peek(), "tag": tags},
            [beats(memory, latency > 1, k), beats(arrived, latency == 1, k), port, slot],
        )
        parts.step(f"respond{k}", {"data": data}, [responses, outstanding])
        routes.append(data.emit(lambda read, k=k: read.last and read.client == k))
    net.transition("wait", take={"read": memory}, put=[arrived.forward("read")], delay=latency - 1)
    parts.step("deliver", {"read": landed}, routes)
