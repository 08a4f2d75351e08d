"""Questions about all inputs of a space: the bound, an input that comes as close, and the
certificate.
"""

from __future__ import annotations

import json
import re
import time
from fractions import Fraction
from typing import Any

import _lpn

from ..errors import Error, mistake
from ..interrupt import Interrupt
from ..spaces.space import InputSpace
from .answer import FORMAT, Answer, bug, form_text, json_number, number
from .basis import Basis
from .interface_term import interface_term
from .problem import Problems
from .property import claims, is_strict, largest, timed, whole
from .states import States, bounded_by_states, end_runs
from .tried import MOST_INPUTS, WORTH_COMPILING, Tried, estimate, possible

__all__ = ["maximize", "minimize", "prove"]

_PATIENCE = 2.0  # seconds that classes have, however quickly all inputs could be run
# Of the seconds left, what checking the proof gets at first: a search that is cut off has
# certificates that are mostly checked in a quarter to a third of its time. Later searches of a
# question keep what the one before took, up to half.
_CHECKING = 0.25
_CLASSES_FIRST = 5.0  # seconds that classes have before states are looked at
_FAR = "the bounds of classes compute with numbers up to"  # how a note of theirs begins
_STATES = 30.0  # seconds for states, where there is no limit
_TRYING = 0.75  # of the seconds left, for running all inputs where that may take as long
_NO_STALL = (
    "stall(T, P) is told by classes alone; ask for completion(k) of a done token behind T, or for "
    "backlog(P)"
)
_COMPILED = 8  # about so many times faster than the estimate are compiled runs


def maximize(space: InputSpace, quantity: str = "latency", **options: Any) -> Answer:
    """The largest value of a quantity over all inputs of a space; an Answer.

    `quantity`: latency, completion(k) (when the k-th done token is produced), busy(T) (cycles in
    which a transition has a firing in flight), stall(T, P) (cycles in which it waits for place P
    alone: for its tokens or for room), commits(T), response(P) (the longest from the birth of a
    request to when it came into place P), backlog(P) (the most tokens that place P ever held), and
    E, a performance interface given as `interface`, a function of one argument whose attributes are
    the space's tokens by place and parameters; times numbers, and added up. `seconds`: a limit;
    what is proved and found by then is the answer. `progress(text)` is called a few times per
    second; Ctrl-C ends the work, and the answer keeps what it has. `tries`: where sorting the
    inputs into classes is refused, or leaves a gap after about the time that running all inputs
    takes, and the variables have at most so many assignments, every input is run. `states`: where
    classes take their time and the inputs are too many, reachable states bound all but stall and E,
    and inputs are tried; where not all states could be looked at in time the answer has no
    certificate. Raises Error "E-property" for what is not covered, "E-partition" for a net that
    cannot be executed symbolically, whose inputs are too many to try, with a quantity that states
    do not bound, "E-space" when the space has no input.
    """
    return _Search(space, f"maximize {quantity}", **options).extreme(quantity, 1)


def minimize(space: InputSpace, quantity: str = "latency", **options: Any) -> Answer:
    """The least value of a quantity over all inputs of a space; like maximize."""
    return _Search(space, f"minimize {quantity}", **options).extreme(quantity, -1)


def prove(space: InputSpace, property: str, **options: Any) -> Answer:
    """Whether all inputs of a space have a property, as "latency <= 2300"; an Answer.

    Comparisons of quantities (see maximize), joined with `and`; abs and max of what is to be at
    most something, min of what is to be at least something. Otherwise like maximize.
    """
    return _Search(space, f"prove {property}", **options).prove(property)


def _nothing(text):
    pass


