"""Bounds proved over all inputs of a space, with inputs that come as close, and their certificates."""

import json
import time
from fractions import Fraction

import _lpn

from ..authoring.expr import Expr
from ..authoring.net import Net
from ..errors import Error, RunError, mistake
from ..interrupt import Interrupt
from ..runs import simulate
from ..spaces.partition import OUTCOMES, partition
from ..spaces.space import InputSpace
from . import property as _property
from .cases import cases
from .property import text_of, timed, whole

__all__ = ["Answer", "check", "maximize", "minimize", "prove"]

FORMAT = 1

# What decides whether a partition is made the same way again.
_PARTITION = {
    "max_paths": 10_000,
    "max_firings": 200_000,
    "question_seconds": 10,
    "enumerate": 4096,
    "seed": 1,
}


class Answer:
    """What was found about a question over all inputs of a space.

    `verdict`: "optimal" (the bound is exact), "proved", "refuted" (there is an input without the
    property, or one that stalls or fails), "bounded" (a bound is proved and an input found, but they
    differ), "unknown". `lower`, `upper`: proved bounds or values of inputs found, int or Fraction,
    None when there is none; for a maximum `upper` is proved and `lower` is the witness's, for a
    minimum the other way round. `witness`: {variable: int}; it was run in the interpreter and has
    exactly that value. `stalled`: an input that stalls or fails, with why, else None. `classes`,
    `paths`, `complete`, `why`: of the partition it rests on. `silent`: no input produces a done token.
    `certificate`: what check() takes.
    """

    def __init__(self, question, space):
        self.question = question
        self.space = space
        self.verdict = "unknown"
        self.lower = self.upper = None
        self.witness = None
        self.replayed = None
        self.stalled = None
        self.silent = False
        self.classes = self.paths = 0
        self.complete = False
        self.why = None
        self.unresolved = 0
        self.notes = []
        self.interrupted = False
        self.seconds = 0.0
        self.certificate = None

    def __repr__(self):
        return f"<{self.question}: {self.verdict}, {self.lower}..{self.upper}>"


def maximize(space, quantity="latency", **options):
    """The largest value of a quantity over all inputs of a space; an Answer.

    `quantity`: latency, completion(k) (when the k-th done token is produced), busy(T) (cycles in which
    a transition has a firing in flight), stall(T, P) (cycles in which it waits for place P alone: for
    its tokens or for room), commits(T), and E, a performance interface given as `interface`, a function
    of one argument whose attributes are the space's tokens by place and parameters; times numbers, and
    added up.
    `seconds`: a limit; what is proved and found by then is the answer. `progress(text)` is called a few
    times per second; Ctrl-C ends the work, and the answer keeps what it has.
    Raises Error "E-property" for what is not covered, "E-partition" for a net that cannot be executed
    symbolically, "E-space" when the space has no input.
    """
    return _Work(space, f"maximize {quantity}", **options).extreme(quantity, 1)


def minimize(space, quantity="latency", **options):
    """The least value of a quantity over all inputs of a space; like maximize."""
    return _Work(space, f"minimize {quantity}", **options).extreme(quantity, -1)


def prove(space, property, **options):
    """Whether all inputs of a space have a property, as "latency <= 2300"; an Answer.

    Comparisons of quantities (see maximize), joined with `and`; abs and max of what is to be at most
    something, min of what is to be at least something. Otherwise like maximize.
    """
    return _Work(space, f"prove {property}", **options).prove(property)


def _nothing(text):
    pass


