"""The net of Protoacc's serialiser: which unit takes, waits for and hands on what, cycle by cycle.

A place is a queue or a state of a state machine, a transition what happens in one cycle: what one
register or queue takes over at a clock edge is a firing of one cycle. Sources: Scala file and name
in hardware/chisel/src/main/scala of MJChku/protoacc, commit ebfb4c7. `Queue` of Chisel shows what
came in, and has room for what went out, in the next cycle, as a place with a capacity does.
"""

import lpn

from .handler import handler
from .memory import reads, writer
from .outside import Latencies, Ports
from .parts import FIRST_HANDLER, Parts
from .tokens import Advance, Bit, Chunk, Entry, Turn

MOST_HANDLERS = 14  # of the types in tokens.py
SCAN, DESCRIPTORS = 0, 1  # clients of the read port, highest priority first


def build(handlers: int, ports: bool = False) -> lpn.Net:
    """The serialiser with so many field handlers; see model.py for its parameters. `ports`: its
    memory is outside (outside.py).
    """
    net = lpn.Net("protoacc")
    outside = Ports(net, FIRST_HANDLER + handlers) if ports else Latencies(net)
    interval = net.param("command_interval", 29, range=(1, 10**6))
    parts = Parts(net, handlers, outside)
    _scan(parts, interval)
    _descriptors(parts)
    for k in range(handlers):
        handler(parts, k)
    writer(parts)
    reads(parts)
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
    responses = parts.responses[SCAN]
    advance = [
        parts.loader.emit(lambda now: now.advance == Advance.NEXT_WORD),
        unoccupied.emit(lambda now: now.advance == Advance.NEXT_MESSAGE),
    ]

    net.transition("host", take=messages, put=[commands], delay=0, interval=interval, servers=1)
    parts.step("accept", {"command": commands, "free": unoccupied}, [parts.loader])
    # Both words, in two cycles; but the port takes a read of a client every second cycle only.
    parts.step("load", {"loader": parts.loader}, [parts.read(SCAN, 2, beats=1)])
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
    responses = parts.responses[DESCRIPTORS]
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
        [parts.read(DESCRIPTORS, beats=1), expected.emit(child=False), ready, parts.entry_room],
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
        [parts.read(DESCRIPTORS, beats=2), expected.emit(child=True), child_entry],
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
            parts.read(DESCRIPTORS, beats=1),
            parts.read(DESCRIPTORS, beats=2),
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
