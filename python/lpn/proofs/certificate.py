"""Certificates of bounds, verified without anything of the search that made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import _lpn

from ..authoring.net import Net
from ..errors import Error
from ..spaces.space import InputSpace
from .answer import Answer, form_text, number
from .basis import Basis
from .problem import Problems, same
from .property import claims, largest, whole
from .read import data_of, fraction, refuse, shape
from .states import StatesAgain
from .tried import Tried, possible

__all__ = ["Checked", "check", "data_of"]


class Checked:
    """What check() found: whether the certificate `holds`, its `claim` in words, about which
    `space`, and if not `why`.

    `unknown`: it holds but for formulas that no solver at hand decides. `formulas`: how many solver
    decided formulas it has. `witness`, `classes`, `paths`, `inputs`, `states` as of Answer.
    `stalls`: whether some input stalls or fails; None: that is not known.
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
        self.inputs = self.states = None
        self.stalls = False


def check(
    data: dict[str, Any],
    decide: Callable[[str], bool | None] | None = None,
    progress: Callable[[str], object] | None = None,
    seconds: float | None = None,
) -> Checked:
    """Verifies a certificate (Answer.certificate, or its JSON read again); a Checked.

    Nothing of the search is used: the net is executed over the space again, every step of every
    bound is computed again from it, and the witness is run. `decide(smtlib)` says of a formula
    whether it is unsatisfiable (True, False, or None when it cannot tell); the formulas of steps
    that rest on a solver are put to it. `seconds`: a limit on executing the net again. Raises
    Error "E-certificate" for what is no certificate, whatever it is, and "E-bug" for what is
    our mistake.
    """
    try:
        shape(data)
        return _Check(data, decide, progress, seconds).run()
    except Error as error:
        if error.code in ("E-certificate", "E-bug"):
            raise
        raise refuse(f"{error.code}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as e:
        raise refuse(f"{type(e).__name__}: {str(e)[:200]}") from None


def said(written, form):
    """Whether what a bound says that it is about is the form."""
    if type(written) is not list or len(written) != len(form):
        return False
    return all(any(same(each, [list(atom), c]) for each in written) for atom, c in form.items())


class _Check:
    def __init__(self, data, decide, progress, seconds):
        self.data = data
        self.seconds = seconds
        self.decide = decide
        net = Net.parse(data["net"])
        if data["space"]["net"] != net.name:
            raise refuse("its space is of a net with another name")
        self.space = InputSpace.from_json(net, data["space"])
        self.progress = progress
        self.term = self.space._read_terms.get("E")
        self.denominator = data["interface denominator"]
        claim = data["claim"]
        interface = self.term is not None
        if "property" in claim:
            self.forms = [(form, 1) for form in claims(claim["property"], net, interface)]
            self.result = Checked(f"{claim['property']}, for all inputs of the space", self.space)
        else:
            self.sign = 1 if "largest" in claim else -1
            quantity = claim["largest" if self.sign > 0 else "least"]
            self.forms = [whole(form) for form in largest(quantity, net, interface, self.sign)]
            self.result = Checked(
                f"{quantity} {'<=' if self.sign > 0 else '>='} {claim['proved']}, for all inputs "
                "of "
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
        data, result = self.data, self.result
        answer = Answer("check", self.space)
        self.basis = basis = self.made_again(answer)
        self.forms = [
            (again, denominator * more)
            for form, denominator in self.forms
            for again, more in [basis.rescaled(form)]
        ]
        result.classes, result.paths = answer.classes, answer.paths
        result.inputs, result.states = answer.inputs, answer.states
        result.stalls = None if basis.undecided else answer.stalled is not None
        by_states = isinstance(basis, StatesAgain)
        if not answer.complete or basis.undecided and not by_states:
            why = answer.why or "; ".join(answer.notes)
            return f"not all inputs of the space are known: {why}"
        if "tried" in data and data["tried"]["inputs"] != answer.inputs:
            return f"the space has {answer.inputs} inputs, not {data['tried']['inputs']}"
        if result.stalls != data["stalls"] and not (by_states and data["stalls"] is None):
            return "whether inputs stall or fail is not as it says"
        if len(data["bounds"]) != len(self.forms):
            return f"it has {len(data['bounds'])} bounds for {len(self.forms)} comparisons"
        proved = []
        self.problems = Problems(self.basis.parts.core) if "terms" in data else None
        for (form, denominator), bound in zip(self.forms, data["bounds"]):
            if "form" in bound and not said(bound["form"], form):
                return f"a bound of {form_text(form)} says that it is another form's"
            why = self.wrong_bound(form, bound)
            if why is not None:
                return f"{form_text(form)} <= {bound['most']}: {why}"
            proved.append(Fraction(bound["most"], denominator))
        if self.problems is not None and not same(data["terms"], self.problems.nodes):
            return "its terms are not those of its paths"
        if "property" in data["claim"]:
            if max(proved) > 0:
                return "what it bounds does not give the property"
        elif self.sign * max(proved) != fraction(data["claim"]["proved"], "what is proved"):
            return (
                f"its bounds give {number(self.sign * max(proved))}, not {data['claim']['proved']}"
            )
        return self.wrong_witness()

    def made_again(self, answer):
        """The space's classes, or a run of each of its inputs, whatever the claim rests on."""
        data, say = self.data, self.progress or (lambda text: None)
        about = self.space, answer, self.term, self.denominator
        if "states" in data:
            if self.term is not None:
                raise refuse("interfaces are not bounded by states")
            forms = [form for form, _ in self.forms]
            parts = [bound["reached"] for bound in data["bounds"]]
            if len(parts) != len(forms):
                raise refuse(f"it has {len(parts)} bounds for {len(forms)} comparisons")
            ends = data["stalls"] is False
            most = data["states"]["most"]
            return StatesAgain(*about, forms, parts, most, ends, self.seconds, say)
        if "tried" not in data:
            return Basis(*about, data["partition"]["seed"], self.seconds or 0, say)
        forms = [form for form, _ in self.forms]
        if possible(self.space, forms) is None:
            raise refuse("not every input of this space can be run, or not for this claim")
        return Tried(*about, forms, self.seconds or 0, say)

    def wrong_bound(self, form, bound):
        if isinstance(self.basis, Tried):
            value, witness = self.basis.largest(form)
            if value is None:
                return "no input has a value"
            return f"it is {value} for {witness}" if value > bound["most"] else None
        if isinstance(self.basis, StatesAgain):
            value = self.basis.largest(form)
            return f"states give {value} only" if value > bound["most"] else None
        goals, maximum, value, _ = self.basis.goals.of(form)
        if bound["paths"] != len(goals) or len(bound["certificates"]) != len(goals):
            return (
                f"it has {len(bound['certificates'])} bounds of {bound['paths']} paths, but the "
                f"net has {len(goals)} "
                "over this space"
            )
        if (
            bound.get("offset", value(0)) != value(0)
            or bound.get("maximum", maximum) is not maximum
        ):
            return "how its bounds count is not as it says"
        by_path = {each["path"]: each for each in bound["certificates"]}
        for k, goal in enumerate(goals):
            if k not in by_path:
                return f"path {k} has no bound"
            proof = {name: by_path[k][name] for name in ("path", "bound", "steps")}
            certificate = _lpn.PathCertificate.parse(json.dumps(proof), maximum=maximum)
            if value(certificate.bound) > bound["most"]:
                return f"path {k} is bounded by {value(certificate.bound)} only"
            why = _lpn.check_bound(
                self.basis.parts.core,
                goal,
                certificate=certificate,
                trusted=self.trusted,
            )
            if why is not None:
                return f"path {k}: {why}"
            written = self.problems is not None
            if written and not same(by_path[k]["problem"], self.problems.of(goal)):
                return f"path {k} is not what its problem says"
        return None

    def trusted(self, smtlib):
        self.result.formulas += 1
        verdict = None if self.decide is None else self.decide(smtlib)
        if verdict is None:
            self.result.unknown = True
            return True
        return verdict

    def wrong_witness(self):
        data = self.data
        witness = data["witness"]
        if witness is None:
            return None
        if not self.space.contains(witness):
            return "its witness is no input of the space"
        values = [
            Fraction(self.basis.value(form, witness), denominator)
            for form, denominator in self.forms
        ]
        if "property" in data["claim"] and max(values) > 0:
            return "its witness does not have the property"
        self.result.witness = witness
        return None
