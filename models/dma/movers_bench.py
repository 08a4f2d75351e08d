"""The three data movers as they were measured: a mover, its descriptors, one memory."""

import lpn

from . import bench
from .channels import Channel, Port, Word
from .memories import axi_ram, delay_memory
from .movers import axi_cdma, axi_dma_rd, axi_dma_wr
from .stages import Copy, Move

__all__ = ["build", "instants", "mark"]


def parameters(net, config):
    """The mover's parameters, with the values of `config` as defaults."""
    return {
        "width": net.param("width", config["data_width"] // 8, range=(1, 128)),
        "max_burst": net.param("max_burst", config["max_burst_len"], range=(1, 256)),
        "unaligned": net.param("unaligned", config["enable_unaligned"], range=(0, 1)),
    }


def build(run):
    """The net of a run."""
    design, config = run["design"], run["config"]
    net = lpn.Net(design)
    given = parameters(net, config)
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
    if config["memory"] == "axi_ram":
        axi_ram(net, "ram", port, output_register=config["ram_pipeline_output"])
    else:
        latency = net.param("memory_latency", config["memory_latency"], range=(1, 2**20))
        delay_memory(net, "memory", port, latency)
    return net


def mark(run, net):
    """The marking of a run."""
    marking = lpn.Marking(net)
    width = run["config"]["data_width"] // 8
    waited = 0
    for number, given in enumerate(run["descriptors"]):
        statuses = number - waited if given["wait_previous"] else 0
        waited += statuses
        marking.add(
            "desc.given",
            gap=given["gap"],
            statuses=statuses,
            read_addr=given["addr"],
            write_addr=given.get("write_addr", 0),
            len=given["len"],
        )
        if run["design"] == "axi_dma_wr":
            marking.add("stream.packets", words=-(-given["len"] // width))
    return marking


def instants(run):
    """[(place, index of the token, time, what)]: what was measured of a run."""
    found = []
    for number, given in enumerate(run["descriptors"]):
        found.append(("desc.seen", number, given.get("desc_accepted"), "desc_accepted"))
        status = given.get("status")
        found.append(("done", number, status if status is None else status + 1, "status"))
    for bursts, address, beats in (
        ("read_bursts", "ar", "m.r.seen"),
        ("write_bursts", "aw", "m.w.seen"),
    ):
        first = 0
        for number, burst in enumerate(run.get(bursts, [])):
            found.append((f"m.{address}.seen", number, burst.get(address), address))
            found.append((beats, first, burst.get("first_beat"), "first_beat"))
            found.append((beats, first + burst["beats"] - 1, burst.get("last_beat"), "last_beat"))
            first += burst["beats"]
            if address == "aw":
                found.append(("m.b.seen", number, burst.get("b"), "b"))
    width = run["config"]["data_width"] // 8
    first = 0
    for given, packet in zip(run["descriptors"], run.get("packets", [])):
        words = -(-given["len"] // width)
        found.append(("stream.seen", first, packet.get("first_beat"), "packet first"))
        found.append(("stream.seen", first + words - 1, packet.get("last_beat"), "packet last"))
        first += words
    return [entry for entry in found if entry[2] is not None]
