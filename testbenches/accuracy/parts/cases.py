"""Random nets of parts with random inputs, and what independent.py says of them.

Each case is a function of a random.Random: (net, marking, instants of the tokens that come out, in
order, as the independent model has them).
"""

import independent

import lpn
from lpn import lib


class Word(lpn.Token):
    n: lpn.Int[0, 1000]
    port: lpn.Int[0, 15]
    last: bool


class Tagged(lpn.Token):
    tag: lpn.Int[0, 255]
    cycles: lpn.Int[0, 1000]


def arrivals(draw, n, gap):
    """n cycles in order, `gap` apart at most."""
    t, found = draw.randint(0, 5), []
    for _ in range(n):
        found.append(t)
        t += draw.randint(0, gap)
    return found


def arbiter(draw):
    """Up to ten inputs, fair or by priority, any of: bursts, guards, credits of all or of each."""
    n, fair = draw.choice([1, 2, 2, 3, 4, 5, 9, 10]), draw.random() < 0.6
    choose, lent = draw.choice([None, None, "all", "each"]), draw.choice(
        [None, None, "all", "each"]
    )
    bursts, returns = draw.random() < 0.3, draw.randint(1, 9)
    net = lpn.Net("arbiter")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(n)]
    outs = [net.place(f"through{k}", Word) for k in range(n)]
    done = net.place("done", Word, done=True, sink=True)
    options, back, numbers = {}, [[] for _ in range(n)], [None] * n
    if fair and draw.random() < 0.2:
        options["skip_empty"] = False
    fits = [choose == "all" or choose == "each" and draw.random() < 0.5 for _ in range(n)]
    if choose is not None:
        guards = [(lambda t: t.port < 10) if fit else None for fit in fits]
        options["guard"] = guards[0] if choose == "all" else guards
    if lent == "all":
        numbers = [[draw.randint(1, 3)]] * n
        options["credit"], give = lib.credit(net, "credits", numbers[0][0], latency=returns)
        back = [[give]] * n
    if lent == "each":
        numbers = [[draw.randint(0, 3)] if draw.random() < 0.7 else None for _ in range(n)]
        options["credit"] = [None] * n
        for k, number in enumerate(numbers):
            if number is not None:
                options["credit"][k], give = lib.credit(
                    net, f"credits{k}", number[0], latency=returns
                )
                back[k] = [give]
    if bursts:
        options["last"] = lambda t: t.last
    grant = lib.round_robin if fair else lib.priority
    grant(net, "arb", inputs, outs, delay=lambda t: t.n, **options)
    for k, source in enumerate(inputs):
        net.transition(f"end{k}", take={"t": outs[k]}, put=[done.forward("t", port=k), *back[k]])
        if fits[k]:
            net.transition(
                f"other{k}", take={"t": source.take(guard=lambda t: t.port >= 10)}, put=[]
            )
    queues, marking = [], lpn.Marking(net)
    for k in range(n):
        count = draw.randint(0, 8)
        at = arrivals(draw, count, draw.choice([0, 1, 4, 15]))
        queue = [(a, draw.randint(0, 6), j == count - 1 or draw.random() < 0.5,
                  not fits[k] or draw.random() < 0.7)
                 for j, a in enumerate(at)]  # fmt: skip
        rows = [(d, 0 if fit else 10, int(last)) for _, d, last, fit in queue]
        marking.add_rows(f"q{k}", rows, at=at)
        queues.append(queue)
    how = {"bursts": bursts, "waits": "skip_empty" in options}
    return net, marking, independent.arbiter(queues, fair, credits=numbers, returns=returns, **how)


def queued_crossbar(draw):
    """As crossbar, with queues of an input for each output."""
    return crossbar(draw, draw.randint(1, 4))


