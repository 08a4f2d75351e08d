#!/usr/bin/python3
"""Random sequences of calls of the package `lpn` and of the C interface: does any end the process?

campaign.py run --state FOLDER [--sequences N] [--profile user|core|c|all] [--seed S]   resumable
campaign.py table --state FOLDER                                                        how far it is
campaign.py replay FILE...                                                              kept cases
"""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOUND = HERE / "found"
PROFILES = ("user", "core", "c")
BATCH = 100  # sequences of one process
SILENT = 600  # seconds by the clock in which a process that uses no processor time counts as stuck


def environment(folder):
    """Of a child: the libraries of `folder`, and no compiler, whose nets would take minutes."""
    build = os.environ.get("LPN_BUILD", str(HERE.parents[1] / "build"))
    return {
        **os.environ,
        "PYTHONPATH": f"{build}/python",
        "LPN_CACHE": str(Path(folder) / "cache"),
        "LPN_CALLS": str(folder),
        "LPN_CXX": "/bin/false",
        "TMPDIR": str(folder),
    }


def prepare(folder, nets=10):
    """Compiles the nets that the sequences run compiled, once per state folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    if not list(Path(folder).glob("*.artefacts")):
        env = environment(folder)
        env.pop("LPN_CXX")
        if "LPN_CXX" in os.environ:
            env["LPN_CXX"] = os.environ["LPN_CXX"]
        subprocess.run(
            ["/usr/bin/python3", HERE / "scene.py", folder, str(nets)], env=env, check=True
        )


def processor_time(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_child(arguments, folder):
    """(how it ended or None, what it said) of a child: None when it ended by itself with 0."""
    work = tempfile.mkdtemp(prefix="child-", dir=folder)
    errors = Path(work) / "stderr"
    with open(errors, "wb") as said:
        child = subprocess.Popen(
            ["/usr/bin/python3", HERE / "child.py", *map(str, arguments)],
            env={**environment(folder), "TMPDIR": work},
            stdin=subprocess.DEVNULL,
            stderr=said,
        )
        used, since, stuck = 0.0, time.monotonic(), False
        try:
            while True:
                try:
                    child.wait(1)
                    break
                except subprocess.TimeoutExpired:
                    now = processor_time(child.pid)
                    if now > used + 0.01:
                        used, since = now, time.monotonic()
                    elif time.monotonic() - since > SILENT:
                        stuck = True
                        child.kill()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    text = errors.read_text(errors="replace")[-4000:]
    shutil.rmtree(work, ignore_errors=True)
    if stuck:
        return "waits for ever", text
    if child.returncode == -signal.SIGPROF:
        return "more than 10 s", text
    if child.returncode < 0:
        return signal.Signals(-child.returncode).name, text
    return (None if child.returncode == 0 else f"status {child.returncode}"), text


def replayed(lines, folder):
    """How a sequence ends."""
    with tempfile.NamedTemporaryFile("w", suffix=".calls", dir=folder, encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        return run_child(["--replay", file.name], folder)[0]


def minimised(lines, ending, folder):
    """The sequence less what does not matter; unchanged where it does not end so again."""
    if replayed(lines, folder) != ending:
        return None
    size = len(lines) // 2
    while size:
        start = 0
        while start < len(lines):
            fewer = lines[:start] + lines[start + size :]
            if fewer and replayed(fewer, folder) == ending:
                lines = fewer
            else:
                start += size
        size //= 2
    return lines


def keep(lines, ending, text, about, folder):
    """Writes a finding to the state's folder; its name."""
    short = minimised(lines, ending, folder)
    name = f"{about}.calls"
    said = "\n".join(f"# {line}" for line in text.splitlines()[-25:])
    note = "" if short else "# not met again when run alone\n"
    (Path(folder) / name).write_text(
        f"# {ending}\n{note}" + "\n".join(short or lines) + f"\n{said}\n", encoding="utf-8"
    )
    return name


class Log:
    """What the child wrote: sequences, their lines, what was done."""

    def __init__(self, path):
        self.sequences = []  # (number, lines, done)
        self.calls = self.good = 0
        for line in Path(path).read_text(errors="replace").splitlines():
            if re.fullmatch(r"# \d+", line):
                self.sequences.append([int(line[2:]), [], False])
            elif line.startswith("# done"):
                _, _, _, calls, good, _ = line.split()
                self.calls, self.good = self.calls + int(calls), self.good + int(good)
                self.sequences[-1][2] = True
            elif self.sequences:
                self.sequences[-1][1].append(line)


