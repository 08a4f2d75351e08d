"""The suites that may notice a mutant, what each costs, and running one with limits.

A unit test's file is a suite of its own: it reaches few mutants, and is over soon."""

import os
import pathlib
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field

import cached_cxx

OWN = pathlib.Path(__file__).resolve().parent
MEMORY = 6 << 30  # bytes
UNIT = {
    "core": ("lpn-core/test", "lpn_core_tests"),
    "sim": ("lpn2sim/test", "lpn_sim_tests"),
    "smt": ("lpn2smt/test", "lpn_smt_tests"),
}

# Cases that cost more than all others of their file: a suite of their own, behind the others.
APART = {"search_test": "bounds: random paths against all their inputs"}


@dataclass
class Suite:
    name: str
    command: list
    seconds: float = 0.0  # of CPU, unchanged
    reaches: set = field(default_factory=set)


@dataclass
class Ran:
    status: str  # ok, failed, crashed, hung
    seconds: float
    output: str


def targets():
    programs = "golden_test static_test path_test lpn_fuzz classes_fuzz reach_fuzz claims_test"
    programs += " embedding_test coupled_fuzz changed_nets marking_replay"
    return [program for _, program in UNIT.values()] + programs.split()


def marking_files(corpus):
    found = [corpus / "marking", corpus / "marking.pack"]
    return [path for path in found if path.exists()]


def all_suites(tree):
    build = tree / "build"
    found = []
    for part, (folder, program) in UNIT.items():
        listed = (tree / folder / "CMakeLists.txt").read_text(encoding="utf-8")
        for file in sorted((tree / folder).rglob("*_test.cc")):
            if str(file.relative_to(tree / folder)) not in listed:
                continue
            name = f"{part}/{file.stem}"
            command = [build / folder / program, f"-sf=*/{file.name}", "-aa=1", "-m"]
            if case := APART.get(file.stem):
                found.append(Suite(f"{name}/apart", [*command, f"-tc={case}"]))
                command.append(f"-tce={case}")
            found.append(Suite(name, command))
    bench, nets = build / "testbenches", tree / "testbenches/nets"
    found += [
        Suite(
            "changed_nets",
            [bench / "mutation/changed_nets", nets, tree / "testbenches/fuzz/found"],
        ),
        Suite(
            "golden_nets",
            [bench / "equivalence/golden_test", nets, tree / "testbenches/fuzz/found", "-aa=1"],
        ),
        Suite("static_nets", [bench / "equivalence/static_test", "-aa=1"]),
        Suite(
            "critical_path", [bench / "equivalence/path_test", nets, "--nets", "12", "--seed", "1"]
        ),
        Suite(
            "marking_files",
            [bench / "fuzz/marking_replay", *marking_files(tree / "testbenches/fuzz/corpus")],
        ),
        Suite("embedding", [bench / "embedding/embedding_test", "-aa=1"]),
        Suite("structure_claims", [bench / "structure/claims_test", "--nets", "100"]),
        Suite("fuzz_classes", [bench / "fuzz/classes_fuzz", "--seed", "1", "--cases", "250"]),
        Suite("fuzz_reach", [bench / "fuzz/reach_fuzz", "--seed", "1", "--cases", "40"]),
        Suite(
            "fuzz_engines",
            [bench / "fuzz/lpn_fuzz", "--seed", "1", "--nets", "40", "--batch", "40"]
            + ["--jobs", "1", "--stop", "1", "--no-shrink"],
        ),
        Suite(
            "fuzz_order_free",
            [bench / "fuzz/lpn_fuzz", "--seed", "3", "--order-free", "--nets", "40", "--batch"]
            + ["20", "--jobs", "1", "--stop", "1", "--no-shrink"],
        ),
        Suite(
            "coupled",
            [bench / "embedding/coupled_fuzz", "--seed", "1", "--pairs", "8", "--hosts", "6"],
        ),
    ]
    return found


def environment(work, **more):
    wanted = dict(os.environ, LPN_CXX=str(OWN / "cached_cxx.py"), **more)
    wanted.setdefault("LPN_MUTATION_CXX", cached_cxx.COMPILER)
    for name, folder in (
        ("LPN_CACHE", "lpn-cache"),
        ("LPN_MUTATION_OBJECTS", "objects"),
        ("TMPDIR", "tmp"),
    ):
        (work / folder).mkdir(parents=True, exist_ok=True)
        wanted[name] = str(work / folder)
    return wanted


def processor_time(session):
    """Of the processes of a session that are there now, in ticks; those that ended by their parents."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue  # it has just ended
        if int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))
    return total


def ended(process, wall_seconds):
    """Its status, or None: it hangs, and has used no processor for so long. Another one that waits for a
    processor does not hang, however busy the machine is."""
    used = -1
    while True:
        try:
            return process.wait(timeout=wall_seconds)
        except subprocess.TimeoutExpired:
            now = processor_time(process.pid)
            if now == used:
                return None
            used = now


def run(command, env, folder, cpu_seconds, wall_seconds):
    """Runs a program in a process group of its own; nothing of it is left afterwards."""

    def limits():
        most = max(1, int(cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(int(os.environ.get("LPN_MUTATION_NICE", "10")))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = folder / f"output.{os.getpid()}.txt"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=limits,
        )
        status, code = "ok", 0
        try:
            answer = ended(process, wall_seconds)
            status, code = ("hung", 0) if answer is None else ("ok", answer)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = log.read_bytes()[-20000:].decode(errors="replace")
    if status == "ok" and code == -signal.SIGXCPU:
        status = "hung"
    elif status == "ok" and code < 0:
        status = "crashed"
    elif status == "ok" and code != 0:
        status = "failed"
    return Ran(status, used, text)


def wall_of(cpu_seconds):
    """After so long without any work it hangs; one that works is ended by its limit of processor time."""
    return 60 + cpu_seconds


def measure(suite, work, numbers, cpu_seconds=900):
    """Runs the suite with no mutant on: its cost, and which points it comes by."""
    env = environment(work, LPN_MUTANT="0")
    warm = run(suite.command, env, work / "tmp", cpu_seconds, 3600)  # fills the caches
    if warm.status != "ok":
        return warm
    reached = work / f"reached.{os.getpid()}.bin"  # others measure, too
    reached.write_bytes(bytes(max(numbers, default=0) + 1))
    env["LPN_MUTANT_REACHED"] = str(reached)
    ran = run(suite.command, env, work / "tmp", cpu_seconds, 3600)
    suite.seconds = ran.seconds
    suite.reaches = {k for k, byte in enumerate(reached.read_bytes()) if byte and k in numbers}
    reached.unlink()
    return ran


def notices(suite, number, work, compiles=False):
    """Runs the suite with one mutant on. `compiles`: it may change the text of generated code."""
    env = environment(work, LPN_MUTANT=str(number))
    cpu = 3 + 5 * suite.seconds + (12 if compiles else 0)  # of each process, the compiler's too
    begin = time.monotonic()
    ran = run(suite.command, env, work / "tmp", cpu, wall_of(cpu))
    ran.seconds = time.monotonic() - begin
    return ran
