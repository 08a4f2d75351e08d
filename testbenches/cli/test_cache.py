"""Who is trusted with the code that runs, and what becomes of a compilation that goes wrong: a
right answer or a clear refusal each, and nothing foreign is run.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BUILD, REPO, interrupted

TOKENS = {"in": [[5], [7], [3]]}
RUN, LPN = BUILD / "bin" / "lpn-run", BUILD / "bin" / "lpn"
ROOT = os.geteuid() == 0
NOBODY = 65534

# Each cycle a million tokens more.
FLOOD = """lpn 1
net flood
type item (number: 0..1000)
place tick : item initial (1)
place pool : item
transition fill {
  take t from tick
  delay 1
  put tick (t.number)
  put pool (t.number) times 1000000
}
transition never {
  take t from pool when t.number > 999
  delay 1
}
end
"""

# A compiler that is asked once for each source and its flags.
ASKED_ONCE = """
kept={store}/$( (echo "$@"; cat net.cc) | md5sum | cut -c1-32)
if [ ! -f $kept ]; then
  {quick} "$@" || exit
  cp net.so $kept.$$ && mv $kept.$$ $kept
fi
cp $kept net.so
"""


class Place:
    """A net, its tokens, a cache, and two compilers: a quick one, and one that is asked once."""

    def __init__(self, folder, nets, tokens, environment, store):
        self.folder, self.net, self.tokens = folder, nets / "line.lpn", tokens
        self.cache = folder / "cache"
        self.quick = self.script("quick", 'exec g++ "$@" -O0')
        once = self.script("once", ASKED_ONCE.format(store=store, quick=self.quick))
        self.environment = {
            **environment,
            "LPN_CACHE": str(self.cache),
            "LPN_CXX": str(once),
            "TMPDIR": str(folder / "tmp"),
        }
        (folder / "tmp").mkdir()

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        return path

    def variables(self, given):
        found = {**self.environment, **{k: str(v) for k, v in given.items() if v is not None}}
        return {k: v for k, v in found.items() if k not in given or given[k] is not None}

    def start(self, program, *arguments, **given):
        return subprocess.Popen(
            [program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.variables(given),
        )

    def run(self, program, *arguments, before=None, **given):
        return subprocess.run(
            [program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            env=self.variables(given),
            preexec_fn=before,
            check=False,
        )

    def lpn_run(self, *options, **given):
        return self.run(RUN, self.net, self.tokens, *options, **given)

    def sim(self, *options, **given):
        compiled = ("--engine", "compiled")
        return self.run(LPN, "sim", self.net, self.tokens, "--json", *compiled, *options, **given)

    def answers(self, **given):
        """What lpn-run says, which must be right; compiled."""
        done = self.lpn_run(**given)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["latency"] == 16 and answer["engine"] == "compiled"
        return answer

    def refuses(self, code, *parts, **given):
        """lpn-run refuses in words that say what to do; lpn sim answers by the interpreter, and
        says why.
        """
        done = self.lpn_run(**given)
        assert done.returncode == 2 and f"[{code}]" in done.stderr, (done.returncode, done.stderr)
        for part in (*parts, "--engine interp"):
            assert part in done.stderr
        self.interprets(code, **given)
        done = self.lpn_run("--engine", "interp", **given)
        assert json.loads(done.stdout)["latency"] == 16

    def interprets(self, code, *options, **given):
        done = self.sim(*options, **given)
        assert done.returncode == 0 and f"[{code}]" in done.stderr, (done.returncode, done.stderr)
        answer = json.loads(done.stdout)
        assert answer["engine"] == "interp" and answer["fallback"]["code"] == code
        assert answer["runs"][0]["latency"] == 16

    def library(self, cache=None):
        [path] = (cache or self.cache).glob("*.so")
        return path

    def litter(self):
        """What lies in the cache and the temporary folder beside finished work."""
        return [
            path
            for folder in (self.cache, self.folder / "tmp")
            if folder.exists()
            for path in folder.iterdir()
            if path.suffix not in (".so", ".cc") and path.name not in (".lock", "lpn")
        ]

    def plant(self, path):
        """A library that says so when it is loaded, in the place of a simulator."""
        source = self.folder / "planted.cc"
        if not source.exists():
            source.write_text(
                "#include <fstream>\n__attribute__((constructor)) static void run() "
                f'{{ std::ofstream("{self.folder}/planted") << "run"; }}\n'
            )
            subprocess.run(
                ["g++", "-shared", "-fPIC", "-o", self.folder / "planted.so", source], check=True
            )
        path.unlink(missing_ok=True)
        shutil.copy(self.folder / "planted.so", path)

    @property
    def planted_has_run(self):
        return (self.folder / "planted").exists()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def place(tmp_path, nets, environment, store):
    (tmp_path / "place").mkdir()
    tokens = tmp_path / "m.json"
    tokens.write_text(json.dumps(TOKENS))
    text = subprocess.run(
        [LPN, "marking", nets / "line.lpn", tokens, "-o", tmp_path / "m.lpnm"],
        capture_output=True,
        env=environment,
        check=True,
    )
    assert text.returncode == 0
    return Place(tmp_path / "place", nets, tmp_path / "m.lpnm", environment, store)


@contextlib.contextmanager
def mounted(folder, options):
    """A file system of its own at the folder, where this user may make one."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    if not ROOT or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


