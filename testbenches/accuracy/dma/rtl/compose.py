"""Random systems of the blocks, in the RTL and as nets: every handshake, clock by clock.

    compose.py FOLDER [--seeds 0..20] [--delay] [--keep DIR]

FOLDER is verilog-axi's folder rtl/ at commit 516bd5d; Icarus Verilog has to be installed. A system
is axi_cdma, axi_dma_wr and axi_dma_rd, each behind an axi_fifo or not, an axi_crossbar and two
axi_ram, or memories that answer late (delay_memory.v), with random parameters and descriptors from the seed. Prints a line per seed and ends with
status 1 when an instant differs. Needs the package as the tests do (PYTHONPATH=build/python).
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3]))

import lpn  # noqa: E402
from lpn.runs import prepare  # noqa: E402

lpn.load("dma")
from models.dma import parts  # noqa: E402

SOURCES = (
    "axi_cdma axi_dma_rd axi_dma_wr axi_fifo axi_fifo_rd axi_fifo_wr axi_crossbar axi_crossbar_rd "
    "axi_crossbar_wr axi_crossbar_addr axi_ram axi_register_rd axi_register_wr arbiter "
    "priority_encoder"
).split()
ADDRESS_BITS = 17  # of the systems' memory
# Bits of what goes with an address.
ADDRESS = {"addr": ADDRESS_BITS, "len": 8, "size": 3, "burst": 2, "lock": 1, "cache": 4, "prot": 3}
READ = [f"ar{s}" for s in ("id", *ADDRESS, "valid", "ready")]
READ += [f"r{s}" for s in ("id", "data", "resp", "last", "valid", "ready")]
WRITE = [f"aw{s}" for s in ("id", *ADDRESS, "valid", "ready")]
WRITE += [f"w{s}" for s in ("data", "strb", "last", "valid", "ready")]
WRITE += [f"b{s}" for s in ("id", "resp", "valid", "ready")]
READ_DRIVEN = [s for s in READ if s.startswith("ar") and s != "arready"] + ["rready"]
WRITE_DRIVEN = [s for s in WRITE if s[:2] == "aw" and s != "awready"]
WRITE_DRIVEN += ["wdata", "wstrb", "wlast", "wvalid", "bready"]
ZEROS = {"id": "8'd0", "dest": "8'd0", "user": "1'b0"}
SHOWN = re.compile(r"(desc|stream|status)\d|[mt]\d\.(ar|aw|w|r|b)")  # what verilog() prints
LIMIT = 40_000  # clocks
QUIET = 1_000  # clocks without a handshake after which nothing comes


def system(seed, delay=False):
    """The parameters and descriptors of a system; `delay`: its memories answer late."""
    r = random.Random(seed)
    longest = r.choice([40, 300, 1500])

    def address():
        return r.choice([0, 65536]) + r.randint(0, 60000 - longest)

    def descriptors():
        count = r.randint(1, 6)
        return [(address(), address(), r.randint(1, longest)) for _ in range(count)]

    def fifo():
        depths = r.choice([4, 8, 32, 512]), r.choice([4, 8, 32, 512])
        return (*depths, r.randint(0, 1), r.randint(0, 1)) if r.random() < 0.7 else None

    threads, accept = r.choice([1, 2, 4]), r.choice([1, 2, 16])
    given = {
        "bits": r.choice([32, 32, 64, 128]),
        "burst": r.choice([1, 2, 4, 8, 16, 16, 64, 256]),
        "unaligned": r.choice([0, 1, 1]),
        "descriptors": [descriptors() for _ in range(3)],
        "source": r.choice([(1, 1), (1, 2), (3, 7)]),
        "sink": r.choice([(1, 1), (1, 2), (3, 7), (1, 5)]),
        "fifos": [fifo() for _ in range(3)],
        "pipeline": [r.randint(0, 1), r.randint(0, 1)],
        "threads": min(threads, accept),
        "accept": accept,
        "issue": r.choice([1, 2, 3, 4]),
        "registers": {
            "s_ar": r.randint(0, 2),
            "s_aw": r.randint(0, 2),
            "s_w": r.randint(0, 2),
            "s_r": r.randint(1, 2),
            "s_b": r.randint(1, 2),
        },
    }
    latencies = [r.choice([1, 2, 5, 12, 40, r.randint(1, 200)]) for _ in range(2)]
    return {**given, "latencies": latencies if delay else None}


def stream_words(given):
    """(last, strobe) of every word of the packets for axi_dma_wr."""
    width = given["bits"] // 8
    words = []
    for _, _, length in given["descriptors"][1]:
        whole, rest = divmod(length - 1, width)
        words += [(0, (1 << width) - 1)] * whole + [(1, (1 << rest + 1) - 1)]
    return words


# ---- The RTL -------------------------------------------------------------------------------------


def port_wires(name, bits, id_bits, address_bits=ADDRESS_BITS):
    lines = []
    for letters in ("ar", "aw"):
        address = {**ADDRESS, "addr": address_bits}.items()
        for signal, width in [("id", id_bits), *address, ("valid", 1), ("ready", 1)]:
            lines.append(f"wire [{width - 1}:0] {name}_{letters}{signal};")
    for signal, width in (
        *((s, bits) for s in ("wdata", "rdata")),
        ("wstrb", bits // 8),
        *((s, id_bits) for s in ("rid", "bid")),
        *((s, 2) for s in ("rresp", "bresp")),
        *((f"{c}{s}", 1) for c in "wr" for s in ("last", "valid", "ready")),
        *((s, 1) for s in ("bvalid", "bready")),
    ):
        lines.append(f"wire [{width - 1}:0] {name}_{signal};")
    return lines


def joined(side, name, signals=READ + WRITE):
    return ", ".join(f".{side}_axi_{signal}({name}_{signal})" for signal in signals)


def tied(prefix, signals, width):
    return "".join(f", .{prefix}_axi_{s}({{{width}{{1'b0}}}})" for s in signals)


def verilog(given):
    """The module `top`: prints NAME CLOCK for every handshake."""
    bits, out = given["bits"], ["`timescale 1ns/1ps", "module top;"]
    out += ["reg clk = 0, rst = 1, started = 0; integer cyc = -100; always #5 clk = ~clk;"]
    out += ["always @(posedge clk) begin cyc <= cyc + 1; if (cyc == -1) started <= 1; end"]
    out += ["initial #195 rst = 0;", f"initial #{10 * (LIMIT + 100)} $finish;"]
    for name in ("m0", "m1", "m2", "f0", "f1", "f2"):
        out += port_wires(name, bits, 4)
    for name in ("t0", "t1"):
        out += port_wires(name, bits, 8)
    out += movers(given)
    # The end: long after the last status.
    count = sum(map(len, given["descriptors"]))
    out += [f"integer left = {count}, quiet = 0; always @(posedge clk) begin"]
    out += ["left <= left - st0 - st1 - st2; quiet <= quiet + (left == 0);"]
    out += [f"if (quiet == {QUIET}) $finish; end"]
    for k, fifo in enumerate(given["fifos"]):
        if fifo is None:
            out += [f"assign f{k}_{s} = m{k}_{s};" for s in READ_DRIVEN + WRITE_DRIVEN]
            back = set(READ + WRITE) - set(READ_DRIVEN + WRITE_DRIVEN)
            out += [f"assign m{k}_{s} = f{k}_{s};" for s in sorted(back)]
            continue
        values = dict(zip(("WRITE_FIFO_DEPTH", "READ_FIFO_DEPTH"), fifo))
        values.update(zip(("WRITE_FIFO_DELAY", "READ_FIFO_DELAY"), fifo[2:]))
        values.update(DATA_WIDTH=bits, ADDR_WIDTH=17, ID_WIDTH=4)
        more = tied("s", ("awqos", "awregion", "arqos", "arregion"), 4)
        more += tied("s", ("awuser", "wuser", "aruser"), 1) + tied("m", ("buser", "ruser"), 1)
        joins = f"{joined('s', f'm{k}')}, {joined('m', f'f{k}')}{more}"
        out.append(instance("axi_fifo", values, f"fifo{k}", joins))
    out += crossbar(given)
    for name in ("m0", "m1", "m2", "t0", "t1"):
        for letters in ("ar", "aw", "w", "r", "b"):
            both = f"started && {name}_{letters}valid && {name}_{letters}ready"
            out.append(shown(both, f"{name}.{letters}"))
    return "\n".join([*out, "endmodule", ""])


def instance(module, parameters, name, joins):
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    return f"{module} #({values}) {name} (.clk(clk), .rst(rst), {joins});"


def shown(condition, name):
    return f'always @(posedge clk) if ({condition}) $display("{name} %0d", cyc);'


def movers(given):
    bits, out = given["bits"], []
    for k, descriptors in enumerate(given["descriptors"]):
        n = len(descriptors)
        out.append(f"reg [16:0] ra{k}[0:{n}], wa{k}[0:{n}]; reg [19:0] le{k}[0:{n}];")
        out.append(f"integer i{k} = 0; wire dr{k}, st{k}; wire dv{k} = started && i{k} < {n};")
        for j, (read, write, length) in enumerate(descriptors):
            out.append(
                f"initial begin ra{k}[{j}]={read}; wa{k}[{j}]={write}; le{k}[{j}]={length}; end"
            )
        out.append(f"always @(posedge clk) if (dv{k} && dr{k}) i{k} <= i{k} + 1;")
        out += [shown(f"dv{k} && dr{k}", f"desc{k}"), shown(f"st{k}", f"status{k}")]
    values = {
        "AXI_DATA_WIDTH": bits,
        "AXI_ADDR_WIDTH": 17,
        "AXI_ID_WIDTH": 4,
        "AXI_MAX_BURST_LEN": given["burst"],
        "ENABLE_UNALIGNED": given["unaligned"],
    }

    def desc(prefix, k, addresses):
        pins = {f"{prefix}desc_{a}": f"{b}{k}[i{k}]" for a, b in addresses.items()}
        pins.update({f"{prefix}desc_len": f"le{k}[i{k}]", f"{prefix}desc_tag": "8'd0"})
        pins.update({f"{prefix}desc_valid": f"dv{k}", f"{prefix}desc_ready": f"dr{k}"})
        pins = {f"s_axis_{pin}": value for pin, value in pins.items()}
        pins.update({f"m_axis_{prefix}desc_status_valid": f"st{k}", "enable": "1'b1"})
        return ", ".join(f".{pin}({value})" for pin, value in pins.items())

    cdma = desc("", 0, {"read_addr": "ra", "write_addr": "wa"})
    out.append(instance("axi_cdma", values, "cdma", f"{cdma}, {joined('m', 'm0')}"))
    words, (n, d) = stream_words(given), given["source"]
    out.append(f"reg tl[0:{len(words)}]; reg [{bits // 8 - 1}:0] tk[0:{len(words)}];")
    out += [f"initial begin tl[{j}]={a}; tk[{j}]={b}; end" for j, (a, b) in enumerate(words)]
    out.append("integer wi = 0; reg held = 0; wire tready;")
    out.append(f"wire tvalid = started && wi < {len(words)} && (held || cyc % {d} < {n});")
    out.append("always @(posedge clk) if (tvalid) begin held <= !tready; wi <= wi + tready; end")
    out.append(shown("tvalid && tready", "stream1"))
    pins = {"tdata": f"{bits}'d0", "tkeep": "tk[wi]", "tvalid": "tvalid", "tready": "tready"}
    pins.update(tlast="tl[wi]", tid="8'd0", tdest="8'd0", tuser="1'b0")
    stream = ", ".join(f".s_axis_write_data_{pin}({value})" for pin, value in pins.items())
    joins = (
        f"{desc('write_', 1, {'addr': 'wa'})}, {stream}, .abort(1'b0), {joined('m', 'm1', WRITE)}"
    )
    out.append(instance("axi_dma_wr", values, "dma_wr", joins))
    out += [f"assign m1_{signal} = 0;" for signal in READ_DRIVEN]
    n, d = given["sink"]
    out.append(f"wire sv; wire sr = cyc % {d} < {n}; {shown('sv && sr', 'stream2')}")
    tags = ", ".join(f".s_axis_read_desc_{pin}({zero})" for pin, zero in ZEROS.items())
    stream = ".m_axis_read_data_tvalid(sv), .m_axis_read_data_tready(sr)"
    joins = f"{desc('read_', 2, {'addr': 'ra'})}, {tags}, {stream}, {joined('m', 'm2', READ)}"
    out.append(instance("axi_dma_rd", values, "dma_rd", joins))
    return out + [f"assign m2_{signal} = 0;" for signal in WRITE_DRIVEN]


def crossbar(given):
    def bundle(side, names):
        return ", ".join(
            f".{side}_axi_{s}({{{', '.join(f'{name}_{s}' for name in reversed(names))}}})"
            for s in READ + WRITE
        )

    values = {"S_COUNT": 3, "M_COUNT": 2, "DATA_WIDTH": given["bits"], "ADDR_WIDTH": 17}
    values.update(S_ID_WIDTH=4, M_ID_WIDTH=8, M_ADDR_WIDTH="{2{32'd16}}")
    values["S_THREADS"] = f"{{3{{32'd{given['threads']}}}}}"
    values["S_ACCEPT"] = f"{{3{{32'd{given['accept']}}}}}"
    values["M_ISSUE"] = f"{{2{{32'd{given['issue']}}}}}"
    for key, kind in given["registers"].items():
        values[f"{key.upper()}_REG_TYPE"] = f"{{3{{2'd{kind}}}}}"
    more = tied("s", ("awqos", "arqos"), 12) + tied("s", ("awuser", "wuser", "aruser"), 3)
    more += tied("m", ("buser", "ruser"), 2)
    joins = f"{bundle('s', ['f0', 'f1', 'f2'])}, {bundle('m', ['t0', 't1'])}{more}"
    out = [instance("axi_crossbar", values, "xbar", joins)]
    for k, pipeline in enumerate(given["pipeline"]):
        values = {"DATA_WIDTH": given["bits"], "ADDR_WIDTH": 17, "ID_WIDTH": 8}
        if given["latencies"]:
            module, values["LATENCY"] = "delay_memory", given["latencies"][k]
        else:
            module, values["PIPELINE_OUTPUT"] = "axi_ram", pipeline
        out.append(instance(module, values, f"ram{k}", joined("s", f"t{k}")))
    return out


def measured(given, sources, folder):
    """{channel: clocks} of the RTL."""
    top = folder / "top.v"
    top.write_text(verilog(given))
    files = [*(str(sources / f"{name}.v") for name in SOURCES), str(HERE / "delay_memory.v")]
    program = str(folder / "top.vvp")
    subprocess.run(["iverilog", "-g2005", "-s", "top", "-o", program, str(top), *files], check=True)
    text = subprocess.run(["vvp", program], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        name, _, clock = line.partition(" ")
        if clock.isdigit():
            found.setdefault(name, []).append(int(clock))
    return found


# ---- The net -------------------------------------------------------------------------------------


def offered(net, name, token, descriptors):
    """A Channel that offers these descriptors one after the other, from clock 0 on."""
    channel = parts.Channel(net, name, token)
    queue, turn = net.place(f"{name}.queue", token, init=descriptors), net.place(
        f"{name}.turn", init=1
    )
    net.transition(
        f"{name}.give", take={"t": queue, "turn": turn}, put=[channel.offer.forward("t")]
    )
    net.transition(f"{name}.next", take={"h": channel.taken}, put=[turn], delay=1, interval=1)
    return channel


def predicted(given):
    """({channel: clocks} of the net, whether it stalled)."""
    net = lpn.Net("system")
    bus = {
        "width": given["bits"] // 8,
        "max_burst": given["burst"],
        "unaligned": given["unaligned"],
    }
    status = [net.place(f"status{k}", done=True, sink=True) for k in range(3)]
    copies, writes, reads = given["descriptors"]
    moves = [{"read_addr": a, "write_addr": b, "len": n} for a, b, n in copies]
    ports = [parts.Port(net, "m0")]
    desc = offered(net, "desc0", parts.Copy, moves)
    parts.axi_cdma(net, "cdma", desc, ports[0], status[0], **bus)
    ports.append(parts.Port(net, "m1", read=False))
    source = parts.Channel(net, "stream1", parts.Word)
    packets = parts.words_of(net, source, given["source"])
    desc = offered(net, "desc1", parts.Move, [{"addr": b, "len": n} for _, b, n in writes])
    parts.axi_dma_wr(net, "dma_wr", desc, source, ports[1], status[1], **bus)
    ports.append(parts.Port(net, "m2", write=False))
    sink = parts.Channel(net, "stream2", parts.Word)
    desc = offered(net, "desc2", parts.Move, [{"addr": a, "len": n} for a, _, n in reads])
    parts.axi_dma_rd(net, "dma_rd", desc, ports[2], sink, status[2], **bus)
    parts.sink(net, "sink", sink, given["sink"])
    names = ("write_depth", "read_depth", "write_delay", "read_delay")
    for k, fifo in enumerate(given["fifos"]):
        if fifo is not None:
            ports[k] = parts.axi_fifo(net, f"fifo{k}", ports[k], **dict(zip(names, fifo)))
    limits = {key: given[key] for key in ("threads", "accept", "issue", "registers")}
    for k, port in enumerate(parts.axi_crossbar(net, "xbar", ports, 2, **limits)):
        if given["latencies"]:
            parts.delay_memory(net, f"ram{k}", port, given["latencies"][k])
        else:
            parts.axi_ram(net, f"ram{k}", port, output_register=given["pipeline"][k])
    work = lpn.Marking(net)
    for _, _, length in writes:
        work.add(packets.name, words=-(-length // bus["width"]))
    kept = [p for p in net.places if p.endswith(".seen")]
    seen = {p.removeprefix("xbar.").removesuffix(".seen"): p for p in kept}
    seen = {name: p for name, p in seen.items() if SHOWN.fullmatch(name)}
    seen.update((place.name, place.name) for place in status)
    run = prepare(net, work).run(collect=list(seen.values()), limit=LIMIT)
    return {name: list(run.collected[p][1]) for name, p in seen.items()}, run.stalled


def differences(rtl, net):
    """[(clock, channel, number, RTL's, net's)] of instants that are not the same, in order."""
    wrong = []
    for name in sorted(set(rtl) | set(net)):
        theirs, ours = rtl.get(name, []), net.get(name, [])
        for k in range(max(len(theirs), len(ours))):
            a, b = (times[k] if k < len(times) else None for times in (theirs, ours))
            if a != b:
                wrong.append((a if a is not None else b, name, k, a, b))
    return sorted(wrong, key=lambda entry: entry[:3])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--seeds", default="0..20")
    arguments.add_argument("--delay", action="store_true", help="memories that answer late")
    arguments.add_argument("--keep", type=Path, help="where top.v is left")
    asked = arguments.parse_args()
    first, _, last = asked.seeds.partition("..")
    instants = failed = hung = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        for seed in range(int(first), int(last or first) + 1):
            given = system(seed, asked.delay)
            rtl = measured(given, asked.folder, folder)
            net, stalled = predicted(given)
            wrong = differences(rtl, net)
            instants += sum(map(len, rtl.values()))
            done = all(
                len(rtl.get(f"status{k}", [])) == len(d) for k, d in enumerate(given["descriptors"])
            )
            goes_on = max(map(max, rtl.values())) > LIMIT - QUIET
            hung += not done and not goes_on
            failed += bool(wrong) or stalled == (done or goes_on)
            about = "ends" if done else f"goes on after {LIMIT} clocks" if goes_on else "hangs"
            print(
                f"seed {seed}: {about}; {len(wrong)} instants differ {wrong[:1] or ''}", flush=True
            )
    print(f"{instants} instants, {hung} systems hang in the RTL, {failed} systems differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
