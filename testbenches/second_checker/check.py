"""A checker of certificates that shares no code with LPN's: docs/certificates.md says what they are.

    check.py [--inputs N] [--sample N] [--seconds S] [--cvc5 S] [--smtlib FOLDER] [--vipr FOLDER] FILE...

Of each file: proved, refused or unknown, and why. Ends with 0 when all are proved, 1 when one is refused,
else 3.
"""

import argparse
import pathlib
import sys
import threading
import time
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "second"))

import smtlib  # noqa: E402
import vipr  # noqa: E402
from claim import Claim  # noqa: E402
from document import Refused, Unknown, demand, load, number  # noqa: E402
from problem import Problem  # noqa: E402
from runs import Observed  # noqa: E402
from space import Space, Terms  # noqa: E402
from steps import Proof  # noqa: E402
from text import Refused as RefusedNet  # noqa: E402
from text import parse  # noqa: E402

INPUTS = 20_000  # that are run, of a space with as many
SAMPLE = 300  # of a larger one
SECONDS = 60


class Check:
    """`proved` when run() returns True; raises Refused or Unknown. `ran`: inputs that were run."""

    def __init__(self, data, inputs=INPUTS, seconds=SECONDS, sample=SAMPLE):
        self.data, self.most, self.end = data, inputs, time.process_time() + seconds
        self.sample = sample
        self.cvc5 = (
            self.folder
        ) = self.vipr = None  # seconds of each question; where these are written
        self.asked = self.answered = self.summed = 0
        self.ran = 0
        try:
            self.net = parse(data["net"])
        except RefusedNet as error:
            raise Refused(f"the net: {error}") from None
        self.space = Space(data["space"], self.net)
        self.denominator = data["interface denominator"]
        self.claim = Claim(
            data["claim"], self.net, self.space.interface is not None, self.denominator
        )
        self.bounds = data["bounds"]
        demand(len(self.bounds) == len(self.claim.forms), "not a bound for each form")
        for bound, (form, _) in zip(self.bounds, self.claim.forms):
            wanted = sorted(repr([list(atom), c]) for atom, c in form.items())
            said = sorted(map(repr, bound["form"])) if "form" in bound else wanted
            demand(said == wanted, "a bound of another form")

    def run(self):
        self.given()
        self.witness()
        self.problems = [[] for _ in self.bounds]
        if "terms" in self.data:
            self.terms = Terms(self.data["terms"], self.space.variables)
            self.steps()
        self.look()

    def in_time(self):
        if time.process_time() > self.end:
            raise Unknown("no time is left")

    def given(self):
        """That the bounds give the claim, and who knows its quantities."""
        later = self.space.done is not None or any(each[3] for each in self.space.tokens.values())
        atoms = {atom[0] for form, _ in self.claim.forms for atom in form if atom}
        later = later or self.net.done or atoms & {"response", "backlog"}
        demand("partition" not in self.data or not later, "what bounds of paths do not know")
        demand(
            "states" not in self.data or "E" not in atoms, "an interface is not bounded by states"
        )
        if "states" in self.data:
            for bound, (form, _) in zip(self.bounds, self.claim.forms):
                said = [part["atom"] for part in bound["reached"]]
                demand(said == [list(atom) for atom in form if atom], "states of other quantities")
        most = [Fraction(b["most"], d) for b, (_, d) in zip(self.bounds, self.claim.forms)]
        if self.claim.sign == 0:
            demand(max(most) <= 0, "what is bounded does not give the property")
        else:
            proved = number(self.data["claim"]["proved"])
            demand(self.claim.sign * max(most) == proved, "the bounds give another number")

    def witness(self):
        if self.data["witness"] is None:
            return
        assignment = self.space.assignment_of(self.data["witness"])
        known = self.space.contains(assignment)
        demand(known is not None, "the witness is no input")
        run = Observed(self.net, *self.space.input(known), self.space.done)
        demand(run.latency is not None or run.ends, "the witness fails")
        for form, _ in self.claim.forms:
            value = run.value(form, self.interface(known))
            demand(value is not None, "the witness does not have the quantity")
            demand(self.claim.sign or value <= 0, "the witness does not have the property")

    def interface(self, known):
        return None if self.space.interface is None else known[self.space.interface]

    def steps(self):
        """What the steps prove, of each problem."""
        for bound, problems in zip(self.bounds, self.problems):
            sign = 1 if bound["maximum"] else -1
            for each in sorted(bound["certificates"], key=lambda each: each["path"]):
                self.in_time()
                problem = Problem(each["problem"], self.terms, self.space)
                Proof(problem, bound["maximum"], each["bound"], each["steps"]).check()
                beyond = sign * each["bound"] + bound["offset"] > bound["most"]
                demand(not beyond, "a path is bounded less well than all are")
                problems.append(problem)
                if self.cvc5 or self.folder or self.vipr:
                    self.ask(problem, bound["maximum"], each["bound"], each["steps"])

    def ask(self, problem, maximum, bound, steps):
        """The same of a solver, which needs no steps; and as sums of constraints."""
        self.asked += 1
        if self.vipr:
            try:
                text = vipr.certificate(problem, maximum, bound, steps)
                self.vipr.mkdir(parents=True, exist_ok=True)
                (self.vipr / f"{self.asked - 1}.vipr").write_text(text, encoding="utf-8")
                self.summed += 1
            except Unknown:
                pass  # counted as not written
        if not self.cvc5 and not self.folder:
            return
        question = smtlib.question(problem, maximum, bound)
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{self.asked - 1}.smt2").write_text(question, encoding="utf-8")
        if self.cvc5:
            try:
                smtlib.ask(question, self.cvc5)
                self.answered += 1
            except Unknown:
                pass  # counted as not answered

    def look(self):
        """Runs inputs: all of them, where they are few."""
        whole_space = self.space.size() <= self.most
        given = self.space.assignments() if whole_space else self.space.drawn(1)
        stalls, valued, tries = False, [False] * len(self.bounds), 0
        atoms = {atom for form, _ in self.claim.forms for atom in form}
        asked = {atom[1] for atom in atoms if atom[:1] == ("response",)}
        for assignment in given:
            tries += 1
            if not whole_space and (self.ran >= self.sample or tries > 100 * self.sample):
                break
            self.in_time()
            known = self.space.contains(assignment)
            if known is None:
                continue
            self.ran += 1
            run = Observed(self.net, *self.space.input(known), self.space.done)
            if not run.ends or any(min(run.responses(p), default=0) < 0 for p in asked):
                stalls = True
                demand(self.data["stalls"] is not False, "an input stalls or fails")
                continue
            for k, (form, _) in enumerate(self.claim.forms):
                valued[k] |= self.fits(k, run.value(form, self.interface(known)), assignment)
        if not whole_space:
            raise Unknown(
                f"{self.ran} inputs were run, of {self.space.size()} or fewer; all is well with them"
            )
        demand(self.ran > 0, "the space has no input")
        demand(
            stalls == self.data["stalls"] or self.data["stalls"] is None, "no input stalls or fails"
        )
        if "tried" in self.data:
            demand(self.ran == self.data["tried"]["inputs"], "there are more or fewer inputs")
            demand(all(valued), "no input has a value")
        if "partition" not in self.data:
            for form, _ in self.claim.forms:
                demand(not any(atom[:1] == ("stall",) for atom in form), "stall is not tried")

    def fits(self, k, value, assignment):
        """Whether an input has a value of form k, which must be what its problems say."""
        bound = self.bounds[k]
        if value is None:
            return False
        demand(value <= bound["most"], f"an input has {value}, not at most {bound['most']}")
        if "terms" in self.data:
            sign, belongs = 1 if bound["maximum"] else -1, 0
            for problem in self.problems[k]:
                target = problem.value(assignment)
                if target is not None:
                    belongs += 1
                    same = sign * target + bound["offset"] == value
                    demand(same, "a problem gives an input another value than its run has")
            demand(belongs, "an input belongs to no problem")
        return True