def run_unit(profile, seed, first, count, folder):
    """Sequences first .. first + count - 1; {sequences, calls, good, found}."""
    unit = {"profile": profile, "seed": seed, "first": first, "count": count}
    calls = good = 0
    found = []
    at, end = first, first + count
    while at < end:
        log = Path(folder) / "calls.log"
        log.unlink(missing_ok=True)
        ending, text = run_child([profile, seed, at, end - at, log], folder)
        told = Log(log)
        calls, good = calls + told.calls, good + told.good
        if ending is None:
            break
        if not told.sequences or all(s[2] for s in told.sequences):
            # After the last call, or before the first: all of them belong to it.
            lines = [line for s in told.sequences for line in s[1]]
            found.append(keep(lines, ending, text, f"{profile}-{seed}-{at}-end", folder))
            break
        number, lines, _ = told.sequences[-1]
        name = keep(lines, ending, text, f"{profile}-{seed}-{number}", folder)
        print(f"{ending}: {Path(folder) / name}", flush=True)
        found.append(name)
        at = number + 1
    return {**unit, "calls": calls, "good": good, "found": found}


def commit():
    told = subprocess.run(
        ["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return told.stdout.strip() or "?"


def units_of(folder):
    path = Path(folder) / "units.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(options):
    folder = Path(options.state)
    prepare(folder, options.nets)
    done = collections.Counter()
    for unit in units_of(folder):
        if unit["seed"] == options.seed:
            done[unit["profile"]] += unit["count"]
    chosen = PROFILES if options.profile == "all" else (options.profile,)
    found, began, here = 0, time.monotonic(), 0
    while sum(done[p] for p in chosen) < options.sequences:
        profile = min(chosen, key=lambda p: done[p])
        unit = run_unit(profile, options.seed, done[profile], BATCH, folder)
        with open(folder / "units.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps({**unit, "commit": commit()}) + "\n")
        done[profile] += BATCH
        here += BATCH
        found += len(unit["found"])
        total = sum(done[p] for p in chosen)
        left = (options.sequences - total) * (time.monotonic() - began) / here
        print(f"{total} sequences, {found} found, {left / 60:.0f} min left", flush=True)
    return 1 if found else 0


def table(options):
    rows = collections.OrderedDict()
    for unit in units_of(options.state):
        row = rows.setdefault((unit["commit"], unit["profile"], unit["seed"]), [0, 0, 0, 0])
        for k, value in enumerate((unit["count"], unit["calls"], unit["good"], len(unit["found"]))):
            row[k] += value
    print("| commit | profile | seed | sequences | calls | without an exception | found |")
    print("|---|---|---|---|---|---|---|")
    for key, row in rows.items():
        print("| " + " | ".join(map(str, key)) + " | " + " | ".join(f"{n:,}" for n in row) + " |")
    return 0


def replay(options):
    """Whether any of the files ends a process."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, options.nets)
        for file in options.files:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
            ending = replayed([n for n in lines if not n.startswith("#")], folder)
            if ending is not None:
                print(f"{file}: {ending}")
                bad += 1
    print(f"{len(options.files)} sequences, {bad} end the process")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    what = parser.add_subparsers(required=True)
    running = what.add_parser("run")
    running.add_argument("--state", required=True)
    running.add_argument("--sequences", type=int, default=100_000)
    running.add_argument("--profile", choices=(*PROFILES, "all"), default="all")
    running.add_argument("--seed", type=int, default=1)
    running.set_defaults(act=run)
    showing = what.add_parser("table")
    showing.add_argument("--state", required=True)
    showing.set_defaults(act=table)
    again = what.add_parser("replay")
    again.add_argument("files", nargs="*", default=sorted(FOUND.glob("*.calls")))
    for one in (running, again):
        one.add_argument("--nets", type=int, default=10, help="so many nets are compiled")
    again.set_defaults(act=replay)
    options = parser.parse_args()
    try:
        return options.act(options)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
