"""The reference toolchain's Protoacc: a serializer of protocol buffers with six field handlers.

    messages -> frontend -> descriptors -> dispatcher -> 6 field handlers -> writer

The frontend walks a message depth first, one control token per submessage or run of fields. The
fields go to the handlers in turn, and what the handlers write is collected in the same turn. Times
are cycles.

The reference puts field tokens back at the end of their queues, where nothing reads them; this net
drops them. `memory_2` and the handlers' `fetch` are never used there either; they stand here so
that both nets have the same 106 transitions.
"""

import enum

import lpn

import _tok

HANDLERS = 6
MEMORY = 10  # cycles of a memory access


class Kind(enum.IntEnum):
    END_OF_MESSAGE = 0
    NONSCALAR = 1
    END_OF_MESSAGE_TOP_LEVEL = 2
    SCALAR = 3
    SUBMESSAGE = 4
    NONSUBMESSAGE = 5


class Control(lpn.Token):
    """A submessage, or a run of fields that are none."""

    type: Kind
    control_range: lpn.Int[0, 32]  # fields in the run


class Field(lpn.Token):
    type: Kind
    num: lpn.Int[0, 2**20]  # elements


class Unit(lpn.Token):
    """An element of a field."""

    bytes: lpn.Int[0, 2**32]


class Write(lpn.Token):
    bytes: lpn.Int[0, 2**32]
    end_of_field: bool
    end_of_top_level: bool


class Turn(lpn.Token):
    field_index: lpn.Int[1, HANDLERS]


class Count(lpn.Token):
    num: lpn.Int[0, 2**20]


def names():
    """Place of a .tok file -> place of the net, or what the net has there itself."""
    result = {
        "pmessage_tasks": "messages",
        "pfields_meta": "fields",
        "pfields": "elements",
        "ps_hasBitsLoader_IsSubmessageLoad": _tok.BuiltIn(1),
        "psWaitForRequest": _tok.BuiltIn(1),
        "pholder_split_msg": _tok.BuiltIn(1),
        "phold": _tok.BuiltIn(1),
        "pdispatch_hold": _tok.BuiltIn(1),
        "pwrite_hold": _tok.BuiltIn(1),
        "pdispatch_index_holder": _tok.BuiltIn(1, field_index=1),
        "pwrite_index_holder": _tok.BuiltIn(1, field_index=1),
    }
    for i in range(1, HANDLERS + 1):
        for place in ("S_WAIT_CMD", "hold", "dist_hold"):
            result[f"pf{i}_{place}"] = _tok.BuiltIn(1)
    return result


def step(net, name, take, put, delay):
    """A transition of the reference without `pip`: one firing at a time."""
    net.transition(name, take=take, put=put, delay=delay, servers=1)


def written(place, bytes, end_of_field=0, end_of_top_level=0):
    return place.emit(bytes=bytes, end_of_field=end_of_field, end_of_top_level=end_of_top_level)


def take_turns(net, name, turn, ready, handlers):
    """Hands out the turns: handler 1, 2, ..., 6, 1, one at a time (`ready`)."""
    step(
        net,
        name,
        take={"turn": turn, "ready": ready},
        put=[
            turn.emit(field_index=lambda turn: turn.field_index % HANDLERS + 1),
            *(
                place.emit(lambda turn, i=i: 1 if turn.field_index == i else 0)
                for i, place in enumerate(handlers, 1)
            ),
        ],
        delay=0,
    )


