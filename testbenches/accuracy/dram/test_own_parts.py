"""Controllers that are files of one's own: other standards, ranks, channels, mappings, closed pages. Each
command is legal by the rules of the file, read here by themselves; none is given for nothing, and no request is lost.
"""

import random
import re
import tomllib
from collections import Counter
from math import ceil
from pathlib import Path

import pytest
from conftest import SLOW

lpn = pytest.importorskip("lpn")

from lpn.runs import prepare  # noqa: E402
from models.dram.trace import Trace  # noqa: E402

MODEL = lpn.load("dram")
FOLDER = Path(MODEL.module.__file__).parent

DDR3 = """base = "ddr3"
[organisations]
full = { rank = RANKS, bank = 8 }
[controller]
page = "PAGE"
request_bytes = 64
address = [["column", 7], ["rank", BITS], ["bank", 3], ["row", 12]]
[parameters]
CL = 10
burst = 4
tREFI = 1500
"""
PARTS = {
    "ddr3": DDR3.replace("RANKS", "1").replace("BITS", "0").replace("PAGE", "open"),
    "ddr3 of four ranks": DDR3.replace("RANKS", "4").replace("BITS", "2").replace("PAGE", "open"),
    "ddr3, closed pages": DDR3.replace("RANKS", "2").replace("BITS", "1").replace("PAGE", "closed"),
    "lpddr4, closed pages": """base = "controllers/lpddr4"
[controller]
page = "closed"
""",
    "hbm2, closed pages": """base = "controllers/hbm2"
[controller]
page = "closed"
""",
    "hbm2, one command": """base = "controllers/hbm2"
[controller]
dual_command = false
""",
    "ddr4 of four channels": """base = "controllers/ddr4"
[controller]
channels = 4
address = [["column", 2], ["channel", 2], ["bank_group", 2], ["bank", 2], ["rank", 1], ["row", 14]]
[parameters]
tREFI = 3000
""",
    "ddr4, hashed banks": """base = "controllers/ddr4"
[controller]
hash = [["bank", "row", 0], ["bank_group", "row", 2], ["bank_group", "column", 0]]
""",
    "ddr4, short queues": """base = "controllers/ddr4"
[controller]
read_queue = 3
write_buffer = 5
drain_idle = 2
row_accesses = 1
""",
    "slow ddr4": """base = "controllers/ddr4"
[parameters]
tRRD_L = 30
tRRD_S = 11
tFAW = 90
tRTRS = 9
tWTR_L = 70
tREFI = 1800
""",
}


def tables(text):
    """The file with what its base says filled in."""
    data = tomllib.loads(text)
    base = data.pop("base", None)
    if base is None:
        return data
    file = FOLDER / f"{base}.toml"
    file = file if file.is_file() else FOLDER / "standards" / f"{base}.toml"
    found = tables(file.read_text())
    for key, value in data.items():
        found[key] = {**found.get(key, {}), **value} if isinstance(value, dict) else value
    return found


class Rules:
    """The least distances of a file, as it says them."""

    def __init__(self, data):
        self.levels, names = data["coordinate"], data["parameters"]
        self.rows = []
        for scope, rows in data["rules"].items():
            for first, second, formula, *_ in rows:
                cycles = ceil(eval(formula, {"max": max}, names))
                self.rows.append((scope, first.split(), second.split(), cycles))
        [window] = data["windows"].values()
        self.slots, self.window = window["slots"], eval(window["cycles"], {}, names)

    def least(self, first, second):
        """Cycles between two commands (name, coordinate); -1 is a whole level."""
        found = 0
        for scope, before, after, cycles in self.rows:
            if (
                first[0] in before
                and second[0] in after
                and self.within(scope, first[1], second[1])
            ):
                found = max(found, cycles)
        return found

    def within(self, scope, a, b):
        if scope in ("same", "any"):
            return scope == "any" or a == b
        if scope.startswith("other_"):
            return a[0] != b[0]
        depth = self.levels.index(scope) + 1
        return a[:depth] == b[:depth] and (depth == 1 or a[depth - 1] != -1)


