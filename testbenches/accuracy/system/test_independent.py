"""Random systems against independent.py: when the driver knows, to the picosecond.

    LPN_SLOW=1 pytest testbenches/accuracy/system/test_independent.py      thousands, and some of them compiled
"""

import os
import random
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pcie"))

from independent import System  # noqa: E402

import lpn  # noqa: E402

SLOW = bool(os.environ.get("LPN_SLOW"))
SEED = 20261129
CASES = 3000 if SLOW else 300
COMPILED = 8 if SLOW else 0

lpn.load("system")
rates, topologies = (sys.modules[f"models.pcie.{name}"] for name in ("rates", "topology"))

UNIT = """
import lpn


class Block(lpn.Token):
    bytes: lpn.Int[0, 2**20]


def net(*, units=1, base=10, rate=16, two=0):
    net = lpn.Net("unit")
    blocks = net.place("blocks", Block, start=True)
    outputs = [net.place(f"out{k}", done=True, sink=True) for k in range(1 + two)]
    net.transition("work", take={"b": blocks}, put=outputs, delay=lambda b: base + b.bytes // rate, servers=units)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for size in open(input).read().split():
        marking.add("blocks", bytes=int(size))
    return marking
"""


def ps(draw, most):
    """Odd times, so that what is apart seldom meets; none now and then."""
    return draw.choice([0, draw.randint(1, most), draw.randint(1, most)])