# Foreign code.


def test_without_a_home_a_planted_library_is_not_run(place):
    homeless = {"HOME": None, "XDG_CACHE_HOME": None, "LPN_CACHE": None}
    cache = place.folder / "tmp" / f"lpn-{os.geteuid()}"
    place.answers(**homeless)
    assert cache.stat().st_mode & 0o777 == 0o700 and place.answers(**homeless)["cached"]
    assert place.library(cache).stat().st_mode & 0o777 == 0o600

    # Who comes first makes the folder, and lets the user write there.
    place.plant(place.library(cache))
    cache.chmod(0o777)
    if ROOT:
        os.chown(cache, NOBODY, NOBODY)
        os.chown(place.library(cache), NOBODY, NOBODY)
    done = place.lpn_run(**homeless)
    assert json.loads(done.stdout)["latency"] == 16 and not json.loads(done.stdout)["cached"]
    assert done.stderr.startswith("note: ") and "LPN_CACHE" in done.stderr
    done = place.sim(**homeless)
    answer = json.loads(done.stdout)
    assert answer["runs"][0]["latency"] == 16 and answer["engine"] == "compiled"
    assert str(cache) in done.stderr and done.stderr.startswith("note: ")
    assert not place.planted_has_run
    assert list(cache.parent.iterdir()) == [cache]  # the private folders are gone


@pytest.mark.parametrize("kind", ["writable", "group", "owner", "link", "parent", "file"])
def test_a_foreign_cache_folder_is_refused(place, kind):
    place.answers()
    place.plant(place.library())
    given = {}
    if kind == "writable":
        place.cache.chmod(0o777)
    elif kind == "group":
        place.cache.chmod(0o770)
    elif kind == "owner":
        if not ROOT:
            pytest.skip("needs root, to give a folder away")
        os.chown(place.cache, NOBODY, NOBODY)
    elif kind == "link":
        (place.folder / "link").symlink_to(place.cache)
        given = {"LPN_CACHE": place.folder / "link"}
    elif kind == "parent":
        place.folder.chmod(0o777)
    else:
        given = {"LPN_CACHE": place.library()}
    place.refuses("E-cache", "LPN_CACHE", **given)
    assert not place.planted_has_run


def test_a_library_that_was_not_compiled_here_is_not_run(place):
    place.answers()
    place.plant(place.library())
    assert place.answers()["cached"] is False and place.answers()["cached"] is True
    assert not place.planted_has_run


# Damage.


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_library_is_compiled_once_more(place, part):
    place.answers()
    os.truncate(place.library(), int(place.library().stat().st_size * part))
    assert place.answers()["cached"] is False
    os.truncate(place.library(), int(place.library().stat().st_size * part))
    done = place.sim()
    answer = json.loads(done.stdout)
    assert answer["engine"] == "compiled" and answer["runs"][0]["latency"] == 16
    assert place.answers()["cached"] is True


@pytest.mark.parametrize("kilobytes", [4, 24, 300])
def test_full_disk(place, kilobytes):
    with mounted(place.cache, f"size={kilobytes}k,mode=0700") as cache:
        place.refuses("E-cache", "LPN_CACHE", "No space left on device", LPN_CXX=place.quick)
        assert not list(cache.glob("*.so")) and not list(cache.glob("work-*"))


