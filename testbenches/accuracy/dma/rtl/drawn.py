"""Random runs of one block, of the kinds in ../shared/truth/axi and somewhat beyond them."""

import random

DESIGNS = ("axi_cdma", "axi_dma_wr", "axi_dma_rd", "axi_crossbar", "axi_fifo")
PAGE, REGION = 4096, 65536
LATENCIES = (1, 2, 3, 5, 12, 25, 40, 0)  # clocks; 0: any up to 600
SHORT = ("short", "medium", "page", "mixed")


def drawn(design, seed):
    """A run as models/dma reads it."""
    draw = random.Random(f"{design} {seed}")
    run = {"run": f"{design} seed {seed}", "design": design, "config": _memory(draw)}
    (_ports if design in ("axi_crossbar", "axi_fifo") else _mover)(draw, run)
    return run


def _memory(draw):
    if draw.random() < 0.5:
        return {"memory": "axi_ram", "ram_pipeline_output": draw.randint(0, 1)}
    latency = draw.choice(LATENCIES) or draw.randint(1, 600)
    return {"memory": "delay", "memory_latency": latency}


def _pattern(draw):
    if draw.random() < 0.5:
        return [1, 1]
    period = draw.choice([2, 3, 7, draw.randint(2, 40)])
    return [draw.randint(1, period), period]


def _mover(draw, run):
    bits = draw.choice([32, 32, 64, 64, 128, 128, 8, 16, 256, 512, 1024])
    width = bits // 8
    burst = draw.choice([1, 2, 4, 8, 16, 16, 64, 256, draw.randint(1, 256), draw.randint(1, 32)])
    run["config"].update(data_width=bits, max_burst_len=burst)
    run["config"]["enable_unaligned"] = int(draw.random() < 0.85)
    if run["design"] != "axi_cdma":
        run["config"]["stream_active"] = _pattern(draw)
    style = draw.choice(["short", "short", "medium", "long", "page", "page", "mixed"])
    if draw.random() < 0.01 and width > 8:
        style = "longest"
    if draw.random() < 0.15:  # many bursts in flight, up to what the mover and the memory hold
        run["config"].update(memory="delay", memory_latency=draw.randint(60, 400))
        run["config"].pop("ram_pipeline_output", None)
        run["config"]["max_burst_len"] = draw.choice([1, 1, 2, 3])
        style = draw.choice(["short", "medium", "flood"])
    aligned = draw.random() < 0.2
    waits = draw.choice([0, 0, 0.3, 1])
    gaps = draw.choice([[0], [0], [0, 1, 2, 3, 4, 5], [0, 0, 0, 60], [draw.randint(0, 300)]])
    count = draw.choice([1, 2, 5, 12, 40]) if style in SHORT else draw.randint(1, 5)

    def length(kind):
        words = {
            "short": lambda: draw.choice([1, 1, 2, 3, 4]),
            "medium": lambda: draw.randint(1, 40),
            "long": lambda: draw.randint(100, 1200),
            "page": lambda: draw.randint(1, 30),
            "flood": lambda: draw.randint(20, 150),
            "longest": lambda: 2**20 // width,
        }[kind]()
        return max(1, words * width - (0 if aligned else draw.randrange(width + 1)))

    def address(kind, base):
        at = base + draw.choice([0, draw.randrange(8) * PAGE])
        if kind == "page":
            at += PAGE - draw.randint(1, min(PAGE, 24 * width))
        else:
            at += draw.choice([0, draw.randrange(width), draw.randrange(PAGE)])
        return at - at % width if aligned else at

    run["descriptors"] = []
    for _ in range(count):
        kind = draw.choice(["short", "medium", "page"]) if style == "mixed" else style
        one = {"gap": draw.choice(gaps), "wait_previous": int(draw.random() < waits)}
        one.update(addr=address(kind, 0), len=min(length(kind), 2**20 - 1))
        if run["design"] == "axi_cdma":
            one["write_addr"] = address(draw.choice([kind, "short"]), 32768)
        run["descriptors"].append(one)


def _ports(draw, run):
    crossbar = run["design"] == "axi_crossbar"
    config = run["config"]
    config["data_width"] = draw.choice([32, 32, 64, 128])
    config["max_outstanding_per_master_and_direction"] = draw.choice([1, 2, 4, 4, 8, 8, 16, 40])
    config["rready_pattern"] = _pattern(draw)
    masters, targets = 1, 1
    if crossbar:
        masters = draw.choice([2, 2, 3, 3, 4, 4, 1, draw.randint(5, 16)])
        targets = draw.choice([2, 2, 3, 3, 1, draw.randint(4, 16)])
        threads = draw.choice([1, 2, 2, 2, 4, draw.randint(1, 16)])
        config.update(masters=masters, slaves=targets, s_threads=threads)
        config["s_accept"] = draw.choice([16, 16, 16, 1, 2, 3, 4, 7, draw.randint(1, 40)])
        config["m_issue"] = draw.choice([4, 4, 4, 1, 2, 3, 7, draw.randint(1, 20)])
        config["write_issue"] = draw.choice(["after previous W burst", "free"])
        if draw.random() < 0.4:
            config["registers"] = _registers(draw)
    else:
        config["write_depth"] = draw.choice([8, 16, 32, 32, 64, 512, 2, 4])
        config["read_depth"] = draw.choice([8, 16, 32, 32, 64, 512, 2, 4])
        config.update(write_delay=draw.randint(0, 1), read_delay=draw.randint(0, 1))
    kinds = draw.choice([("reads",), ("writes",), ("reads", "writes"), ("reads", "writes")])
    count = draw.choice([5, 8, 10, 14, 16, 30])
    longest = draw.choice([1, 4, 8, 16, 16, 130, 256])
    spread = draw.choice([0, 0, 0, 40, 400, 2000])
    hot = draw.random() < 0.25
    ids = draw.choice([1, 2, 4, 4, 16])
    run["masters"] = []
    for _ in range(masters):
        master = {"reads": [], "writes": []}
        for kind in kinds:
            times = sorted(draw.randint(0, spread) for _ in range(count))
            for t in times:
                target = 0 if hot and draw.random() < 0.8 else draw.randrange(targets)
                beats = draw.randint(1, longest)
                at = draw.randrange(0, REGION, PAGE) + draw.randrange(0, 1024, 64)
                master[kind].append(
                    {
                        "t": t,
                        "addr": target * REGION + at,
                        "beats": beats,
                        "id": draw.randrange(ids),
                    }
                )
        run["masters"].append(master)


def _registers(draw):
    keys = {"S_AW": 0, "S_W": 0, "S_AR": 0, "S_R": 1, "S_B": 1}
    names, parts = ("none", "simple", "skid"), {}
    for key, least in keys.items():
        if draw.random() < 0.6:
            parts.setdefault(names[draw.randint(least, 2)], []).append(key)
    return "; ".join(f"{kind} on {','.join(each)}" for kind, each in parts.items()) or "default"
