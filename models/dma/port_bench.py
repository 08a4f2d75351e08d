"""The FIFO and the crossbar as they were measured: masters, the block, a memory behind each target."""

import re

import lpn

from . import bench
from .channels import NONE, SIMPLE, SKID, Port
from .crossbar import BEHIND_A_MUX, MOST_THREADS, REGISTERS, axi_crossbar
from .fifo import axi_fifo
from .movers_bench import MEMORY, check_memory, memories
from .run_file import checked, only, refuse, whole

__all__ = ["DESIGNS", "build", "check", "instants", "mark"]

DESIGNS = ("axi_fifo", "axi_crossbar")

# The masters of ../shared/truth/axi offer nothing in cycle 0: every burst with t = 0 is offered in 1.
EARLIEST = 1
REGION_BITS, ID_BITS = 16, 4  # of the benches
_GIVEN = ("t", "addr", "beats", "id")  # of a burst
_MEASURED = ("offered", "accepted", "first_beat", "last_beat", "w_first", "w_last", "response")
DEPTHS = [2**k for k in range(1, 15)]
COMMON = {
    "data_width": (32, [8, 16, 32, 64, 128, 256, 512, 1024]),  # bits
    "max_outstanding_per_master_and_direction": (4, (1, 256)),
    "rready_pattern": ([1, 1], "pattern"),
    **MEMORY,
}
CONFIG = {
    "axi_fifo": {
        **COMMON,
        "write_depth": (32, DEPTHS),
        "read_depth": (32, DEPTHS),
        "write_delay": (0, [0, 1]),
        "read_delay": (0, [0, 1]),
    },
    "axi_crossbar": {
        **COMMON,
        "masters": (2, (1, 16)),
        "slaves": (2, (1, 16)),
        "s_threads": (2, (1, MOST_THREADS)),
        "s_accept": (16, (1, 2**15)),
        "m_issue": (4, (1, 2**15)),
        "write_issue": ("after previous W burst", ["after previous W burst", "free"]),
        "registers": ("default", "registers"),
    },
}


def check(run):
    """The run, checked and with its defaults. Raises Error "E-input"."""
    crossbar = run["design"] == "axi_crossbar"
    known = dict(CONFIG[run["design"]])
    if crossbar:
        config = run.get("config", {})  # whether it is an object is asked below
        registers = config.get("registers", "default") if isinstance(config, dict) else "default"
        known["registers"] = (registers, [registers])
        _registers(run, registers)
    run = checked(run, known)
    check_memory(run)
    masters = run.get("masters")
    count = run["config"]["masters"] if crossbar else 1
    if not isinstance(masters, list) or len(masters) != count:
        raise refuse(f"{run}: 'masters' must be a list of {count}, as the config says")
    targets = run["config"]["slaves"] if crossbar else None
    run["masters"] = [_checked_master(run, m, given, targets) for m, given in enumerate(masters)]
    if not any(master["reads"] or master["writes"] for master in run["masters"]):
        raise refuse(f"{run}: no master has a burst in 'reads' or 'writes'")
    return run


def _checked_master(run, number, master, targets):
    if not isinstance(master, dict):
        raise refuse(f"{run}, master {number}: it must be an object, {{...}}")
    only(f"{run}, master {number}", master, ("reads", "writes"))
    lists = {}
    for kind in ("reads", "writes"):
        bursts = master.get(kind, [])
        if not isinstance(bursts, list):
            raise refuse(f"{run}, master {number}: '{kind}' must be a list")
        lists[kind] = []
        for k, burst in enumerate(bursts):
            about = f"{run}, master {number}, {kind} {k}"
            if not isinstance(burst, dict):
                raise refuse(f"{about}: it must be an object, {{...}}")
            only(about, burst, [*_GIVEN, *_MEASURED])
            burst = {"t": 0, "id": 0, **burst}
            most = 2**32 - 1 if targets is None else (targets << REGION_BITS) - 1
            whole(about, "addr", burst.get("addr"), 0, most)
            whole(about, "t", burst["t"], 0, 2**40)
            whole(about, "beats", burst.get("beats"), 1, 256)
            whole(about, "id", burst["id"], 0, 2**ID_BITS - 1)
            lists[kind].append(burst)
    return lists


