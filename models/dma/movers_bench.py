"""The three data movers as they were measured: a mover, its descriptors, one memory."""

import lpn

from . import bench
from .channels import Channel, Port, Word
from .memories import axi_ram, delay_memory
from .movers import axi_cdma, axi_dma_rd, axi_dma_wr
from .run_file import checked, only, refuse, whole
from .stages import Copy, Move

__all__ = ["DESIGNS", "build", "check", "instants", "mark"]

DESIGNS = ("axi_cdma", "axi_dma_rd", "axi_dma_wr")

MEMORY = {
    "memory": ("axi_ram", ["axi_ram", "delay"]),
    "ram_pipeline_output": (0, [0, 1]),  # of axi_ram
    "memory_latency": (0, (0, 2**20)),  # of delay; clocks
}
CONFIG = {
    "data_width": (32, [8, 16, 32, 64, 128, 256, 512, 1024]),  # bits
    "max_burst_len": (16, (1, 256)),  # beats
    "enable_unaligned": (1, [0, 1]),
    "stream_active": ([1, 1], "pattern"),
    **MEMORY,
}
MOST_BYTES = 2**20 - 1  # LEN_WIDTH = 20
ADDRESSES = 2**32 - 1
_GIVEN = ("gap", "addr", "write_addr", "len", "wait_previous")  # of a descriptor
_MEASURED = ("desc_offered", "desc_accepted", "status")


def check(run):
    """The run, checked and with its defaults. Raises Error "E-input"."""
    run = checked(run, CONFIG)
    check_memory(run)
    if run["design"] == "axi_cdma" and run["config"]["stream_active"] != [1, 1]:
        raise refuse(f"{run}: 'stream_active' is of axi_dma_rd and axi_dma_wr; leave it out")
    descriptors = run.get("descriptors")
    if not isinstance(descriptors, list) or not descriptors:
        raise refuse(f"{run}: 'descriptors' must be a list with at least one")
    given = []
    for number, descriptor in enumerate(descriptors):
        about = f"{run}, descriptor {number}"
        if not isinstance(descriptor, dict):
            raise refuse(f"{about}: it must be an object, {{...}}")
        only(about, descriptor, [*_GIVEN, *_MEASURED])
        if run["design"] != "axi_cdma" and "write_addr" in descriptor:
            raise refuse(f"{about}: 'write_addr' is of axi_cdma; leave it out")
        one = {"gap": 0, "wait_previous": 0, "write_addr": 0, **descriptor}
        for entry, least, most in (
            ("gap", 0, 2**30),
            ("wait_previous", 0, 1),
            ("addr", 0, ADDRESSES),
            ("write_addr", 0, ADDRESSES),
            ("len", 1, MOST_BYTES),
        ):
            whole(about, entry, one.get(entry), least, most)
        for entry in ("addr", "write_addr"):
            if one[entry] + one["len"] > ADDRESSES + 1:  # ADDR_WIDTH = 32: the RTL goes on at 0
                raise refuse(f"{about}: '{entry}' + 'len' reaches beyond {ADDRESSES}")
        given.append(one)
    run["descriptors"] = given
    return run


def check_memory(run):
    """Raises Error "E-input" for a delay memory without a delay, and for what the other memory has."""
    of_ram, of_delay = "ram_pipeline_output", "memory_latency"
    memory, other = run["config"]["memory"], {"axi_ram": of_delay, "delay": of_ram}
    if run["config"][other[memory]] != 0:
        raise refuse(f"{run}: '{other[memory]}' is not of the memory '{memory}'; leave it out")
    if run["config"]["memory"] == "delay" and run["config"]["memory_latency"] < 1:
        raise refuse(f"{run}: the memory 'delay' needs a memory_latency of at least 1")


def memories(net, ports, config):
    """The memory that `config` names, at each of `ports` {name: Port}."""
    if config["memory"] == "axi_ram":
        for name, port in ports.items():
            axi_ram(net, name, port, output_register=config["ram_pipeline_output"])
        return
    latency = net.param("memory_latency", 1, range=(1, 2**20))
    net.bound = {**net.bound, "memory_latency": config["memory_latency"]}
    for name, port in ports.items():
        delay_memory(net, name, port, latency)


def build(run):
    """The net of a checked run. What the structure does not follow are parameters."""
    design, config = run["design"], run["config"]
    net = lpn.Net(design)
    given = {
        "width": net.param("width", 4, range=(1, 128)),
        "max_burst": net.param("max_burst", 16, range=(1, 256)),
        "unaligned": net.param("unaligned", 1, range=(0, 1)),
    }
    net.bound = {
        "width": config["data_width"] // 8,
        "max_burst": config["max_burst_len"],
        "unaligned": config["enable_unaligned"],
    }
    reads, writes = design != "axi_dma_wr", design != "axi_dma_rd"
    desc = Channel(net, "desc", Copy if reads and writes else Move)
    port = Port(net, "m", read=reads, write=writes)
    status = net.place("status")
    done = net.place("done", done=True, sink=True)
    bench.descriptors(net, desc, status, done)
    pattern = tuple(config["stream_active"])
    if design == "axi_cdma":
        axi_cdma(net, "cdma", desc, port, status, **given)
    else:
        stream = Channel(net, "stream", Word)
        if reads:
            axi_dma_rd(net, "dma", desc, port, stream, status, **given)
            bench.sink(net, "sink", stream, pattern)
        else:
            bench.words_of(net, stream, pattern)
            axi_dma_wr(net, "dma", desc, stream, port, status, **given)
    memories(net, {"memory": port}, config)
    return net


def width_of(net):
    """Bytes of the bus. Raises Error "E-param" for a width that no bus has."""
    width = {**net.params, **net.bound}["width"]
    if width & (width - 1):
        raise lpn.Error("E-param", f"width must be a power of two, got {width}")
    return width


def mark(run, net):
    """The marking of a checked run."""
    marking = lpn.Marking(net)
    width = width_of(net)
    waited = 0
    for number, given in enumerate(run["descriptors"]):
        statuses = number - waited if given["wait_previous"] else 0
        waited += statuses
        marking.add(
            "desc.given",
            gap=given["gap"],
            statuses=statuses,
            read_addr=given["addr"],
            write_addr=given["write_addr"],
            len=given["len"],
        )
        if run["design"] == "axi_dma_wr":
            marking.add("stream.packets", words=-(-given["len"] // width))
    return marking


def instants(run):
    """[(place, index of the token, time)]: what was measured of a run."""
    found = []
    for number, given in enumerate(run["descriptors"]):
        found.append(("desc.seen", number, given.get("desc_accepted")))
        status = given.get("status")  # the bench's report is a clock behind it
        found.append(("done", number, None if status is None else status + 1))
    for bursts, address, beats in (
        ("read_bursts", "ar", "m.r.seen"),
        ("write_bursts", "aw", "m.w.seen"),
    ):
        first = 0
        for number, burst in enumerate(run.get(bursts, [])):
            found.append((f"m.{address}.seen", number, burst.get(address)))
            found.append((beats, first, burst.get("first_beat")))
            found.append((beats, first + burst["beats"] - 1, burst.get("last_beat")))
            first += burst["beats"]
            if address == "aw":
                found.append(("m.b.seen", number, burst.get("b")))
    width = run["config"]["data_width"] // 8
    first = 0
    for given, packet in zip(run["descriptors"], run.get("packets", [])):
        words = -(-given["len"] // width)
        found.append(("stream.seen", first, packet.get("first_beat")))
        found.append(("stream.seen", first + words - 1, packet.get("last_beat")))
        first += words
    return [entry for entry in found if entry[2] is not None]
