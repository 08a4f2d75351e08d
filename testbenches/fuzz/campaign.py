#!/usr/bin/python3
"""A campaign: random nets on every engine, by the million, in units that are recorded one by one.

    campaign.py run --build build --state FOLDER [--nets 1000000] [--jobs 2] [--nice 10]
    campaign.py table --state FOLDER

A unit is one process: one mode (an engine, or a way to use it), one profile of nets, one seed. Units
follow from their number alone, so that a campaign that was stopped (Ctrl-C, SIGTERM, a crash) goes on
where it was; what a unit did, with which commit of the engines, is one line of FOLDER/units.jsonl. What
differs is shrunk and kept (--found), with the unit's output in FOLDER/logs. The programs and the runtime
are copied into FOLDER first: builds beside a campaign do not change what it runs.
"""

import argparse
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROFILES = (
    "usual",
    "ties",
    "far",
    "errors",
    "clocks",
    "wide",
    "counts",
    "bits",
    "static",
    "equal",
    "routes",
    "system",
    "folds",
)
# Mode: its program, its nets per unit, and whether it knows profiles.
MODES = {
    "interp": ("lpn_fuzz", 2000, True),
    "observed": ("lpn_fuzz", 300, True),
    "plain": ("lpn_fuzz", 300, True),
    "free": ("lpn_fuzz", 300, True),
    "mixed": ("lpn_fuzz", 300, True),
    "batch": ("lpn_fuzz", 300, True),
    "metered": ("lpn_fuzz", 300, True),
    "path": ("path_test", 120, True),
    "lockstep": ("static_test", 100, False),
    "embedded": ("coupled_fuzz", 60, False),
    "coupled": ("coupled_fuzz", 60, False),
    "answered": ("answers_fuzz", 60, False),
}
PROGRAMS = {
    "lpn_fuzz": "testbenches/fuzz",
    "path_test": "testbenches/equivalence",
    "static_test": "testbenches/equivalence",
    "coupled_fuzz": "testbenches/embedding",
    "answers_fuzz": "testbenches/fuzz",
}
LONGEST = 1800  # seconds of a unit; more is a finding
MOST_SHRUNK = 3  # of a mode and profile; shrinking compiles for minutes
LEAST_DISK = 4 << 30
LOG_KEPT = 200_000  # characters of a unit's output


