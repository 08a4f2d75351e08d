"""Boards: masters, an interconnect and what is behind it, drawn from lpn.lib and models.dram.

There is no second model of a board; whatever its parts are, each access is answered once, as it was
asked for, each move is done once, and nothing stalls.
"""

import random
from typing import NamedTuple

import lpn
from lpn import lib

lpn.load("dram")

from models.dram import parts as dram_parts  # noqa: E402

LINE = 64


class Board(NamedTuple):
    net: lpn.Net
    marking: lpn.Marking
    expected: dict  # done place -> the tokens that come out, in any order


def board(seed):
    """A Board."""
    draw, net = random.Random(seed), lpn.Net("board")
    number = draw.randint(1, 3)
    slaves = [lib.memory_port(net, f"slave{k}") for k in range(number)]
    with_dram = draw.random() < 0.3
    for k, port in enumerate(slaves):
        _serve(draw, net, f"behind{k}", port, 2, with_dram)
    ports, tokens, expected = [], {}, {}
    for k in range(draw.randint(1, 3)):
        add = _mover if draw.random() < 0.4 else _asker
        more, source, rows, at, done = add(draw, net, f"master{k}")
        ports += more
        tokens[source] = rows, at
        expected[done] = sorted(rows)
    lib.interconnect(
        net,
        "bus",
        ports,
        slaves,
        lambda t: t.address // LINE % number,
        delay=draw.randint(1, 3),
        outstanding=draw.choice([1, 2, 16]),
        grant=draw.choice([lib.round_robin, lib.priority]),
    )
    marking = lpn.Marking(net)
    for source, (rows, at) in tokens.items():
        marking.add_rows(source, rows, at=at)
    marking.done_count = sum(map(len, expected.values()))  # refreshes of a DRAM never stop
    return Board(net, marking, expected)


def _mover(draw, net, name):
    """(its ports, place of its work, rows, when they come, place of what is done)"""
    ports = [lib.memory_port(net, f"{name}.{side}") for side in ("read", "write")]
    moves = net.place(f"{name}.moves", lib.Move, start=True)
    done = net.place(f"{name}.done", lib.Move, done=True, sink=True)
    burst = draw.choice([16, 64, 100])
    lib.dma(
        net,
        name,
        moves,
        *ports,
        burst=burst,
        boundary=LINE,
        reads=draw.randint(1, 5),
        writes=draw.randint(1, 5),
        buffer=2 * burst + draw.choice([0, 100]),
        out=done,
    )
    rows = [
        (draw.randrange(2000), 5000 + draw.randrange(2000), draw.randint(1, 600))
        for _ in range(draw.randint(1, 3))
    ]
    return ports, moves.name, rows, None, done.name


def _asker(draw, net, name):
    """The same of a master that asks for single accesses."""
    port = front = lib.memory_port(net, f"{name}.port")
    if draw.random() < 0.5:
        front = lib.in_order(net, f"{name}.front", port)
    asks = net.place(f"{name}.asks", lib.Access, start=True)
    done = net.place(f"{name}.done", lib.Access, done=True, sink=True)
    net.transition(
        f"{name}.ask", take={"t": asks}, put=[front.requests.forward("t")], delay=1, servers=1
    )
    net.transition(f"{name}.end", take={"t": front.responses}, put=[done.forward("t")])
    number, span = draw.randint(1, 12), draw.choice([1, 200])
    rows = [
        (
            LINE * draw.randrange(32) + draw.choice([0, 32]),
            draw.choice([4, 32]),
            draw.randrange(2),
            draw.randrange(7),
        )
        for _ in range(number)
    ]
    return [port], asks.name, rows, sorted(draw.randrange(span) for _ in rows), done.name


def _serve(draw, net, name, port, depth, with_dram):
    """What is behind a port: a memory, or up to `depth` other parts and a memory."""
    memories = [_memory, _banks, *([_dram] if with_dram else [])]
    between = [_cache, _in_order, _crossing] if depth else []
    made = draw.choice(memories + between)
    if made in memories:
        made(draw, net, name, port)
        return
    below = lib.memory_port(net, f"{name}.below")
    made(draw, net, name, port, below)
    _serve(draw, net, f"{name}.next", below, depth - 1, with_dram)


def _memory(draw, net, name, port):
    latency, bytes_per_cycle = draw.randint(1, 40), draw.choice([1, 8, 64])
    outstanding = draw.randint(1, 8)
    lib.memory(
        net,
        name,
        port,
        latency=latency,
        bytes_per_cycle=bytes_per_cycle,
        outstanding=outstanding,
    )


def _banks(draw, net, name, port):
    """Answers overtake each other."""
    latencies = [draw.choice([0, 1, 7, 60]) for _ in range(4)]
    net.transition(
        name,
        take={"t": port.requests},
        put=[port.responses.forward("t")],
        delay=lambda t: lpn.lookup(latencies, t.address // LINE % 4),
    )


def _dram(draw, net, name, port):
    part, outstanding = draw.choice(["ddr4", "hbm2"]), draw.choice([4, 16])
    dram_parts.dram(net, name, port, part, outstanding=outstanding, quarter=draw.choice([1, 3]))


def _cache(draw, net, name, port, below):
    lib.cache(
        net,
        name,
        port,
        below,
        line=LINE,
        sets=draw.choice([1, 4]),
        ways=draw.choice([1, 2]),
        mshrs=draw.choice([1, 2, 3]),
        merges=draw.choice([1, 4]),
        hit=draw.choice([1, 2, 5]),
        write_back=draw.random() < 0.5,
    )


def _in_order(draw, net, name, port, below):
    front = lib.in_order(net, name, below)
    for side, source, target in (
        ("ask", port.requests, front.requests),
        ("answer", front.responses, port.responses),
    ):
        net.transition(f"{name}.front.{side}", take={"t": source}, put=[target.forward("t")])


def _crossing(draw, net, name, port, below):
    above, under = (draw.choice([1, 2, 3, 5]), 0), (draw.choice([1, 2, 4]), 0)
    for side, source, target, write, read in (
        ("ask", port.requests, below.requests, above, under),
        ("answer", below.responses, port.responses, under, above),
    ):
        depth = draw.randint(1, 4)
        lib.clock_crossing(net, f"{name}.{side}", source, depth, write=write, read=read, out=target)
