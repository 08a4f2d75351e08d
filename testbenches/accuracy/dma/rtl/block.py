"""One block in Verilog, in the bench of ../shared/truth/axi/README.md, written from its description:
what `models/dma/movers_bench.py` and `port_bench.py` are as nets.
"""

import subprocess

from compose import (
    HERE,
    READ,
    READ_DRIVEN,
    SOURCES,
    WRITE,
    WRITE_DRIVEN,
    ZEROS,
    instance,
    joined,
    port_wires,
    tied,
)

ADDRESS_BITS = 32
RAM_BITS = 16  # of its address; the bits above do not count there
MASTER_ID, TARGET_ID = 4, 8  # bits
# Clocks without a handshake, beside the longest wait of a run, after which nothing comes.
QUIET = 1100
FIELDS = {  # of a token of each channel
    "ar": ("addr", "beats", "id"),
    "aw": ("addr", "beats", "id"),
    "w": ("last",),
    "r": ("last", "id"),
    "b": ("id",),
    "desc": (),
    "stream": ("last",),
}
PORT = ("ar", "r", "aw", "w", "b")


def kept(name, letters, place):
    """Says each handshake of a channel of an AXI port."""
    port = f"{name}_{letters}"
    values = [f"{port}{field}" for field in FIELDS[letters]]
    values = [value.replace("beats", "len + 9'd1") for value in values]
    return said(f"{port}valid && {port}ready", f"{place}.{letters}.seen", values)


def said(condition, place, values=()):
    """Prints @ PLACE CLOCK VALUES in the clocks in which the condition holds."""
    text, more = " %0d" * (1 + len(values)), "".join(f", {value}" for value in values)
    return (
        f"always @(posedge clk) if (started && ({condition})) begin heard = cyc; "
        f'$display("@ {place}{text}", cyc{more}); end'
    )


def bench(run):
    """The module `top` of a checked run; ends QUIET clocks after the last handshake, or the wait
    for the next."""
    movers = "descriptors" in run
    given = (
        run["descriptors"] if movers else [b for m in run["masters"] for k in m.values() for b in k]
    )
    longest = max(each.get("gap", each.get("t", 0)) for each in given)
    longest += run["config"]["memory_latency"]
    out = ["`timescale 1ns/1ps", "module top;"]
    out += [
        "reg clk = 0, rst = 1, started = 0; integer cyc = -100, heard = 0; always #5 clk = ~clk;"
    ]
    out += ["always @(posedge clk) begin cyc <= cyc + 1; if (cyc == -1) started <= 1;"]
    out += [f"if (cyc - heard > {QUIET + longest}) $finish; end"]
    out += ["initial #195 rst = 0;"]
    out += _mover(run) if movers else _ports(run)
    return "\n".join([*out, "endmodule", ""])


def _memory(run, name, port, signals):
    """The memory that the config names, at `port`; its signals that nobody drives are 0."""
    config = run["config"]
    values = {"DATA_WIDTH": config["data_width"], "ID_WIDTH": TARGET_ID}
    if config["memory"] == "delay":
        values.update(ADDR_WIDTH=32, LATENCY=config["memory_latency"])
        return instance("delay_memory", values, name, joined("s", port, signals))
    values.update(ADDR_WIDTH=RAM_BITS, PIPELINE_OUTPUT=config["ram_pipeline_output"])
    return instance("axi_ram", values, name, joined("s", port, signals))


# ---- Movers --------------------------------------------------------------------------------------


