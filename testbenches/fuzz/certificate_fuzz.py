"""Forged and damaged certificates: none may end a checker, keep it busy or prove what is false.

    certificate_fuzz.py --seed 1 --mutations 4000 [--state FILE] [--only N --print]

Mutations of real certificates, as data and as text, looked at by our checker and, by lot, by the
second one, some thousand in one process. A mutant that is accepted is judged by running the inputs
of the space that it names: all of them where they are few, else some. A crash, more than --slowest
seconds of processor time for one, an error other than E-certificate, checkers that differ, or an
input beyond what was accepted is a finding, with the number that makes it again (of the same
certificates: they are kept in --state).
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, at) for at in ("forged", "..", "../second", "../second_checker")]

import check as second  # noqa: E402
import document  # noqa: E402
import lpn  # noqa: E402
from judge import refuted  # noqa: E402
from lpn.proofs.certificate import check  # noqa: E402
from lpn.proofs.contained import contained  # noqa: E402
from lpn.proofs.read import data_of_text  # noqa: E402
from mutants import mutant, text_of  # noqa: E402
from originals import Original, originals  # noqa: E402

BATCH = 500
SILENT = 3600  # seconds by the clock of a batch, which only one that waits for something needs
MEMORY = 2 << 30
# What we take as we write it only: the second checker has run every input of another problem, or
# has a closer bound, which docs/certificates.md allows.
LETTER = (
    r"is not what its problem says$|^its terms are not those of its paths$|asked another question"
    r"|a formula about something else$|, but the net has \d+ over this space$"
    r"|: numbers too large$|is beyond the bound$|do not reach the bound$|delays without bounds$"
    r"|states give -?\d+ only$|as `lpn smt --certificate` writes it \(E-partition"
    r"|as `lpn smt --certificate` writes it \(E-space: place '\w+' may start with more than"
)
SECOND_INPUTS, SECOND_SECONDS = 2000, 3


class Verdicts:
    """What both checkers say, and what is wrong with it."""

    def __init__(self, share):
        self.share = share
        self.judged = {}  # (net, space, claim) of what was accepted: an input beyond it
        self.runs = {}  # of the second checker: most mutants are about the same inputs
        self.nets = {}
        self.observe, self.parse = second.Observed, second.parse
        second.Observed, second.parse = self.observed, self.parsed

    def parsed(self, text):
        if text not in self.nets:
            if len(self.nets) > 20:
                self.nets.clear()
                self.runs.clear()  # their nets are told apart by where they are
            self.nets[text] = self.parse(text)
        return self.nets[text]

    def observed(self, net, *given, in_time):
        key = id(net), repr(given)
        if key not in self.runs:
            if len(self.runs) > 20_000:
                self.runs.clear()
            self.runs[key] = self.observe(net, *given, in_time=in_time)
        return self.runs[key]

    def ours(self, data, text):
        """(proved, refused or unknown; why; the data)"""
        try:
            if text is not None:
                data = data_of_text(text)
            found = check(data, lambda smtlib: None, seconds=3)  # of two processors
        except lpn.Error as error:
            if error.code != "E-certificate":
                raise
            return "refused", str(error), data
        except MemoryError:
            return "refused", "no memory", data  # said as such by `lpn smt --check`
        if found.holds:
            return "proved", "", data
        return "unknown" if found.unknown and found.why is None else "refused", found.why, data

    def second(self, data, text):
        try:
            if text is not None:
                data = document.parse(text.encode("utf-8", "surrogatepass"))
            else:
                document.shape(data)
            second.Check(data, SECOND_INPUTS, SECOND_SECONDS, 50).run()
            return "proved", ""
        except document.Refused as refused:
            return "refused", str(refused)
        except (document.Unknown, RecursionError, MemoryError) as unknown:
            return "unknown", str(unknown)

    def wrong(self, data, text, lot):
        """(what is wrong or None, whether ours accepts it)"""
        a, why_a, read = self.ours(data, text)
        if a == "proved":
            key = json.dumps([read["net"], read["space"], read["claim"]])
            if key not in self.judged:
                self.judged[key] = refuted(read)
            if self.judged[key]:
                return f"a false claim holds: {read['claim']}, but {self.judged[key]}", True
        if lot >= self.share:
            return None, a == "proved"
        b, why_b = self.second(data, text)
        letter = (a, b) == ("refused", "proved") and re.search(LETTER, why_a)
        if a != b and "unknown" not in (a, b) and not letter:
            return f"ours {a} {why_a[:200]!r}, second {b} {why_b[:200]!r}", a == "proved"
        return None, a == "proved"


def batch(given, numbers, known, report):
    """Looks at some mutants; each number is in `report` before it begins, so that a crash has
    one.
    """
    accepted = findings = 0
    verdicts = Verdicts(given.second)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, wherever it is

    def say(n):
        report.seek(0)
        report.write(f"{n:>12} {accepted:>9} {findings:>6}")
        report.flush()

    for n in numbers:
        say(n)
        r = random.Random(f"{given.seed}.{n}")
        data, text = mutant(r, known)
        signal.setitimer(signal.ITIMER_PROF, given.slowest)
        try:
            wrong, held = verdicts.wrong(data, text, r.random())
        except MemoryError:
            wrong, held = None, False
        except Exception as error:
            wrong, held = f"{type(error).__name__}: {error}", False
        signal.setitimer(signal.ITIMER_PROF, 0)
        accepted += held
        if wrong:
            findings += 1
            print(f"--seed {given.seed} --only {n}: {wrong}", flush=True)
    say(-1)
    return min(findings, 1)


class State:
    """What was looked at so far, in a file where there is one."""

    def __init__(self, path):
        self.path = path
        self.done = self.accepted = self.findings = 0
        self.seconds = self.processor = 0.0
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            self.known = state.pop("originals")
            vars(self).update(state)
        else:
            self.known = originals()

    def save(self):
        if not self.path:
            return
        state = {name: value for name, value in vars(self).items() if name not in ("path", "known")}
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({**state, "originals": self.known}, file)
        os.replace(self.path + ".new", self.path)


def look(state, numbers, given, known):
    """One batch; what is left of it when it ended in the middle."""
    began, used = time.monotonic(), os.times()
    with tempfile.NamedTemporaryFile("w+") as report:
        status, why = contained(lambda: batch(given, numbers, known, report), SILENT, MEMORY)
        report.seek(0)
        at, held, wrong = map(int, report.read().split())
    state.accepted, state.findings = state.accepted + held, state.findings + wrong
    left = numbers[:0]
    if at >= 0:
        if why and "SIGPROF" in why:
            why = f"it took more than {given.slowest:g} s of processor time"
        print(f"--seed {given.seed} --only {at}: {why or f'status {status}'}", flush=True)
        state.findings += 1
        left = numbers[numbers.index(at) + 1 :]
    state.done += len(numbers) - len(left)
    now = os.times()
    state.seconds += time.monotonic() - began
    state.processor += sum(now[2:4]) - sum(used[2:4])
    return left


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--mutations", type=int, default=4000)
    parse.add_argument("--from", dest="first", type=int, default=0)
    parse.add_argument("--only", type=int)
    parse.add_argument("--print", action="store_true")
    parse.add_argument("--slowest", type=float, default=10)
    parse.add_argument(
        "--second", type=float, default=0.1, help="share that the second checker sees, too"
    )
    parse.add_argument("--seconds", type=float, help="of the clock, after which it stops")
    parse.add_argument("--state", help="where it stops and goes on from: numbers looked at so far")
    given = parse.parse_args()
    state = State(given.state)
    state.save()
    known = [Original(data) for data in state.known]
    numbers = range(given.first + state.done, given.first + given.mutations)
    if given.only is not None:
        data, text = mutant(random.Random(f"{given.seed}.{given.only}"), known)
        if given.print:
            print(text_of(data) if text is None else text)
        numbers, state = range(given.only, given.only + 1), State(None)
    end = None if given.seconds is None else time.monotonic() + given.seconds
    while numbers and (end is None or time.monotonic() < end):
        left = look(state, numbers[:BATCH], given, known)
        numbers = range(left.start, numbers.stop) if left else numbers[BATCH:]
        state.save()
    rate = state.done / max(state.processor, 0.001)
    print(
        f"{state.done} mutations, {state.accepted} accepted and found true, {state.findings} "
        f"findings; {state.seconds:.0f} s, {state.processor:.0f} s of processor time, {rate:.0f} "
        "for each of these"
    )
    return 1 if state.findings else 0


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    sys.exit(main())