class _Work:
    def __init__(self, space, question, *, interface=None, seconds=None, progress=None, seed=1):
        if not isinstance(space, InputSpace):
            raise mistake("E-operand", f"bounds need an input space, got {space!r}")
        self.space = space
        self.net = space.net
        self.interface = interface
        self.limit = seconds
        self.say = progress or _nothing
        self.seed = seed
        self.began = time.monotonic()
        self.answer = Answer(question, space)
        self.parts = None
        self.terms = {}  # atom -> term of the space
        self.denominator = 1  # what the term of E is divided by
        self.claims = []  # certificates, one per linear form

    def left(self):
        """Seconds that remain; 0: any number."""
        if self.limit is None:
            return 0
        return max(self.limit - (time.monotonic() - self.began), 0.001)

    # The partition, and what in it has no latency.

    def begin(self, forms):
        if any(("E",) in form for form in forms) and ("E",) not in self.terms:
            self.terms[("E",)] = interface_term(self.space, self.interface)
            self.denominator = getattr(self.interface, "denominator", 1)
        answer = self.answer
        options = {**_PARTITION, "seed": self.seed}
        self.parts = partition(
            self.net,
            self.space,
            seconds=self.left(),
            **options,
            progress=lambda paths, open: self.say(f"{paths} paths, {open} begun"),
        )
        parts = self.parts
        answer.classes = len(parts.classes)
        answer.paths = sum(len(c.paths) for c in parts.classes)
        answer.complete, answer.why = parts.complete, parts.why
        answer.unresolved, answer.interrupted = parts.unresolved, parts.interrupted
        if parts.complete and not parts.classes:
            raise self.no_input()
        self.undecided = False
        self.ending = []  # (class, path) with a latency
        silent = 0
        for each in parts.classes:
            for path in each.paths:
                if path.outcome == "latency":
                    self.ending.append((each, path))
                elif path.outcome == "none":
                    silent += 1
                    self.ending.append((each, path))
                elif path.samples:
                    if answer.stalled is None:
                        answer.stalled = self.stall(path)
                else:
                    self.undecided = True
                    answer.notes.append(
                        f"it is not known whether any input {OUTCOMES[path.outcome]} this way: "
                        f"{path.trouble}"
                    )
        if silent and silent == answer.paths:
            answer.silent = True
            answer.notes.append(
                "no input produces a done token, so none has a latency; give the space more tokens, "
                "or mark a place with done=True"
            )
        elif silent:
            answer.notes.append(
                "inputs that produce no done token have no latency and do not count in it"
            )

    def no_input(self):
        return mistake(
            "E-space",
            "the input space has no input: its conditions contradict each other\n"
            + self.space.describe(),
        )

    def stall(self, path):
        """A path without end, its first sample run."""
        sample = path.samples[0]
        try:
            run = self.run(sample)
            seen = "stalled" if run.stalled else "ended"
        except RunError:
            seen = "error"
        if seen != path.outcome:
            raise _bug(f"an input is said to be '{path.outcome}', but run it is '{seen}'", sample)
        return {"outcome": path.outcome, "witness": sample, "why": path.trouble}

    def run(self, values, **options):
        return simulate(
            self.net,
            self.space.marking(values),
            params=self.space.parameters(values),
            engine="interp",
            **options,
        )

    # One linear form: its largest value.

    def goals(self, form):
        """(goals, maximum, value of a goal -> value of the form, and back) of a linear form.

        A form of one time is turned into an instant: all times as often as the form has its quantity,
        and an instant behind that by whatever else it has, plus enough not to be negative. Anything
        else is a sum of instants.
        """
        self.measured = {}
        times = timed(form)
        if ("E",) in form and len(times) == 1 and times[0][0] in ("latency", "completion"):
            return self.against(form, times[0])
        if len(times) > 1 or any(
            t[0] == "stall" or t[0] == "busy" and not self.one_server(t[1]) for t in times
        ):
            return self.sums(form)
        return self.instants(form, times[0] if times else None)

    def rescaled(self, form):
        """(form, denominator): a form with the term of E instead of E."""
        if ("E",) not in form or self.denominator == 1:
            return form, 1
        d = self.denominator
        return {atom: c if atom == ("E",) else c * d for atom, c in form.items()}, d

    def with_time(self, form):
        """(class, path, the path's data, term of E) of the inputs that have all quantities of a form.

        A path is taken once for each case of the interface, under the case's conditions.
        """
        paths = [(c, p) for c, p in self.ending if p.outcome != "none" or ("latency",) not in form]
        if ("E",) not in form:
            return [(c, p, p._core, None) for c, p in paths]
        core = self.parts.core
        return [
            (c, p, _lpn.restricted(core, p._core, conditions), term)
            for c, p in paths
            for conditions, term in cases(core.variables, self.terms["E",])
        ]

    def instants(self, form, time):
        coefficient = form.get(time, 0) if time else 0
        maximum = coefficient >= 0
        sign = 1 if maximum else -1
        core, terms = self.parts.core, self.parts.core.variables
        paths = []
        for each, path, data, interface in self.with_time(form):
            extra = terms.constant(sign * self.constant(form, each) - sign * form.get((), 0))
            if interface is not None:
                extra = terms.add(extra, terms.mul(terms.constant(sign * form["E",]), interface))
            paths.append((path, data, extra))
        shift = -min((terms.bounds(None, extra)[0] for _, _, extra in paths), default=0)
        plain = shift == 0 and all(terms.value(extra) == 0 for _, _, extra in paths)
        goals = []
        for path, changed, extra in paths:
            if time is not None and time[0] == "busy" or abs(coefficient) > 1 or not plain:
                changed = _lpn.scaled(core, changed, max(abs(coefficient), 1))
            instant = self.instant(time, path, changed)
            if not plain:
                instant = _lpn.later(
                    core, changed, instant, terms.add(extra, terms.constant(shift))
                )
            goals.append((changed, instant))
        constant = form.get((), 0)

        def value(time):
            return sign * (time - shift) + constant

        def back(value):
            return sign * (value - constant) + shift

        return goals, maximum, value, back

    def against(self, form, time):
        """A time and the interface, each as often as the form has it: a difference of two instants."""
        core, terms = self.parts.core, self.parts.core.variables
        weight, goals = form[time], []
        for each, path, data, interface in self.with_time(form):
            measured = _lpn.MeasuredPath(core, self.net._core, _lpn.scaled(core, data, abs(weight)))
            predicted = terms.mul(terms.constant(abs(form["E",])), interface)
            shift = -terms.bounds(None, predicted)[0]
            instants = [
                (1 if weight > 0 else -1, self.instant(time, path, data)),
                (
                    1 if form["E",] > 0 else -1,
                    measured.at(terms.add(predicted, terms.constant(shift))),
                ),
            ]
            goals.append((measured, instants, self.constant(form, each) - instants[1][0] * shift))
        return goals, True, lambda value: value, lambda value: value

    def constant(self, form, each):
        """What a form has in all inputs of a class."""
        return sum(
            c * (1 if not atom else each.commits[atom[1]])
            for atom, c in form.items()
            if not atom or atom[0] == "commits"
        )

    def sums(self, form):
        goals = []
        for each, _, data, interface in self.with_time(form):
            measured = _lpn.MeasuredPath(self.parts.core, self.net._core, data)
            instants, constant = {}, self.constant(form, each)
            for atom, c in form.items():
                if not atom or atom[0] == "commits":
                    continue
                found, more = self.sum(atom, measured, interface)
                constant += c * more
                for weight, instant in found:
                    instants[instant] = instants.get(instant, 0) + c * weight
            goals.append(
                (measured, [(w, instant) for instant, w in instants.items() if w], constant)
            )
        return goals, True, lambda value: value, lambda value: value

    def sum(self, atom, measured, interface=None):
        """([(weight, instant)], constant) of a quantity."""
        number = self.net._transitions
        try:
            if atom[0] == "latency":
                return measured.latency()
            if atom[0] == "completion":
                return measured.completion(atom[1])
            if atom[0] == "busy":
                return measured.busy(number[atom[1]])
            if atom[0] == "stall":
                return measured.stall(number[atom[1]], self.net[atom[2]]._number)
        except _lpn.Error as error:
            raise mistake("E-property", f"{text_of(atom)}: {error}") from None
        terms, shift = (
            self.parts.core.variables,
            -self.parts.core.variables.bounds(None, interface)[0],
        )
        instant = measured.at(terms.add(interface, terms.constant(shift)))
        return [(1, instant)], -shift

    def measure(self, path):
        if path not in self.measured:
            self.measured[path] = _lpn.MeasuredPath(self.parts.core, self.net._core, path._core)
        return self.measured[path]

    def instant(self, time, path, changed):
        if time is None:
            return 0
        if time[0] == "latency":
            return path._core.latency
        if time[0] == "completion":
            [(_, instant)], _ = self.sum(time, self.measure(path))
            return instant
        # One firing at a time: its delays one after the other.
        number, instant = self.net._transitions[time[1]], 0
        for firing in path._core.firings:
            if firing.transition != number:
                continue
            kind, after, _, _ = changed.instant(firing.commit)
            if kind != "max" or len(after) != 1 or after[0][0] != firing.start:
                raise mistake(
                    "E-property",
                    f"{text_of(time)} is not covered: its firings do not end a delay after "
                    "their start",
                )
            instant = _lpn.later(self.parts.core, changed, instant, after[0][1])
        return instant

    def one_server(self, name):
        servers = self.net._core.transitions[self.net._transitions[name]].servers
        return servers is not None and self.net._core.value(servers[0]) == 1

    def largest(self, form, enough=None):
        """(proved, found, witness, exact) of a form's largest value over the inputs that have one.

        `enough`: stop when the value is proved to be at most that, or found to be more.
        """
        goals, maximum, value, back = self.goals(form)
        if not goals:
            return None, None, None, False
        wanted = {"enough_proved": None, "enough_found": None}
        if enough is not None:
            wanted = {"enough_proved": back(enough), "enough_found": back(enough + 1)}
        name = form_text(form)

        def progress(proved, found, boxes, seconds):
            bounds = sorted(value(v) for v in (proved, found) if v is not None)
            self.say(f"{name}: {' .. '.join(map(str, bounds))}, {boxes} boxes")

        # Verifying takes about as long as proving, and both count.
        result, interrupted = _lpn.bound(
            self.parts.core,
            goals,
            maximum=maximum,
            seconds=0.4 * self.left(),
            question_seconds=10,
            seed=self.seed,
            progress=progress,
            **wanted,
        )
        self.answer.interrupted |= interrupted
        for note in result["notes"]:
            if note not in self.answer.notes:
                self.answer.notes.append(note)
        if result["no_input"]:
            raise self.no_input()
        proved, found, witness = result["proved"], result["found"], None
        if found is not None:
            witness = dict(zip(self.parts._names, result["witness"]))
            self.replay(form, witness, value(found))
        if proved is not None:
            self.verify(goals, result["certificates"])
            self.claims.append(
                {
                    "form": [[list(atom), c] for atom, c in form.items()],
                    "maximum": maximum,
                    "most": value(proved),
                    "paths": len(goals),
                    "certificates": [json.loads(each.json) for each in result["certificates"]],
                }
            )
        return (
            None if proved is None else value(proved),
            None if found is None else value(found),
            witness,
            result["exact"],
        )

    def verify(self, goals, certificates):
        """A bound is not printed unless its certificates hold; after Ctrl-C it is said that nobody looked."""
        with Interrupt() as stop:
            for certificate in certificates:
                if stop.asked or self.answer.interrupted:
                    self.answer.interrupted = True
                    self.answer.notes.append(
                        "the bound was not verified once more, because of Ctrl-C; lpn smt --check "
                        "does it"
                    )
                    return
                # What the search's own solver decided is taken here; check() does not.
                wrong = _lpn.check_bound(
                    self.parts.core,
                    goals[certificate.path],
                    certificate=certificate,
                    trusted=lambda smtlib: True,
                )
                if wrong is not None:
                    raise _bug(f"the certificate of a bound does not prove it: {wrong}", None)

    def replay(self, form, witness, claimed):
        """Runs a witness in the interpreter; it must have exactly the claimed value."""
        if not self.space.contains(witness):
            raise _bug("an input found is none of the space", witness)
        seen = self.value(form, witness)
        if seen != claimed:
            raise _bug(
                f"{form_text(form)} of an input is claimed to be {claimed}, but run it is {seen}",
                witness,
            )
        self.answer.replayed = True

    def value(self, form, witness):
        needs = {atom[0] for atom in form if atom}
        run = self.run(witness, stats="busy" in needs, trace=bool(needs - {"latency", "E"}))
        if "stall" in needs:
            times = self.same_times(run, witness)
        seen = 0
        for atom, c in form.items():
            if atom and atom[0] == "stall":
                instants, more = self.sum(atom, times[0])
                seen += c * (more + sum(w * times[1]()[instant] for w, instant in instants))
                continue
            seen += c * (1 if not atom else self.measured_in(run, atom, witness))
        return seen

    def same_times(self, run, witness):
        """A witness's path, whose instants have been compared with every firing of its run.

        How long a transition waited for a place is no event of a run, but follows from the events.
        """
        path = self.parts.path_of(witness)
        if path is None:
            raise _bug("an input found is in no class", witness)
        measured = _lpn.MeasuredPath(self.parts.core, self.net._core, path._core)

        def times():
            return measured.times(self.space._ordered(witness))

        known = times()
        said = {
            (f.transition, f.number): (known[f.start], known[f.commit]) for f in path._core.firings
        }
        if said != {(c.transition, c.firing): (c.start, c.time) for c in run.trace}:
            raise _bug("the firings of an input are not when its class says", witness)
        return measured, times

    def measured_in(self, run, atom, witness):
        if atom[0] == "latency":
            return run.latency
        if atom[0] == "busy":
            return run.stats["transitions"][atom[1]]["busy"]
        if atom[0] == "E":
            return self.space.core.value(self.terms[atom], self.space._ordered(witness))
        if atom[0] == "commits":
            return sum(commit.transition == self.net._transitions[atom[1]] for commit in run.trace)
        core, produced = self.net._core, 0
        for commit in run.trace:
            outputs = core.transitions[commit.transition].outputs
            produced += sum(
                n for n, o in zip(commit.produced, outputs) if core.places[o.place].done
            )
            if produced >= atom[1]:
                return commit.time
        return None

    # The questions.

    def extreme(self, quantity, sign):
        forms = _property.largest(quantity, self.net, self.interface is not None, sign)
        scaled_forms = [whole(form) for form in forms]
        self.begin([form for form, _ in scaled_forms])
        scaled_forms = [
            (again, denominator * more)
            for form, denominator in scaled_forms
            for again, more in [self.rescaled(form)]
        ]
        answer = self.answer
        best = None  # (proved, found, witness), the largest over the forms
        for form, denominator in scaled_forms:
            proved, found, witness, _ = self.largest(form)
            proved = None if proved is None else Fraction(proved, denominator)
            found = None if found is None else Fraction(found, denominator)
            if best is None:
                best = [proved, found, witness]
                continue
            best[0] = None if proved is None or best[0] is None else max(best[0], proved)
            if found is not None and (best[1] is None or found > best[1]):
                best[1:] = [found, witness]
        proved, found, answer.witness = best
        if not answer.complete or self.undecided:
            proved = None
        proved, found = (_number(None if v is None else sign * v) for v in (proved, found))
        answer.lower, answer.upper = (found, proved) if sign > 0 else (proved, found)
        if answer.stalled is not None:
            answer.verdict = "refuted"
        elif proved is not None and proved == found:
            answer.verdict = "optimal"
        elif proved is not None and found is not None:
            answer.verdict = "bounded"
        return self.finish(
            {"largest" if sign > 0 else "least": quantity, "proved": _json_number(proved)}
        )

    def prove(self, text):
        forms = _property.claims(text, self.net, self.interface is not None)
        self.begin(forms)
        if self.denominator > 1 and _property.is_strict(text):
            raise mistake(
                "E-property", f"'{text}': this interface gives fractions of cycles; use <= or >="
            )
        forms = [self.rescaled(form)[0] for form in forms]
        answer = self.answer
        holds = answer.complete and not self.undecided
        refuted = None
        for form in forms:
            proved, found, witness, _ = self.largest(form, enough=0)
            if found is not None and found > 0:
                refuted = witness
            elif proved is None or proved > 0:
                holds = False
            self.tell(form, proved if answer.complete and not self.undecided else None, found)
            if refuted is not None:
                break
            answer.witness = answer.witness or witness
        if refuted is not None:
            answer.verdict, answer.witness = "refuted", refuted
        elif answer.stalled is not None:
            answer.verdict, answer.witness = "refuted", None
        elif holds:
            answer.verdict = "proved"
        if answer.verdict == "proved":
            return self.finish({"property": text})
        self.claims = []
        return self.finish(None)

    def tell(self, form, proved, found):
        """The bounds of the one quantity that a claim is about."""
        times = timed(form)
        if len(times) != 1 or set(form) - {*times, ()}:
            return
        c, rest = form[times[0]], form.get((), 0)

        def of(value):
            return None if value is None else _number(Fraction(value - rest, c))

        if c > 0:
            self.answer.upper, self.answer.lower = of(proved), _first(self.answer.lower, of(found))
        else:
            self.answer.lower, self.answer.upper = of(proved), _first(self.answer.upper, of(found))

    def finish(self, claim):
        answer = self.answer
        answer.seconds = time.monotonic() - self.began
        if claim is not None and answer.complete and not self.undecided and self.claims:
            terms = {"E": self.terms[("E",)]} if self.terms else {}
            net = self.net
            answer.certificate = {
                "lpn certificate": FORMAT,
                "claim": claim,
                "stalls": answer.stalled is not None,
                "net": net.text(),
                "space": self.space.to_json(terms),
                "partition": {**_PARTITION, "seed": self.seed},
                "bounds": self.claims,
                "witness": answer.witness,
                "interface denominator": self.denominator,
            }
        return answer