def _mover(run):
    design, config = run["design"], run["config"]
    bits, count = config["data_width"], len(run["descriptors"])
    out = [f"reg [31:0] ra[0:{count}], wa[0:{count}]; reg [19:0] le[0:{count}];"]
    out += [f"integer gap[0:{count}]; reg after[0:{count}];"]
    for k, each in enumerate(run["descriptors"]):
        out.append(
            f"initial begin ra[{k}] = {each['addr']}; wa[{k}] = {each['write_addr']}; "
            f"le[{k}] = {each['len']}; gap[{k}] = {each['gap']}; "
            f"after[{k}] = {each['wait_previous']}; end"
        )
    # `since`: the clock behind the last acceptance, or status where that is waited for.
    out += ["integer k = 0, ended = 0, since = 0, told = 0; wire dr, st;"]
    out += [f"wire dv = started && k < {count} && (!after[k] || ended >= k)"]
    out += ["    && cyc >= gap[k] + (after[k] && told > since ? told : since);"]
    out += ["always @(posedge clk) begin if (dv && dr) begin k <= k + 1; since <= cyc + 1; end"]
    out += ["if (st) begin ended <= ended + 1; told <= cyc + 1; end end"]
    out += [said("dv && dr", "desc.seen"), said("st", "done")]
    out += port_wires("m", bits, TARGET_ID, ADDRESS_BITS)
    values = {
        "AXI_DATA_WIDTH": bits,
        "AXI_ADDR_WIDTH": 32,
        "AXI_ID_WIDTH": TARGET_ID,
        "AXI_MAX_BURST_LEN": config["max_burst_len"],
        "ENABLE_UNALIGNED": config["enable_unaligned"],
    }
    prefix = {"axi_cdma": "", "axi_dma_rd": "read_", "axi_dma_wr": "write_"}[design]
    pins = {"addr": "ra[k]"} if prefix else {"read_addr": "ra[k]", "write_addr": "wa[k]"}
    pins.update(len="le[k]", tag="8'd0", valid="dv", ready="dr")
    joins = [f".s_axis_{prefix}desc_{pin}({value})" for pin, value in pins.items()]
    joins += [f".m_axis_{prefix}desc_status_valid(st)", ".enable(1'b1)"]
    reads, writes = design != "axi_dma_wr", design != "axi_dma_rd"
    joins.append(joined("m", "m", READ * reads + WRITE * writes))
    if not reads:
        out += [f"assign m_{signal} = 0;" for signal in READ_DRIVEN]
    if not writes:
        out += [f"assign m_{signal} = 0;" for signal in WRITE_DRIVEN]
    n, d = config["stream_active"]
    if design == "axi_dma_rd":
        joins += [f".s_axis_read_desc_{pin}({zero})" for pin, zero in ZEROS.items()]
        joins += [".m_axis_read_data_tvalid(sv), .m_axis_read_data_tready(sr)"]
        joins += [".m_axis_read_data_tlast(sl)"]
        out += [f"wire sv, sl; wire sr = cyc % {d} < {n};", said("sv && sr", "stream.seen", ["sl"])]
    if design == "axi_dma_wr":
        out += _stream(run["descriptors"], bits, n, d)
        pins = {"tdata": f"{bits}'d0", "tkeep": "keep", "tvalid": "sv", "tready": "sr"}
        pins.update(tlast="sl", tid="8'd0", tdest="8'd0", tuser="1'b0")
        joins += [f".s_axis_write_data_{pin}({value})" for pin, value in pins.items()]
        joins += [".abort(1'b0)"]
    out.append(instance(design, values, "dut", ", ".join(joins)))
    out += [kept("m", letters, "m") for letters in PORT[:2] * reads + PORT[2:] * writes]
    return out + [_memory(run, "memory", "m", READ + WRITE)]


def _stream(descriptors, bits, n, d):
    """A packet for each descriptor, word after word, a new one in cycles with cycle mod d < n."""
    width, count = bits // 8, len(descriptors)
    out = [f"integer packet = 0, sent = 0; integer bytes[0:{count}]; reg held = 0; wire sr;"]
    out += [f"initial bytes[{k}] = {each['len']};" for k, each in enumerate(descriptors)]
    out += [f"wire sv = started && packet < {count} && (held || cyc % {d} < {n});"]
    out += [f"wire sl = sent + {width} >= bytes[packet];"]
    out += [
        f"wire [{width - 1}:0] keep = {{{width}{{1'b1}}}} >> (sl ? sent + {width} - bytes[packet] : 0);"
    ]
    out += ["always @(posedge clk) if (sv) begin held <= !sr; if (sr) begin"]
    out += [f"sent <= sl ? 0 : sent + {width}; packet <= packet + sl; end end"]
    return out + [said("sv && sr", "stream.seen", ["sl"])]


