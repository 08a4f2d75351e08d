"""The reference toolchain's Menshen: an RMT packet processor, five match-action stages.

    arrived -> filter -> parser -> 2 subparsers -> 5 stages -> 4 PHV fifos ----> 4 deparsers -> out
                   \\-----------------------------------------> 4 packet fifos -/

A token is one packet; times are cycles. What the reference calls `pip` is an `interval` with
`ordered` here: a new packet enters every so many cycles and none overtakes. Without it a unit is
busy until its packet leaves: `servers=1`.
"""

import lpn

import _tok

FIFO_DELAY = 1


class Packet(lpn.Token):
    n_words: lpn.Int[1, 2**16]  # words of the data path
    is_control: bool
    is_data: bool
    is_drop: bool


class Frame(lpn.Token):
    """A packet that passed the filter: from there on only its length counts."""

    n_words: lpn.Int[1, 2**16]


class Turn2(lpn.Token):
    cnt: lpn.Int[0, 1]


class Turn4(lpn.Token):
    cnt: lpn.Int[0, 3]


# Place of a .tok file -> place of the net.
NAMES = {
    "p_before_pkt_filter": "arrived",
    "p_subparser_dispatch_cnt": _tok.BuiltIn(1, cnt=0),
    "p_subparser_aggregate_cnt": _tok.BuiltIn(1, cnt=0),
    "p_pkt_fifo_cnt": _tok.BuiltIn(1, cnt=0),
    "p_phv_fifo_cnt": _tok.BuiltIn(1, cnt=0),
    "p_output_arbiter_cnt": _tok.BuiltIn(1, cnt=0),
}


def words(pkt):
    return pkt.n_words


def deal(turn, places):
    """The output arcs that give the frame of arc `pkt` to the place whose turn it is."""
    arcs = [turn.emit(cnt=lambda turn: (turn.cnt + 1) % len(places))]
    for k, place in enumerate(places):
        arcs.append(place.emit(count=lambda turn, k=k: 1 if turn.cnt == k else 0, n_words=words))
    return arcs


def collect(turn, places):
    """The input arcs that take a frame of the place whose turn it is, and of no other: arcs
    `from_0`, `from_1`, ..., after arc `turn`.
    """
    arcs = {"turn": turn}
    for k, place in enumerate(places):
        arcs[f"from_{k}"] = place.take(lambda turn, k=k: 1 if turn.cnt == k else 0)
    return arcs


