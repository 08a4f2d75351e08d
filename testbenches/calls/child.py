"""Runs sequences of calls, each line written down before it is called (campaign.py reads it then).

child.py PROFILE SEED FIRST COUNT LOG      makes and runs sequences FIRST, FIRST + 1, ...
child.py --replay FILE                     the lines of a file
"""

import faulthandler
import os
import random
import resource
import signal
import sys
import tempfile
import time

# Of processor time, per line: then it is asked to stop as Ctrl-C asks, and later the process ends.
ASKED, ENDED = 2.0, 12.0


def _press(number, frame):
    signal.raise_signal(signal.SIGINT)


def _call(line, names):
    signal.setitimer(signal.ITIMER_VIRTUAL, ASKED, ASKED)
    signal.setitimer(signal.ITIMER_PROF, ENDED)
    try:
        exec(compile(line, "<call>", "exec"), names)
        return True
    except BaseException:
        return False
    finally:
        while True:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                signal.setitimer(signal.ITIMER_PROF, 0)
                break
            except KeyboardInterrupt:
                pass


def _sequence(rng, kind, scene, log):
    names = scene()
    lines = kind(rng, names)
    calls = good = 0
    for k in range(rng.choice([5, 10, 20, 40])):
        try:
            line = lines.begin() if k == 0 else lines.line()
        except RecursionError:
            continue
        os.write(log, line.encode("utf-8", "backslashreplace").replace(b"\n", b" ") + b"\n")
        calls += 1
        good += _call(line, names)
    return calls, good


def _quiet():
    """No input, no output, a folder of its own, limits."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    sys.stdout = open(os.devnull, "w")
    os.chdir(tempfile.mkdtemp(prefix="lpn-calls-"))
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    signal.signal(signal.SIGVTALRM, _press)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def main(arguments):
    from scene import scene

    if arguments[0] == "--replay":
        lines = open(arguments[1], encoding="utf-8").read().splitlines()
        _quiet()
        names = scene()
        for line in lines:
            if line and not line.startswith("#"):
                _call(line, names)
        return
    from core_lines import PROFILES

    kind, seed, first, count, log = arguments
    # Not one of the numbers that sequences close: open(3) is a file, too.
    file = os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 517)
    _quiet()
    for number in range(int(first), int(first) + int(count)):
        os.write(file, f"# {number}\n".encode())
        rng = random.Random(f"{kind} {seed} {number}")
        calls, good = _sequence(rng, PROFILES[kind], scene, file)
        os.write(file, f"# done {number} {calls} {good} {time.process_time():.3f}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
