"""The net of Menshen's pipeline; model.py says what it is for.

    packets -> gap -> accept -> input FIFO -> filter -> register -> deal
    deal -> packet FIFO[4] -> copy -> first, second and rest FIFO[4]                 beats
    deal -> parse -> space -> stages -> header FIFO[4]                               headers
    deparser[4] -> output FIFO[4] -> arbiter -> sent

A transition's start is what the RTL does in a clock, its commit the next edge; so guards on counts
see what registered counters say. From `accept` on, time t is the RTL's clock t + 1. Sources: files
of lib_rmt/rmtv2 and netfpga_fifo, commit fc968bf, and ../shared/truth/menshen/RTL_FACTS.md.
"""

import lpn

from . import output
from .fifo import (
    BEAT,
    HEADER,
    QUEUES,
    Age,
    Beat,
    Fifo,
    Header,
    Packet,
    Sent,
    chosen,
    given,
    one_if,
    step,
    watched,
)


def build(stages: int) -> lpn.Net:
    """The net with so many match-action stages."""
    net = lpn.Net("menshen")
    arb_phase = net.param("arb_phase", -1, range=(-1, 3))
    clock_mhz = net.param("clock_mhz", 250, range=(1, 10_000))
    sent = net.place("sent", Sent, done=True, sink=True)
    begun = net.place("begun", Sent, sink=True)
    packets = [Fifo(net, f"packets{q}", 16, Beat) for q in range(QUEUES)]
    headers = [Fifo(net, f"headers{q}", 64, Header) for q in range(QUEUES)]
    outputs = [Fifo(net, f"output{q}", 16, Beat) for q in range(QUEUES)]
    at_parser = filter_input(net, packets, clock_mhz)
    segments = deal(net, at_parser, packets)
    match(net, segments, headers, stages)
    for q in range(QUEUES):
        halves = output.copy(net, q, packets[q])
        output.deparse(net, q, headers[q], halves, outputs[q])
    output.arbitrate(net, outputs, arb_phase, begun, sent)
    return net


def filter_input(net, packets, clock_mhz):
    """Link, input FIFO and filter; the place of beats at the parser."""
    queued = net.place("packets", Packet, start=True)
    link = net.place("link", init=1, sink=True)
    offered = net.place("offered", Beat, drain=True)
    filtered = net.place("filtered", Beat, drain=True)
    at_parser = net.place("at_parser", Beat, drain=True)
    fifo = Fifo(net, "input", 32, Beat)
    beats = offered.emit(
        count=lambda p: p.beats,
        id=lambda p: p.id,
        queue=lambda p: p.queue,
        nth=lambda i: lpn.min(i, 2),
        last=lambda p, i: i == p.beats - 1,
        data=lambda p: p.data,
    )

    def gap_clocks(p):
        # The workload has turned the times of a capture into clocks.
        assert (
            p.wait < clock_mhz * 3600 * 10**6
        ), "no packet comes an hour after the one before it"
        return p.wait

    step(net, "gap", {"p": queued, "link": link}, [beats], delay=gap_clocks)

    def accept_clocks(b, seen):
        # pkt_filter.v: wr_en of the FIFO is s_axis_tvalid alone; a beat that waits for
        # s_axis_tready is written again in every clock.
        assert seen.count < 31, "the input FIFO is full: the RTL writes a waiting beat twice"
        return 0

    # The edge that accepts a beat writes it.
    step(
        net,
        "accept",
        {"b": offered, "seen": fifo.inner.watch()},
        [fifo.inner.forward("b"), link.emit(count=one_if(lambda b: b.last))],
        delay=accept_clocks,
        interval=1,
    )

    def may_pass(b, seen0, seen1, seen2, seen3):
        # s_axis_tready_f; FLUSH_CTL and DROP_PKT do not wait for it.
        room = lpn.max(seen0.count, seen1.count, seen2.count, seen3.count) < 15
        return room or (not b.data and b.nth > 0)

    step(
        net,
        "filter",
        {"b": fifo.out, **watched(packets)},
        [given(filtered, BEAT, "b", lambda b: b.data), fifo.free.emit()],
        guard=may_pass,
    )
    # rmt_wrapper.v, s_axis_tdata_f_reg
    step(net, "register", {"b": filtered}, [at_parser.forward("b")])
    return at_parser