# ---- FIFO and crossbar ---------------------------------------------------------------------------


def _ports(run):
    config, crossbar = run["config"], run["design"] == "axi_crossbar"
    bits, masters = config["data_width"], len(run["masters"])
    out, id_bits = [], TARGET_ID if crossbar else MASTER_ID
    for m, given in enumerate(run["masters"]):
        out += port_wires(f"m{m}", bits, MASTER_ID, ADDRESS_BITS)
        out += _master(f"m{m}", m, given, config)
        out += [kept(f"m{m}", letters, f"m{m}") for letters in PORT]
    targets = config["slaves"] if crossbar else 1
    for t in range(targets):
        out += port_wires(f"t{t}", bits, id_bits, ADDRESS_BITS)
        place = f"xbar.t{t}" if crossbar else "fifo.m"
        out += [kept(f"t{t}", letters, place) for letters in PORT]
        memory = _memory(run, f"memory{t}", f"t{t}", READ + WRITE)
        out.append(memory.replace(f".ID_WIDTH({TARGET_ID})", f".ID_WIDTH({id_bits})"))
    if not crossbar:
        values = {
            "WRITE_FIFO_DEPTH": config["write_depth"],
            "READ_FIFO_DEPTH": config["read_depth"],
            "WRITE_FIFO_DELAY": config["write_delay"],
            "READ_FIFO_DELAY": config["read_delay"],
            "DATA_WIDTH": bits,
            "ADDR_WIDTH": 32,
            "ID_WIDTH": MASTER_ID,
        }
        more = tied("s", ("awqos", "awregion", "arqos", "arregion"), 4)
        more += tied("s", ("awuser", "wuser", "aruser"), 1) + tied("m", ("buser", "ruser"), 1)
        joins = f"{joined('s', 'm0')}, {joined('m', 't0')}{more}"
        return [*out, instance("axi_fifo", values, "fifo", joins)]
    values = {
        "S_COUNT": masters,
        "M_COUNT": targets,
        "DATA_WIDTH": bits,
        "ADDR_WIDTH": 32,
        "S_ID_WIDTH": MASTER_ID,
        "M_ID_WIDTH": TARGET_ID,
        "M_ADDR_WIDTH": f"{{{targets}{{32'd16}}}}",
        "S_THREADS": f"{{{masters}{{32'd{config['s_threads']}}}}}",
        "S_ACCEPT": f"{{{masters}{{32'd{config['s_accept']}}}}}",
        "M_ISSUE": f"{{{targets}{{32'd{config['m_issue']}}}}}",
    }
    for key, kind in _registers(config["registers"]).items():
        side = masters if key[0] == "S" else targets
        values[f"{key}_REG_TYPE"] = f"{{{side}{{2'd{kind}}}}}"
    more = tied("s", ("awqos", "arqos"), 4 * masters)
    more += tied("s", ("awuser", "wuser", "aruser"), masters) + tied(
        "m", ("buser", "ruser"), targets
    )
    joins = ", ".join(_bundle("s", "m", masters) + _bundle("m", "t", targets)) + more
    return [*out, instance("axi_crossbar", values, "xbar", joins)]


def _bundle(side, letter, count):
    def every(signal):
        return ", ".join(f"{letter}{k}_{signal}" for k in reversed(range(count)))

    return [f".{side}_axi_{signal}({{{every(signal)}}})" for signal in READ + WRITE]


def _registers(text):
    if text == "default":
        return {}
    types = {}
    for part in text.split(";"):
        kind, _, keys = part.strip().partition(" on ")
        for key in keys.split(","):
            types[key.strip()] = ("none", "simple", "skid").index(kind)
    return types


