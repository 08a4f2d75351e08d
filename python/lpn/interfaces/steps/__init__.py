"""Interfaces by steps: of each transition a rule of a line or two, and a loop that is the recurrence over
what the rules take from each other. For nets whose latency is no largest of sums: arbiters, row buffers,
credits that come back. Exact, since the rules are the net's own; checked on simulated inputs.
"""

import collections
import random

from ...authoring.expr import Expr
from ...errors import mistake
from ..closed_form import stretches_of
from ..extract import Extracted
from ..fitted import CHECKS, drawn_inputs, run_inputs
from ..input import aggregate, done_count_of, execute_interface, looked_at
from .module import write_steps
from .rules import rules_of

__all__ = ["extract_steps", "written"]

_FIRST = 4  # inputs that are run before the others, as a net may run on for all of them
_NAMED = 3  # rules that are told as deciding


def extract_steps(
    net, space, model_name="model", parameters=None, clock=1.0, seed=1, progress=None, checks=CHECKS
):
    """The Extracted interface of a net over a space, by steps; compared with simulation on `checks` random
    inputs of it.

    Raises Error "E-pi" that names the first transition which steps cannot say, and where most inputs have no
    latency; "E-bug" where a latency differs from the simulated one.
    """
    say = progress or (lambda text: None)
    say("rules")
    found = Extracted(net, space, parameters)
    say("inputs")
    inputs = drawn_inputs(space, random.Random(seed), checks)
    found.parameters = space.parameters(inputs[0])
    text, rules, steps, tokens = written(net, space, found, model_name, clock)
    samples, without, found.samples = [], {}, []
    for part in (inputs[:_FIRST], inputs[_FIRST:]):
        say(f"{len(part)} runs")
        run_inputs(net, space, part, samples, without, space.tokens_of)
    interface = execute_interface(text([]), "<interface>")
    decided = collections.Counter()
    for k, (rows, cycles) in enumerate(samples):
        if k % 100 == 0:
            say(f"{k} of {len(samples)} runs compared")
        x = aggregate(interface, {p: rows[p] for p in tokens if rows[p]}, conditions=False)
        found.samples.append((interface.latency(x), cycles))
        decided[interface.bottleneck(x)] += 1
        if found.samples[-1][0] != cycles:
            raise mistake(
                "E-bug",
                f"the interface says {found.samples[-1][0]} cycles for an input that takes {cycles}: {x}"
                "\n  please report it with the model and this message",
            )
    found.complete, found.without = True, without
    found.classes = [
        {
            "shape": {
                p: least if least == most else [least, most] for p, (least, most) in tokens.items()
            },
            "bottlenecks": [
                f"{name} ({n / len(samples):.0%})" for name, n in decided.most_common(_NAMED)
            ],
            "dropped": [],
            "lower_bound": True,
            "samples": len(samples),
            "mean_error": 0.0,
            "worst_error": 0.0,
        }
    ]
    found.text = text(_header(found, model_name, rules, steps))
    return found


def written(net, space, found, model_name, clock):
    """(the module's text as a function of its header's lines, Rules, Steps, how many tokens inputs have)."""
    if any(not isinstance(t._at, int) or t._at for rows in space.tokens_of.values() for t in rows):
        raise mistake(
            "E-pi", "tokens of the space come later than 0; an interface by steps has no arrivals"
        )
    rules, steps = rules_of(net, found.parameters)
    tokens, covered = _covered(net, space)
    facts = {
        "model": model_name,
        "parameters": found.parameters,
        "clock": clock,
        "tokens": tokens,
        "covered": covered,
        "conditions": found.conditions,
        "done_count": done_count_of(net, space.done_count, found.parameters),
    }
    return lambda header: write_steps(header, net, rules, steps, facts), rules, steps, tokens


def _covered(net, space):
    """({place: (least, most tokens)}, {place: {property: stretches of tokens with one range}})."""
    tokens, covered = {}, {}
    seen = looked_at(net)
    for place, declared in space.tokens_of.items():
        if place not in seen:
            kept = net._core.places[net[place]._number]
            if declared and (kept.start or kept.drain or kept.capacity is not None):
                raise mistake(
                    "E-pi",
                    f"place '{place}' has tokens of the space, and nothing takes them; leave them out",
                )
            continue
        count = space._counts.get(place)
        least, most = (len(declared),) * 2 if count is None else map(int, count._bounds())
        tokens[place] = (least, most)
        covered[place] = {
            name: stretches_of([_range(token._values[name]) for token in declared])
            for name in net[place]._type.fields
        }
    return tokens, covered


def _range(value):
    if not isinstance(value, Expr):
        return int(value), int(value)
    low, high = value._bounds()
    return int(low), int(high)


def _header(found, model, rules, steps):
    about = found.classes[0]
    lines = [
        f"Latency of {model}, in cycles: a performance interface that lpn pi wrote by steps.",
        "",
        f"Model {model}, net {found.net_digest}. x: {{place: [{{property: value}}, ...]}}, the tokens of an input.",
        f"{len(rules)} rules for {len(steps)} transitions: what a step costs and puts, of what it takes. "
        "A step starts when all that it takes has come and a server is free, the first of STEPS before the "
        "others; the last result is the latency, and chain(x) the chain of steps "
        "that waited for each other on the way to it.",
        "The rules are the net's formulas, so the latency is exact for every input that TOKENS, COVERED and "
        "CONDITIONS allow.",
        f"Checked on {about['samples']} random inputs: error mean 0.00%, max 0.00%. Most cycles are those of: "
        + ", ".join(about["bottlenecks"]),
    ]
    if found.without:
        lines.append(f"Beside them {sum(found.without.values())} had no latency:")
        lines += [f"- {number}: {why}" for why, number in sorted(found.without.items())]
    for condition in found.untold:
        lines.append(f"Not looked at, since tokens do not tell: {condition}")
    return lines