def deal(net, at_parser, packets):
    """Beats into the packet FIFOs, in turn; the place where a packet's first two are together."""
    lone = net.place("lone", Beat, drain=True)
    segments = net.place("segments", Header, drain=True)

    def deal_clocks(b, lone, seen0, seen1, seen2, seen3):
        count = chosen(b.queue, (seen0, seen1, seen2, seen3))
        # parser_wait_segs.v, WAIT_1CYCLE
        assert lone.count == 0, "a packet right behind one of 64 bytes: the RTL loses its header"
        # parser_top.v: cur_queue does not move on while the FIFO is nearly full.
        assert count < 15 or not b.last, "a packet FIFO fills with a last beat: the RTL misdeals"
        assert count < 16, "a packet FIFO is full: the RTL overwrites a beat"
        return 1

    step(
        net,
        "deal",
        {"b": at_parser, "lone": lone.watch(), **watched(packets)},
        [
            *(
                given(fifo.inner, BEAT, "b", lambda b, q=q: b.queue == q)
                for q, fifo in enumerate(packets)
            ),
            given(lone, BEAT, "b", lambda b: b.nth == 0 and b.last),
            segments.emit(count=one_if(lambda b: b.nth == 1), queue=lambda b: b.queue),
        ],
        delay=deal_clocks,
    )
    # parser_wait_segs.v, WAIT_1CYCLE
    step(net, "lone_wait", {"b": lone}, [segments.emit(queue=lambda b: b.queue)])
    return segments


def spacing(net, parsed, spaced):
    """When stage 0 takes headers, which come 2 clocks apart or more.

    The memory ALU is ready in every second clock; what waits for it does so in the crossbar, which
    then holds the action RAM and the CAM (alu_2.v, crossbar.v, lke_ram_part.v, lke_cam_part.v). A
    header is late by 1 if it comes 3 clocks after one that came 2 after its own, or that was late
    for this reason. Behind the latter, two headers may come 2 clocks apart, both late; not one, and
    not three: there the RTL loses one. Later stages find them spaced.
    """
    ago = {k: net.place(f"ago{k}", Age, drain=True) for k in (1, 2, 3)}
    may_follow = net.place("may_follow", drain=True)
    second_due = net.place("second_due", drain=True)
    no_third = net.place("no_third", drain=True)

    # The second of two behind a late one. It is asked first, so `space` never sees it.
    step(
        net,
        "space_second",
        {"h": parsed, "due": second_due},
        [spaced.forward("h"), ago[1].emit(level=2), no_third.emit()],
        delay=2,
    )

    def space_clocks(one, three, may, third):
        assert third.count == 0, "headers 2, 3, 2, 2 and 2 clocks apart: the RTL loses one"
        if one.count > 0:
            assert may.count > 0, "headers 2, 3, 4 and 2 clocks apart: the RTL loses one"
        return 2 if three.count > 0 or one.count > 0 else 1

    def next_level(two, three):
        return 2 if two.count > 0 else max(three.count - 1, 0)

    step(
        net,
        "space",
        {
            "h": parsed,
            "one": ago[1].watch(),
            "two": ago[2].watch(),
            "three": ago[3].watch(),
            "may": may_follow.watch(),
            "third": no_third.watch(),
        },
        [
            spaced.forward("h"),
            ago[1].emit(level=next_level),
            may_follow.emit(count=lambda two, three: next_level(two, three) == 1),
            second_due.emit(count=lambda one: one.count > 0),
        ],
        delay=space_clocks,
    )
    step(net, "age1", {"h": ago[1]}, [ago[2].forward("h")])
    step(net, "age2", {"h": ago[2]}, [ago[3].emit(count=lambda h: h.level, level=0)])
    net.transition("age3", take={"h": ago[3]}, put=[], delay=1, servers=2)
    step(net, "followed", {"may": may_follow}, [])
    step(net, "third", {"third": no_third}, [])

    def lost(due):
        assert due.count == 0, "headers 2, 3 and 2 clocks apart: the RTL loses the last"
        return 1

    step(net, "second", {"due": second_due}, [], delay=lost)


def match(net, segments, headers, stages):
    """Parser and stages; headers into their FIFOs."""
    parsed = net.place("parsed", Header, drain=True)
    spaced = net.place("spaced", Header, drain=True)
    pipelined = {"interval": 2, "ordered": True}
    # parser_do_parsing.v: two sub-parsers of 4 clocks in turn, and the registers around them.
    net.transition("parse", take={"h": segments}, put=[parsed.forward("h")], delay=10, **pipelined)
    spacing(net, parsed, spaced)
    for k in range(stages):
        after = net.place(f"after_stage{k}", Header, drain=True)
        # stage.v: 15 registers from input to input; `space` was the first.
        clocks = 14 if k == 0 else 15
        net.transition(
            f"stage{k}", take={"h": spaced}, put=[after.forward("h")], delay=clocks, **pipelined
        )
        spaced = after

    def write_clocks(h, seen0, seen1, seen2, seen3):
        filled = chosen(h.queue, (seen0, seen1, seen2, seen3))
        assert filled < 63, "a header FIFO is full; how the stages then wait is not modelled"
        return 1

    step(
        net,
        "write_header",
        {"h": spaced, **watched(headers)},
        [
            given(fifo.inner, HEADER, "h", lambda h, q=q: h.queue == q)
            for q, fifo in enumerate(headers)
        ],
        delay=write_clocks,
    )
