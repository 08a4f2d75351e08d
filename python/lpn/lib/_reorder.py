"""Answers in the order of their requests, however they come."""

from ..authoring.arc import sum as total
from ..authoring.expr import select
from ..authoring.place import Place
from ..authoring.token import Int
from ..errors import mistake
from ._ports import Access, MemoryPort, a_port, memory_port, record, whole
from ._queues import output_like

__all__ = ["in_order", "reorder_buffer"]


# An interconnect behind, whose masters share its ids, has room for so many.
IDS = 2**20

_Id = record("_Id", "The id with which a request goes on.", id=Int(0, IDS - 1))


def reorder_buffer(net, name, requests, returned, entries, *, issued=None, out=None):
    """A reorder buffer of `entries`: requests go on with a tag, answers leave in the order of the
    requests; returns (`issued`, `out`).

    Tokens of `requests` and of `returned` have a property `tag`. A request takes the next entry in turn
    when it is free and goes into `issued` with the entry's number as its tag, one per cycle. Whoever
    serves it puts an answer with this tag into `returned`, in any order. Answers leave for `out` in
    the order of the requests, one per cycle; its entry is free from then on. entries: an int 1..256.
    `issued`, `out`: places, else `name.issued` and `name.out` are made.

    Raises Error "E-operand" for another number, "E-emit" for tokens without a tag.
    """
    entries = whole(name, "entries", entries, 1, 256)
    for place in (requests, returned):
        if not isinstance(place, Place):
            raise mistake("E-arc", f"reorder buffer '{name}' needs a place, got {place!r}")
        if "tag" not in place.fields:
            raise mistake(
                "E-emit",
                f"reorder buffer '{name}': tokens of '{place.name}' have no property 'tag'",
            )
    issued = net._place_like(f"{name}.issued", requests) if issued is None else issued
    out = output_like(net, name, returned, out)
    entry = record(f"Entry{entries}", "An entry.", tag=Int[0, entries - 1])
    free = net.place(f"{name}.free", entry, init=[{"tag": k} for k in range(entries)])
    order = net.place(f"{name}.order", entry, drain=True)
    port = net.place(f"{name}.port", init=1)
    # Entries are freed in the order in which they were taken, so a FIFO of them is the tail pointer.
    net.transition(
        f"{name}.issue",
        take={"t": requests, "entry": free},
        put=[issued.forward("t", tag=lambda entry: entry.tag), order.forward("entry")],
        delay=1,
        servers=1,
    )
    for k in range(entries):
        result = net._place_like(f"{name}.result{k}", returned, drain=True)
        net.transition(
            f"{name}.file{k}",
            take={"t": returned.take(guard=lambda t, k=k: t.tag == k)},
            put=[result.forward("t")],
        )
        net.transition(
            f"{name}.leave{k}",
            take={
                "entry": order.take(guard=lambda entry, k=k: entry.tag == k),
                "t": result,
                "port": port,
            },
            put=[out.forward("t"), free.forward("entry"), port],
            delay=1,
        )
    return issued, out


def in_order(net, name, port) -> MemoryPort:
    """A MemoryPort before `port` whose answers come in the order of its requests, as AXI has it of those
    with one id: an answer that overtakes others waits for them. It takes no cycles.

    Requests go on to `port` with ids in turn, from 0 to 2^20 - 1, by which their answers are known;
    each comes back with the id that it had. More than 2^20 under way end the run with an error. Raises
    Error "E-operand".
    """
    a_port(f"in_order '{name}'", "port", port)
    front = memory_port(net, name)
    turn = net.place(f"{name}.turn", _Id, init=[{"id": 0}])
    asked = net.place(f"{name}.asked", Access, drain=True)
    ids = net.place(f"{name}.ids", _Id, drain=True)

    def own(turn, asked):
        assert asked.count < IDS, "no more than 2^20 requests are told apart by their ids"
        return turn.id

    net.transition(
        f"{name}.ask",
        take={"t": front.requests, "turn": turn, "asked": asked.watch()},
        put=[
            port.requests.forward("t", id=own),
            asked.forward("t"),
            ids.forward("turn"),
            turn.emit(id=lambda turn: (turn.id + 1) % IDS),
        ],
    )
    come = port.responses

    def is_next(head, come):
        return total(come, lambda t: select(t.id == head.id, 1, 0)) == 1

    def others(field):
        """Of those that have come and are not next: the last one is where that was."""

        def value(head, come, i):
            last = getattr(come[come.count - 1], field)
            return select(come[i].id == head.id, last, getattr(come[i], field))

        return value

    net.transition(
        f"{name}.answer",
        take={
            "t": asked,
            "head": ids,
            "come": come.take(lambda come: come.count, need=1, guard=is_next),
        },
        put=[
            front.responses.forward("t"),
            come.emit(count=lambda come: come.count - 1, **{k: others(k) for k in come.fields}),
        ],
    )
    return front
