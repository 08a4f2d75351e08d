"""Requests a second of the DRAM controller, compiled, beside the simulator that it is compared with.

    PYTHONPATH=build/python /usr/bin/python3 testbenches/speed/dram.py [--simulator FOLDER] [TRACE...]
    PYTHONPATH=build/python /usr/bin/python3 testbenches/speed/dram.py --channels [--all-banks]

The traces are those of ../shared/truth/dram/controller.jsonl.xz, by the beginning of their names.
FOLDER is a checkout of DRAMsim3, which is built here with -O3; without it only our rate is printed.
Both run in turns, each five times, on one core; what counts is the least processor time of the
simulation alone. --channels: firings a second of nets of 1 to 16 channels, one trace over all, 15
times in turns; of four banks each, or of the 32 that the part has. --port: accesses a second behind a
memory port, with those of one block joined, and each by itself.
Compiling each controller takes a minute or so the first time.
"""

import argparse
import json
import lzma
import random
import sys
import tempfile
import time
from pathlib import Path

from _measure import ROOT, SEED, SHARED, machine
from lpn.runs import prepare

import lpn
from models.dram.controller.tokens import TICKS
from models.dram.trace import Trace, controllers

for folder in ("testbenches/accuracy/dram", "models/dram/test"):
    sys.path.insert(0, str(ROOT / folder))

from lone_port import lone_port  # noqa: E402
from simulator import Simulator  # noqa: E402

MODEL = lpn.load("dram")
REPEAT = 5


def least(ready):
    """(seconds of one run, the run)."""
    start = time.process_time()
    run = ready.run()
    if run.engine != "compiled":
        raise SystemExit(f"the net was not compiled: {ready.fallback}")
    return min(time.process_time() - start, run.seconds), run


def rows_of(names):
    with lzma.open(SHARED / "truth" / "dram" / "controller.jsonl.xz", "rt") as file:
        for row in map(json.loads, file):
            if row["part"] in controllers() and row["name"].startswith(tuple(names)):
                writes = [w == "1" for w in row["write"]]
                yield row, Trace(row["name"], row["part"], row["arrive"], row["block"], writes)


def compare(names, checkout):
    """A line per trace, and the sums."""
    with tempfile.TemporaryDirectory() as folder:
        peer = Simulator(checkout, folder) if checkout else None
        total = [0, 0.0, 0.0]
        print("trace, requests/s, firings/request, M firings/s, simulator's requests/s, ratio")
        for row, trace in rows_of(names):
            ready = prepare(MODEL, trace, engine="compiled")
            _, accept, done = trace.times(ready)
            exact = (accept, done) == (row["accept"], row["done"])
            request_bytes = peer.write(trace) if peer else None
            ours, theirs, n = [], [], len(done)
            for _ in range(REPEAT):
                seconds, run = least(ready)
                ours.append(seconds)
                theirs.append(peer.run(request_bytes)[0] if peer else 0.0)
            mine, their = min(ours), min(theirs)
            total = [total[0] + n, total[1] + mine, total[2] + their]
            beside = f"{n / their:,.0f}, {their / mine:.1f}x" if peer else "not built, -"
            print(
                f"{row['name']}{'' if exact else ' DIFFERS'}, {n / mine:,.0f}, "
                f"{run.commits / n:.1f}, {run.commits / mine / 1e6:.1f}, {beside}",
                flush=True,
            )
        n, mine, their = total
        if n:
            ratio = f", {n / their:,.0f}, {their / mine:.1f}x" if peer else ""
            print(f"all, {n / mine:,.0f}{ratio}")


def channels(all_banks):
    """Firings a second of nets with more and more channels, of four banks each or all, in turns."""
    nets, n = {}, 40_000
    full = "[organisations]\nfull = { rank = 1, bank_group = 2, bank = 2 }\n"
    group, bank, rank = (2, 2, 1) if all_banks else (1, 1, 0)
    draw = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        for bits in range(5):
            number = 2**bits
            part = Path(folder) / f"channels{number}.toml"
            field = f'["channel", {bits}], ' if bits else ""
            part.write_text(
                f'base = "controllers/ddr4"\n{"" if all_banks else full}'
                f"[controller]\nchannels = {number}\n"
                f'address = [["column", 7], {field}["bank_group", {group}], ["bank", {bank}], '
                f'["rank", {rank}], ["row", 16]]\n'
            )
            blocks = draw.sample(range(2 ** (23 + group + bank + rank + bits)), n)
            # A request every 20 cycles and channel, of which a third write.
            arrive = [20 * k // number for k in range(n)]
            trace = Trace(str(part), str(part), arrive, blocks, [k % 3 == 0 for k in range(n)])
            start = time.monotonic()
            nets[number] = prepare(MODEL, trace, engine="compiled")
            built = time.monotonic()
            nets[number].run()
            print(
                f"{number} channels: {len(nets[number].net.transitions)} transitions, built in "
                f"{built - start:.1f} s, there to run after {time.monotonic() - built:.1f} s",
                flush=True,
            )
        found = {number: [] for number in nets}
        for _ in range(3 * REPEAT):
            for number, ready in nets.items():
                found[number].append(least(ready))
    rates = {}
    for number, runs in found.items():
        seconds, commits = min(s for s, _ in runs), runs[0][1].commits
        rates[number] = commits / seconds
        print(
            f"{number} channels, {n / seconds:,.0f} requests/s, {commits / n:.1f} firings a "
            f"request, {commits / seconds / 1e6:.1f} M firings/s",
            flush=True,
        )
    print(f"fastest / slowest: {max(rates.values()) / min(rates.values()):.2f}x")


def ports():
    """Random reads and writes of 64 bytes, ever less dense, behind a port of two controllers, in turns."""
    n, readies = 20_000, {}
    with tempfile.TemporaryDirectory() as folder:
        for joins in (True, False):
            part = Path(folder) / f"{joins}.toml"
            part.write_text(
                f'base = "controllers/ddr4"\n[controller]\njoin = {str(joins).lower()}\n'
            )
            net = lone_port(str(part))
            for cycles in (2, 10, 40):
                draw, work = random.Random(SEED), lpn.Marking(net)
                rows = [
                    (64 * draw.randrange(2**22), 64, draw.random() < 0.3, k) for k in range(n)
                ]
                work.add_rows("asks", rows, at=[TICKS * cycles * k for k in range(n)])
                work.done_count = n
                readies[cycles, joins] = prepare(net, work, engine="compiled")
        print("cycles from access to access, accesses/s, each by itself, ratio")
        for cycles in (2, 10, 40):
            found = {True: [], False: []}
            for _ in range(REPEAT):
                for joins, runs in found.items():
                    runs.append(least(readies[cycles, joins])[0])
            joined, apart = (n / min(found[joins]) for joins in (True, False))
            print(f"{cycles}, {joined:,.0f}, {apart:,.0f}, {joined / apart:.2f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="TRACE")
    parser.add_argument("--simulator", metavar="FOLDER", help="a checkout of DRAMsim3")
    parser.add_argument("--channels", action="store_true")
    parser.add_argument("--all-banks", action="store_true", help="with --channels")
    parser.add_argument("--port", action="store_true")
    given = parser.parse_args()
    print("  ".join(f"{key}: {value}" for key, value in machine().items()))
    if given.channels:
        channels(given.all_banks)
    elif given.port:
        ports()
    else:
        compare(given.names or [""], given.simulator)


if __name__ == "__main__":
    main()