def add_handler(net, i, shared):
    """Field handler `i`: takes a field in its turn and writes its elements, then their key."""
    name = f"f{i}"

    def queue(part, type=None):
        return net.place(f"{name}.{part}", type, drain=True)

    idle = net.place(f"{name}.idle", init=1)
    memory_ready = net.place(f"{name}.memory_ready", init=1)
    sort_ready = net.place(f"{name}.sort_ready", init=1)
    taken, elements = queue("taken", Field), queue("elements", Unit)
    to_finish, finished = queue("to_finish", Count), queue("finished")
    scalar, string, repeated = (queue(kind, Field) for kind in ("scalar", "string", "repeated"))
    end = queue("end", Field)
    scalar_request, scalar_key = queue("scalar_request"), queue("scalar_key")
    string_pointer, string_data = queue("string_pointer"), queue("string_data", Unit)
    string_key = queue("string_key")
    repeated_pointer = queue("repeated_pointer", Field)
    fetch_request = net.place(f"{name}.fetch_request")
    fetch_done = net.place(f"{name}.fetch_done", sink=True)
    out = queue("out", Write)
    dispatch_turn, collect_turn = shared["dispatch"][i - 1], shared["collect"][i - 1]

    step(
        net,
        f"{name}.dispatch",
        take={
            "field": shared["to_dispatch"],
            "turn": dispatch_turn,
            "units": shared["elements"].take(lambda field: field.num),
        },
        put=[
            shared["dispatch_ready"],
            taken.forward("field"),
            elements.forward("units"),
            to_finish.forward("field"),
        ],
        delay=1,
    )
    # What the kind of field starts with.
    step(
        net,
        f"{name}.start_scalar",
        take={"field": scalar, "idle": idle},
        put=[scalar_request, sort_ready],
        delay=1,
    )
    step(
        net,
        f"{name}.start_string",
        take={"field": string, "idle": idle},
        put=[string_pointer, sort_ready],
        delay=1,
    )
    step(
        net,
        f"{name}.start_repeated",
        take={"field": repeated, "idle": idle},
        put=[repeated_pointer.forward("field"), sort_ready],
        delay=1,
    )
    # Scalars: the value from memory, then the key.
    step(
        net,
        f"{name}.read_scalar",
        take={"request": scalar_request, "memory": memory_ready, "unit": elements},
        put=[written(out, lambda unit: unit.bytes), scalar_key],
        delay=2 + MEMORY,
    )
    step(
        net,
        f"{name}.write_scalar_key",
        take={"key": scalar_key},
        put=[finished, memory_ready, written(out, 1)],
        delay=1,
    )
    # Strings: the pointer and the size, then the bytes, then the key.
    step(
        net,
        f"{name}.read_pointer",
        take={"pointer": string_pointer, "memory": memory_ready, "unit": elements},
        put=[string_data.forward("unit")],
        delay=4 + 2 * MEMORY,
    )
    step(
        net,
        f"{name}.read_string",
        take={"unit": string_data},
        put=[written(out, lambda unit: unit.bytes), string_key],
        delay=MEMORY,
    )
    step(
        net,
        f"{name}.write_string_key",
        take={"key": string_key},
        put=[finished, written(out, 1), memory_ready],
        delay=1,
    )
    # A repeated field is as many of the former as it has elements.
    step(
        net,
        f"{name}.unroll",
        take={"field": repeated_pointer},
        put=[
            scalar_request.emit(lambda field: field.num if field.type == Kind.SCALAR else 0),
            string_pointer.emit(lambda field: field.num if field.type == Kind.NONSCALAR else 0),
        ],
        delay=3 + MEMORY,
    )
    net.transition(
        f"{name}.fetch",
        take=fetch_request,
        put=[fetch_done],
        delay=MEMORY,
        interval=1,
        ordered=True,
    )
    # Everything of one field leaves before the next handler has its turn.
    step(
        net,
        f"{name}.collect",
        take={"write": out, "turn": collect_turn},
        put=[
            shared["writes"].emit(
                lambda write: 0 if write.end_of_field else 1,
                bytes=lambda write: write.bytes,
                end_of_field=lambda write: write.end_of_field,
                end_of_top_level=lambda write: write.end_of_top_level,
            ),
            shared["collect_ready"].emit(lambda write: 1 if write.end_of_field else 0),
            collect_turn.emit(lambda write: 0 if write.end_of_field else 1),
        ],
        delay=lambda write: 0 if write.end_of_field or write.end_of_top_level else 1,
    )
    step(
        net,
        f"{name}.finish",
        take={"field": to_finish, "done": finished.take(lambda field: field.num)},
        put=[idle, written(out, 0, end_of_field=1)],
        delay=0,
    )
    step(
        net,
        f"{name}.end_message",
        take={"field": end, "idle": idle, "unit": elements},
        put=[
            written(out, 1),
            out.emit(
                lambda field: 1 if field.type == Kind.END_OF_MESSAGE_TOP_LEVEL else 0,
                bytes=1,
                end_of_field=0,
                end_of_top_level=1,
            ),
            finished,
            sort_ready,
        ],
        delay=2,
    )

    def sorted_into(place, condition):
        return place.emit(
            lambda field: 1 if condition(field) else 0,
            type=lambda field: field.type,
            num=lambda field: field.num,
        )

    step(
        net,
        f"{name}.sort",
        take={"field": taken, "ready": sort_ready},
        put=[
            sorted_into(
                end,
                lambda field: field.num == 1
                and field.type in (Kind.END_OF_MESSAGE, Kind.END_OF_MESSAGE_TOP_LEVEL),
            ),
            sorted_into(scalar, lambda field: field.num == 1 and field.type == Kind.SCALAR),
            sorted_into(string, lambda field: field.num == 1 and field.type == Kind.NONSCALAR),
            sorted_into(repeated, lambda field: field.num > 1),
        ],
        delay=0,
    )