def crossbar(draw, each=None):
    """Up to four inputs and three outputs; one head per input; credits and bursts, or neither."""
    n, m, fair = draw.randint(1, 4), draw.randint(1, 3), draw.random() < 0.5
    net = lpn.Net("crossbar")
    inputs = [net.place(f"q{k}", Word, start=True) for k in range(n)]
    outputs = [net.place(f"out{k}", Word, done=True, sink=True) for k in range(m)]
    targets, options, about = outputs, {}, {}
    if draw.random() < 0.4:
        options["last"], about["bursts"] = (lambda t: t.last), True
    if draw.random() < 0.4:
        about["credits"], about["returns"] = draw.randint(1, 3), draw.randint(1, 9)
        targets = [net.place(f"through{k}", Word) for k in range(m)]
        pairs = [
            lib.credit(net, f"credits{k}", about["credits"], latency=about["returns"])
            for k in range(m)
        ]
        options["credit"] = [take for take, _ in pairs]
        for k, (_, give) in enumerate(pairs):
            put = [outputs[k].forward("t"), give]
            net.transition(f"end{k}", take={"t": targets[k]}, put=put)
    grant = lib.round_robin if fair else lib.priority
    lib.crossbar(
        net,
        "xbar",
        inputs,
        targets,
        lambda t: t.port,
        delay=lambda t: t.n,
        grant=grant,
        queue=each,
        **options,
    )
    queues, marking = [], lpn.Marking(net)
    for k in range(n):
        count, queue, to = draw.randint(1, 8), [], None
        for j, at in enumerate(arrivals(draw, count, draw.choice([1, 4, 15]))):
            to = draw.randrange(m) if to is None else to  # a burst has one output
            last = j == count - 1 or draw.random() < 0.5
            queue.append((at, to, draw.randint(1, 6), last))
            to = None if last or "bursts" not in about else to
        queues.append(queue)
        rows = [(d, o, int(last)) for _, o, d, last in queue]
        marking.add_rows(f"q{k}", rows, at=[a for a, *_ in queue])
    if each is None:
        out = independent.crossbar(queues, m, fair, **about)
    else:
        out = independent.queued_crossbar(queues, m, fair, each, **about)
    return net, marking, [(t, o) for t, _, o in out]


def bursts(draw):
    """Transfers cut into bursts, with a limit on those under way, on their bytes, or neither."""
    most, boundary = draw.choice([1, 16, 100, 256]), draw.choice([16, 64, 1000, 4096])
    credits = draw.randint(1, 4) if draw.random() < 0.6 else None
    returns = draw.choice([0, 1, 7])
    room = most + draw.randint(0, 300) if draw.random() < 0.4 else None
    least = draw.randint(0, 20)
    net = lpn.Net("bursts")
    transfers = net.place("transfers", lib.Transfer, start=True)
    done = net.place("done", lib.Burst, done=True, sink=True)
    options, back = {}, []
    if credits is not None:
        options["credit"], give = lib.credit(net, "credits", credits, latency=returns)
        back.append(give)
    if room is not None:
        options["room"] = net.place("room", init=room)
        back.append(options["room"].emit(count=lambda t: t.bytes))
    out = lib.bursts(net, "cut", transfers, most=most, boundary=boundary, **options)
    net.transition(
        "serve",
        take={"t": out},
        put=[done.forward("t"), *back],
        delay=lambda t: least + t.bytes // 16,
    )
    count = draw.randint(1, 4)
    at = arrivals(draw, count, draw.choice([1, 30]))
    rows = [(draw.randrange(9000), draw.randint(1, most * 12)) for _ in range(count)]
    marking = lpn.Marking(net)
    marking.add_rows("transfers", rows, at=at)
    expected = independent.bursts(
        [(a, *row) for a, row in zip(at, rows)],
        most,
        boundary,
        serve=lambda n: least + n // 16,
        credits=credits,
        returns=returns,
        room=room,
    )
    return net, marking, expected


def path(draw):
    """A pipeline, a FIFO, a fork with room or little of it, two branches and their join."""
    how = {
        "stages": [draw.choice([0, 1, 1, 3, 8]) for _ in range(draw.randint(1, 4))],
        "depth": draw.randint(1, 4),
        "latency": draw.randint(1, 4),
        "fork": draw.choice([0, 1, 3]),
        "left": draw.choice([None, 1, 2, 5]),
        "right": draw.choice([None, 1, 2, 5]),
        "work": draw.choice([0, 1, 4, 9]),
        "servers": draw.randint(1, 3),
        "join": draw.choice([0, 1, 2]),
    }
    net = lpn.Net("path")
    source = net.place("source", Word, start=True)
    done = net.place("done", Word, done=True, sink=True)
    staged = lib.pipeline(net, "stages", source, how["stages"])
    queue = lib.fifo(net, "queue", staged, how["depth"], latency=how["latency"])
    branches = [net.place(name, Word, capacity=how[name]) for name in ("left", "right")]
    lib.fork(net, "copy", queue, branches, delay=how["fork"])
    worked = net.place("worked", Word)
    net.transition(
        "work",
        take={"t": branches[0]},
        put=[worked.forward("t")],
        delay=how["work"],
        servers=how["servers"],
    )
    lib.join(net, "both", {"a": worked, "b": branches[1]}, out=done, delay=how["join"])
    at = arrivals(draw, draw.randint(1, 20), draw.choice([0, 1, 5]))
    marking = lpn.Marking(net)
    marking.add_rows("source", [(k, 0, 0) for k in range(len(at))], at=at)
    return net, marking, [(t, 0) for t in independent.path(at, **how)]


