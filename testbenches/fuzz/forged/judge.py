"""Whether what a certificate claims is true: its space's inputs are run."""

import random
from fractions import Fraction

import lpn
import runs
import space as second
from lpn.authoring.net import Net
from lpn.proofs.property import claims, largest, whole
from lpn.proofs.replay import Replays
from lpn.spaces.space import InputSpace
from text import parse

ENOUGH = 300  # inputs that are run to judge a mutant


def inputs_of(space, r):
    """All inputs of a space where they are few, else some."""
    if space.core.assignments(20 * ENOUGH) is not None:
        some = list(space.inputs(20 * ENOUGH))
        return some if len(some) <= ENOUGH else r.sample(some, ENOUGH)
    found = []
    for _ in range(4 * ENOUGH):
        one = {v.name: r.randint(v.lo, v.hi) for v in space.variables}
        if space.contains(one):
            found.append(one)
    return found


def stall(atom, data, values):
    """By the definition, from a run of the second interpreter."""
    net = parse(data["net"])
    space = second.Space(data["space"], net)
    known = space.contains(tuple(values[name] for name, _, _ in space.variables))
    return runs.Observed(net, *space.input(known)).atom(atom, None)


def quantity(atom, space, run, values):
    """By the interpreter's own measures; None for what a run does not have."""
    if atom[0] == "latency":
        return run.latency
    if atom[0] == "busy":
        return run.stats["transitions"][atom[1]]["busy"]
    if atom[0] == "backlog":
        return run.stats["places"][atom[1]]["peak"]
    if atom[0] == "response":
        return Replays(space, None, 1).response(values, atom[1])
    if atom[0] == "commits":
        return run.stats["transitions"][atom[1]]["commits"]
    if atom[0] == "E":
        return space.core.value(space._read_terms["E"], space._ordered(values))
    if atom[0] == "completion":
        times = []
        net = space.net._core
        for commit in run.trace:
            for n, o in zip(commit.produced, net.transitions[commit.transition].outputs):
                times += [commit.time] * (n if net.places[o.place].done else 0)
        return times[atom[1] - 1] if len(times) >= atom[1] else None
    return None


def refuted(data):
    """An input beyond what a certificate claims, with how; else None."""
    r = random.Random(1)
    net = Net.parse(data["net"])
    space = InputSpace.from_json(net, data["space"])
    claim = data["claim"]
    interface = "E" in space._read_terms
    if "property" in claim:
        forms = [(form, 1, Fraction(0)) for form in claims(claim["property"], net, interface)]
    else:
        sign = 1 if "largest" in claim else -1
        text = claim["largest" if sign > 0 else "least"]
        forms = [
            (*whole(form), sign * Fraction(claim["proved"]))
            for form in largest(text, net, interface, sign)
        ]
    for values in inputs_of(space, r):
        try:
            run = lpn.simulate(
                net,
                space.marking(values),
                params=space.parameters(values),
                engine="interp",
                trace=True,
                stats=True,
            )
        except lpn.RunError:
            continue  # a claim is about inputs that end
        if run.stalled:
            continue
        for form, denominator, most in forms:
            seen = Fraction(0)
            for atom, c in form.items():
                if atom and atom[0] == "stall":
                    each = stall(atom, data, values)
                else:
                    each = 1 if not atom else quantity(atom, space, run, values)
                if each is None:
                    break
                if atom == ("E",):
                    each = Fraction(each, data["interface denominator"])
                seen += c * each
            else:
                if seen / denominator > most:
                    return values, f"{seen / denominator} > {most}"
    return None
