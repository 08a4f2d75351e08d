"""Answers in the order of their requests, however they come."""

from ..authoring.place import Place
from ..authoring.token import Int
from ..errors import mistake
from ._ports import record, whole
from ._queues import output_like

__all__ = ["reorder_buffer"]


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
