"""Random nets on the interpreter of lpn-core and on this one: every commit, result, error and statistic.

    compare.py --build BUILD --seed 1 --nets 20000 --jobs 2 [--profile late]

The nets are those of lpn_fuzz (`--export`), with a profile changed by nasty.py before both see them.
"""

import argparse
import collections
import multiprocessing
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import nasty
from text import Refused, parse
from trace import Inputs, trace

sys.setrecursionlimit(50000)
CHUNK = 50  # nets made by one process at a time


class Player:
    """The program second_play, which answers a case at a time."""

    def __init__(self, program):
        self.program, self.process = program, None

    def play(self, text, inputs):
        if self.process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.process = subprocess.Popen([self.program], **pipes)
        self.process.stdin.write(f"net\n{text}inputs\n{inputs}go\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == "end\n":
                return lines
            lines.append(line.rstrip("\n"))
        status, self.process = self.process.wait(), None
        if status == -signal.SIGVTALRM:
            return ["too long"]  # it starts firings for ever, none of which commits
        raise RuntimeError(f"second_play died with status {status}")

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def cases_of(program, seed, first, nets, flags=()):
    """(name, net, inputs) of the cases of nets first..nets-1."""
    command = [program, "--seed", str(seed), "--export", str(first), "--nets", str(nets), *flags]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for block in text.split("\ngo\n"):
        if block.strip():
            head, _, rest = block.partition("\nnet\n")
            net, _, inputs = rest.partition("\ninputs\n")
            yield head.strip(), net + "\n", inputs + "\n"


def second(text, inputs):
    """What the second interpreter makes of a case, in the form of second_play."""
    try:
        net = parse(text)
        given = Inputs(net, inputs)
    except Refused as refused:
        return [f"refused {refused.code}"]
    given.groups = given.groups or 2**20
    return trace(net, given, metered=True)


def difference(first, other):
    """Of two answers the first lines that differ, or None."""
    for a, b in zip(first, other):
        if a != b and not same_mean(a, b):
            return a, b
    if len(first) != len(other):
        n = min(len(first), len(other))
        return (first[n:] or ["nothing"])[0], (other[n:] or ["nothing"])[0]
    return None


def same_mean(a, b):
    """`holds` lines, whose mean is a rounded sum in the one and exact in the other."""
    a, b = a.split(), b.split()
    if a[:1] != ["holds"] or a[:2] != b[:2] or a[4:] != b[4:]:
        return False
    numerator, _, denominator = b[3].partition("/")
    exact = int(numerator) / int(denominator or 1)
    return abs(float(a[3]) - exact) <= 1e-9 * max(1.0, exact)


def compare(job):
    """One chunk: what was seen, counted, and the differences."""
    options, profile, first, last = job
    if options.memory:
        resource.setrlimit(resource.RLIMIT_AS, (options.memory << 30, options.memory << 30))
    seen, found = collections.Counter(), []
    player = Player(options.play)
    flags = ["--order-free"] if options.order_free else []
    for name, text, inputs in cases_of(options.fuzz, options.seed, first, last, flags):
        if profile:
            chance = random.Random(f"{options.seed} {name}")
            text, inputs = nasty.changed(profile, text, inputs, chance)
        engine = player.play(text, inputs)
        if engine == ["too long"]:
            seen["too long, left out"] += 1
            continue
        seen["runs"] += 1
        seen["commits"] += sum(line[0].isdigit() for line in engine)
        for line in engine:
            word = line.split()[0].rstrip(",")
            if word in ("fault", "error", "refused"):
                seen[" ".join(line.split()[:2])] += 1
            elif word in ("quiet", "done", "limit", "stalled"):
                seen[word] += 1
        try:
            answer = second(text, inputs)
        except MemoryError:
            seen["too large, left out"] += 1
            continue
        if engine[0].startswith("refused") and answer[0].split()[0] != "refused":
            seen[
                "left out: refused by verify"
            ] += 1  # whose rules the second interpreter does not have
            continue
        what = difference(engine, answer)
        if what:
            found.append((name, *what, text, inputs))
    player.close()
    return seen, found


def main():
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--build", type=pathlib.Path, required=True)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--first", type=int, default=0)
    reader.add_argument("--nets", type=int, default=100)
    reader.add_argument("--jobs", type=int, default=2)
    reader.add_argument("--profile", choices=sorted(nasty.PROFILES))
    reader.add_argument("--each-profile", type=int, default=0, help="nets of each profile, besides")
    reader.add_argument("--order-free", action="store_true")
    reader.add_argument("--memory", type=int, default=4, help="GiB of address space, 0: no limit")
    reader.add_argument("--show", type=int, default=3, help="differences shown in full")
    options = reader.parse_args()
    options.fuzz = options.build / "testbenches/fuzz/lpn_fuzz"
    options.play = options.build / "testbenches" / "second" / "second_play"
    parts = [(options.profile, options.first, options.nets)]
    parts += [(profile, 0, options.each_profile) for profile in nasty.PROFILES]
    differences = sum(run(options, *part) for part in parts if part[1] < part[2])
    print(f"{differences} differences")
    return 1 if differences else 0


def run(options, profile, first, last):
    """Compares nets first..last-1 of a profile, prints what was found and returns how much."""
    begin = time.monotonic()
    chunks = [(k, min(k + CHUNK, last)) for k in range(first, last, CHUNK)]
    jobs = [(options, profile, *chunk) for chunk in chunks]
    seen, found = collections.Counter(), []
    with multiprocessing.Pool(options.jobs) as pool:
        for counts, differences in pool.imap(compare, jobs):
            seen += counts
            found += differences
    seconds = time.monotonic() - begin
    print(f"seed {options.seed}, {last - first} nets, {profile or 'plain'}: ", end="")
    print(f"{seen.pop('runs')} runs, {seen.pop('commits')} commits, {seconds:.0f} s, ", end="")
    print(f"{len(found)} differences")
    print("  " + ", ".join(f"{what} {count}" for what, count in sorted(seen.items())), flush=True)
    for name, one, other, text, inputs in found[: options.show]:
        print(f"\nDIFFERENCE in {name}:\n  interpreter: {one}\n  second:      {other}")
        print(text + inputs)
    for name, one, other, *_ in found[options.show :]:
        print(f"{name}: {one} | {other}")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
