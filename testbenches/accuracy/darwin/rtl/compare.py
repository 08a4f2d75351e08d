"""Random tiles through Darwin's RTL and through the model.

Needs the program of measure.cc (see there). With the build's python folder on PYTHONPATH:

    python compare.py --seed 1 --sessions 500 --core obj_dir/measure --elements 4

A session is one to four tiles, one after the other, with scores of its own. The model must say in
which clock `done` rises for each of them, or refuse the session. Exit status 1 otherwise.
"""

import argparse
import collections
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import lpn
from lpn.runs import prepare

SCORES = ("match", "mismatch", "gap_open", "gap_extend")
LETTERS = ("ACGT", "ACGT", "ACGT", "AC", "A", "ACGTN", "acgtN")


def related(rng, base, letters, share):
    """`base` with a share of substitutions, insertions and deletions."""
    found = []
    for letter in base:
        change = rng.random()
        if change < share / 3:
            continue
        found.append(letter if change > share * 2 / 3 else rng.choice(letters))
        while rng.random() < share / 3:
            found.append(rng.choice(letters))
    return "".join(found)


def random_tile(rng, elements, tile):
    """Reference and query, which the array takes most of the time."""
    letters = rng.choice(LETTERS)
    most = rng.choice((elements + 40, 100, tile - 1))
    length = rng.randrange(elements + 1, max(most, elements + 2))
    ref = "".join(rng.choice(letters) for _ in range(min(length, tile - 1)))
    if rng.random() < 0.7:
        query = related(rng, ref, letters, rng.choice((0, 0.05, 0.2, 0.5)))
    else:
        query = "".join(rng.choice(letters) for _ in range(rng.randrange(1, most + 1)))
    if rng.random() < 0.5:
        cut = rng.randrange(len(query) + 1)
        query = query[cut:] or query
    query = query[: tile - 1] or "A"
    fields = rng.choice((32, 32, 33, rng.randrange(64)))
    steps = rng.choice((400, 400, rng.randrange(1, 2 * tile)))
    return ref, query, fields, steps


def random_session(rng, elements, tile):
    """(scores, whether bases are written, tiles)."""
    scores = {"match": 1, "mismatch": -1, "gap_open": -1, "gap_extend": -1}
    if rng.random() < 0.6:
        scores = {name: -rng.randrange(0, 5) for name in SCORES}
        scores["match"] = rng.choice((1, 1, 2, 3, 5))
    tiles = [random_tile(rng, elements, tile) for _ in range(rng.choice((1, 1, 2, 4)))]
    written = rng.random() < 0.5
    if not written:  # the same bases again, in other ways
        tiles = [(*tiles[0][:2], *tile[2:]) for tile in tiles]
    return scores, written, tiles


class Rtl:
    """The program, which answers a line per session."""

    def __init__(self, core, pe_width):
        self._process = subprocess.Popen(
            [core, str(pe_width)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def clocks(self, scores, written, tiles):
        """Those in which `done` rises, or None where the array does not end."""
        words = [scores[name] for name in SCORES]
        for number, (ref, query, fields, steps) in enumerate(tiles):
            words += [int(written or number == 0), fields, steps, ref, query]
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        numbers = list(map(int, self._process.stdout.readline().split()))
        if -1 in numbers:
            return None
        words = 0 if written else -(-max(map(len, tiles[0][:2])) // 8)
        return [clock - words for clock in numbers[::2]]


def predicted(folder, model, scores, written, tiles, **built):
    """The same by the model, or the reason for which it has no answer."""
    path = Path(folder, "pairs.txt")
    path.write_text(
        "".join(
            f"t{k} {ref} {query} {most} {fields}\n"
            for k, (ref, query, fields, most) in enumerate(tiles)
        )
    )
    try:
        net = model.net(load_sequences=int(written), **scores, **built)
        run = prepare(net, model.workload(path, net)).run(collect=["done"])
    except (lpn.Error, ValueError) as error:
        return str(error)
    return "stalled" if run.stalled else sorted(run.collected["done"][1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--core", default="obj_dir/measure")
    parser.add_argument("--elements", type=int, default=4)
    parser.add_argument("--tile", type=int, default=512)
    parser.add_argument("--pe-width", type=int, default=10)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    model = lpn.load("darwin")
    rtl = Rtl(options.core, options.pe_width)
    outcome = collections.Counter()
    tiles_compared = 0
    built = dict(elements=options.elements, tile=options.tile, pe_width=options.pe_width)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.sessions):
            session = random_session(rng, options.elements, options.tile)
            answer = predicted(folder, model, *session, **built)
            found = rtl.clocks(*session)
            if isinstance(answer, str):
                reason = re.sub(r"[0-9]+", "#", answer.split(": ", 1)[-1])
                outcome[
                    f"refused, {'never done' if found is None else 'done'} in the RTL: {reason}"
                ] += 1
                continue
            how = "exact" if found == answer else "wrong"
            outcome[how] += 1
            tiles_compared += len(answer)
            if how == "wrong":
                scores, written, tiles = session
                print(f"session {number}: RTL {found}, model {answer}; {scores} {written}")
                for ref, query, fields, steps in tiles:
                    print(f"  {len(ref)}x{len(query)} fields {fields} steps {steps}")
    print(
        f"seed {options.seed}, {options.sessions} sessions, {tiles_compared} tiles:", dict(outcome)
    )
    return 1 if outcome["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