def _registers(run, text):
    """{"s_aw": type, ...} of "default", or as "skid on S_AW,M_R; simple on S_AR".

    Those of the targets' side have no effect: axi_crossbar.v has the parameters M_..._REG_TYPE, but
    does not hand them to axi_crossbar_rd.v and axi_crossbar_wr.v, which keep their defaults.
    """
    types = {}
    if text == "default":
        return types
    names = {"none": NONE, "simple": SIMPLE, "skid": SKID}
    for part in str(text).split(";"):
        found = re.fullmatch(r"\s*(none|simple|skid) on ([A-Z_, ]+?)\s*", part)
        keys = [key.strip().lower() for key in found[2].split(",")] if found else [""]
        for key in keys:
            if key not in REGISTERS:
                raise refuse(
                    f"{run}: 'registers' must be 'default', or as 'skid on S_AW,M_R; none on S_W' "
                    f"with {', '.join(REGISTERS).upper()}; got {text!r}"
                )
            if key.startswith("m_"):
                continue
            if names[found[1]] == NONE and key in BEHIND_A_MUX:
                raise refuse(f"{run}: {key.upper()} without a register is not modelled")
            types[key] = names[found[1]]
    return types


def build(run):
    """The net of a checked run. What the structure does not follow are parameters."""
    design, config = run["design"], run["config"]
    net = lpn.Net(design)
    done = net.place("done", done=True, sink=True)
    outstanding = net.param("outstanding", 4, range=(1, 256))
    net.bound = {"outstanding": config["max_outstanding_per_master_and_direction"]}
    ports = [Port(net, f"m{m}") for m in range(len(run["masters"]))]
    pattern = tuple(config["rready_pattern"])
    for m, port in enumerate(ports):
        bench.read_master(net, port, outstanding, done, pattern, m)
        after = config.get("write_issue") != "free"
        bench.write_master(net, port, outstanding, done, after)
    if design == "axi_fifo":
        depths = {key: config[key] for key in CONFIG[design] if key.endswith(("depth", "delay"))}
        targets = [axi_fifo(net, "fifo", ports[0], **depths)]
    else:
        accept = net.param("s_accept", 16, range=(1, 2**15))
        net.bound = {**net.bound, "s_accept": config["s_accept"]}
        targets = axi_crossbar(
            net,
            "xbar",
            ports,
            config["slaves"],
            region_bits=REGION_BITS,
            id_bits=ID_BITS,
            threads=min(config["s_threads"], config["s_accept"]),
            accept=accept,
            issue=config["m_issue"],
            registers=_registers(run, config["registers"]),
        )
    memories(net, {f"memory{n}": port for n, port in enumerate(targets)}, config)
    return net


def mark(run, net):
    """The marking of a checked run."""
    marking = lpn.Marking(net)
    for m, master in enumerate(run["masters"]):
        for kind in ("reads", "writes"):
            before = 0
            for burst in master[kind]:
                earliest = max(before, burst["t"], EARLIEST)
                marking.add(
                    f"m{m}.{kind}",
                    wait=earliest - before,
                    addr=burst["addr"],
                    beats=burst["beats"],
                    id=burst["id"],
                )
                before = earliest
    return marking


def instants(run):
    """[(place, which token, time)]: what was measured of a run."""
    found = []
    for m, master in enumerate(run["masters"]):
        nth = {}
        for k, burst in enumerate(master["reads"]):
            j = nth[burst["id"]] = nth.get(burst["id"], -1) + 1
            found.append((f"m{m}.ar.seen", k, burst.get("accepted")))
            for end, entry in enumerate(("first_beat", "last_beat")):
                found.append((f"m{m}.r.seen", (burst["id"], j, end), burst.get(entry)))
        nth, first = {}, 0
        for k, burst in enumerate(master["writes"]):
            j = nth[burst["id"]] = nth.get(burst["id"], -1) + 1
            found.append((f"m{m}.aw.seen", k, burst.get("accepted")))
            found.append((f"m{m}.w.seen", first, burst.get("w_first")))
            first += burst["beats"]
            found.append((f"m{m}.w.seen", first - 1, burst.get("w_last")))
            found.append((f"m{m}.b.seen", (burst["id"], j, 0), burst.get("response")))
    found += _target_side(run)
    return [entry for entry in found if entry[2] is not None]


def _target_side(run):
    """The instants at the targets: of the k-th burst there, whoever's it is."""
    fifo = run["design"] == "axi_fifo"
    side, config, found = run.get("slave_side", {}), run["config"], []

    def channel(n, letters):
        if not fifo:
            return f"xbar.t{n}.{letters}.seen"
        held = {"ar": config["read_delay"], "aw": config["write_delay"], "b": 0}
        return f"fifo.m.{letters}.seen" if held.get(letters, 1) else f"m0.{letters}.seen"

    for entry, letters, end in (
        ("ar", "ar", 0),
        ("aw", "aw", 0),
        ("wf", "w", 0),
        ("wl", "w", 1),
        ("rf", "r", 0),
        ("rl", "r", 1),
        ("b", "b", 0),
    ):
        nth = {}
        for time, n, *ids in side.get(entry, []):
            k = nth[n] = nth.get(n, -1) + 1
            id_ = None if letters == "w" else ids[-1] if len(ids) == 1 else ids[0] * 16 + ids[1]
            found.append((channel(n, letters), ("burst", k, end, id_), time))
    return found