def net() -> lpn.Net:
    """The serializer. An empty repeated field (num 0) blocks its handler for good."""
    net = lpn.Net("ltc_protoacc")

    def queue(name, type=None):
        return net.place(name, type, drain=True)

    def ready(name):
        return net.place(name, init=1)

    messages = net.place("messages", Control, start=True)
    fields = net.place("fields", Field, start=True)
    elements = net.place("elements", Unit, start=True)
    advance_ready, advanced = ready("advance_ready"), queue("advanced")
    has_bits = net.place("has_bits", sink=True)
    request_1, response_1 = queue("request_1"), net.place("response_1", sink=True)
    request_2, response_2 = net.place("request_2"), net.place("response_2", sink=True)
    control, control_read = queue("control", Control), queue("control_read", Control)
    collected = net.place("collected", Control, sink=True)
    not_submessage = queue("not_submessage")
    descriptors = queue("descriptors", Control)
    submessages, runs = queue("submessages", Control), queue("runs", Control)
    descriptor_ready, descend_ready = ready("descriptor_ready"), ready("descend_ready")
    to_dispatch = queue("to_dispatch", Field)
    writes, to_write = queue("writes", Write), queue("to_write", Write)
    write_inner, write_top = queue("write_inner", Write), queue("write_top", Write)
    memory_done = net.place("memory_done", sink=True)
    writer_ready = ready("writer_ready")
    dispatch_turn = net.place("dispatch_turn", Turn, init=Turn(field_index=1))
    collect_turn = net.place("collect_turn", Turn, init=Turn(field_index=1))
    shared = {
        "to_dispatch": to_dispatch,
        "elements": elements,
        "writes": writes,
        "dispatch_ready": ready("dispatch_ready"),
        "collect_ready": ready("collect_ready"),
        "dispatch": [net.place(f"f{i}.dispatch_turn") for i in range(1, HANDLERS + 1)],
        "collect": [net.place(f"f{i}.collect_turn") for i in range(1, HANDLERS + 1)],
    }

    # Frontend.
    step(
        net,
        "next_control",
        take={"ready": advance_ready, "task": messages},
        put=[has_bits, request_1, control.forward("task"), collected.forward("task")],
        delay=1,
    )
    step(net, "advance", take={"done": advanced}, put=[advance_ready], delay=1)
    step(
        net,
        "read_control",
        take={"task": control},
        put=[
            control_read.forward("task"),
            not_submessage.emit(lambda task: 0 if task.type == Kind.SUBMESSAGE else 1),
        ],
        delay=MEMORY,
    )
    step(net, "advance_field", take={"run": not_submessage}, put=[advanced], delay=1)
    for k, (request, response) in enumerate([(request_1, response_1), (request_2, response_2)], 1):
        net.transition(
            f"memory_{k}", take=request, put=[response], delay=MEMORY, interval=1, ordered=True
        )
    step(
        net,
        "request_descriptor",
        take={"task": control_read},
        put=[descriptors.forward("task")],
        delay=0,
    )
    step(
        net,
        "describe_run",
        take={"run": runs, "fields": fields.take(lambda run: run.control_range)},
        put=[to_dispatch.forward("fields"), descriptor_ready],
        delay=2,
    )
    step(
        net,
        "describe_submessage",
        take={"sub": submessages, "ready": descend_ready},
        put=[descend_ready, advanced, descriptor_ready],
        delay=MEMORY + 2,
    )

    # Writer.
    step(net, "inject", take={"write": writes}, put=[to_write.forward("write")], delay=1)
    step(
        net,
        "write_memory",
        take={"write": write_inner},
        put=[memory_done, writer_ready],
        delay=lambda write: write.bytes // 16 + 1,
    )
    step(net, "write_end", take={"write": write_top}, put=[memory_done, writer_ready], delay=4)

    def routed(place, top):
        return place.emit(
            lambda write: 1 if write.end_of_top_level == top else 0,
            bytes=lambda write: write.bytes,
            end_of_field=lambda write: write.end_of_field,
            end_of_top_level=lambda write: write.end_of_top_level,
        )

    step(
        net,
        "route_write",
        take={"write": to_write, "ready": writer_ready},
        put=[routed(write_top, 1), routed(write_inner, 0)],
        delay=0,
    )

    take_turns(net, "turn_dispatch", dispatch_turn, shared["dispatch_ready"], shared["dispatch"])
    take_turns(net, "turn_collect", collect_turn, shared["collect_ready"], shared["collect"])
    step(
        net,
        "split",
        take={"task": descriptors, "ready": descriptor_ready},
        put=[
            place.emit(
                lambda task, sub=sub: 1 if (task.type == Kind.SUBMESSAGE) == sub else 0,
                type=lambda task: task.type,
                control_range=lambda task: task.control_range,
            )
            for place, sub in ((submessages, True), (runs, False))
        ],
        delay=0,
    )
    for i in range(1, HANDLERS + 1):
        add_handler(net, i, shared)
    return net