def verdict(path, inputs=INPUTS, seconds=SECONDS, sample=SAMPLE, cvc5=None, folder=None, sums=None):
    """(proved, refused or unknown; why; the Check, None when there is none)."""
    check = None
    try:
        check = Check(load(path), inputs, seconds, sample)
        check.cvc5, check.folder, check.vipr = cvc5, folder, sums
        check.run()
        return "proved", "", check
    except Refused as refused:
        return "refused", str(refused), check
    except Unknown as unknown:
        return "unknown", str(unknown), check
    except (RecursionError, MemoryError, OSError) as error:
        return "unknown", f"{type(error).__name__}: {error}", check


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU, for each file")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="inputs run of larger spaces")
    parser.add_argument("--cvc5", type=float, help="seconds: asks cvc5, too, for each path")
    parser.add_argument("--smtlib", type=pathlib.Path, help="a folder for these questions")
    parser.add_argument(
        "--vipr", type=pathlib.Path, help="a folder for sums of constraints, as VIPR"
    )
    given = parser.parse_args()
    found = []
    for place, file in enumerate(given.files):
        folder = given.smtlib and given.smtlib / str(place)
        sums = given.vipr and given.vipr / str(place)
        options = given.inputs, given.seconds, given.sample, given.cvc5, folder, sums
        answer, why, check = verdict(file, *options)
        found.append(answer)
        said = f": {why}" if why else f"; {check.ran} inputs run"
        if given.cvc5 and check:
            said += f"; cvc5 proves {check.answered} of {check.asked} bounds of paths"
        if given.vipr and check:
            said += f"; {check.summed} of {check.asked} bounds of paths written as VIPR"
        print(f"{file}: {answer}{said}", flush=True)
    raise SystemExit(1 if "refused" in found else 3 if "unknown" in found else 0)


if __name__ == "__main__":
    sys.setrecursionlimit(100_000)
    threading.stack_size(512 << 20)
    status = []

    def run():
        try:
            main()
        except SystemExit as end:
            status.append(end.code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    sys.exit(status[0] if status else 2)
