"""Random streams of packets through the RTL and through the model.

Needs the program of measure.cc (see there). With the build's python folder on PYTHONPATH:

    python compare.py --seed 1 --streams 500 --core obj_dir/measure

Where the RTL sends every beat of every packet, the model must send each packet's first and last one in
the same clocks, or refuse the stream; where it loses, repeats or swaps some, the model must not have
an answer. Exit status 1 otherwise.
"""

import argparse
import collections
import random
import subprocess
import sys
from itertools import chain
from pathlib import Path

import lpn
from lpn.runs import prepare

from models.menshen.streams import KINDS, Stream

BEAT_BYTES = 64
FLOWS = ("equal", "narrow", "wide", "small", "bursts")


def random_stream(rng):
    """Packets of like or unlike sizes, at about some share of the line's rate."""
    flow, number = rng.choice(FLOWS), rng.choice((3, 10, 40, 120))
    least = 65 if rng.random() < 0.7 else 60
    size = rng.randrange(least, 1519)
    sizes = {
        "equal": lambda: size,
        "narrow": lambda: max(least, size + rng.randrange(-64, 65)),
        "wide": lambda: rng.choice((least, 128, 129, 576, 1500, rng.randrange(least, 1519))),
        "small": lambda: rng.randrange(least, 260),
        "bursts": lambda: rng.choice((least, 193, 1500)),
    }[flow]
    lengths = [sizes() for _ in range(number)]
    load = rng.choice((1.0, 1.0, 0.95, 0.8, 0.6, 0.4, 0.2))
    idle = []
    for length in lengths:
        beats = -(-length // BEAT_BYTES)
        mean = beats * (1 / load - 1)
        gap = rng.choice((round(mean), int(rng.expovariate(1 / mean)) if mean else 0))
        if flow == "bursts":
            gap = rng.choice((0, 0, 0, 4 * gap))
        # Right behind a packet of one beat the RTL loses one.
        idle.append(max(gap, 1) if least < 65 and rng.random() < 0.9 else gap)
    others = rng.random() < 0.2
    kinds = [rng.choice(KINDS) if others and rng.random() < 0.3 else "data" for _ in lengths]
    kinds[rng.randrange(number)] = "data"
    before = rng.randrange(40, 80)
    return before, Stream(lengths, [0, *idle[1:]], kinds, before % 4, flow)


class Rtl:
    """The program, which answers a line per stream."""

    def __init__(self, core):
        self._process = subprocess.Popen(
            [core], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def clocks(self, before, stream):
        """Those of the first and the last beat of each data packet that leaves, or None where beats
        are lost.
        """
        kinds = map(KINDS.index, stream.kinds)
        packets = chain(*zip(stream.lengths, stream.idle, kinds))
        self._process.stdin.write(" ".join(map(str, [before, *packets])) + "\n")
        answer = next(line for line in self._process.stdout if line.startswith("beats "))
        _, first, *words = answer.split()
        assert int(first) == before
        numbers = list(map(int, words))
        left = list(zip(numbers[::3], numbers[1::3]))
        expected = [
            (packet, beat)
            for packet, (length, kind) in enumerate(zip(stream.lengths, stream.kinds))
            for beat in range(-(-length // BEAT_BYTES))
            if kind == "data"
        ]
        if left != expected:
            return None
        at = dict(zip(left, numbers[2::3]))
        ends = [last for last, after in zip(left, [*left[1:], (-1, 0)]) if after[1] == 0]
        return [[at[p, 0] for p, _ in ends], [at[end] for end in ends]]


def predicted(stream, model, net):
    """The same by the model, or the reason for which it has no answer."""
    try:
        run = prepare(net, model.workload(stream, net)).run(collect=["begun", "sent"])
    except lpn.Error as error:
        return str(error)
    if run.stalled:
        return "stalled"
    found = []
    for place in ("begun", "sent"):
        values, times = run.collected[place]
        found.append([time for _, time in sorted(zip(values, times))])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--core", default="obj_dir/measure")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    model = lpn.load("menshen")
    net = model.net()
    rtl = Rtl(options.core)
    outcome = collections.Counter()
    for number in range(options.streams):
        before, stream = random_stream(rng)
        found, answer = rtl.clocks(before, stream), predicted(stream, model, net)
        if isinstance(answer, str):
            how = "refused, lost in the RTL" if found is None else "refused, whole in the RTL"
        else:
            how = "exact" if found == answer else "wrong"
        outcome[how] += 1
        if how == "wrong" or how.endswith("whole in the RTL"):
            Path(f"{how.split(',')[0]}_{options.seed}_{number}.txt").write_text(
                f"# arb_phase={stream.arb_phase}\n"
                + "".join(
                    f"{a} {b} {c}\n" for a, b, c in zip(stream.lengths, stream.idle, stream.kinds)
                )
            )
            print(
                f"stream {number} ({stream.name}): {how}; {answer if how != 'wrong' else found is None}"
            )
    print(f"seed {options.seed}, {options.streams} streams:", dict(outcome))
    return 1 if outcome["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
