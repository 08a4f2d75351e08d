"""Random traces through the controllers' nets and through DRAMsim3: do they differ?

    PYTHONPATH=build/python:. /usr/bin/python3 testbenches/accuracy/dram/differences.py \\
        --simulator FOLDER [--seed 1] [--traces 500] [--engine interp|compiled] [--part NAME]... [--queues]

--part: a controller of ours, or a configuration file of the simulator's. --queues: read queue, write buffer and banks' queues have other numbers of entries in each trace. FOLDER is a
checkout of DRAMsim3 (commit 2981759). Compared are the cycle of acceptance and of completion of each
request; of requests of one block and direction the completions in order, since the simulator does
not say which of them one is of. Where it hangs, the net has to say so. Each difference is printed
with the seed that makes it again, and the exit status is then 1.
"""

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import lpn
from lpn.runs import prepare
from simulator import CONFIGS, Simulator

from models.dram.trace import Trace

MODEL = lpn.load("dram")
LENGTHS = (60, 300, 1500)
KINDS = ("random", "hot", "rows", "stream", "shared", "bank", "stride")


class Blocks:
    """Draws blocks of a memory: a kind of pattern, or all kinds in turn."""

    def __init__(self, draw, blocks):
        self.draw, self.blocks = draw, blocks
        self.kind = draw.choice([*KINDS, None])
        self.some = [draw.randrange(blocks) for _ in range(draw.choice([1, 2, 4, 16, 64]))]
        self.columns = draw.choice([4, 32, 128])
        self.few = draw.choice([2, 8, 64])
        self.stride = draw.choice([2, 8, 64, 128, 1024, 4096, 2**17, 2**20])
        self.at = draw.randrange(blocks)

    def next(self):
        draw, kind = self.draw, self.kind or self.draw.choice(KINDS)
        if kind in ("stream", "stride"):
            self.at += self.stride if kind == "stride" else 1
        block = {
            "random": lambda: draw.randrange(self.blocks),
            "hot": lambda: draw.choice(self.some) + draw.randrange(4),
            "rows": lambda: draw.choice(self.some) // self.columns * self.columns
            + draw.randrange(self.columns),
            "shared": lambda: self.some[0] // 64 * 64 + draw.randrange(self.few),
            "bank": lambda: draw.randrange(2**9) << 17
            | self.some[0] & 0x1FF80
            | draw.randrange(128),
        }.get(kind, lambda: self.at)()
        return block % self.blocks


def drawn(seed, part):
    """A Trace."""
    draw = random.Random(seed)
    part = draw.choice(part or sorted(CONFIGS))
    blocks = Blocks(draw, Trace("size", part, [], [], []).standard.blocks)
    writing, burst = draw.choice([0, 0.05, 0.3, 0.5, 0.9, 1]), draw.choice([1, 1, 8, 64, 500])
    gap = draw.choice([0, 0, 1, 2, 4, 10, 30, 100, 2000])
    trace = Trace(f"seed {seed}", part, [], [], [])
    now, way = 0, False
    for number in range(draw.choice(LENGTHS)):
        if number % burst == 0 or draw.random() < 0.1:
            way = draw.random() < writing
        now += draw.randrange(2 * gap + 1) if draw.random() < 0.5 else 0
        now += draw.choice([50, 500, 5000, 50000]) if draw.random() < 0.002 else 0
        trace.arrive.append(now)
        trace.block.append(blocks.next())
        trace.writes.append(way)
    return trace


def queued(trace, seed, folder):
    """The trace with queues of another length, a file in the folder."""
    draw = random.Random(f"queues {seed}")
    entries, of_bank = draw.choice([1, 2, 4, 9, 12, 24, 48, 100]), draw.choice(
        [1, 2, 3, 5, 8, 16, 21]
    )
    file = Path(folder) / f"{trace.part}.toml"
    file.write_text(
        f'base = "controllers/{trace.part}"\n[controller]\nread_queue = {entries}\n'
        f"write_buffer = {entries}\ndrain_idle = {min(8, entries)}\nbank_queue = {of_bank}\n"
    )
    trace.part = str(file)
    return trace


def told(trace, done):
    """Completions by block and direction, in order."""
    found = defaultdict(list)
    for block, write, cycle in zip(trace.block, trace.writes, done):
        found[block, write].append(cycle)
    return {key: sorted(cycles) for key, cycles in found.items()}


def difference(trace, simulator, engine):
    """What differs, None where nothing does."""
    theirs = simulator.times(trace)
    try:
        _, accept, done = trace.times(prepare(MODEL, trace, engine=engine))
    except lpn.Error as error:
        hangs = "the controller hangs" in str(error)
        return None if hangs and theirs is None else str(error)
    if theirs is None:
        return "the simulator hangs, the net does not"
    for number, (mine, their) in enumerate(zip(accept, theirs[0])):
        if mine != their:
            return f"request {number} is accepted in cycle {mine}, there in {their}"
    mine, their = told(trace, done), told(trace, theirs[1])
    for key, cycles in mine.items():
        if cycles != their[key]:
            return f"{'writes' if key[1] else 'reads'} of block {key[0]} are done in {cycles}, there in {their[key]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--simulator", metavar="FOLDER", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--traces", type=int, default=500)
    parser.add_argument("--engine", choices=["interp", "compiled"], default="interp")
    parser.add_argument("--part", action="append", metavar="NAME|FILE.ini")
    parser.add_argument("--queues", action="store_true")
    given = parser.parse_args()
    different = requests = 0
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(given.simulator, folder)
        for seed in range(given.seed, given.seed + given.traces):
            trace = drawn(seed, given.part)
            if given.queues:
                trace = queued(trace, seed, folder)
            found = difference(trace, simulator, given.engine)
            requests += len(trace.block)
            if found is not None:
                different += 1
                print(
                    f"seed {seed}, {trace.part}, {len(trace.block)} requests: {found}", flush=True
                )
    print(f"{given.traces} traces, {requests:,} requests, {different} different")
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