def commands_of(net, run, levels):
    """{channel: [(cycle, command, coordinate)]} of a traced run."""
    names, found = list(net.transitions), {}
    for commit in run.trace:
        name = names[commit.transition]
        match = re.fullmatch(r"(channel\d+\.)?(ACT|PRE|RDA?|WRA?)\.([a-z\d.]+)", name)
        refresh = re.fullmatch(r"(channel\d+\.)?REF(\d+)", name)
        if match:
            where = tuple(int(re.sub(r"\D", "", part)) for part in match[3].split("."))
            found.setdefault(match[1], []).append((commit.time // 4, match[2], where))
        elif refresh:
            where = (int(refresh[2]), *[-1] * (levels - 1))
            found.setdefault(refresh[1], []).append((commit.time // 4, "REF", where))
    return found


def check_legal(rules, commands, twice):
    """One command a cycle, or an access and another; distances, windows, rows."""
    open_rows, slots = set(), {}
    commands = sorted(commands, key=lambda c: c[0])
    per_cycle = Counter(at for at, *_ in commands)
    assert max(per_cycle.values()) <= 1 + twice
    for k, (at, name, where) in enumerate(commands):
        for before, other, there in commands[max(0, k - 150) : k]:
            least = rules.least((other, there), (name, where))
            assert at - before >= least, f"{other} {there} {before}, {name} {where} {at}: {least}"
        if name == "ACT":
            assert where not in open_rows
            open_rows.add(where)
            last = slots.setdefault(where[0], [])
            if len(last) >= rules.slots:
                assert at - last[-rules.slots] >= rules.window
            last.append(at)
        elif name == "REF":
            assert not any(bank[0] == where[0] for bank in open_rows)
        else:
            assert where in open_rows, f"{name} {where} {at}: the bank is idle"
            if name in ("PRE", "RDA", "WRA"):
                open_rows.remove(where)


def requests(draw, made, number):
    """Arrivals, blocks and directions: one of some patterns."""
    pattern = draw.choice(["random", "hot", "stream"])
    rows = [draw.randrange(made.blocks) for _ in range(draw.choice([2, 8, 40]))]
    arrive, block, at = [], [], 0
    for k in range(number):
        at += draw.randrange(draw.choice([1, 4, 30]) + 1)
        arrive.append(at)
        found = {
            "random": draw.randrange(made.blocks),
            "hot": draw.choice(rows) ^ draw.randrange(8),
            "stream": (rows[0] + k) % made.blocks,
        }
        block.append(found[pattern])
    share = draw.choice([0, 0.3, 0.5])
    return arrive, block, [draw.random() < share for _ in block]


@pytest.mark.parametrize("name", PARTS)
def test_commands_are_legal_and_no_request_is_lost(tmp_path, name):
    path = tmp_path / "mine.toml"
    path.write_text(PARTS[name])
    data = tables(PARTS[name])
    rules = Rules(data)
    for seed in range(12 if SLOW else 2):
        draw = random.Random(f"{name} {seed}")
        trace = Trace(name, str(path), [], [], [])
        made = trace.standard
        trace.arrive, trace.block, trace.writes = requests(draw, made, 400 if SLOW else 150)
        net = MODEL.module.net_of(trace)
        run = lpn.simulate(net, trace.marking(net), engine="interp", trace=True)
        assert run.ending == "done" and not run.stalled
        found = commands_of(net, run, len(made.levels))
        assert sum(map(len, found.values())) > 5  # many requests may be of one block
        for commands in found.values():
            check_legal(rules, commands, bool(data["controller"].get("dual_command")))
        _, accept, done = trace.times(prepare(MODEL, trace, engine="interp"))
        assert None not in accept and None not in done
        latency = made.cycles("CL + burst")
        alone = [trace.block.count(block) == 1 for block in trace.block]
        for k, (arrives, taken, ended) in enumerate(zip(trace.arrive, accept, done)):
            assert arrives <= taken < ended, k
            assert trace.writes[k] or not alone[k] or ended - taken > latency, k