# The message of the reference's example: submessages, then runs of fields; per field its elements.
MESSAGE_RUNS = [0, 0, 1, 0, 1, 0, 2, 1, 1, 1, 1]  # fields of the run; 0: a submessage
MESSAGE_FIELDS = [
    (Kind.NONSCALAR, 2),
    (Kind.NONSCALAR, 1),
    (Kind.NONSCALAR, 1),
    (Kind.END_OF_MESSAGE, 1),
    (Kind.END_OF_MESSAGE, 1),
    (Kind.END_OF_MESSAGE, 1),
    (Kind.END_OF_MESSAGE, 1),
    (Kind.END_OF_MESSAGE_TOP_LEVEL, 1),
]


def space(net: lpn.Net, below: int = 1000, like: str = None, most: int = 65536) -> lpn.InputSpace:
    """The reference's example message (its `lpn_message`) with strings of any size.

    below: the sizes of the four strings, in bytes, have a sum less than that.
    like: the messages of a .tok file instead, every string of 1 to `most` bytes.
    """
    space = lpn.InputSpace(net)
    if like is not None:
        given = _tok.columns(workload(like, net), net)
        space.tokens("messages", len(given["messages"]["type"]), **given["messages"])
        space.tokens("fields", len(given["fields"]["type"]), **given["fields"])
        strings = [
            type == Kind.NONSCALAR
            for type, num in zip(given["fields"]["type"], given["fields"]["num"])
            for _ in range(num)
        ]
        sizes = [
            (1, most) if string else size
            for string, size in zip(strings, given["elements"]["bytes"])
        ]
        space.tokens("elements", len(sizes), bytes=sizes)
        return space
    space.tokens(
        "messages",
        len(MESSAGE_RUNS),
        type=lambda k: Kind.NONSUBMESSAGE if MESSAGE_RUNS[k] else Kind.SUBMESSAGE,
        control_range=MESSAGE_RUNS,
    )
    space.tokens(
        "fields",
        len(MESSAGE_FIELDS),
        type=[type for type, _ in MESSAGE_FIELDS],
        num=[num for _, num in MESSAGE_FIELDS],
    )
    strings = sum(num for type, num in MESSAGE_FIELDS if type == Kind.NONSCALAR)
    ends = sum(num for type, num in MESSAGE_FIELDS if type != Kind.NONSCALAR)
    elements = space.tokens(
        "elements", strings + ends, bytes=[(0, below - 1)] * strings + [1] * ends
    )
    space.require(lpn.total(elements[k].bytes for k in range(strings)) < below)
    return space


def workload(path, net: lpn.Net) -> lpn.Marking:
    """The marking in a .tok file. Raises OSError, or ValueError when it is not one for this net."""
    return _tok.marking(path, net, names())