class _Search:
    """One question: its linear forms, bounded one after the other over the same Basis or Tried."""

    def __init__(
        self,
        space,
        question,
        *,
        interface=None,
        seconds=None,
        progress=None,
        seed=1,
        tries=MOST_INPUTS,
        states=True,
    ):
        if not isinstance(space, InputSpace):
            raise mistake("E-operand", f"bounds need an input space, got {space!r}")
        self.space = space
        self.net = space.net
        self.interface = interface
        self.say = progress or _nothing
        self.seed = seed
        self.tries = tries
        self.states = states
        self.began = time.monotonic()
        self.limit = seconds
        self.end = None if seconds is None else self.began + seconds
        self.question = question
        self.term, self.denominator = None, 1
        self.basis = None
        self.checking = _CHECKING  # the share of what is left, as it says
        self.ended = None  # what was said of runs that do not end
        self.begin()

    def left(self):
        """Seconds that remain; 0: any number."""
        if self.end is None:
            return 0
        return max(self.end - time.monotonic(), 0.001)

    def answered(self, forms, ask):
        """The answer that `ask` makes of the classes of inputs; where they leave a gap and the inputs
        are few enough, of a run of each of them.
        """
        self.forms = forms
        if any(("E",) in form for form in forms):
            self.term = interface_term(self.space, self.interface)
            self.denominator = getattr(self.interface, "denominator", 1)
        total = possible(self.space, forms, self.tries)
        if total is None:
            return self.without_trying(forms, ask)
        known, why = self.classes_at_first(_PATIENCE, ask)
        if known is not None and not self.may_try(known):
            return known
        try:
            seconds = estimate(self.space, forms, total, self.term)
            hopeless = self.limit is not None and seconds > _COMPILED / 2 * self.left()
            if hopeless and self.may_bound(forms):
                return self.by_states(forms, ask, known, why)  # they cannot all be run
            if known is not None and seconds > _PATIENCE * _COMPILED:
                known, why = self.for_a_while(seconds / _COMPILED, ask)
                if not self.may_try(known):
                    return known
            compile = seconds > WORTH_COMPILING
            if self.limit is None or not self.may_bound(forms):
                return self.by_trying(forms, ask, known, why, compile)
            return self.by_trying_at_first(forms, ask, known, why, compile)
        except KeyboardInterrupt:
            if known is None:
                raise
            known.interrupted = True
            return known

    def classes_at_first(self, seconds, ask):
        """The same as `for_a_while`; where runs turn out not to end, they get an end that classes do
        not cover.
        """
        known, why = self.for_a_while(seconds, ask)
        if known is not None and not self.may_try(known):
            return known, why
        try:
            self.ended = end_runs(self.space)
        except KeyboardInterrupt:
            if known is None:
                raise
            known.interrupted = True
        if self.ended is None:
            return known, why
        return None, "they do not cover runs that end with a number of done tokens"

    def for_a_while(self, seconds, ask):
        """(the answer by classes, what it lacks) after at most so many seconds; (None, why) for a
        net that has none.
        """
        end = self.end
        self.end = (
            time.monotonic() + seconds if end is None else min(end, time.monotonic() + seconds)
        )
        try:
            known = self.by_classes(ask)
            return known, known.why or "its bounds did not meet in time"
        except Error as error:
            if error.code != "E-partition":
                raise
            why, *_ = str(error).split("\n  at ")  # where the question stands is known
            return None, why
        finally:
            self.end = end

    def without_trying(self, forms, ask):
        """The answer by classes; where they are refused, or take their time, by reachable states,
        or what both know together.
        """
        if not self.may_bound(forms):
            return self.by_classes_alone(ask)
        first = _CLASSES_FIRST if self.limit is None else min(_CLASSES_FIRST, self.limit / 4)
        known, why = self.classes_at_first(first, ask)
        if known is not None and not self.may_try(known):
            return known
        return self.by_states(forms, ask, known, why)

    def by_classes_alone(self, ask):
        """The answer by classes; what to ask for instead where they have none of a stall."""
        if not any(atom[:1] == ("stall",) for form in self.forms for atom in form):
            return self.by_classes(ask)
        try:
            answer = self.by_classes(ask)
        except Error as error:
            if error.code != "E-partition":
                raise
            what, *_ = str(error).split("\n  at ")  # where it is asked is said once more
            raise mistake("E-partition", f"{what}; {_NO_STALL}") from None
        if not answer.complete:
            answer.notes.append(_NO_STALL)
        return answer

    def may_bound(self, forms):
        return self.states and all(map(bounded_by_states, forms))

    def by_states(self, forms, ask, known, why):
        """The answer by reachable states, of what `known` has left open; then that of classes again,
        if there is time.
        """
        refused = known is None
        ends = not refused and known.complete and known.stalled is None
        ends = ends and not known.interrupted and not self.basis.undecided
        end = self.left() * (0.9 if refused else 0.6) if self.limit is not None else _STATES
        self.begin()
        self.basis = States(
            self.space,
            self.answer,
            self.term,
            self.denominator,
            forms,
            end,
            self.say,
            proving=self.answer.question.startswith("prove"),
        )
        if ends and self.basis.proving and self.basis.undecided and self.basis.all_end():
            self.uncertified = True
        answer = ask()
        if refused:
            answer.notes.insert(
                0, f"bounded by reachable states, since classes do not answer: {why}"
            )
        else:
            far = next((n for n in known.notes if n.startswith(_FAR)), "classes take their time")
            answer.notes.insert(0, f"bounded by reachable states, since {far}")
            self.join(answer, known)
        if refused or not self.may_try(answer):
            return answer
        if self.limit is not None and self.left() < 0.1 * self.limit:
            return answer
        again = self.by_classes(ask)
        if not self.gap():
            return again
        self.answer = answer
        self.join(answer, again)
        if answer.certificate is not None and answer.certificate is again.certificate:
            answer.why = again.why  # the bound is that of classes
        answer.interrupted |= again.interrupted
        answer.seconds = again.seconds
        return answer

    def may_try(self, known):
        """Whether more may be found out than the answer by classes has."""
        over = self.end is not None and time.monotonic() >= self.end
        return self.gap() and not known.interrupted and not over

    def beyond_classes(self):
        """What a question has that classes, and so certificates, do not; None: nothing."""
        if self.space._arrives:
            return "tokens that arrive later than 0"
        names = {atom[0] for form in self.forms for atom in form if atom}
        return next((f"{name}(P)" for name in ("response", "backlog") if name in names), None)

    def by_classes(self, ask):
        beyond = self.beyond_classes()
        if beyond is not None:
            raise mistake(
                "E-partition",
                f"{self.net.name}: classes do not have {beyond}; every input of a small space is "
                "run, but not for stall(T, P), and reachable states bound all but stall(T, P) and E",
            )
        self.begin()
        self.basis = Basis(
            self.space,
            self.answer,
            self.term,
            self.denominator,
            self.seed,
            self.left(),
            self.say,
        )
        in_time = self.limit is None or time.monotonic() < self.began + self.limit
        if not in_time and re.fullmatch(r"the limit of \S+ s", self.answer.why or ""):
            self.answer.why = f"the limit of {self.limit:g} s was reached"
        return ask()

    def begin(self):
        """Forgets what another way found."""
        self.answer = Answer(self.question, self.space)
        if self.ended is not None:
            self.answer.notes.append(self.ended)
        self.claims = []  # certificates, one per linear form
        self.uncertified = False  # some bound has none
        self.bounded = []  # the goals of each
        self.cut = False  # a search was ended by the limit

    def by_trying(self, forms, ask, known, why, compile):
        """The same question, with every input run. `known`: the answer by classes, None where there
        is none; `why`: what it lacks.
        """
        self.begin()
        self.basis = Tried(
            self.space,
            self.answer,
            self.term,
            self.denominator,
            forms,
            self.left(),
            self.say,
            compile,
        )
        answer = ask()
        answer.notes.insert(0, f"every input was run, since classes do not answer: {why}")
        if known is not None and (not answer.complete or self.basis.undecided):
            self.join(answer, known)
        return answer

    def by_trying_at_first(self, forms, ask, known, why, compile):
        """The same, but for time that is kept for a bound by reachable states, should it be needed."""
        end = self.end
        self.end = time.monotonic() + _TRYING * self.left()
        tried = self.by_trying(forms, ask, known, why, compile)
        self.end = end
        if tried.complete or tried.interrupted or not self.may_try(tried):
            return tried
        answer = self.by_states(forms, ask, None, f"{why}; and {tried.why}")
        self.join(answer, tried)
        return answer

    def gap(self):
        """Whether more is to be found out than the answer has."""
        answer = self.answer
        if answer.question.startswith("prove"):
            return answer.verdict == "unknown"
        if answer.complete and answer.silent:
            return False
        return answer.lower is None or answer.lower != answer.upper

    def join(self, answer, known):
        """What classes proved and found, where not all inputs could be run."""
        maximum = not answer.question.startswith("minimize")
        if answer.stalled is None:
            answer.stalled = known.stalled
        if answer.question.startswith("prove"):
            return
        proved = known.upper if maximum else known.lower
        own = answer.upper if maximum else answer.lower
        certified = proved is not None and (
            own is None or (proved <= own if maximum else proved >= own)
        )
        proved = proved if certified else own
        mine, theirs = (a.lower if maximum else a.upper for a in (answer, known))
        better = mine is None or theirs is not None and (theirs > mine) == maximum
        if better and theirs is not None:
            mine, answer.witness = theirs, known.witness
            answer.replayed = known.replayed
        answer.lower, answer.upper = (mine, proved) if maximum else (proved, mine)
        if certified and (known.certificate is not None or proved != own):
            answer.certificate = known.certificate
        if answer.stalled is not None:
            answer.verdict = "refuted"
        elif proved is not None and mine is not None:
            answer.verdict = "optimal" if proved == mine else "bounded"

    def largest(self, form, enough=None):
        """(proved, found, witness, exact) of a form's largest value over the inputs that have one.

        `enough`: stop when the value is proved to be at most that, or found to be more.
        """
        if isinstance(self.basis, States):
            return self.largest_by_states(form)
        if isinstance(self.basis, Tried):
            return self.largest_tried(form)
        goals, maximum, value, back = self.basis.goals.of(form)
        if not goals:
            return None, None, None, False
        wanted = {"enough_proved": None, "enough_found": None}
        if enough is not None:
            wanted = {
                "enough_proved": _fitting(back(enough)),
                "enough_found": _fitting(back(enough + 1)),
            }
        name = form_text(form)

        def progress(proved, found, boxes, seconds):
            bounds = sorted(value(v) for v in (proved, found) if v is not None)
            self.say(f"{name}: {' .. '.join(map(str, bounds))}, {boxes} boxes")

        begin, most = time.monotonic(), (1 - self.checking) * self.left()
        result, interrupted = _lpn.bound(
            self.basis.parts.core,
            goals,
            maximum=maximum,
            seconds=most,
            question_seconds=10,
            seed=self.seed,
            progress=progress,
            **wanted,
        )
        searched = time.monotonic() - begin
        self.answer.interrupted |= interrupted
        self.cut |= self.limit is not None and searched >= 0.99 * most
        for note in result["notes"]:
            if note not in self.answer.notes:
                self.answer.notes.append(note)
        if result["no_input"]:
            raise self.basis.no_input()
        proved, found, witness = result["proved"], result["found"], None
        if found is not None:
            witness = dict(zip(self.basis.parts._names, result["witness"]))
            self.replay(form, witness, value(found))
        if proved is not None:
            self.verify(goals, result["certificates"])
            whole = time.monotonic() - begin
            self.checking = min(0.5, max(self.checking, 1.05 - searched / whole))
            self.bounded.append(goals)
            self.claims.append(
                {
                    "form": [[list(atom), c] for atom, c in form.items()],
                    "maximum": maximum,
                    "most": value(proved),
                    "offset": value(0),
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

    def largest_tried(self, form):
        """The same of the inputs that were run."""
        value, witness = self.basis.largest(form)
        if value is None:
            return None, None, None, False
        self.replay(form, witness, value)
        exact = self.answer.complete and not self.basis.undecided
        if exact:
            self.claims.append(
                {"form": [[list(atom), c] for atom, c in form.items()], "most": value}
            )
        return value if exact else None, value, witness, exact

    def largest_by_states(self, form):
        """The same by reachable states, and of the inputs that were run."""
        bound = self.basis.bounds.get(frozenset(form.items()))
        value, witness = self.basis.largest(form)
        if value is not None:
            self.replay(form, witness, value)
            if bound is not None and value > bound:
                raise bug(
                    f"{form_text(form)} is said to be at most {bound}, but an input has {value}",
                    witness,
                )
        parts = self.basis.reached(form)
        if parts is not None and ("E",) not in form:
            atoms = [[list(atom), c] for atom, c in form.items()]
            self.claims.append({"form": atoms, "most": bound, "reached": parts})
        else:
            self.uncertified = True
        return bound, value, witness, bound is not None and bound == value

    def verify(self, goals, certificates):
        """A bound is not printed unless its certificates hold; after Ctrl-C it is said that nobody
        looked.
        """
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
                    self.basis.parts.core,
                    goals[certificate.path],
                    certificate=certificate,
                    trusted=lambda smtlib: True,
                )
                if wrong is not None:
                    raise bug(f"the certificate of a bound does not prove it: {wrong}", None)
            self.answer.interrupted |= stop.asked  # during the last one: nothing more is begun

    def replay(self, form, witness, claimed):
        """Runs a witness in the interpreter; it must have exactly the claimed value."""
        if not self.space.contains(witness):
            raise bug("an input found is none of the space", witness)
        seen = self.basis.value(form, witness)
        if seen != claimed:
            raise bug(
                f"{form_text(form)} of an input is claimed to be {claimed}, but run it is {seen}",
                witness,
            )
        self.answer.replayed = True

    # The questions.

    def extreme(self, quantity, sign):
        forms = largest(quantity, self.net, self.interface is not None, sign)
        scaled_forms = [whole(form) for form in forms]
        return self.answered(
            [form for form, _ in scaled_forms],
            lambda: self.extreme_of(quantity, scaled_forms, sign),
        )

    def extreme_of(self, quantity, scaled_forms, sign):
        scaled_forms = [
            (again, denominator * more)
            for form, denominator in scaled_forms
            for again, more in [self.basis.rescaled(form)]
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
        of_those_that_end = isinstance(self.basis, States)
        if not answer.complete or (self.basis.undecided and not of_those_that_end):
            proved = None
        proved, found = (number(None if v is None else sign * v) for v in (proved, found))
        answer.lower, answer.upper = (found, proved) if sign > 0 else (proved, found)
        if answer.stalled is not None:
            answer.verdict = "refuted"
        elif proved is not None and proved == found:
            answer.verdict = "optimal"
        elif proved is not None and found is not None:
            answer.verdict = "bounded"
        return self.finish(
            {"largest" if sign > 0 else "least": quantity, "proved": json_number(proved)}
        )

    def prove(self, text):
        forms = claims(text, self.net, self.interface is not None)
        return self.answered(forms, lambda: self.proof_of(text, forms))

    def proof_of(self, text, forms):
        if self.denominator > 1 and is_strict(text):
            raise mistake(
                "E-property", f"'{text}': this interface gives fractions of cycles; use <= or >="
            )
        forms = [self.basis.rescaled(form)[0] for form in forms]
        answer = self.answer
        holds = answer.complete and not self.basis.undecided
        refuted = None
        for form in forms:
            proved, found, witness, _ = self.largest(form, enough=0)
            if found is not None and found > 0:
                refuted = witness
            elif proved is None or proved > 0:
                holds = False
            self.tell(form, proved if answer.complete and not self.basis.undecided else None, found)
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
            return None if value is None else number(Fraction(value - rest, c))

        if c > 0:
            self.answer.upper, self.answer.lower = of(proved), _first(self.answer.lower, of(found))
        else:
            self.answer.lower, self.answer.upper = of(proved), _first(self.answer.upper, of(found))

    def why(self):
        """Why there is a gap although the classes are complete."""
        if self.answer.interrupted:
            return "interrupted by Ctrl-C"
        if _lpn.solver_out_of_memory():
            return "the solver reached its memory limit (LPN_SMT_MEMORY, in megabytes, is another)"
        if self.cut:
            return f"the limit of {self.limit:g} s was reached"
        return "; ".join(self.answer.notes) or "branching left it open"

    def finish(self, claim):
        answer = self.answer
        answer.seconds = time.monotonic() - self.began
        if answer.verdict in ("unknown", "bounded") and answer.why is None:
            by_states = isinstance(self.basis, States) and not answer.interrupted
            answer.why = self.basis.reason() if by_states else self.why()
        responses = any(atom[:1] == ("response",) for form in self.forms for atom in form)
        if self.uncertified or responses and answer.stalled is not None:
            self.claims = []  # a request done before it is born is no failure of the run itself
        by_states = isinstance(self.basis, States)
        known = by_states or not self.basis.undecided
        if claim is not None and answer.complete and known and self.claims:
            term = self.basis.term
            terms = {"E": term} if term is not None else {}
            problems = self.written_out()
            answer.certificate = {
                "lpn certificate": FORMAT,
                "claim": claim,
                "stalls": self.stalls(),
                "net": self.net.text(),
                "space": self.space.to_json(terms),
                **self.basis.evidence(self.seed),
                "bounds": self.claims,
                **problems,
                "witness": answer.witness,
                "interface denominator": self.basis.denominator,
            }
        return answer

    def stalls(self):
        """Whether some input stalls or fails, None where reachable states do not tell."""
        by_states = isinstance(self.basis, States)
        return None if by_states and self.basis.undecided else self.answer.stalled is not None

    def written_out(self):
        """Writes into the bounds what each is about; the terms of all these."""
        if isinstance(self.basis, Tried):
            return {}
        problems = Problems(self.basis.parts.core)
        for claim, goals in zip(self.claims, self.bounded):
            by_path = {each["path"]: each for each in claim["certificates"]}
            for k, goal in enumerate(goals):
                if k in by_path:
                    by_path[k]["problem"] = problems.of(goal)
        if not problems.full:
            return {"terms": problems.nodes}
        for claim in self.claims:
            for each in claim["certificates"]:
                each.pop("problem", None)
        return {}


def _fitting(ticks):
    """A threshold in 64 bits; what no time reaches stays out of reach."""
    return max(-(2**63), min(2**63 - 1, ticks))


def _first(a, b):
    return b if a is None else a
