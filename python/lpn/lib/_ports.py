"""Memory ports: what joins parts that ask for data with parts that have it."""

from dataclasses import dataclass
from numbers import Integral

from ..authoring.expr import Expr
from ..authoring.place import Place
from ..authoring.token import Int, Token
from ..authoring.unknown import Alone
from ..errors import mistake

__all__ = ["Access", "MemoryPort", "memory", "a_port", "amount", "memory_port", "record", "whole"]

ADDRESSES, MOST_BYTES, MOST_ID = 2**48, 2**32, 2**31
HIGHEST = ADDRESSES + MOST_BYTES  # the last address of a piece of what begins below ADDRESSES


def record(name, doc, **fields):
    """A token type."""
    made = {"__annotations__": fields, "__doc__": doc, "__module__": "lpn.lib"}
    return type(name, (Token,), made)


Access = record(
    "Access",
    "An access to a memory, and its answer.",
    address=Int(0, HIGHEST),
    bytes=Int(1, MOST_BYTES - 1),
    write=bool,
    id=Int(0, MOST_ID - 1),  # of who asked: parts on the way give it back as it came
)


@dataclass(frozen=True)
class MemoryPort:
    """Where accesses are asked for and answered: two places of Access. Each request has one answer."""

    requests: Place
    responses: Place


def memory_port(net, name, open=False) -> MemoryPort:
    """A port, with the places `name.requests` and `name.responses`. `open`: of a net that is a part, whose
    memory is joined by `net.instance`; alone, requests stay in it, and a workload may give answers.
    """
    return MemoryPort(
        net.place(f"{name}.requests", Access, sink=open, drain=not open),
        net.place(f"{name}.responses", Access, start=open, drain=not open),
    )


def a_port(who, what, given):
    """A MemoryPort. Raises Error "E-operand"."""
    if not isinstance(given, MemoryPort):
        raise mistake("E-operand", f"{who}: {what} must be a MemoryPort, got {given!r}")
    return given


def whole(name, what, value, least, most=2**40):
    """An int in least..most. Raises Error "E-operand"."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= most:
        raise mistake(
            "E-operand", f"'{name}': {what} must be an int {least}..{most}, got {value!r}"
        )
    return int(value)


def amount(name, what, value, least=0):
    """An int of at least `least`, or a parameter. Raises Error "E-operand"."""
    if isinstance(value, (Expr, Alone)):
        return value
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise mistake(
            "E-operand",
            f"'{name}': {what} must be an int from {least} on or a parameter, got {value!r}",
        )
    return int(value)


def memory(net, name, port, *, latency, bytes_per_cycle, outstanding=16):
    """A memory of fixed latency behind `port`: answers in order, over one bus.

    latency: cycles from a request to the first beat; one request begins per cycle. bytes_per_cycle:
    of the bus, an int. outstanding: requests begun and not answered, an int or a parameter.
    Raises Error "E-operand".
    """
    a_port(f"memory '{name}'", "port", port)
    bytes_per_cycle = whole(name, "bytes_per_cycle", bytes_per_cycle, 1)
    slots = net.place(f"{name}.slots", init=amount(name, "outstanding", outstanding))
    read = net.place(f"{name}.read", Access, drain=True)
    net.transition(
        f"{name}.access",
        take={"t": port.requests, "slot": slots},
        put=[read.forward("t")],
        delay=latency,
        interval=1,
        ordered=True,
    )
    net.transition(
        f"{name}.bus",
        take={"t": read},
        put=[port.responses.forward("t"), slots],
        delay=lambda t: (t.bytes + bytes_per_cycle - 1) // bytes_per_cycle,
        servers=1,
    )
