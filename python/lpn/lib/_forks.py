"""One into several, and several into one."""

from ..authoring.place import Place
from ..authoring.trace import Over
from ..errors import mistake
from ._queues import listed, output_like

__all__ = ["fork", "join"]


def fork(net, name, source, outs, *, delay=0):
    """Copies each token of `source` into every place of `outs`, once all have room.

    `delay`: cycles, or a function of the arc `t`; one token at a time. Returns `outs`.
    """
    outs = listed(name, "outs", outs)
    if not outs:
        raise mistake("E-operand", f"fork '{name}' needs at least one output")
    net.transition(
        name, take={"t": source}, put=[out.forward("t") for out in outs], delay=delay, servers=1
    )
    return outs


def join(net, name, inputs, out=None, *, delay=0, **values):
    """Waits for one token of each input, then puts one into `out`; returns `out`.

    `inputs`: {arc: place} or a list of places, whose arcs are then in0, in1, ... `values`: the
    properties of the result, as for place.emit; properties not given are copied from the first
    input that has them. `delay`: cycles, or a function of the arcs; one at a time. `out`: default a
    new place of the first input's type.
    """
    if isinstance(inputs, dict):
        arcs = dict(inputs)
    else:
        arcs = {f"in{k}": place for k, place in enumerate(listed(name, "inputs", inputs))}
    if not arcs:
        raise mistake("E-operand", f"join '{name}' needs at least one input")
    first = next(iter(arcs.values()))
    target = output_like(net, name, first, out)
    for field in target.fields:
        if field in values:
            continue
        for arc, place in arcs.items():
            if isinstance(place, Place) and field in place.fields:
                values[field] = Over([arc], lambda t, field=field: getattr(t, field))
                break
        else:
            raise mistake(
                "E-emit",
                f"join '{name}': no input has the property '{field}' of '{target.name}'; "
                f"write join(..., {field}=...)",
            )
    net.transition(name, take=arcs, put=[target.emit(**values)], delay=delay, servers=1)
    return target