def _first(a, b):
    return b if a is None else a


def _number(value):
    """An int where a Fraction is one."""
    if value is None or isinstance(value, int):
        return value
    return value.numerator if value.denominator == 1 else value


def _json_number(value):
    return value if value is None or isinstance(value, int) else str(value)


def form_text(form):
    """A linear form to read: '2*latency - 3*E + 5'."""
    text = ""
    for atom, c in sorted(form.items(), key=lambda each: not each[0]):
        size = (
            str(abs(c))
            if not atom
            else text_of(atom)
            if abs(c) == 1
            else f"{abs(c)}*{text_of(atom)}"
        )
        text += (" - " if c < 0 else " + ") + size
    return text[3:] if text.startswith(" + ") else "-" + text[3:] if text else "0"


def _bug(what, witness):
    """An error that is ours, with what we need to find it."""
    text = f"this is our bug, not yours, and no answer: {what}"
    if witness is not None:
        text += "\n  the input: " + ", ".join(f"{name}={value}" for name, value in witness.items())
    return mistake("E-bug", text + "\n  please report it with the model and this message")


class Checked:
    """What check() found: whether the certificate `holds`, its `claim` in words, about which `space`, and
    if not `why`.

    `unknown`: it holds but for formulas that no solver at hand decides. `formulas`: how many solver
    decided formulas it has. `witness`, `classes`, `paths`, `stalls` as of Answer.
    """

    def __init__(self, claim, space):
        self.claim = claim
        self.space = space
        self.holds = False
        self.unknown = False
        self.why = None
        self.formulas = 0
        self.witness = None
        self.classes = self.paths = 0
        self.stalls = False


