"""The serialiser's way to memory: what is written, byte queues, and the read port that all share."""

import lpn

from .tokens import Beat, Beats, Bytes, Word

WORD = 16  # bytes that are read, and written, at once


def writer(parts, acknowledge):
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


def reads(parts, latency):
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