def tree(draw, read_bytes, write_bytes):
    """(Topology, device): a way through up to two switches, and others that transfer beside it."""
    payload = draw.choice([p for p in (128, 256, 512) if p >= write_bytes])
    links, switches, devices, parents = {}, {}, {}, ["root"]

    def link(parent):
        credits = []
        for kind in ("posted", "nonposted", "completion"):
            if draw.random() < 0.4:
                units = draw.randint(payload // 16, payload // 4)
                credits.append((kind, draw.randint(1, 6), units))
        about = draw.choice(rates.GENERATIONS), draw.choice(rates.LANES)
        return topologies.Link(parent, *about, ps(draw, 300_000), tuple(credits))

    for k in range(draw.randint(0, 2)):
        links[f"l{k}"] = link(parents[-1])
        switches[f"s{k}"] = topologies.Switch(f"l{k}", ps(draw, 200_000))
        parents.append(f"s{k}")
    links["own"] = link(parents[-1])
    devices["card"] = topologies.Device("own")
    for k in range(draw.randint(0, 3)):
        links[f"d{k}"] = link(draw.choice(parents))
        kind, size = draw.choice(["write", "read", "both"]), draw.choice([4, 300, 1500])
        jobs = topologies.Jobs(kind, size, draw.randint(1, 8), draw.randint(0, 5000))
        devices[f"other{k}"] = topologies.Device(
            f"d{k}", outstanding=draw.randint(1, 6), queue=draw.randint(1, 3), jobs=(jobs,)
        )
    chunk = draw.choice(
        [c for c in (64, 128, 256, 512) if c <= payload and read_bytes % c == 0 or c == 64]
    )
    times = ps(draw, 100_000), ps(draw, 100_000)
    return topologies.Topology(payload, *times, chunk, 4, links, switches, devices), "card"


def topology_file(made):
    """It, as a file says it."""
    lines = [f"max_payload = {made.max_payload}", "[root]", f"completions = {made.chunk}"]
    lines += [f"read_ns = {made.read / 1000}", f"write_ns = {made.write / 1000}"]
    for name, link in made.links.items():
        credits = ", ".join(f"{kind} = [{n}, {units}]" for kind, n, units in link.credits)
        lines += [f"[links.{name}]", f'parent = "{link.parent}"', f"credits = {{{credits}}}"]
        lines += [f"generation = {link.generation}", f"lanes = {link.lanes}"]
        lines += [f"latency_ns = {link.latency / 1000}"]
    for name, switch in made.switches.items():
        lines += [f"[switches.{name}]", f'link = "{switch.link}"']
        lines += [f"latency_ns = {switch.latency / 1000}"]
    for name, device in made.devices.items():
        lines += [f"[devices.{name}]", f'link = "{device.link}"']
        if device.jobs:
            lines += [f"outstanding = {device.outstanding}", f"queue = {device.queue}", "jobs = ["]
            for job in device.jobs:
                lines += [f'{{kind = "{job.kind}", size = {job.size}, count = {job.count}, ']
                lines[-1] += f"address = {job.address}}},"
            lines += ["]"]
    return "\n".join(lines)


def case(draw):
    """(what the file says as independent.py has it, sizes of blocks, the lines of each table)."""
    kind = draw.choice(["messages", "packets", "topology"])
    mhz, s = draw.choice([100, 125, 200, 250, 500, 1000, 2000]), SimpleNamespace()
    s.cycle = 10**6 // mhz
    s.read_bytes, s.write_bytes = draw.choice([16, 64, 128]), draw.choice([16, 64, 128])
    tokens = [s.write_bytes * n for n in (1, 2, 3, 9)] + [1, 4, 100, 9000] * (kind == "messages")
    s.outputs = {f"out{k}": draw.choice(tokens) for k in range(draw.randint(1, 2))}
    s.write_buffer = max(s.write_bytes, *s.outputs.values(), 0) * draw.choice(
        [1, 2, 5]
    ) + draw.randint(0, 9)
    sizes = [draw.randint(0, draw.choice([0, 64, 500, 4096])) for _ in range(draw.randint(1, 12))]
    s.read_buffer = (max(sizes) + 2 * s.read_bytes) * draw.choice([1, 2, 4])
    s.read_start = draw.choice([0, draw.randint(0, s.read_buffer - s.read_bytes)])
    s.units, base, rate = draw.choice([1, 2, 4]), draw.randint(1, 40), draw.choice([1, 4, 16])
    s.work = lambda size: base + size // rate
    s.ahead, s.registers, s.register_cycles = (
        draw.choice([1, 2, 16]),
        draw.choice([1, 3]),
        draw.choice([0, 1, 4]),
    )
    s.done, s.wait = draw.choice(["accepted", "acknowledged"]), draw.choice(["poll", "interrupt"])
    s.read_outstanding, s.write_outstanding = draw.choice([1, 2, 4, 100]), draw.choice([1, 2, 16])
    s.read_interval, s.write_cycles = draw.choice([1, 2, 5]), draw.choice([0, 1, 3])
    s.gap, s.bytes_per_cycle, s.write_latency = (
        draw.choice([0, 1, 3]),
        draw.choice([4, 64]),
        ps(draw, 20_000),
    )
    s.request, s.answer, s.setup = ps(draw, 60_000), ps(draw, 60_000), ps(draw, 60_000)
    s.pause, s.interrupt = draw.randint(1, 500_000), ps(draw, 500_000)
    s.packet, s.hit, s.behind, s.controller, s.activate, s.access, s.precharge = (
        ps(draw, most) for most in (10_000, *[50_000] * 6)
    )
    s.page, s.row_bytes = draw.choice(["open", "closed"]), draw.choice([128, 512, 8192])
    s.input, s.output = (draw.choice(["behind", "dram"]) for _ in range(2))
    s.topology = s.byte_fs = None
    s.latency = ps(draw, 300_000)
    link = {"latency_ns": s.latency / 1000}
    if kind == "packets":
        about = draw.choice(rates.GENERATIONS), draw.choice(rates.LANES), draw.choice([128, 256])
        s.byte_fs = rates.byte_fs(*about)
        link |= dict(zip(("generation", "lanes", "max_payload"), about))
    if kind == "topology":
        s.topology, s.device = tree(draw, s.read_bytes, s.write_bytes)
        of, way = s.topology, topologies.way(s.topology, "own")
        s.speeds = {
            n: rates.byte_fs(k.generation, k.lanes, of.max_payload) for n, k in of.links.items()
        }
        s.latency = sum(of.links[n].latency for n in way)
        s.latency += sum(of.switches[of.links[n].parent].latency for n in way[:-1])
        link = {"topology": "tree.toml", "device": s.device}
    waits = (
        {"pause_ns": s.pause / 1000} if s.wait == "poll" else {"interrupt_ns": s.interrupt / 1000}
    )
    memory = ("packet", "hit", "behind", "controller", "activate", "access", "precharge")
    tables = {
        "accelerator": {"model": "unit.py", "clock_mhz": mhz, "ahead": s.ahead},
        "accelerator.parameters": {"units": s.units, "base": base, "rate": rate, "two": len(s.outputs) - 1},
        "accelerator.inputs": {"blocks": "bytes"},
        "accelerator.outputs": s.outputs,
        "accelerator.finished": dict.fromkeys(s.outputs, "blocks"),
        "device": {"registers": s.registers, "register_cycles": s.register_cycles, "done": s.done},
        "reads": {"bytes": s.read_bytes, "outstanding": s.read_outstanding, "buffer": s.read_buffer,
                  "start": s.read_start, "interval_cycles": s.read_interval, "gap_cycles": s.gap,
                  "bytes_per_cycle": s.bytes_per_cycle},
        "writes": {"bytes": s.write_bytes, "outstanding": s.write_outstanding, "buffer": s.write_buffer,
                   "cycles": s.write_cycles, "latency_ns": s.write_latency / 1000},
        "link": link,
        "host": {"request_ns": s.request / 1000, "answer_ns": s.answer / 1000, "setup_ns": s.setup / 1000,
                 "wait": s.wait, **waits},
        "memory": {f"{name}_ns": getattr(s, name) / 1000 for name in memory}
        | {"page": s.page, "row_bytes": s.row_bytes, "input": s.input, "output": s.output},
    }  # fmt: skip
    return s, sizes, tables


def write(folder, s, sizes, tables):
    lines = ['model = "system"']
    for name, keys in tables.items():
        lines += [f"[{name}]", *(f"{k} = {v!r}".replace("'", '"') for k, v in keys.items())]
    (folder / "unit.py").write_text(UNIT)
    (folder / "sizes").write_text(" ".join(map(str, sizes)))
    (folder / "board.toml").write_text("\n".join(lines))
    if s.topology is not None:
        (folder / "tree.toml").write_text(topology_file(s.topology))


def ps_of(folder, engine):
    """When the driver knows, by the net."""
    model = lpn.load(str(folder / "board.toml"))
    net = model.net()
    run = lpn.simulate(net, model.workload(folder / "sizes", net), engine=engine)
    return round(model.module.answer_of_run(run)["ns"] * 1000)


def test_the_driver_knows_when_the_rules_say(tmp_path):
    for number in range(CASES):
        s, sizes, tables = case(random.Random(f"{SEED} {number}"))
        write(tmp_path, s, sizes, tables)
        expected = System(s, sizes).run()
        assert ps_of(tmp_path, "interp") == expected, f"case {number}: {tables} {s.topology}"
        if number < COMPILED:
            assert ps_of(tmp_path, "compiled") == expected, f"case {number}, compiled"