def net() -> lpn.Net:
    """The processor, with fifos that never fill."""
    net = lpn.Net("ltc_menshen")
    arrived = net.place("arrived", Packet, start=True)
    dropped = net.place("dropped", sink=True)
    sent = net.place("sent", sink=True)

    def frames(name, n):
        return [net.place(f"{name}_{k}", Frame, drain=True) for k in range(n)]

    filter_fifo = net.place("filter_fifo", Packet, drain=True)
    filtered = net.place("filtered", Frame, drain=True)
    to_parser = net.place("to_parser", Frame, drain=True)
    to_pkt_fifos = net.place("to_pkt_fifos", Frame, drain=True)
    parser_in = net.place("parser_in", Frame, drain=True)
    segments = net.place("segments", Frame, drain=True)
    segments_reg = net.place("segments_reg", Frame, drain=True)
    subparser_in = frames("subparser_in", 2)
    subparser_out = frames("subparser_out", 2)
    parsed = net.place("parsed", Frame, drain=True)
    stage_in = frames("stage_in", 5)
    phv_fifo_in = frames("phv_fifo_in", 4)
    phv_fifo_out = frames("phv_fifo_out", 4)
    pkt_fifo_in = frames("pkt_fifo_in", 4)
    pkt_fifo_out = frames("pkt_fifo_out", 4)
    deparsed = frames("deparsed", 4)
    dispatch_turn = net.place("dispatch_turn", Turn2, init=Turn2(cnt=0))
    aggregate_turn = net.place("aggregate_turn", Turn2, init=Turn2(cnt=0))
    pkt_fifo_turn = net.place("pkt_fifo_turn", Turn4, init=Turn4(cnt=0))
    phv_fifo_turn = net.place("phv_fifo_turn", Turn4, init=Turn4(cnt=0))
    output_turn = net.place("output_turn", Turn4, init=Turn4(cnt=0))

    def step(name, source, put, delay, **options):
        """A transition from one place to several, the packet unchanged."""
        net.transition(
            name,
            take={"pkt": source},
            put=[place.forward("pkt") for place in put],
            delay=delay,
            **options,
        )

    def streams(name, source, put, delay):
        """A unit that a packet enters word by word: the next one follows after its last word."""
        step(name, source, put, delay, interval=words, ordered=True)

    streams("pkt_filter_fifo", arrived, [filter_fifo], FIFO_DELAY)

    def is_lost(pkt):
        return pkt.is_drop or pkt.is_control

    net.transition(
        "pkt_filter",
        take={"pkt": filter_fifo},
        put=[
            dropped.emit(count=lambda pkt: 1 if is_lost(pkt) else 0),
            filtered.emit(count=lambda pkt: 0 if is_lost(pkt) else 1, n_words=words),
        ],
        delay=1,
        interval=lambda pkt: pkt.n_words + 2,
        ordered=True,
    )
    streams("filter_register", filtered, [to_parser, to_pkt_fifos], 1)

    # Parser.
    streams("parser_register", to_parser, [parser_in], 1)
    step("get_segments", parser_in, [segments], 3, servers=1)
    step("segments_register", segments, [segments_reg], 1, ordered=True)  # any number at once
    net.transition(
        "dispatch",
        take={"turn": dispatch_turn, "pkt": segments_reg},
        put=deal(dispatch_turn, subparser_in),
        delay=1,
        interval=lambda pkt: pkt.n_words - 1,
        ordered=True,
    )
    for k in range(2):
        step(f"subparser_{k}", subparser_in[k], [subparser_out[k]], 3, servers=1)
    net.transition(
        "aggregate",
        take=collect(aggregate_turn, subparser_out),
        put=[
            aggregate_turn.emit(cnt=lambda turn: (turn.cnt + 1) % 2),
            parsed.forward("from_0"),
            parsed.forward("from_1"),
        ],
        servers=1,
    )
    step("parser_result_register", parsed, [stage_in[0]], 3, interval=1, ordered=True)

    # The whole packet waits in a fifo for its header.
    net.transition(
        "store_packet",
        take={"turn": pkt_fifo_turn, "pkt": to_pkt_fifos},
        put=deal(pkt_fifo_turn, pkt_fifo_in),
        delay=lambda pkt: pkt.n_words - 1,
        servers=1,
    )

    # Match-action stages; the last one hands out the headers.
    for k in range(4):
        streams(f"stage_{k}", stage_in[k], [stage_in[k + 1]], 15)
    net.transition(
        "stage_4",
        take={"turn": phv_fifo_turn, "pkt": stage_in[4]},
        put=deal(phv_fifo_turn, phv_fifo_in),
        delay=15,
        interval=words,
        ordered=True,
    )

    # Deparsers.
    for k in range(4):
        enter, leave = phv_fifo_in[k], phv_fifo_out[k]
        step(f"phv_fifo_{k}", enter, [leave], FIFO_DELAY, interval=1, ordered=True)
    for k in range(4):
        step(f"pkt_fifo_{k}", pkt_fifo_in[k], [pkt_fifo_out[k]], FIFO_DELAY, servers=1)
    for k in range(4):
        net.transition(
            f"deparser_{k}",
            take={"pkt": pkt_fifo_out[k], "phv": phv_fifo_out[k]},
            put=[deparsed[k].forward("pkt")],
            delay=6,
            servers=1,
        )
    net.transition(
        "output_arbiter",
        take=collect(output_turn, deparsed),
        put=[output_turn.emit(cnt=lambda turn: (turn.cnt + 1) % 4), sent],
        # Three of the four arcs take nothing, so the sum is the length of the packet.
        delay=lambda from_0, from_1, from_2, from_3: 2
        + sum(lpn.sum(arc, words) for arc in (from_0, from_1, from_2, from_3)),
        servers=1,
    )
    return net


def space(net: lpn.Net, packets: int = 100, words: int = 64, like: str = None) -> lpn.InputSpace:
    """Every list of packets of 2 to `words` words; a frame of one would be shorter than Ethernet's.

    packets: how many, all of them data.
    like: a .tok file: as many packets as there, each control, data or dropped as there.
    """
    space = lpn.InputSpace(net)
    if like is None:
        space.tokens("arrived", packets, n_words=(2, words), is_control=0, is_data=1, is_drop=0)
    else:
        given = _tok.columns(workload(like, net), net)["arrived"]
        kinds = {name: given[name] for name in ("is_control", "is_data", "is_drop")}
        space.tokens("arrived", len(given["n_words"]), n_words=(2, words), **kinds)
    return space


def workload(path, net: lpn.Net) -> lpn.Marking:
    """The marking in a .tok file. Raises OSError, or ValueError when it is not one for this net."""
    return _tok.marking(path, net, NAMES)