def clock_crossing(draw):
    """Any two clocks."""
    clocks = [(p := draw.randint(1, 9), draw.randrange(p)) for _ in range(2)]
    depth, stages = draw.randint(1, 6), draw.randint(1, 4)
    net = lpn.Net("crossing")
    source = net.place("source", Word, start=True)
    done = net.place("done", Word, done=True, sink=True)
    how = {"write": clocks[0], "read": clocks[1], "stages": stages}
    lib.clock_crossing(net, "cdc", source, depth, out=done, **how)
    at = arrivals(draw, draw.randint(1, 20), draw.choice([1, 6, 30]))
    marking = lpn.Marking(net)
    marking.add_rows("source", [(0, 0, 0)] * len(at), at=at)
    return net, marking, [(t, 0) for t in independent.clock_crossing(at, depth, *clocks, stages)]


def reorder_buffer(draw):
    """Units that answer out of order."""
    entries = draw.randint(1, 8)
    net = lpn.Net("reorder")
    source, answers = net.place("source", Tagged, start=True), net.place("answers", Tagged)
    done = net.place("done", Tagged, done=True, sink=True)
    issued, _ = lib.reorder_buffer(net, "rob", source, answers, entries, out=done)
    net.transition(
        "serve", take={"t": issued}, put=[answers.forward("t")], delay=lambda t: t.cycles
    )
    at = arrivals(draw, draw.randint(1, 20), draw.choice([1, 6]))
    requests = [(a, draw.choice([0, 1, 5, 30])) for a in at]
    marking = lpn.Marking(net)
    marking.add_rows("source", [(0, c) for _, c in requests], at=at)
    return net, marking, [(t, 0) for t in independent.reorder_buffer(requests, entries)]


def _memory(draw, least=1):
    return {
        "latency": draw.randint(1, 40),
        "bytes_per_cycle": draw.choice([1, 8, 16, 64]),
        "outstanding": draw.randint(least, 8),
    }


