"""A checker of certificates that shares no code with LPN's: docs/certificates.md says what they are.

    check.py [--inputs N] [--sample N] [--seconds S] FILE...

Of each file: proved, refused or unknown, and why. Ends with 0 when all are proved, 1 when one is refused,
else 3.
"""

import argparse
import pathlib
import sys
import time
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "second"))

from claim import Claim  # noqa: E402
from document import Refused, Unknown, demand, load, number  # noqa: E402
from problem import Problem  # noqa: E402
from runs import Observed  # noqa: E402
from space import Space, Terms  # noqa: E402
from states import all_at_once  # noqa: E402
from steps import Proof  # noqa: E402
from text import Refused as RefusedNet  # noqa: E402
from text import parse  # noqa: E402

INPUTS = 20_000  # that are run, of a space with as many
SAMPLE = 300  # of a larger one
SECONDS = 60
WITHOUT_PATHS = {"response", "backlog"}


class Check:
    """`proved` when run() returns; raises Refused or Unknown. `seen`: how the inputs were looked at. `ask(problem, maximum, bound,
    steps)`, if given, hears of each path that its steps prove.
    """

    def __init__(self, data, inputs=INPUTS, seconds=SECONDS, sample=SAMPLE, ask=None):
        self.data, self.most, self.sample, self.ask = data, inputs, sample, ask
        self.end, self.ran, self.seen = time.process_time() + seconds, 0, ""
        try:
            self.net = parse(data["net"])
        except RefusedNet as error:
            raise Refused(f"the net: {error}") from None
        self.space = Space(data["space"], self.net)
        with_interface = self.space.interface is not None
        denominator = data["interface denominator"]
        self.claim = Claim(data["claim"], self.net, with_interface, denominator)
        self.forms = [form for form, _ in self.claim.forms]
        self.atoms = {atom for form in self.forms for atom in form if atom}
        self.bounds = data["bounds"]
        demand(len(self.bounds) == len(self.forms), "not a bound for each form")
        for bound, form in zip(self.bounds, self.forms):
            wanted = sorted(repr([list(atom), c]) for atom, c in form.items())
            said = sorted(map(repr, bound["form"])) if "form" in bound else wanted
            demand(said == wanted, "a bound of another form")

    def run(self):
        self.given()
        if self.data["witness"] is not None:
            self.witness()
        self.problems = [[] for _ in self.bounds]
        if "terms" in self.data:
            self.terms = Terms(self.data["terms"], self.space.variables, self.space.terms)
            self.steps()
        self.look()

    def in_time(self):
        if time.process_time() > self.end:
            raise Unknown("no time is left")

    def given(self):
        """That the bounds give the claim, and who knows its quantities."""
        kinds = {atom[0] for atom in self.atoms}
        later = self.space.done is not None or any(each[3] for each in self.space.tokens.values())
        later = later or self.net.done or kinds & WITHOUT_PATHS
        demand("partition" not in self.data or not later, "what bounds of paths do not know")
        demand("partition" in self.data or "stall" not in kinds, "stall is not tried")
        if "states" in self.data:
            demand("E" not in kinds, "an interface is not bounded by states")
            for bound, form in zip(self.bounds, self.forms):
                said = [part["atom"] for part in bound["reached"]]
                demand(said == [list(atom) for atom in form if atom], "states of other quantities")
        most = [Fraction(b["most"], d) for b, (_, d) in zip(self.bounds, self.claim.forms)]
        if self.claim.sign == 0:
            demand(max(most) <= 0, "what is bounded does not give the property")
        else:
            proved = number(self.data["claim"]["proved"])
            demand(self.claim.sign * max(most) == proved, "the bounds give another number")

    def observed(self, known):
        """The run of an input and the value of each form, None where it has none."""
        given = self.space.input(known)
        run = Observed(self.net, *given, self.space.done, in_time=self.in_time)
        interface = None if self.space.interface is None else known[self.space.interface]
        return run, (run.value(form, interface) for form in self.forms)

    def witness(self):
        known = self.space.contains(self.space.assignment_of(self.data["witness"]))
        demand(known is not None, "the witness is no input")
        run, values = self.observed(known)
        demand(run.latency is not None or run.ends, "the witness fails")
        for value in values:
            demand(value is not None, "the witness does not have the quantity")
            demand(self.claim.sign or value <= 0, "the witness does not have the property")

    def steps(self):
        """What the steps prove, of each problem."""
        for bound, problems in zip(self.bounds, self.problems):
            sign = 1 if bound["maximum"] else -1
            for each in sorted(bound["certificates"], key=lambda each: each["path"]):
                self.in_time()
                problem = Problem(each["problem"], self.terms, self.space)
                path = problem, bound["maximum"], each["bound"], each["steps"]
                Proof(*path).check()
                beyond = sign * each["bound"] + bound["offset"] > bound["most"]
                demand(not beyond, "a path is bounded less well than all are")
                problems.append(problem)
                if self.ask:
                    self.ask(*path)

    def look(self):
        """Looks at all inputs: runs them where they are few, else by states; or else at a sample."""
        size = self.space.size()
        if size <= self.most:
            return self.ends(*self.ran_of(self.space.assignments()))
        why = "their problems are believed"
        if "partition" not in self.data:
            try:
                return self.ends(*all_at_once(self))
            except Unknown as unknown:
                why = str(unknown)
        self.ran_of(self.space.drawn(100 * self.sample), self.sample)
        raise Unknown(
            f"{self.ran} inputs were run, of {size} or fewer, and all is well with them; {why}"
        )

    def ends(self, inputs, stalls, valued, by="run"):
        self.seen = f"{inputs} inputs {by}"
        demand(inputs > 0, "the space has no input")
        demand(self.data["stalls"] in (stalls, None), "no input stalls or fails")
        if "tried" in self.data:
            demand(inputs == self.data["tried"]["inputs"], "there are more or fewer inputs")
            demand(len(valued) == len(self.bounds), "no input has a value")

    def ran_of(self, given, most=None):
        """(how many inputs there are among assignments, whether one stalls or fails, forms of which one has a value)"""
        stalls, valued = False, set()
        asked = {atom[1] for atom in self.atoms if atom[0] == "response"}
        for assignment in given:
            self.in_time()
            known = self.space.contains(assignment)
            if known is None:
                continue
            self.ran += 1
            run, values = self.observed(known)
            if not run.ends or any(min(run.responses(p), default=0) < 0 for p in asked):
                stalls = True
                demand(self.data["stalls"] is not False, "an input stalls or fails")
                continue
            for k, value in enumerate(values):
                if value is not None:
                    self.fits(k, value, assignment)
                    valued.add(k)
            if self.ran == most:
                break
        return self.ran, stalls, valued

    def fits(self, k, value, assignment):
        """That an input may have a value of form k, which must be what its problems say."""
        bound = self.bounds[k]
        demand(value <= bound["most"], f"an input has {value}, not at most {bound['most']}")
        if "terms" in self.data:
            sign = 1 if bound["maximum"] else -1
            targets = [problem.value(assignment) for problem in self.problems[k]]
            said = {sign * target + bound["offset"] for target in targets if target is not None}
            demand(said, "an input belongs to no problem")
            demand(said == {value}, "a problem gives an input another value than its run has")


def verdict(path, *options):
    """(proved, refused or unknown; why; the Check, None when there is none)."""
    check = None
    try:
        check = Check(load(path), *options)
        check.run()
        return "proved", "", check
    except Refused as refused:
        return "refused", str(refused), check
    except Unknown as unknown:
        return "unknown", str(unknown), check
    except (RecursionError, MemoryError, OSError) as error:
        return "unknown", f"{type(error).__name__}: {error}", check


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU, for each file")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="inputs run of larger spaces")
    return parser


def main(given, listener=lambda place: None):
    """Ends the program. `listener(place)`: who is asked about each path of a file, and tells of it in the end."""
    sys.setrecursionlimit(20_000)
    found = []
    for place, file in enumerate(given.files):
        ask = listener(place)
        answer, why, check = verdict(file, given.inputs, given.seconds, given.sample, ask)
        found.append(answer)
        said = f": {why}" if why else f"; {check.seen}"
        print(f"{file}: {answer}{said}{ask.told() if ask and check else ''}", flush=True)
    sys.exit(1 if "refused" in found else 3 if "unknown" in found else 0)


if __name__ == "__main__":
    main(arguments().parse_args())