def _master(name, number, given, config):
    """Offers its bursts in order, AW when the last W of the one before was taken or at once."""
    reads, writes = given["reads"], given["writes"]
    most, (n, d) = config["max_outstanding_per_master_and_direction"], config["rready_pattern"]
    free = int(config.get("write_issue") == "free")
    out = []
    for kind, bursts in (("ar", reads), ("aw", writes)):
        p, count = f"{name}{kind}", len(bursts)
        out += [f"integer {p}_t[0:{count}], {p}_n[0:{count}];"]
        out += [f"reg [31:0] {p}_a[0:{count}]; reg [3:0] {p}_i[0:{count}];"]
        for k, b in enumerate(bursts):
            out.append(
                f"initial begin {p}_t[{k}] = {max(1, b['t'])}; {p}_n[{k}] = {b['beats']}; "
                f"{p}_a[{k}] = {b['addr']}; {p}_i[{k}] = {b['id']}; end"
            )
        out += [f"integer {p}_k = 0, {p}_ended = 0;"]
        earlier = f" && ({free} || {name}w_done >= {p}_k)" if kind == "aw" else ""
        if kind == "aw":
            out += [f"integer {name}w_done = 0, {name}w_sent = 0;"]
        out += [f"assign {name}_{kind}valid = started && {p}_k < {count} && cyc >= {p}_t[{p}_k]"]
        out += [f"    && {p}_k - {p}_ended < {most}{earlier};"]
        out += [f"assign {name}_{kind}addr = {p}_a[{p}_k], {name}_{kind}id = {p}_i[{p}_k],"]
        out += [f"    {name}_{kind}len = {p}_n[{p}_k] - 1, {name}_{kind}burst = 1;"]
        size = (config["data_width"] // 8).bit_length() - 1
        out += [f"assign {name}_{kind}size = {size}, {name}_{kind}lock = 0,"]
        out += [f"    {name}_{kind}cache = 0, {name}_{kind}prot = 0;"]
        taken = f"{name}_{kind}valid && {name}_{kind}ready"
        out += [f"always @(posedge clk) if ({taken}) {p}_k <= {p}_k + 1;"]
    out += [f"assign {name}_rready = started && (cyc + {number}) % {d} < {n}, {name}_bready = 1;"]
    out += [f"always @(posedge clk) if ({name}_rvalid && {name}_rready && {name}_rlast)"]
    out += [f"    {name}ar_ended <= {name}ar_ended + 1;"]
    out += [f"always @(posedge clk) if ({name}_bvalid) {name}aw_ended <= {name}aw_ended + 1;"]
    out += [f"assign {name}_wvalid = started && {name}w_done < {len(writes)} && ({name}w_done"]
    out += [f"    < {name}aw_k || {name}w_done == {name}aw_k && {name}_awvalid);"]
    out += [f"assign {name}_wlast = {name}w_sent == {name}aw_n[{name}w_done] - 1;"]
    out += [f"assign {name}_wdata = 0, {name}_wstrb = -1;"]
    out += [f"always @(posedge clk) if ({name}_wvalid && {name}_wready) begin {name}w_sent <= "]
    out += [f"    {name}_wlast ? 0 : {name}w_sent + 1; {name}w_done <= {name}w_done"]
    return out + [f"    + {name}_wlast; end"]


# ---- Running -------------------------------------------------------------------------------------


def measured(run, sources, folder):
    """{place of the net: [(clock, (value, ...))]}: every handshake in the RTL of a checked run."""
    top, program = folder / "top.v", str(folder / "top.vvp")
    top.write_text(bench(run))
    files = [str(sources / f"{name}.v") for name in SOURCES]
    files += [str(top), str(HERE / "delay_memory.v")]
    command = ["iverilog", "-g2005", "-s", "top", "-o", program, *files]
    subprocess.run(command, check=True, capture_output=True)
    text = subprocess.run(["vvp", program], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        if line.startswith("ERROR"):
            raise ValueError(f"{run}: {line}")
        if line.startswith("@ "):  # beside what the RTL tells of itself
            _, name, *numbers = line.split()
            clock, *values = map(int, numbers)
            found.setdefault(name, []).append((clock + (name == "done"), tuple(values)))
    return found