def _banks(draw, net, name, port):
    """A memory whose answers overtake each other."""
    latencies = [draw.choice([0, 1, 7, 60]) for _ in range(draw.randint(1, 8))]
    net.transition(
        name,
        take={"t": port.requests},
        put=[port.responses.forward("t")],
        delay=lambda t: lpn.lookup(latencies, t.address // 64 % len(latencies)),
    )
    return independent.Banks(latencies)


def in_order(draw):
    """Requests whose answers overtake each other, and come in order again."""
    net = lpn.Net("in_order")
    asks = net.place("asks", lib.Access, start=True)
    done = net.place("done", lib.Access, done=True, sink=True)
    port = lib.memory_port(net, "memory")
    banks = _banks(draw, net, "banks", port)
    front = lib.in_order(net, "front", port)
    net.transition("ask", take={"t": asks}, put=[front.requests.forward("t")])
    end = {"take": {"t": front.responses}, "put": [done.forward("t")]}
    net.transition("end", **end, delay=1, servers=1)
    at = arrivals(draw, draw.randint(1, 30), draw.choice([1, 6]))
    rows = [(draw.randrange(2000), 4, False, draw.randrange(5)) for _ in at]
    marking = lpn.Marking(net)
    marking.add_rows("asks", rows, at=at)
    times = independent.in_order([(t, row[0]) for t, row in zip(at, rows)], banks)
    return net, marking, [(t, row[3]) for t, row in zip(times, rows)]


def dma(draw):
    """A DMA engine between two memories."""
    burst = draw.choice([16, 64, 100, 256])
    how = {
        "burst": burst,
        "boundary": draw.choice([64, 1000, 4096]),
        "reads": draw.randint(1, 5),
        "writes": draw.randint(1, 5),
        "buffer": 2 * burst + draw.choice([0, 50, 1000]),
    }
    net = lpn.Net("dma")
    moves = net.place("moves", lib.Move, start=True)
    done = net.place("done", lib.Move, done=True, sink=True)
    ports = [lib.memory_port(net, name) for name in ("source", "target")]
    lib.dma(net, "dma", moves, *ports, out=done, **how)
    memories = []
    for name, port in zip(("reads_from", "writes_to"), ports):
        if draw.random() < 0.5:
            memories.append(_banks(draw, net, name, port))
            continue
        about = _memory(draw)
        lib.memory(net, name, port, **about)
        memories.append(independent.Memory(**about))
    rows = [(draw.randrange(9000), draw.randrange(9000), draw.randint(1, 3000))
            for _ in range(draw.randint(1, 3))]  # fmt: skip
    marking = lpn.Marking(net)
    marking.add_rows("moves", rows)
    return net, marking, [(t, 0) for t in independent.dma(rows, *memories, **how)]


def interconnect(draw):
    """Masters that ask two or three memories, with more outstanding than they ask for."""
    n, m, fair, delay = (
        draw.randint(1, 3),
        draw.randint(1, 3),
        draw.random() < 0.5,
        draw.randint(1, 3),
    )
    net = lpn.Net("interconnect")
    masters = [lib.memory_port(net, f"m{k}") for k in range(n)]
    slaves = [lib.memory_port(net, f"s{k}") for k in range(m)]
    grant = lib.round_robin if fair else lib.priority
    lib.interconnect(
        net,
        "ic",
        masters,
        slaves,
        lambda t: t.address // 4096,
        delay=delay,
        outstanding=100,
        grant=grant,
    )
    memories, queues, marking = [], [], lpn.Marking(net)
    for k, port in enumerate(slaves):
        about = _memory(draw)
        lib.memory(net, f"memory{k}", port, **about)
        memories.append(independent.Memory(**about))
    for k, port in enumerate(masters):
        source = net.place(f"asks{k}", lib.Access, start=True)
        done = net.place(f"out{k}", lib.Access, done=True, sink=True)
        net.transition(f"ask{k}", take={"t": source}, put=[port.requests.forward("t")], delay=1)
        net.transition(f"end{k}", take={"t": port.responses}, put=[done.forward("t")])
    for k in range(n):
        at = arrivals(draw, draw.randint(1, 12), draw.choice([1, 9, 40]))
        rows = [(a, draw.randrange(m), draw.choice([4, 64, 200])) for a in at]
        queues.append([(a + 1, s, size) for a, s, size in rows])
        marking.add_rows(f"asks{k}", [(4096 * s, z, 0, k) for _, s, z in rows], at=at)
    return net, marking, independent.interconnect(queues, memories, delay, fair)


def cache(draw):
    """A cache in front of a memory."""
    about = {
        "sets": draw.choice([1, 2, 4, 8]),
        "ways": draw.randint(1, 4),
        "line": draw.choice([16, 64]),
        "hit": draw.randint(1, 4),
        "mshrs": draw.randint(1, 4),
        "merges": draw.randint(1, 3),
        "write_back": draw.random() < 0.6,
    }
    net = lpn.Net("cache")
    up, down = lib.memory_port(net, "up"), lib.memory_port(net, "down")
    accesses = net.place("accesses", lib.Access, start=True)
    done = net.place("done", lib.Access, done=True, sink=True)
    net.transition("ask", take={"t": accesses}, put=[up.requests.forward("t")])
    net.transition("end", take={"t": up.responses}, put=[done.forward("t")])
    lib.cache(net, "l1", up, down, **about)
    memory = _memory(draw)
    lib.memory(net, "memory", down, **memory)
    count = draw.randint(1, 40)
    at = arrivals(draw, count, draw.choice([1, 6, 40]))
    span = about["line"] * draw.choice([2, 12, 60])
    rows = [(a, draw.randrange(0, span, 8), 8, draw.random() < 0.4) for a in at]
    marking = lpn.Marking(net)
    marking.add_rows("accesses", [(a, n, int(w), k) for k, (_, a, n, w) in enumerate(rows)], at=at)
    answers, _ = independent.Cache(independent.Memory(**memory), **about).run(rows)
    return net, marking, sorted((t, k) for k, t in enumerate(answers))


CASES = [
    arbiter,
    crossbar,
    queued_crossbar,
    bursts,
    path,
    clock_crossing,
    reorder_buffer,
    in_order,
    dma,
    interconnect,
    cache,
]


# What tells tokens apart that come out: a property by its position, or the place.
WHICH = {arbiter: 1, bursts: 1, in_order: 3, cache: 3}
NUMBERED = {crossbar, queued_crossbar, interconnect}


def came_out(case, net, collected):
    """The same of a run: (instant, which). `collected`: as Run.collected."""
    found = []
    for place, (values, times) in collected.items():
        width = len(net[place].fields)
        for k, t in enumerate(times):
            if case in WHICH:
                found.append((t, values[k * width + WHICH[case]]))
            else:
                found.append((t, int(place[3:]) if case in NUMBERED else 0))
    return sorted(found)