@pytest.mark.parametrize("size", [0, 5_000, 40_000])
def test_files_that_may_not_grow(place, size):
    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = place.lpn_run(before=before, LPN_CXX=place.quick)
    assert done.returncode == 2 and ("[E-cache]" in done.stderr or "[E-compile]" in done.stderr)
    assert "--engine interp" in done.stderr
    done = place.sim(before=before, LPN_CXX=place.quick)
    answer = json.loads(done.stdout)
    assert answer["engine"] == "interp" and answer["runs"][0]["latency"] == 16
    assert not list(place.cache.glob("*.so")) and not place.litter()


def test_read_only_home(place):
    home = place.folder / "home"
    given = {"HOME": home, "LPN_CACHE": None, "XDG_CACHE_HOME": None}
    with contextlib.ExitStack() as stack:
        if ROOT:
            stack.enter_context(mounted(home, "ro"))
        else:
            home.mkdir(mode=0o500)
        place.refuses("E-cache", "LPN_CACHE", **given)


# Compilers.


def test_no_compiler(place):
    place.refuses("E-no-compiler", "LPN_CXX", LPN_CXX="/nonexistent/c++")


def test_nothing_on_the_path(place):
    assert not place.refuses("E-no-compiler", "LPN_CXX", LPN_CXX=None, PATH="")
    (place.folder / "lpn").symlink_to(LPN)
    done = place.run(place.folder / "lpn", "print", place.net, PATH="")
    assert done.returncode == 0 and "net line" in done.stdout, done.stderr


def test_a_compiler_that_writes_nothing(place):
    place.refuses("E-compile", "LPN_CXX", "wrote no library", LPN_CXX="/bin/true")
    place.refuses("E-compile", "status 3", LPN_CXX=place.script("fails", "exit 3"))
    place.refuses("E-compile", "signal 9", LPN_CXX=place.script("dies", "kill -9 $$"))
    place.refuses(
        "E-compile", "cannot be started", LPN_CXX=place.folder / "tmp"
    )  # a folder is executable
    assert not place.litter()


def children(pid):
    with contextlib.suppress(OSError):
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_kill_9_at_20_moments_of_a_compilation(place):
    place.environment["LPN_CXX"] = str(place.quick)
    begin = time.monotonic()
    place.answers()
    whole = time.monotonic() - begin
    for moment in range(20):
        shutil.rmtree(place.cache)
        process = place.start(RUN, place.net, place.tokens)
        time.sleep(whole * (moment + 1) / 21)
        # With its compiler, or so that the compiler goes on alone.
        for pid in [*(children(process.pid) if moment % 2 else []), process.pid]:
            kill(pid)
        process.communicate(timeout=60)
        place.answers()
        assert place.answers()["cached"] is True
        # What the dead have left is gone, but for what a compiler that still ran put there anew.
        for path in place.litter():
            assert path.parent == place.cache and path.name.startswith("work-")
    until = time.monotonic() + 20
    while place.litter() and time.monotonic() < until:
        place.library().unlink()
        place.answers()
    assert not place.litter()


