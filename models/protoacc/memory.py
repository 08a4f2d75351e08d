"""The serialiser's way to memory: what is written, byte queues, and the read port that all share."""

from .tokens import Beat, Bytes, TAGS, WORD_BYTES, Word


def writer(parts):
    """MemWriteArbiter of multi_fieldhandler.scala, memwriter_serializer.scala, and the write half
    of L1WriteMemHelper (l1shim_interface.scala) and VME (VMESimple.scala)."""
    net, handlers, outside = parts.net, len(parts.words), parts.outside
    turns = [net.place(f"turn{k}", init=k == 0) for k in range(handlers)]
    collected = net.place("collected", Word, capacity=4)  # writes_input_IF_Q
    sized = net.place("sized", Word, capacity=4)  # write_inject_Q
    # mem_resp_queues: a token is a byte. Sixteen queues of sixteen, filled in turn; all must have
    # room.
    output, room = net.place("output", drain=True), net.place("room", init=WORD_BYTES * WORD_BYTES)
    # Bytes so far; the output is written downwards from an address that 16 divides.
    poured, written = (net.place(k, Bytes, init=[{"total": 0}]) for k in ("poured", "written"))
    ends = net.place("ends", Bytes, capacity=10)  # write_ptrs_Q
    writes = net.place("writes", outside.Write, capacity=16)
    bus, addressed = net.place("bus", init=1), net.place("addressed", outside.Write, drain=True)
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
        {"sum": poured, "word": sized, "room": room.take(lambda word: word.bytes, need=WORD_BYTES)},
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
        [completed, written.forward("sum"), writes.emit(**outside.pointer())],
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
                writes.emit(**outside.piece(size)),
            ],
        )
    parts.step("issue", {"write": writes, "bus": bus}, [addressed.forward("write")])
    outside.transfer(parts, addressed, bus)


def reads(parts):
    """L1ReadMemHelper (l1shim_interface.scala) of each client and the read half of VME
    (VMESimple.scala), on a memory that answers in order, eight bytes per cycle."""
    net, outside = parts.net, parts.outside
    tags = net.place("tags", init=TAGS)
    port = net.place("port", init=1)
    arrived = net.place("arrived", Beat, drain=True)
    landed = net.place("landed", Beat, drain=True)
    quiet = net.place("quiet", init=1)  # no last beat comes back in this cycle

    def last(read):
        return read.last

    outside.reads(arrived)
    # Before the addresses, which see whether it is quiet.
    parts.step(
        "beat",
        {"read": arrived, "quiet": quiet.take(last)},
        [landed.forward("read"), tags.emit(last), quiet.emit(last)],
    )
    routes = []
    for k, (requests, responses) in enumerate(zip(parts.requests, parts.responses)):
        outstanding = net.place(f"outstanding{k}", init=16)
        slot, command = net.place(f"slot{k}", init=1), net.place(
            f"command{k}", outside.Read, drain=True
        )
        data = net.place(f"data{k}", drain=True)  # vmeDataQueues
        parts.step(
            f"command{k}",
            {"read": requests, "credit": outstanding, "slot": slot},
            [command.forward("read")],
        )
        # The first client with a command.
        parts.step(
            f"address{k}",
            {"read": command, "port": port, "quiet": quiet.peek(), "tag": tags},
            [*outside.asked(k), port, slot],
        )
        parts.step(f"respond{k}", {"data": data}, [responses, outstanding])
        routes.append(data.emit(lambda read, k=k: read.last and read.client == k))
    outside.answered()
    parts.step("deliver", {"read": landed}, routes)
