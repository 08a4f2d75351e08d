"""Crossbars: several inputs to several outputs, and interconnects of memory ports."""

from ..errors import mistake
from ._arbiters import each, round_robin
from ._ports import MemoryPort, a_port, amount
from ._queues import distinct

__all__ = ["crossbar", "interconnect"]


def crossbar(
    net,
    name,
    inputs,
    outputs,
    to,
    *,
    delay=1,
    queue=None,
    grant=round_robin,
    credit=None,
    last=None,
):
    """Every input to every output; each sends, and each receives, one token at a time.

    `to`: a function of the arc `t`: the number of its output, from 0. A token holds its input and its
    output for `delay` (cycles, or a function of the arc `t`); one whose output is busy holds up those
    behind it. `queue`: so many tokens of an input, the one under way among them, are with each output
    instead (virtual output queues): an input sends to several outputs at once, and a token whose queue is
    full holds up those behind it. `grant`: the arbiter of each output, round_robin or priority. `credit`: a
    place per output, of whose tokens each grant takes one. `last`: a condition of the arc `t`; an
    output stays with an input until a token meets it. A token whose `to` is no output stays, and the
    run stalls. Returns `outputs`.

    Raises Error "E-operand" for no input or output, or a list of another length.
    """
    inputs, outputs = distinct(name, "inputs", inputs), distinct(name, "outputs", outputs)
    if not inputs or not outputs:
        raise mistake("E-operand", f"crossbar '{name}' needs at least one input and one output")
    credits = each(name, "credit", credit, len(outputs))
    if queue is not None:
        queue = amount(name, "queue", queue, 1)
    if not callable(grant):
        raise mistake(
            "E-operand",
            f"crossbar '{name}': grant must be lib.round_robin or lib.priority, got {grant!r}",
        )
    n = len(inputs)
    heads = [net.place(f"{name}.head{i}", init=1) for i in range(n)] if queue is None else None
    for o, out in enumerate(outputs):

        def here(t, o=o):
            return to(t) == o

        options = dict(delay=delay, last=last)
        if queue is None:
            need = [credits[o]] if credits[o] is not None else []
            options |= dict(
                guard=here,
                credit=[[head, *need] for head in heads],
                also=[[head] for head in heads],
            )
            waiting = inputs
        else:
            options |= dict(credit=credits[o])
            waiting = [
                net._place_like(f"{name}.from{i}.to{o}", source, capacity=queue)
                for i, source in enumerate(inputs)
            ]
            for i, (source, place) in enumerate(zip(inputs, waiting)):
                net.transition(
                    f"{name}.route{i}.to{o}",
                    take={"t": source.take(guard=here)},
                    put=[place.forward("t")],
                )
        grant(net, f"{name}.out{o}", waiting, out, **options)
    return outputs


def interconnect(net, name, masters, slaves, to, *, delay=1, grant=round_robin, outstanding=16):
    """MemoryPorts of several masters to those of several slaves, by a crossbar each way.

    `to`: a function of the arc `t`, an Access: the number of its slave. `delay`: cycles of an access
    at the crossbar, and of its answer back. `outstanding`: accesses under way at each slave. Masters
    are told apart by the accesses' ids, which grow by the factor of their number on the way and come
    back as they were; an id beyond 2^31 is E-range in the run.

    Raises Error "E-operand" for no master or slave.
    """
    ports = []
    for what, given in (("masters", masters), ("slaves", slaves)):
        if isinstance(given, MemoryPort):
            raise mistake("E-operand", f"{what} of '{name}' must be a list of MemoryPorts, got one")
        ports.append(
            [a_port(f"interconnect '{name}'", f"one of the {what}", port) for port in given]
        )
    masters, slaves = ports
    distinct(name, "masters and slaves", [port.requests for port in masters + slaves])
    if not masters or not slaves:
        raise mistake("E-operand", f"interconnect '{name}' needs at least one master and one slave")
    n = len(masters)
    asked = []
    for m, port in enumerate(masters):
        place = net._place_like(f"{name}.asked{m}", port.requests, drain=True)
        net.transition(
            f"{name}.tag{m}",
            take={"t": port.requests},
            put=[place.forward("t", id=lambda t, m=m: t.id * n + m)],
        )
        asked.append(place)
    limit = amount(name, "outstanding", outstanding)
    limits = [net.place(f"{name}.credits{s}", init=limit) for s in range(len(slaves))]
    crossbar(
        net,
        f"{name}.requests",
        asked,
        [port.requests for port in slaves],
        to,
        delay=delay,
        grant=grant,
        credit=limits,
    )
    answered = []
    for s, port in enumerate(slaves):
        place = net._place_like(f"{name}.answered{s}", port.responses, drain=True)
        net.transition(
            f"{name}.freed{s}", take={"t": port.responses}, put=[place.forward("t"), limits[s]]
        )
        answered.append(place)
    back = [
        net._place_like(f"{name}.back{m}", port.responses, drain=True)
        for m, port in enumerate(masters)
    ]
    crossbar(net, f"{name}.responses", answered, back, lambda t: t.id % n, delay=delay, grant=grant)
    for m, port in enumerate(masters):
        net.transition(
            f"{name}.untag{m}",
            take={"t": back[m]},
            put=[port.responses.forward("t", id=lambda t: t.id // n)],
        )