@pytest.mark.parametrize("program", ["lpn", "lpn-run"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_compilation(place, program, number):
    if program == "lpn" and number == signal.SIGTERM:
        pytest.skip("ends Python at once; the next compilation cleans up")
    pid = place.folder / "pid"
    slow = place.script("slow", f"touch left.s\nsleep 60 & echo $! > {pid}\nwait")
    arguments = [RUN] if program == "lpn-run" else [LPN, "sim", "--engine", "compiled"]
    process = place.start(*arguments, place.net, place.tokens, LPN_CXX=slow)
    while not pid.exists() or not pid.read_text().strip():
        time.sleep(0.01)
        assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - begin < 30  # not the 60 s of the compiler
    if number == signal.SIGINT:
        assert process.returncode == 3 and "[E-interrupted]" in err, (process.returncode, err)
    else:
        assert process.returncode == -signal.SIGTERM
    assert "Traceback" not in err and not out
    assert not place.litter()
    until = time.monotonic() + 30
    while running(int(pid.read_text())) and time.monotonic() < until:
        time.sleep(0.01)
    assert not running(int(pid.read_text()))


def test_two_that_want_the_same_net_compile_it_once(place):
    log = place.folder / "log"
    counted = place.script("counted", f'echo begun >>{log}\nsleep 1\nexec {place.quick} "$@"')
    two = [place.start(RUN, place.net, place.tokens, LPN_CXX=counted) for _ in range(2)]
    answers = [json.loads(one.communicate(timeout=60)[0]) for one in two]
    assert [answer["latency"] for answer in answers] == [16, 16]
    assert sorted(answer["cached"] for answer in answers) == [False, True]
    assert log.read_text() == "begun\n" and not place.litter()


def test_who_waits_for_another_compilation_can_be_interrupted(place):
    begun = place.folder / "begun"
    slow = place.script("slow", f"touch {begun}\nexec sleep 60")
    first = place.start(RUN, place.net, place.tokens, LPN_CXX=slow)
    while not begun.exists():
        time.sleep(0.01)
        assert first.poll() is None
    second = place.start(LPN, "sim", "--engine", "compiled", place.net, place.tokens, LPN_CXX=slow)
    time.sleep(1)
    second.send_signal(signal.SIGINT)
    _, err = second.communicate(timeout=30)
    assert second.returncode == 3 and "[E-interrupted]" in err, (second.returncode, err)
    kill(first.pid)  # what it leaves is in nobody's way
    first.communicate(timeout=60)
    place.answers()
    assert place.answers()["cached"] is True


def running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


# A stranger's net.


def test_never_compile(place, lpn):
    marker = place.folder / "started"
    compiler = place.script("marked", f'touch {marker}\nexec g++ "$@" -O0')
    place.answers(LPN_CXX=compiler)
    marker.unlink()
    place.plant(place.library())
    given = {"LPN_CXX": compiler}
    for way in ({"LPN_NO_COMPILE": "1"}, {}):
        before = [] if way else ["--never-compile"]

        def command(*arguments, way=way, before=before):
            return place.run(LPN, *before, *arguments, **given, **way)

        done = command("sim", place.net, place.tokens, "--engine", "compiled", "--json")
        answer = json.loads(done.stdout)
        assert answer["engine"] == "interp" and answer["runs"][0]["latency"] == 16
        assert answer["fallback"]["code"] == "E-never-compile"
        grid = ["-p", "slow=1,2", "--engine", "compiled", "--jobs", "2"]
        done = command("sweep", place.net, place.tokens, *grid, "--json")
        answer = json.loads(done.stdout)
        assert [row["latency"] for row in answer["rows"]] == [16, 31], done.stderr
        assert answer["compiled"] == 0 and answer["fallback"]["code"] == "E-never-compile"
        for refused in (
            ["compile", place.net, "-o", place.folder / "it.so"],
            ["compile", place.net, "-o", place.folder / "it"],
        ):
            done = command(*refused)
            assert done.returncode == 2 and "[E-never-compile]" in done.stderr, done.stderr
        assert command("compile", place.net, "-o", place.folder / "it.cc").returncode == 0
    place.refuses("E-never-compile", LPN_NO_COMPILE="1", **given)
    done = place.lpn_run("--never-compile", **given)
    assert json.loads(done.stdout)["latency"] == 16
    script = (
        "import lpn, sys\nmodel = lpn.load(sys.argv[1])\nnet = model.net()\n"
        "marking = lpn.Marking.load(net, sys.argv[2])\n"
        "print(lpn.simulate(net, marking).engine)\n"
        "for make in (lambda: lpn.simulate(net, marking, engine='compiled'),\n"
        "             lambda: lpn.run_batch(net, marking)):\n"
        "    try:\n        make()\n    except lpn.Error as error:\n        print(error.code)\n"
    )
    given["PYTHONPATH"] = f"{BUILD}/python"
    done = place.run(
        sys.executable, "-c", script, place.net, place.tokens, LPN_NO_COMPILE="1", **given
    )
    assert done.stdout.split() == ["interp", "E-never-compile", "E-never-compile"], done.stderr
    assert not marker.exists() and not place.planted_has_run


def wicked(place, deed):
    """A runtime whose generated code does this when it is loaded."""
    runtime = place.folder / "runtime"
    if not runtime.exists():
        shutil.copytree(REPO / "lpn2sim" / "runtime", runtime)
    text = (REPO / "lpn2sim" / "runtime" / "lpnrt" / "arith.h").read_text()
    (runtime / "lpnrt" / "arith.h").write_text(
        text
        + "\n#include <csignal>\n#include <unistd.h>\n__attribute__((constructor)) static void "
        f"wicked() {{ {deed} }}\n"
    )
    return {"LPN_RUNTIME": runtime, "LPN_CXX": place.quick}


def test_what_kills_a_simulator_is_an_answer(place):
    given = wicked(place, "raise(SIGSEGV);")
    assert place.lpn_run(**given).returncode == -signal.SIGSEGV
    done = place.lpn_run("--isolate", **given)
    said = "stopped: the simulator was killed by signal 11 (Segmentation fault)"
    assert done.returncode == 2 and f"error: {said} [E-killed]" in done.stderr
    done = place.sim(place.tokens, "--isolate", **given)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    rows = json.loads(done.stdout)["runs"]
    assert [row["error"] for row in rows] == 2 * [{"code": "E-killed", "message": said}]
    done = place.sim("--isolate", **wicked(place, "_exit(0);"))
    [row] = json.loads(done.stdout)["runs"]
    assert row["error"]["message"] == "stopped: the simulator ended without an answer (status 0)"


def test_an_endless_simulator_is_an_answer(place):
    given = wicked(place, "for (;;) pause();")
    for begin in (place.lpn_run, place.sim):
        done = begin("--isolate", "--isolate-seconds", "4", **given)
        assert done.returncode == 2
        assert "the simulator ran longer than 4 s" in done.stdout + done.stderr
    # It does not hear Ctrl-C either.
    given = wicked(place, "signal(SIGINT, SIG_IGN); for (;;) pause();")
    for program in ([RUN], [LPN, "sim", "--engine", "compiled"]):
        process = place.start(*program, place.net, place.tokens, "--isolate", **given)
        until = time.monotonic() + 60
        while not list(place.cache.glob("*.so")) and time.monotonic() < until:
            time.sleep(0.01)
        while not children(process.pid) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(1)
        [child] = children(process.pid)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=100)[1]
        assert process.returncode == 3 and "interrupted" in err, err
        assert not running(child)
        shutil.rmtree(place.cache)


def test_isolated_runs_answer_as_others_do(place, lpn, nets):
    plain = json.loads(place.sim("--stats").stdout)
    alone = json.loads(place.sim("--stats", "--isolate").stdout)
    assert alone["engine"] == "compiled" and alone["cached"] is True
    for data in (plain, alone):
        data["runs"][0].pop("seconds")
    assert plain["runs"] == alone["runs"]
    trace = place.folder / "trace.json"
    traces = []
    for options in ([], ["--isolate"]):
        assert place.sim("--trace", trace, *options).returncode == 0
        traces.append(trace.read_text())
    assert traces[0] == traces[1]
    done = place.lpn_run("--isolate", "--limit", "3")
    assert done.returncode == 3 and json.loads(done.stdout)["ending"] == "limit"
    done = place.lpn_run("--isolate-seconds", "3")
    assert done.returncode == 2 and "need --isolate" in done.stderr
    lpn("sim", place.net, "--isolate-memory", "3").refused("E-usage")


def test_memory_of_an_isolated_run_is_bounded(place):
    net = place.folder / "flood.lpn"
    net.write_text(FLOOD)
    done = place.run(LPN, "sim", net, "--json", "--isolate", "--isolate-memory", "1024")
    [row] = json.loads(done.stdout)["runs"]
    assert (
        done.returncode == 3
        and row["ending"] == "budget"
        and "1073741824" in row["stopped"]["text"]
    )
    done = place.run(RUN, net, "--isolate", "--isolate-memory", "1024")
    answer = json.loads(done.stdout)
    assert done.returncode == 3 and "1073741824" in answer["stopped"]
    # What does not count what it takes.
    given = wicked(place, "volatile char* all = new char[2l << 30]; all[0] = 1;")
    assert place.lpn_run(**given).returncode == 0
    done = place.lpn_run("--isolate", "--isolate-memory", "1024", **given)
    assert done.returncode == 2 and "[E-killed]" in done.stderr, done.stderr


def test_an_interrupted_isolated_run_gives_the_partial_result(place, nets):
    asked = ["sim", nets / "clock.lpn", "--json", "--engine", "compiled"]
    assert place.run(LPN, *asked, "--limit", "1").returncode == 3
    answer = interrupted([LPN, *asked, "--isolate"], place.environment)
    assert answer.status == 3, answer.err
    [row] = answer.json["runs"]
    assert row["ending"] == "interrupted" and row["firings"] > 1000


def test_a_program_leaves_no_litter(place):
    for compiler, status in ((place.quick, 0), ("/bin/true", 2), ("/bin/false", 2)):
        done = place.run(
            LPN, "compile", place.net, "-o", place.folder / "program", LPN_CXX=compiler
        )
        assert done.returncode == status and not place.litter(), done.stderr
    assert not [path for path in place.folder.iterdir() if path.name.startswith("program.")]
