"""lpn bluefield place: policies for placing arriving functions on NICs, judged by the net."""

import os

import click

import lpn
from lpn.command import (
    ANSWERED,
    UNKNOWN,
    FiniteRange,
    Progress,
    counted,
    json_option,
    print_json,
    seconds,
    table,
)
from lpn.runs import read_csv

from .. import scenario as scenarios

_CATALOGUE = os.path.join(os.path.dirname(os.path.abspath(scenarios.__file__)), "catalogue.json")
_POLICIES = ("monopolisation", "greedy", "memory-only", "both-resources", "oracle")


@click.command("place")
@click.argument("arrivals", type=click.Path(dir_okay=False), required=False)
@click.option(
    "--catalogue",
    type=click.Path(dir_okay=False),
    default=None,
    metavar="FILE",
    help="The functions, as in a scenario, and the NIC. Default: eleven functions of the "
    "literature, with assumed parameters (models/bluefield/catalogue.json).",
)
@click.option(
    "--count",
    type=click.IntRange(1, 100_000),
    default=500,
    show_default=True,
    help="Arrivals of a random sequence.",
)
@click.option(
    "--sequences",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="Random sequences.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the first sequence."
)
@click.option(
    "--promised",
    type=FiniteRange(0, 1),
    nargs=2,
    default=(0.05, 0.20),
    show_default=True,
    help="Promised drops of random arrivals, least and most.",
)
@click.option(
    "--policy",
    "policies",
    type=click.Choice(_POLICIES),
    multiple=True,
    help="Only this policy; may be given several times. Default: all.",
)
@click.option(
    "--optimum/--no-optimum",
    default=None,
    help="The exact optimum, arrivals known in advance; at most 12 of them. Default: when so few.",
)
@click.option(
    "--noise",
    type=FiniteRange(0, 30),
    default=0.0,
    show_default=True,
    metavar="PERCENT",
    help="Standard deviation of measured rates, in profiles and in the truth; 1.6 is that of the real NIC.",
)
@click.option("--plan", is_flag=True, help="Which NIC gets which functions.")
@json_option
def place(
    arrivals, catalogue, count, sequences, seed, promised, policies, optimum, noise, plan, as_json
):
    """Places functions on NICs as they arrive, by several policies: NICs used, promises broken.

    ARRIVALS is a CSV file with columns function and promised_drop (0.1: a tenth of its throughput
    alone); without it, sequences are drawn at random. What co-located functions really deliver, and
    whether that breaks a promise, is simulated.
    """
    from ..net import placement

    functions, nic = scenarios.read_catalogue(catalogue or _CATALOGUE)
    known = placement.Catalogue(functions, nic, noise=noise / 100, seed=seed)
    if promised[0] > promised[1]:
        raise click.UsageError(f"--promised {promised[0]:g} {promised[1]:g}: the least comes first")
    if arrivals is not None:
        given = [(os.path.basename(arrivals), _read(arrivals, known))]
    else:
        given = [
            (f"seed {seed + k}", placement.draw(known, count, seed + k, promised))
            for k in range(sequences)
        ]
    longest = max(len(sequence) for _, sequence in given)
    if optimum is None:
        optimum = longest <= placement.MOST_FOR_OPTIMUM
    policies = [p for p in _POLICIES if not policies or p in policies]
    data = _answer(placement, known, given, policies, optimum, plan or arrivals is not None)
    data["catalogue"] = catalogue or "models/bluefield/catalogue.json"
    data["noise_percent"] = noise
    print_json(data) if as_json else _show(data)
    return UNKNOWN if data.get("interrupted") else ANSWERED


def _read(path, catalogue):
    """The Arrivals of a CSV file. Raises Error "E-arrivals" naming file, line and what is allowed."""
    from ..net.placement import Arrival

    numbers = {f.name: k for k, f in enumerate(catalogue.functions)}
    columns, rows = read_csv(path, "E-arrivals")
    known = ("function", "promised_drop")
    for wrong, what in (
        ([name for name in known if name not in columns], "there is no column"),
        ([repr(name) for name in columns if name not in known], "an arrival has no column"),
    ):
        if wrong:
            raise lpn.Error(
                "E-arrivals",
                f"{path}:1: {what} {' and '.join(wrong)}; the columns are {' and '.join(known)}",
            )
    found = []
    for line, row in rows:
        where = f"{path}:{line}"
        if row["function"] not in numbers:
            raise lpn.Error(
                "E-arrivals",
                f"{where}: the catalogue has no function "
                f"'{row['function']}'; it has: {', '.join(numbers)}",
            )
        try:
            promised = float(row["promised_drop"])
        except ValueError:
            promised = -1.0
        if not 0 <= promised <= 1:
            raise lpn.Error(
                "E-arrivals",
                f"{where}: promised_drop is '{row['promised_drop']}'; it "
                "must be a number from 0 to 1: the share of its throughput "
                "alone that it may lose",
            )
        found.append(Arrival(numbers[row["function"]], promised))
    if not found:
        raise lpn.Error("E-arrivals", f"{path}: no arrivals below the header")
    return found


