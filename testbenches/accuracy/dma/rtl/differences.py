"""Random runs of one block in the RTL and as a net: do they differ, in any handshake?

    PYTHONPATH=build/python /usr/bin/python3 testbenches/accuracy/dma/rtl/differences.py \\
        --rtl FOLDER [--design axi_cdma] [--seed 1] [--runs 100] [--keep DIR]
    ... --rtl FOLDER --truth ../shared/truth/axi [--runs 10]

FOLDER is verilog-axi's folder rtl/ at commit 516bd5d; Icarus Verilog has to be installed. Compared
are clock, address, beats, ID and last of every handshake on both sides of the block, every status,
and that the net stalls just where the RTL hangs. Each difference is printed with the seed that makes
it again, and the exit status is then 1. With --truth the bench itself is judged: so many of the
measured runs of each design go through the RTL, do their instants come out?
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import lpn
from block import FIELDS, measured
from drawn import DESIGNS, drawn
from lpn.runs import prepare

MODEL = lpn.load("dma")

from models.dma import (
    movers_bench,
    port_bench,
    run_file,
)  # noqa: E402  (lpn.load makes them importable)

SHOWN = re.compile(r"done|(desc|stream|(m|m\d+|fifo\.m|xbar\.t\d+)\.(ar|aw|w|r|b))\.seen")


def checked(run):
    """The Run with its defaults."""
    bench = movers_bench if run["design"] in movers_bench.DESIGNS else port_bench
    return bench.check(run_file.Run(run))


def fields(place):
    """The fields of a place's tokens that the RTL shows."""
    return FIELDS[place.split(".")[-2]] if place.endswith(".seen") else ()


def predicted(run):
    """({place: [(clock, (value, ...))]} of the net, whether it stalled)."""
    ready = prepare(MODEL, run, {}, "interp")
    done = (
        ["done"] if "descriptors" in run else []
    )  # what the ports' masters count is not the block's
    places = done + [p for p in ready.net.places if p != "done" and SHOWN.fullmatch(p)]
    result = ready.run(collect=places)
    found = {}
    for place, (values, times) in result.collected.items():
        names = ready.net[place].fields
        wanted = [names.index(each) for each in fields(place)]
        tokens = (values[k * len(names) : (k + 1) * len(names)] for k in range(len(times)))
        found[place] = [(t, tuple(token[i] for i in wanted)) for t, token in zip(times, tokens)]
    return found, result.stalled


def passed(place):
    """Without delay axi_fifo hands AR, AW and B through: in the net one channel is both sides."""
    return place.replace("fifo.m.", "m0.")


def differences(rtl, net):
    """[(clock, what)] of the handshakes that are not the same, in order."""
    wrong = []
    for place in sorted(set(rtl) | set(net)):
        theirs = rtl.get(place, [])
        ours = net.get(place if place in net else passed(place), [])
        for k in range(max(len(theirs), len(ours))):
            a, b = (each[k] if k < len(each) else None for each in (theirs, ours))
            if a != b:
                wrong.append(((a or b)[0], f"{place} {k}: {a} in the RTL, {b} in the net"))
    return sorted(wrong)


def finished(run, rtl):
    """Whether the RTL did all that was asked."""
    if "descriptors" in run:
        return len(rtl.get("done", [])) == len(run["descriptors"])
    return all(
        sum(last for _, (last, _) in rtl.get(f"m{m}.r.seen", [])) == len(master["reads"])
        and len(rtl.get(f"m{m}.b.seen", [])) == len(master["writes"])
        for m, master in enumerate(run["masters"])
    )


def compare(asked, sources, folder):
    """(how many handshakes the RTL made, whether it hangs, what differs or None) of a run."""
    run = checked(asked)
    rtl = measured(run, sources, folder)
    count, hangs = sum(map(len, rtl.values())), not finished(run, rtl)
    try:
        net, stalled = predicted(asked)
    except lpn.Error as error:
        return count, hangs, str(error)
    wrong = differences(rtl, net)
    if wrong:
        return count, hangs, f"{len(wrong)} handshakes, in clock {wrong[0][0]} {wrong[0][1]}"
    if stalled != hangs:
        return count, hangs, f"the {'RTL hangs' if hangs else 'net stalls'}, the other does not"
    return count, hangs, None


def missed(run, expected, sources, folder):
    """The measured instants of a run that its RTL in our bench has not."""
    rtl = measured(run, sources, folder)
    seen = {}
    for place, *_ in expected:
        found = rtl.get(place, [])
        values = [value for _, each in found for value in each]
        net_place = SimpleNamespace(fields=fields(place))
        seen[place] = MODEL.module._Seen(net_place, values, [t for t, _ in found])
    wrong = [each for each in expected if seen[each[0]].time(each[1]) != each[2]]
    return wrong + ["hangs"] * (finished(run, rtl) != run["completed"])


def bench_differs(truth, runs, sources, folder):
    """Whether our bench does not give the measured instants of some runs of each file."""
    every = 0
    for design in DESIGNS:
        rows = list(MODEL.module.truth_rows(str(truth / f"{design}.jsonl.gz")))
        rows, different = rows[:: max(1, len(rows) // runs)], 0
        for given, _, _, expected in rows:
            wrong = missed(checked(given), expected, sources, folder)
            different += bool(wrong)
            if wrong:
                print(f"{given}: {len(wrong)} of {len(expected)} differ, {wrong[0]}", flush=True)
        instants = sum(len(expected) for *_, expected in rows)
        print(f"{design}: {len(rows)} runs, {instants:,} instants, {different} differ", flush=True)
        every += different
    return every != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rtl", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--design", choices=DESIGNS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--truth", metavar="FOLDER", type=Path)
    parser.add_argument("--keep", metavar="DIR", type=Path, help="where runs that differ are left")
    given = parser.parse_args()
    different = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if given.truth:
            return bench_differs(given.truth, given.runs, given.rtl, folder)
        for design in [given.design] if given.design else DESIGNS:
            handshakes = hung = wrong = 0
            for seed in range(given.seed, given.seed + given.runs):
                asked = drawn(design, seed)
                count, hangs, found = compare(asked, given.rtl, folder)
                handshakes, hung = handshakes + count, hung + hangs
                if found is None:
                    continue
                wrong += 1
                print(f"{design} seed {seed}: {found}", flush=True)
                if given.keep:
                    (given.keep / f"{design}-{seed}.json").write_text(json.dumps(asked))
            print(
                f"{design}: {given.runs} runs, {handshakes:,} handshakes, {hung} hang in the RTL, "
                f"{wrong} differ",
                flush=True,
            )
            different += wrong
    return different != 0


if __name__ == "__main__":
    sys.exit(main())