def check(data, decide=None, progress=None):
    """Verifies a certificate (Answer.certificate, or its JSON read again); a Checked.

    Nothing of the search is used: the net is executed over the space again, every step of every
    bound is computed again from it, and the witness is run. `decide(smtlib)` says of a formula
    whether it is unsatisfiable (True, False, or None when it cannot tell); the formulas of steps that
    rest on a solver are put to it.
    Raises Error "E-certificate" for what is no certificate.
    """
    try:
        return _Check(data, decide, progress).run()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        raise mistake(
            "E-certificate",
            f"this is no certificate as `lpn smt --certificate` writes it "
            f"({type(error).__name__}: {error})",
        ) from None


class _Check:
    def __init__(self, data, decide, progress):
        if data["lpn certificate"] != FORMAT:
            raise mistake(
                "E-certificate",
                f"a certificate in format {data['lpn certificate']!r}; this program reads "
                f"{FORMAT}",
            )
        self.data = data
        self.decide = decide
        net = Net.parse(data["net"])
        self.space = InputSpace.from_json(net, data["space"])
        self.work = _Work(self.space, "check", progress=progress, seed=data["partition"]["seed"])
        self.work.terms = {(name,): number for name, number in self.space._read_terms.items()}
        self.work.denominator = int(data["interface denominator"])
        if self.work.denominator < 1:
            raise ValueError("the interface is divided by what is not positive")
        claim = data["claim"]
        interface = bool(self.work.terms)
        if "property" in claim:
            self.forms = [(form, 1) for form in _property.claims(claim["property"], net, interface)]
            self.result = Checked(f"{claim['property']}, for all inputs of the space", self.space)
        else:
            self.sign = 1 if "largest" in claim else -1
            quantity = claim["largest" if self.sign > 0 else "least"]
            self.forms = [
                whole(form) for form in _property.largest(quantity, net, interface, self.sign)
            ]
            self.result = Checked(
                f"{quantity} {'<=' if self.sign > 0 else '>='} {claim['proved']}, for all inputs of "
                "the space",
                self.space,
            )

    def run(self):
        result = self.result
        result.why = self.wrong()
        result.holds = result.why is None and not result.unknown
        return result

    def wrong(self):
        """Why the certificate proves nothing, else None."""
        data, work, result = self.data, self.work, self.result
        work.begin([form for form, _ in self.forms])
        self.forms = [
            (again, denominator * more)
            for form, denominator in self.forms
            for again, more in [work.rescaled(form)]
        ]
        answer = work.answer
        result.classes, result.paths = answer.classes, answer.paths
        result.stalls = answer.stalled is not None
        if not answer.complete or work.undecided:
            return f"the classes of the space are not complete: {answer.why or '; '.join(answer.notes)}"
        if result.stalls != bool(data["stalls"]):
            return "whether inputs stall or fail is not as it says"
        if len(data["bounds"]) != len(self.forms):
            return f"it has {len(data['bounds'])} bounds for {len(self.forms)} comparisons"
        proved = []
        for (form, denominator), bound in zip(self.forms, data["bounds"]):
            why = self.wrong_bound(form, bound)
            if why is not None:
                return f"{form_text(form)} <= {bound['most']}: {why}"
            proved.append(Fraction(bound["most"], denominator))
        if "property" in data["claim"]:
            if max(proved) > 0:
                return "what it bounds does not give the property"
        elif self.sign * max(proved) != Fraction(data["claim"]["proved"]):
            return (
                f"its bounds give {_number(self.sign * max(proved))}, not {data['claim']['proved']}"
            )
        return self.wrong_witness()

    def wrong_bound(self, form, bound):
        goals, maximum, value, _ = self.work.goals(form)
        if bound["paths"] != len(goals) or len(bound["certificates"]) != len(goals):
            return (
                f"it has {len(bound['certificates'])} bounds of {bound['paths']} paths, but the net has {len(goals)} "
                "over this space"
            )
        by_path = {each["path"]: each for each in bound["certificates"]}
        for k, goal in enumerate(goals):
            if k not in by_path:
                return f"path {k} has no bound"
            certificate = _lpn.PathCertificate.parse(json.dumps(by_path[k]), maximum=maximum)
            if value(certificate.bound) > bound["most"]:
                return f"path {k} is bounded by {value(certificate.bound)} only"
            why = _lpn.check_bound(
                self.work.parts.core,
                goal,
                certificate=certificate,
                trusted=self.trusted,
            )
            if why is not None:
                return f"path {k}: {why}"
        return None

    def trusted(self, smtlib):
        self.result.formulas += 1
        verdict = None if self.decide is None else self.decide(smtlib)
        if verdict is None:
            self.result.unknown = True
            return True
        return verdict

    def wrong_witness(self):
        data, work = self.data, self.work
        witness = data["witness"]
        if witness is None:
            return None
        if not self.space.contains(witness):
            return "its witness is no input of the space"
        values = [
            Fraction(work.value(form, witness), denominator) for form, denominator in self.forms
        ]
        if "property" in data["claim"] and max(values) > 0:
            return "its witness does not have the property"
        self.result.witness = witness
        return None


class _Input:
    """What a performance interface is called with: places' tokens and parameters by name."""

    def __init__(self, space):
        self._space = space

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        space = self._space
        if name in space._counts:
            raise mistake(
                "E-property",
                f"the interface reads the tokens of '{name}', whose number differs per input; "
                "give the space a fixed number of them",
            )
        if name in space._tokens:
            return space._tokens[name]
        if name in space.net.params:
            return space._params.get(name, space._fixed()[name])
        raise mistake(
            "E-property",
            f"the interface asks for '{name}'; an input has tokens of: "
            f"{', '.join(space._tokens) or 'no place'}; and the parameters: "
            f"{', '.join(space.net.params) or 'none'}",
        )


def interface_term(space, function):
    """The term of the space that a performance interface computes for an input."""
    from ..authoring import trace

    term = trace.trace(space._scope, lambda: function(_Input(space)), {}, "int")
    space._made = None  # the space's plain data must have the new term
    return Expr(space._scope, term)._id