def _answer(placement, known, given, policies, optimum, plan):
    rows, done, interrupted = [], 0, False
    progress = Progress(len(given))
    try:
        if sum(len(sequence) for _, sequence in given) > 100:
            sets = known.sets()
            progress.say(f"simulating {len(sets)} sets of functions", now=True)
            known.prepare(sets)
        if {"memory-only", "both-resources"} & set(policies):
            progress.say("measuring profiles, training predictors", now=True)
            known.train(sorted({a.function for _, sequence in given for a in sequence}))
        for name, sequence in given:
            placements = [placement.place(known, sequence, policy) for policy in policies]
            if optimum:
                placements.append(placement.optimum(known, sequence))
            rows.append((name, sequence, placements))
            done += 1
            progress.step(name)
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
    finally:
        progress.clear()
    data = {
        "arrivals": sum(len(sequence) for _, sequence, _ in rows),
        "sequences": len(rows),
        "policies": [],
    }
    if interrupted:
        data["interrupted"] = True
    for k, policy in enumerate([*policies, *(["optimum"] if optimum else [])]):
        mine = [placements[k] for _, _, placements in rows]
        broken = sum(len(p.broken) for p in mine)
        data["policies"].append(
            {
                "policy": policy,
                "nics": sum(len(p.nics) for p in mine) / len(rows),
                "broken": broken,
                "broken_share": round(broken / data["arrivals"], 6),
                "seconds": round(sum(p.seconds for p in mine), 6),
            }
        )
    for base in ("oracle", "optimum"):
        reference = next(
            (entry["nics"] for entry in data["policies"] if entry["policy"] == base), None
        )
        for entry in data["policies"]:
            if reference is not None:
                entry[f"nics_above_{base}"] = round(entry["nics"] / reference - 1, 6)
    if plan:
        data["plans"] = [
            _plan(known, name, sequence, placed)
            for name, sequence, placements in rows
            for placed in placements
        ]
    return data


def _plan(known, name, sequence, placement):
    nics = []
    for nic in placement.nics:
        key = tuple(sorted(sequence[k].function for k in nic))
        drops = dict(zip(key, known.drops(key)))
        nics.append(
            [
                {
                    "arrival": k + 1,
                    "function": known.functions[sequence[k].function].name,
                    "promised_drop": round(sequence[k].promised, 6),
                    "drop": round(max(0.0, drops[sequence[k].function]), 6),
                    "kept": k not in placement.broken,
                }
                for k in nic
            ]
        )
    return {"sequence": name, "policy": placement.policy, "nics": nics}


def _show(data):
    columns = ["policy", ">NICs"]
    for base in ("oracle", "optimum"):
        if f"nics_above_{base}" in data["policies"][0]:
            columns.append(f">above {base}")
    rows = []
    for entry in data["policies"]:
        above = [
            f"{entry[f'nics_above_{base}']:+.2%}"
            for base in ("oracle", "optimum")
            if f"nics_above_{base}" in entry
        ]
        rows.append(
            [
                entry["policy"],
                f"{entry['nics']:.1f}",
                *above,
                str(entry["broken"]),
                f"{entry['broken_share']:.2%}",
                seconds(entry["seconds"]),
            ]
        )
    table(
        [*columns, ">broken promises", ">of all", ">decided in"],
        rows,
        title=f"{counted(data['arrivals'], 'arrival')} in {counted(data['sequences'], 'sequence')}; "
        f"functions of {data['catalogue']}",
    )
    for plan in data.get("plans", ()):
        click.echo(f"\n{plan['sequence']}, {plan['policy']}:")
        for number, nic in enumerate(plan["nics"], 1):
            held = ", ".join(
                f"{f['function']} ({f['drop']:.1%} of {f['promised_drop']:.1%}"
                f"{'' if f['kept'] else ', BROKEN'})"
                for f in nic
            )
            click.echo(f"  NIC {number}: {held}")
    if data.get("interrupted"):
        click.echo("interrupted: these are the sequences finished by then", err=True)
