"""Menshen's packet pipeline, 512 bits wide (rmtv2, commit fc968bf): when each packet leaves.

Times are clocks; clock 0 accepts the first beat of 64 bytes. `latency` is the clock of the last
beat out; `begun` and `sent` get a token when a packet's first and last beat leave. Where the RTL
would lose or swap beats the run ends with an error that says so. The net is in pipeline.py and
output.py.
"""

import lpn

from . import pipeline, streams


def net(*, stages: int = 5) -> lpn.Net:
    """The pipeline with so many match-action stages. Its parameters: `arb_phase`, the queue that
    the idle arbiter looks at in clock 0, that is the clocks since reset modulo 4 (-1: the input's,
    else 0); `clock_mhz` for captures, which have times.
    """
    if not 1 <= stages <= 64:
        raise ValueError(f"stages must be 1 to 64, got {stages}")
    return pipeline.build(stages)


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The packets of an input (streams.py says how one is written).

    Raises OSError when it cannot be read and ValueError, with the reason, when it is no stream.
    """
    values = {**net.params, **net.bound}
    stream = input_path
    if not isinstance(stream, streams.Stream):
        stream = streams.read(input_path, values["clock_mhz"])
    return marking(net, stream.lengths, stream.idle, stream.kinds, stream.arb_phase)


def marking(net, lengths, idle, kinds=None, arb_phase=0):
    """Packets of so many bytes, with so many idle clocks before each."""
    found = lpn.Marking(net)
    data = [kind == "data" for kind in kinds] if kinds else [True] * len(lengths)
    queue, queues = 0, []
    for passes in data:
        queues.append(queue % pipeline.QUEUES)
        queue += passes
    found.add_rows(
        "packets",
        [
            (number, -(-length // streams.BEAT_BYTES), 1 + gap if number else 0, passes, queue)
            for number, (length, gap, passes, queue) in enumerate(zip(lengths, idle, data, queues))
        ],
    )
    if {**net.params, **net.bound}["arb_phase"] < 0:
        found.add("turn", k=arb_phase)
    return found


def space(
    net: lpn.Net,
    packets: int = 3,
    least: int = 2,
    most: int = 4,
    idle: int = 0,
    arb_phase: int = None,
) -> lpn.InputSpace:
    """Every stream of so many data packets.

    packets: how many.
    least, most: beats of 64 bytes in a packet; one beat needs idle clocks behind it.
    idle: most idle clocks before a packet.
    arb_phase: 0 to 3; default: any.
    """
    if not 1 <= packets <= 64 or not 1 <= least <= most <= 1024 or not 0 <= idle < 2**20:
        raise ValueError("packets 1 to 64, 1 <= least <= most <= 1024, idle 0 to 1048575")
    if least == 1 and packets > 1:
        raise ValueError("least must be 2: the RTL loses what comes right behind a single beat")
    if {**net.params, **net.bound}["arb_phase"] >= 0:
        raise ValueError("write --space arb_phase=N; -p arb_phase has no meaning in a space")
    space = lpn.InputSpace(net)
    space.tokens(
        "packets",
        packets,
        id=lambda i: i,
        beats=(least, most),
        wait=lambda i: (1, 1 + idle) if i else 0,
        data=1,
        queue=lambda i: i % pipeline.QUEUES,
    )
    space.tokens("turn", 1, k=(0, 3) if arb_phase is None else arb_phase)
    return space


def truth_rows(path):
    """The streams measured on the RTL: (input, parameters, last beat out, all measured)."""
    try:
        found = list(streams.measured(path))
    except OSError as error:
        raise lpn.Error("E-input", f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise lpn.Error("E-truth-file", str(error)) from None
    if not found:
        raise lpn.Error("E-truth-file", f"{path} has no streams")
    for stream, first, last in found:
        yield stream, {}, max(last), (first, last)


def compare(ready, expected):
    """A run, and how many packets begin and end to leave in the clock that was measured."""
    run = ready.run(collect=["begun", "sent"])
    exact = near = 0
    for name, clocks in zip(("begun", "sent"), expected):
        values, times = run.collected[name]
        found = dict(zip(values, times))
        exact += sum(found.get(k) == clock for k, clock in enumerate(clocks))
        near += sum(abs(found.get(k, -9) - clock) <= 2 for k, clock in enumerate(clocks))
    return run, {"times": sum(map(len, expected)), "times_exact": exact, "times_within_2": near}