def unit_of(number, nets=None):
    """Mode, profile, seed and nets of a unit: all modes in turn, for one profile after the other."""
    names = list(MODES)
    mode = names[number % len(names)]
    program, usual, profiles = MODES[mode]
    profile = PROFILES[number // len(names) % len(PROFILES)] if profiles else "-"
    return {
        "unit": number,
        "mode": mode,
        "profile": profile,
        "program": program,
        "asked": nets if nets is not None else usual,
    }


def command_of(unit, programs, found, shrink):
    mode, nets, seed = unit["mode"], unit["asked"], unit["seed"]
    program = str(programs / unit["program"])
    if unit["program"] == "path_test":
        return [program, "-", "--nets", nets, "--seed", seed, "--profile", unit["profile"]]
    if unit["program"] == "static_test":
        return [program, nets, seed]
    if unit["program"] == "answers_fuzz":
        return [program, "--seed", seed, "--nets", nets]
    if unit["program"] == "coupled_fuzz":
        counts = (
            ("--pairs", nets, "--hosts", 0)
            if mode == "coupled"
            else ("--pairs", 0, "--hosts", nets)
        )
        return [program, *counts, "--seed", seed]
    command = [
        program,
        "--seed",
        seed,
        "--nets",
        nets,
        "--profile",
        unit["profile"],
        "--batch",
        100,
    ]
    # What needs no clock is rare among all nets: these modes look for it.
    order_free = ["--order-free"] if mode in ("mixed", "batch") else []
    command += ["--mode", "free" if mode == "mixed" else mode, *order_free, "--stop", 3]
    return command + (["--found", found] if shrink else ["--no-shrink"])


def read_output(unit, output):
    """(nets, runs, differences) as the program printed them; None where it did not get that far."""
    program = unit["program"]
    if program == "lpn_fuzz":
        runs = re.findall(r"^runs: (\d+) on (\d+) nets", output, re.M)
        different = re.findall(r"^(\d+) differences$", output, re.M)
        return (
            (int(runs[0][1]), int(runs[0][0]), int(different[-1])) if runs and different else None
        )
    if program == "path_test":
        runs = re.findall(r"^(\d+) cases,", output, re.M)
        different = re.findall(r"^(\d+) different$", output, re.M)
        return (unit["asked"], int(runs[0]), int(different[0])) if runs and different else None
    if program == "static_test":
        found = re.findall(r"assertions: +(\d+) \| +(\d+) passed \| +(\d+) failed", output)
        # Six inputs alone, six with statistics, and three batches a net.
        return (unit["asked"], unit["asked"] * 15, int(found[0][2])) if found else None
    runs = re.findall(r"^(\d+) runs", output, re.M)
    different = re.findall(r"; (\d+) different$", output, re.M)
    return (
        (unit["asked"], sum(map(int, runs)), sum(map(int, different)))
        if runs and different
        else None
    )


def read_state(state):
    """The units that are recorded; a line that a crash cut short is as if it were not there."""
    records = []
    file = state / "units.jsonl"
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            print(f"{file}: a damaged line is left out", file=sys.stderr)
    return records


def commit_of(source):
    asked = subprocess.run(
        ["git", "-C", str(source), "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or "unknown"


class Campaign:
    def __init__(self, options):
        self.options = options
        self.state = options.state.resolve()
        self.records = read_state(self.state)
        self.commit = commit_of(SOURCE)
        self.running = {}  # process id: its slot, unit, process, log
        self.stopped = False
        self.began = time.monotonic()
        self.before = self.done_nets()

    def prepare(self):
        for folder in ("logs", "bin", "cache", "tmp"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.state / "cache")
        for program, folder in PROGRAMS.items():
            fresh = self.state / "bin" / f"{program}.new"
            shutil.copy2(self.options.build / folder / program, fresh)
            fresh.replace(self.state / "bin" / program)
        shutil.rmtree(self.state / "runtime", ignore_errors=True)
        shutil.copytree(SOURCE / "lpn2sim/runtime", self.state / "runtime")

    def shrinks(self, unit):
        same = [
            r for r in self.records if (r["mode"], r["profile"]) == (unit["mode"], unit["profile"])
        ]
        return sum(r["differences"] for r in same if r["commit"] == self.commit) < MOST_SHRUNK

    def start(self, slot, unit):
        cache, scratch = self.state / "cache" / str(slot), self.state / "tmp" / str(slot)
        for folder in (cache, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        log = self.state / "logs" / f"running_{slot}.log"
        unit = {**unit, "seed": self.options.seed + unit["unit"]}
        found = self.options.found.resolve()
        command = [str(w) for w in command_of(unit, self.state / "bin", found, self.shrinks(unit))]
        environment = {
            **os.environ,
            "LPN_CXX": self.options.compiler,
            "LPN_CACHE": str(cache),
            "LPN_RUNTIME": str(self.state / "runtime"),
            "TMPDIR": str(scratch),
            "LPN_SHOW": "1",
        }
        with open(log, "wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=scratch,
                start_new_session=True,  # Ctrl-C is ours; a unit is stopped with its compiler
                preexec_fn=self.limit,
            )
        # With the object: a Popen that nobody holds is waited for by the next one.
        self.running[process.pid] = (slot, unit, log, time.monotonic(), command, process)

    def limit(self):
        os.nice(self.options.nice)
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it reserves more than that
            memory = int(self.options.memory * (1 << 30))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def tidy(self, slot):
        """Removes what a unit compiled; the headers compiled in advance stay."""
        for file in (self.state / "cache" / str(slot)).glob("*"):
            if file.is_file():
                file.unlink(missing_ok=True)
        shutil.rmtree(self.state / "tmp" / str(slot), ignore_errors=True)

    def finish(self, pid, status, usage):
        slot, unit, log, began, command, process = self.running.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        output = log.read_text(errors="replace")[-LOG_KEPT:]
        seen = read_output(unit, output)
        code = process.returncode
        nets, runs, differences = seen or (0, 0, 0)
        if code != 0 and differences == 0:
            differences = 1  # it died, or says that too little was tested: somebody has to look
        record = {
            **{key: unit[key] for key in ("unit", "mode", "profile", "seed")},
            "nets": nets,
            "runs": runs,
            "differences": differences,
            "status": code,
            "seconds": round(time.monotonic() - began, 1),
            "cpu": round(usage.ru_utime + usage.ru_stime, 1),
            "commit": self.commit,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        if differences:
            name = f"unit_{unit['unit']:06}_{unit['mode']}_{unit['profile'].strip('-')}.log"
            (self.state / "logs" / name).write_text(" ".join(command) + "\n" + output)
        with open(self.state / "units.jsonl", "a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.records.append(record)
        for saved in (self.state / "tmp" / str(slot)).glob(
            "*.lpn"
        ):  # coupled_fuzz and answers_fuzz keep their own
            shutil.copy2(saved, self.state / "logs")
        self.tidy(slot)
        self.tell(record)

    def tell(self, record):
        nets = self.done_nets()
        rate = (nets - self.before) / max(time.monotonic() - self.began, 1e-3)
        left = (self.options.nets - nets) / rate if rate > 0 else 0
        print(
            f"{record['at']} unit {record['unit']} {record['mode']}/{record['profile']}: "
            f"{record['nets']} nets, {record['runs']} runs, {record['differences']} differences, "
            f"{record['seconds']:.0f} s; {nets} of {self.options.nets} nets, {rate:.1f} nets/s, "
            f"{max(left, 0) / 3600:.1f} h to go",
            flush=True,
        )

    def stop(self, *_):
        self.stopped = True

    def done_nets(self):
        return sum(r["nets"] for r in self.records)

    def more(self):
        under_way = sum(unit["asked"] for _, unit, *_ in self.running.values())
        if self.stopped or self.done_nets() + under_way >= self.options.nets:
            return False
        if self.options.units is not None and self.started >= self.options.units:
            return False
        if shutil.disk_usage(self.state).free < LEAST_DISK:
            print("too little disk is left: no more units", file=sys.stderr, flush=True)
            self.stopped = True
        return not self.stopped

    def run(self):
        self.prepare()
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self.stop)
        done = {r["unit"] for r in self.records}
        try:
            self.go_on(done)
        finally:
            self.give_up()
        print_table(self.records, self.options.nets)
        return 1 if any(r["differences"] for r in self.records) else 0

    def go_on(self, done):
        number, self.started = 0, 0
        while True:
            while len(self.running) < self.options.jobs and self.more():
                while number in done:
                    number += 1
                unit = unit_of(number, self.options.unit_nets)
                number += 1
                if self.options.modes and unit["mode"] not in self.options.modes:
                    continue
                slot = min(set(range(self.options.jobs)) - {s[0] for s in self.running.values()})
                self.started += 1
                self.start(slot, unit)
            if not self.running or self.stopped:
                break
            self.wait()

    def wait(self):
        for pid, (_, _, _, began, *_) in list(self.running.items()):
            if time.monotonic() - began > LONGEST:
                os.killpg(pid, signal.SIGKILL)
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            if ended == pid:
                self.finish(pid, status, usage)
                return
        time.sleep(0.1)

    def give_up(self):
        """Ends what runs: units that were not finished are not recorded, and run again."""
        for pid, (slot, *_, process) in self.running.items():
            os.killpg(pid, signal.SIGKILL)
            process.wait()
            self.tidy(slot)
        self.running.clear()


def print_table(records, asked):
    """What was run, as the table of README.md; nets that no compiler saw stand on their own."""
    rows = collections.OrderedDict()
    for r in sorted(records, key=lambda r: (r["at"], r["unit"])):
        row = rows.setdefault((r["commit"], r["mode"]), {"seeds": [], "profiles": set(), **SUMS})
        row["seeds"].append(r["seed"])
        row["profiles"].add(r["profile"])
        for key in SUMS:
            row[key] += r[key]
    print(
        "| commit | mode | profiles | seeds (units) | nets | runs | differences | CPU | nets/s a core |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for (commit, mode), row in rows.items():
        print(
            f"| {commit} | {mode} | {len(row['profiles'] - {'-'}) or '-'} "
            f"| {min(row['seeds'])}..{max(row['seeds'])} ({len(row['seeds'])}) "
            f"| {row['nets']:,} | {row['runs']:,} | {row['differences']} | {row['cpu']:,.0f} s "
            f"| {row['nets'] / max(row['cpu'], 0.1):.1f} |"
        )
    total = sum(r["nets"] for r in records)
    plain = sum(r["nets"] for r in records if r["mode"] == "interp")
    print(
        f"\n{total:,} nets of {asked:,} asked ({100 * total / max(asked, 1):.2f} %): {total - plain:,} compiled "
        f"for an engine, {plain:,} on the interpreter's ways alone; "
        f"{sum(r['runs'] for r in records):,} runs, {sum(r['differences'] for r in records)} differences "
        f"in {sum(1 for r in records if r['differences'])} of {len(records)} units"
    )


SUMS = {"nets": 0, "runs": 0, "differences": 0, "cpu": 0.0}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run units, from where the state stands")
    table = commands.add_parser("table", help="what was run so far")
    for each in (run, table):
        each.add_argument("--state", type=Path, required=True, help="folder of the campaign")
        each.add_argument(
            "--nets", type=int, default=1_000_000, help="nets in all (default: 1000000)"
        )
    run.add_argument(
        "--build", type=Path, default=SOURCE / "build", help="build folder of the programs"
    )
    run.add_argument("--jobs", type=int, default=2, help="processes at a time")
    run.add_argument("--nice", type=int, default=10)
    run.add_argument("--memory", type=float, default=3, help="GiB of address space of a process")
    run.add_argument(
        "--seed", type=int, default=100_000_000, help="of unit 0; unit k has this plus k"
    )
    run.add_argument("--units", type=int, help="stop after so many")
    run.add_argument("--unit-nets", type=int, help="nets of each unit, for tests")
    run.add_argument("--modes", nargs="+", choices=list(MODES), help="only these")
    run.add_argument(
        "--compiler", default=os.environ.get("LPN_CXX") or shutil.which("clang++") or "g++"
    )
    run.add_argument("--found", type=Path, default=SOURCE / "testbenches/fuzz/found")
    options = parser.parse_args()
    if options.command == "table":
        print_table(read_state(options.state), options.nets)
        return 0
    return Campaign(options).run()


if __name__ == "__main__":
    sys.exit(main())
