"""Inputs of a space, run in the interpreter: what a linear form of quantities is worth for one."""

from ..errors import mistake
from ..runs import simulate
from ..runs.open_loop import measure

__all__ = ["Replays"]


class Replays:
    """A space, the performance interface that E stands for, and runs of single inputs.

    `term`, `denominator`: of the interface, None and 1 when there is none.
    """

    def __init__(self, space, term, denominator):
        self.space = space
        self.term = term
        self.denominator = denominator

    def no_input(self):
        return mistake(
            "E-space",
            "the input space has no input: its conditions contradict each other\n"
            + self.space.describe(),
        )

    def rescaled(self, form):
        """(form, denominator): a form with the term of E instead of E."""
        if ("E",) not in form or self.denominator == 1:
            return form, 1
        d = self.denominator
        return {atom: c if atom == ("E",) else c * d for atom, c in form.items()}, d

    def run(self, values, **options):
        return simulate(
            self.space.net,
            self.space.marking(values),
            params=self.space.parameters(values),
            engine="interp",
            **options,
        )

    def value(self, form, witness):
        """A form's value for an input, by running it in the interpreter."""
        needs = {atom[0] for atom in form if atom}
        run = self.run(
            witness,
            stats=bool(needs & {"busy", "backlog"}),
            trace=bool(needs - {"latency", "E", "response", "backlog"}),
        )
        return sum(
            c * (1 if not atom else self.measured(run, atom, witness)) for atom, c in form.items()
        )

    def measured(self, run, atom, witness):
        """What the run of a witness has of a quantity."""
        if atom[0] == "latency":
            return run.latency
        if atom[0] == "busy":
            return run.stats["transitions"][atom[1]]["busy"]
        if atom[0] == "backlog":
            return run.stats["places"][atom[1]]["peak"]
        if atom[0] == "response":
            return self.response(witness, atom[1])
        if atom[0] == "E":
            return self.space.core.value(self.term, self.space._ordered(witness))
        if atom[0] == "commits":
            return sum(
                commit.transition == self.space.net._transitions[atom[1]] for commit in run.trace
            )
        core, produced = self.space.net._core, 0
        for commit in run.trace:
            outputs = core.transitions[commit.transition].outputs
            produced += sum(
                n for n, o in zip(commit.produced, outputs) if core.places[o.place].done
            )
            if produced >= atom[1]:
                return commit.time
        return None

    def response(self, witness, place):
        """The longest response, as `lpn latency` measures it; None without a request."""
        net, given = self.space.net, self.space.parameters(witness)
        _, found = measure(
            net, [given[name] for name in net.params], self.space.marking(witness), None
        )
        return found[place].all.greatest if found[place].all.count else None
