"""lpn smt: bounds and properties proved over all inputs of a model's space, and their
certificates.
"""

import json
import os
import re
import time

import click

from ..command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    FiniteRange,
    OutputFile,
    Progress,
    counted,
    grouped,
    json_option,
    note,
    params_option,
    print_json,
    refuse_beside,
    seconds,
    table,
)
from ..errors import Error, describe, mistake
from ..output_file import written
from ..proofs.certificate import check, data_of
from ..proofs.contained import contained
from ..proofs.question import maximize, minimize, prove
from ..proofs.states import ENDS_BY_CLASSES, ENDS_UNKNOWN
from ..proofs.tried import MOST_INPUTS
from .space import input_text, load_space, space_options

CHECK_SECONDS = 10  # unless --limit says otherwise
CHECK_MEMORY = 4 << 30  # bytes
MOST_VALUES = 256  # that --free tries when it does not say which
STATUS = {
    "optimal": ANSWERED,
    "proved": ANSWERED,
    "refuted": NO,
    "bounded": UNKNOWN,
    "unknown": UNKNOWN,
}


@click.command()
@click.argument("model", required=False)
@space_options
@params_option
@click.option(
    "--maximize",
    "largest",
    metavar="E",
    help="The largest E over all inputs: latency, completion(k), ...",
)
@click.option("--minimize", "least", metavar="E", help="The least E over all inputs.")
@click.option(
    "--prove",
    "property_",
    metavar="PROPERTY",
    help="Whether all inputs have a property: 'latency <= 2300'.",
)
@click.option(
    "--interface",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE.py",
    help="A performance interface: its function latency(x) is E in PROPERTY.",
)
@click.option(
    "--free",
    metavar="PARAM[=LO..HI]",
    help="With --prove: the least value of a parameter with which all inputs have the property.",
)
@click.option("--pareto", is_flag=True, help="With --free: the answer for every value.")
@click.option(
    "--limit",
    type=FiniteRange(0, min_open=True),
    metavar="S",
    help="Stop after S seconds, with the bound and the input of then.",
)
@click.option(
    "--tries",
    type=click.IntRange(0),
    default=MOST_INPUTS,
    metavar="N",
    help="Run every input, where classes do not answer and there are at most N; 0: never.",
)
@click.option(
    "--certificate",
    type=OutputFile(),
    metavar="FILE",
    help="Writes what proves the bound.",
)
@click.option(
    "--witness",
    "witness_file",
    type=OutputFile(),
    metavar="FILE",
    help="Writes the input found as a marking file, for lpn sim.",
)
@click.option(
    "--smtlib",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Writes every path's exact latency as SMT-LIB 2.",
)
@click.option(
    "--check",
    "checked",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Verifies a certificate instead, without the search that made it.",
)
@json_option
def smt(
    model,
    bounds,
    more,
    params,
    largest,
    least,
    property_,
    interface,
    free,
    pareto,
    limit,
    tries,
    certificate,
    witness_file,
    smtlib,
    checked,
    as_json,
):
    """Proves bounds and properties of MODEL over all inputs of its space, with the input that comes
    closest.

    \b
    lpn smt jpeg --space blocks=18 compression=75 --maximize latency
    lpn smt jpeg --space blocks=18 --prove 'latency <= 8000' --certificate proof.json
    lpn smt model.py --prove 'latency <= 2300' --free slots=1..8
    lpn smt --check proof.json

    Exit status: 0 exact, or proved; 1 refuted, or an input stalls; 2 something is wrong; 3 a limit
    or Ctrl-C left a gap.
    """
    if checked:
        if model or largest or least or property_ or bounds or more:
            raise click.UsageError(
                "--check FILE stands alone: the certificate has the net, the space and the claim"
            )
        refuse_beside("--check", {"checked", "limit", "as_json"})
        return _check(checked, limit, as_json)
    asked = [each for each in (largest, least, property_) if each]
    if not model or len(asked) != 1:
        raise click.UsageError(
            "write MODEL and one of --maximize E, --minimize E, --prove PROPERTY; or --check FILE"
        )
    if pareto and not free or free and not (property_ or pareto):
        raise click.UsageError(
            "--free PARAM goes with --prove PROPERTY; with --pareto it answers for every value "
            "of it"
        )
    if free and free.partition("=")[0] in dict(params):
        name = free.partition("=")[0]
        raise click.UsageError(
            f"-p {name} and --free {name}: both say what it is; keep one of them"
        )
    if interface and not re.search(r"\bE\b", asked[0]):
        raise click.UsageError(
            "--interface FILE is E in the question, which has none: --prove 'abs(E - latency) <= 3'"
        )
    progress = Progress(1)
    ask = maximize if largest else minimize if least else prove
    function = interface and _interface(interface)

    def one(more_params, seconds_left):
        loaded, net, space = load_space(model, [*params, *more_params], [*bounds, *more])
        return (
            loaded,
            net,
            space,
            ask(
                space,
                asked[0],
                seconds=seconds_left,
                progress=progress.say,
                interface=function,
                tries=tries,
            ),
        )

    tried = None
    if free:
        (loaded, net, space, answer), tried = _values_of(
            free, load_space(model, params, [*bounds, *more])[1], one, limit, pareto
        )
    else:
        loaded, net, space, answer = one([], limit)
    progress.clear()
    proved, shown = _write_files(answer, space, certificate, witness_file)
    dumped = _dump(smtlib, space, limit) if smtlib else None
    if as_json:
        print_json({**_fields(loaded, space, answer, proved, dumped), **(tried or {})})
    else:
        _show(space, answer, proved, shown, dumped)
        if tried:
            _show_tried(tried)
        if certificate and proved is None:
            note(
                "no certificate was written: "
                + (
                    ENDS_BY_CLASSES
                    if ENDS_BY_CLASSES in answer.notes
                    else "the bound is of states that were not all looked at when time was up"
                    if answer.states is not None and answer.complete
                    else "nothing is proved"
                )
            )
    if tried:
        return (
            max((STATUS[row["verdict"]] for row in tried["tried"]), default=UNKNOWN)
            if pareto
            else _found(tried)
        )
    return STATUS[answer.verdict]


def _write_files(answer, space, certificate, witness_file):
    """The names of the two files, each None when there was nothing to write into it."""
    proved = shown = None
    if certificate and answer.certificate is not None:
        with written(certificate) as file:
            json.dump(answer.certificate, file)
        proved = certificate
    witness = answer.witness or (answer.stalled and answer.stalled["witness"])
    if witness_file and witness:
        space.marking(witness).save(witness_file)
        shown = witness_file
    return proved, shown


def _values_of(free, net, one, limit, pareto):
    """(the last answer, {"free", "tried"}) over the values of a parameter, the least first."""
    name, equals, span = free.partition("=")
    param = next((p for p in net._core.params if p.name == name), None)
    if param is None:
        raise mistake(
            "E-param",
            f"net '{net.name}' has no parameter '{name}'; it has: "
            f"{', '.join(net.params) or 'none'}",
        )
    found = re.fullmatch(r"(-?[0-9]+)\.\.(-?[0-9]+)", span)
    if equals and not found:
        raise click.UsageError(f"--free {free}: write --free {name}=1..16")
    lo, hi = (int(found[1]), int(found[2])) if found else param.range or (None, None)
    if lo is None or pareto and hi - lo >= MOST_VALUES:
        raise click.UsageError(f"--free {name}: which values? write --free {name}=1..16")
    if param.range and lo <= hi and not (param.range[0] <= lo and hi <= param.range[1]):
        raise mistake(
            "E-param",
            f"--free {free}: parameter '{name}' of net '{net.name}' lies in "
            f"{param.range[0]}..{param.range[1]}; stay within it",
        )
    tries = range(lo, hi + 1 if found else min(hi, lo + MOST_VALUES - 1) + 1)
    end = None if limit is None else time.monotonic() + limit
    rows, last = [], None
    for value in tries:
        left = None if end is None else end - time.monotonic()
        if rows and left is not None and left <= 0:
            break
        last = one([(name, value)], left)
        answer = last[-1]
        rows.append(
            {
                "value": value,
                "verdict": answer.verdict,
                "lower": _plain(answer.lower),
                "upper": _plain(answer.upper),
                "stalls": answer.stalled is not None,
                "outcome": answer.stalled and answer.stalled["outcome"],
                "seconds": round(answer.seconds, 6),
            }
        )
        if answer.interrupted or not pareto and answer.verdict == "proved":
            break
    if last is None:
        raise click.UsageError(f"--free {name}={lo}..{hi}: there is no value")
    good = [row["value"] for row in rows if row["verdict"] == "proved"]
    least = bool(good) and all(
        row["verdict"] == "refuted" for row in rows if row["value"] < good[0]
    )
    return last, {
        "free": {
            "parameter": name,
            "value": good[0] if good else None,
            "least": least,
            "all_tried": len(rows) == hi - lo + 1,
        },
        "tried": rows,
    }


def _found(tried):
    """The exit status of a search for a value."""
    free = tried["free"]
    if free["value"] is not None:
        return ANSWERED if free["least"] else UNKNOWN
    return (
        NO
        if free["all_tried"] and all(row["verdict"] == "refuted" for row in tried["tried"])
        else UNKNOWN
    )


def _show_tried(tried):
    free = tried["free"]
    click.echo("")
    table(
        [f">{free['parameter']}", "verdict", ">lower", ">upper", ""],
        [
            [
                row["value"],
                row["verdict"],
                _number_text(row["lower"]),
                _number_text(row["upper"]),
                {None: "", "error": "an input fails"}.get(row["outcome"], "an input stalls"),
            ]
            for row in tried["tried"]
        ],
    )
    if free["value"] is not None:
        what = "is the least value" if free["least"] else "will do; of smaller ones it is not known"
        click.echo(f"{free['parameter']} = {free['value']} {what}")


def _number_text(value):
    return "?" if value is None else grouped(value) if isinstance(value, int) else value


def _interface(path):
    """The function latency of a Python file; what lpn pi wrote is read as that."""
    from ..runs.models import _module
    from ..interfaces.prove import is_interface, predicted

    module = _module("lpn_interface", path)
    if is_interface(vars(module)):
        with open(path, encoding="utf-8") as file:
            return predicted(file.read(), path)
    function = getattr(module, "latency", None)
    if not callable(function):
        raise mistake(
            "E-property", f"{path} has no function latency(x), which a performance interface needs"
        )
    return function


def _plain(value):
    """A bound for JSON: an int, or a fraction as text."""
    return value if value is None or isinstance(value, int) else str(value)


def _gap(answer):
    """How far the two bounds are apart, as a part of the larger one; null where one is missing."""
    if answer.lower is None or answer.upper is None:
        return None
    larger = max(abs(answer.lower), abs(answer.upper))
    return 0.0 if larger == 0 else round(float(abs(answer.upper - answer.lower) / larger), 6)


def _input(space, values):
    """An input for programs: its variables, tokens and parameters."""
    if values is None:
        return None
    marking = space.marking(values)
    tokens = {
        name: [dict(zip(place._type.fields, row)) for row in marking.rows(place)]
        for name, place in space.net.places.items()
        if marking.count(place)
    }
    arrivals = {name: marking.times(name) for name in tokens if any(marking.times(name))}
    return {
        "assignment": values,
        "tokens": tokens,
        **({"arrivals": arrivals} if arrivals else {}),
        "parameters": space.parameters(values),
    }


def _fields(model, space, answer, proved, dumped):
    stalled = answer.stalled and {
        "outcome": answer.stalled["outcome"],
        "why": answer.stalled["why"],
        "input": _input(space, answer.stalled["witness"]),
    }
    return {
        "model": model.name,
        "question": answer.question,
        "space": {"variables": len(space.variables), "text": space.describe()},
        "verdict": answer.verdict,
        "lower": _plain(answer.lower),
        "upper": _plain(answer.upper),
        "witness": _input(space, answer.witness),
        "replayed": answer.replayed,
        "stalled": stalled,
        "classes": answer.classes,
        "paths": answer.paths,
        "inputs": answer.inputs,
        "states": answer.states,
        "inputs_tried": answer.tried,
        "gap": _gap(answer),
        "complete": answer.complete,
        "why": answer.why,
        "unresolved": answer.unresolved,
        "notes": answer.notes,
        "interrupted": answer.interrupted,
        "seconds": round(answer.seconds, 6),
        "certificate": proved,
        "smtlib": dumped,
    }


def _show(space, answer, proved, witness_file, dumped):
    click.echo(space.describe())
    click.echo("")
    if answer.stalled:
        does = "stalls" if answer.stalled["outcome"] == "stalled" else "fails"
        click.echo(f"{does} for this input: {input_text(answer.stalled['witness'])}")
        click.echo(f"  {answer.stalled['why']}")
        click.echo("of the other inputs:")
    click.echo(f"{answer.question}: {_verdict(answer)}")
    extent = "all inputs" if answer.complete else f"not all inputs: {answer.why}"
    if answer.states is not None:
        how = f"{counted(answer.states, 'state')}, {counted(answer.tried, 'input')} tried"
    elif answer.inputs is not None:
        how = f"{counted(answer.inputs, 'input')} run"
    else:
        number = "1 class" if answer.classes == 1 else f"{answer.classes} classes"
        how = f"{number}, {counted(answer.paths, 'path')}"
    click.echo(f"  {how}, {extent}; {seconds(answer.seconds)}")
    for text in answer.notes:
        click.echo(f"  {text}")
    if answer.witness is not None:
        click.echo(f"  the input: {input_text(answer.witness)}")
    if witness_file:
        click.echo(f"  it is in {witness_file}{_with_parameters(space, answer)}")
    if proved:
        click.echo(f"  certificate: {proved}; lpn smt --check {proved}")
    if dumped:
        click.echo(f"  SMT-LIB: {counted(len(dumped), 'file')} in {os.path.dirname(dumped[0])}")


def _with_parameters(space, answer):
    """What the file of a witness does not have: parameters that are not the net's own."""
    values = space.parameters(answer.witness or answer.stalled["witness"])
    other = [f"-p {n}={v}" for n, v in values.items() if space.net.params[n] != v]
    return f"; run it with {' '.join(other)}" if other else ""


def _verdict(answer):
    lower, upper = map(_number_text, (_plain(answer.lower), _plain(answer.upper)))
    ended = (
        "interrupted"
        if answer.interrupted
        else "the limit was reached"
        if answer.complete and ENDS_UNKNOWN not in answer.notes
        else "whether every input ends is not known"
        if answer.complete
        else "no bound is known"
        if answer.states is not None
        else "inputs are missing"
        if answer.inputs is not None
        else "classes are missing"
    )
    if answer.silent and answer.lower is None and answer.upper is None:
        return "no input has a latency"
    if answer.stalled and answer.lower is None and answer.upper is None:
        proving = answer.question.startswith("prove")
        return "refuted, since an input has no end" if proving else "none of them ends with one"
    if answer.question.startswith("prove"):
        about = {
            "proved": "proved for all inputs",
            "refuted": "refuted",
            "unknown": f"not decided; {ended}",
        }
        text = about[answer.verdict]
        if answer.verdict == "refuted" and answer.witness is None:
            text = "refuted, since an input has no end"
        if answer.lower is not None and answer.lower == answer.upper:
            text += f" (it is {lower})"
        elif answer.lower is not None or answer.upper is not None:
            text += f" (between {lower} and {upper})"
        return text
    if answer.lower is not None and answer.lower == answer.upper:
        return lower
    return f"between {lower} and {upper}; {ended}"


def _dump(folder, space, limit):
    """Every path's latency as SMT-LIB 2; the files' names."""
    from ..spaces.partition import partition
    from ..proofs.smtlib import path_text

    try:
        parts = partition(space.net, space, seconds=limit)
    except Error as error:
        if error.code != "E-partition":
            raise
        note(f"no SMT-LIB was written: {str(error).splitlines()[0]}")
        return None
    if not parts.complete:
        note(f"SMT-LIB: not all paths: {parts.why}")
    os.makedirs(folder, exist_ok=True)
    names = []
    for k, each in enumerate(parts.classes, 1):
        for j, path in enumerate(each.paths, 1):
            names.append(os.path.join(folder, f"class{k}_path{j}.smt2"))
            with written(names[-1]) as file:
                file.write(path_text(parts, each, path))
    return names


def _solver(seconds):
    """decide(smtlib) by a solver that is installed, or None; all formulas in so many seconds."""
    import shutil
    import subprocess
    import tempfile

    command = next(
        (
            [found, *options]
            for name, options in (("cvc5", ["--lang=smt2"]), ("z3", []))
            if (found := shutil.which(name))
        ),
        None,
    )
    if command is None:
        return None
    end = time.monotonic() + seconds

    def decide(text):
        with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
            file.write(text)
            file.flush()
            try:
                done = subprocess.run(
                    [*command, file.name],
                    capture_output=True,
                    text=True,
                    timeout=max(end - time.monotonic(), 0.1),
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
        word = done.stdout.split()[:1]
        return True if word == ["unsat"] else False if word == ["sat"] else None

    return decide


CHECKED = {"proved": ANSWERED, "refused": NO, "unknown": UNKNOWN}


def _check(path, limit, as_json):
    """The status of a certificate, which may be anybody's: looked at in a process of its own."""
    seconds_given = CHECK_SECONDS if limit is None else limit
    status, why = contained(
        lambda: _checked(path, seconds_given, as_json), seconds_given, CHECK_MEMORY
    )
    if why is None:
        return status
    if limit is None:
        why += "; --limit SECONDS gives it more"
    return _show_checked(path, "unknown", why, as_json)


def _checked(path, limit, as_json):
    progress = Progress(1)
    try:
        found = check(data_of(path), _solver(0.9 * limit), progress.say)
    except MemoryError:
        progress.clear()
        why = f"it needs more than {CHECK_MEMORY >> 30} GiB of memory"
        return _show_checked(path, "unknown", why, as_json)
    except (Error, OSError) as error:
        progress.clear()
        code, message = describe(error)
        if code == "E-certificate":
            return _show_checked(path, "refused", message, as_json)
        click.echo(f"error: {message} [{code}]", err=True)
        if as_json:
            print_json({"error": {"code": code, "message": message}})
        return WRONG
    progress.clear()
    verdict = "proved" if found.holds else "unknown" if found.why is None else "refused"
    return _show_checked(path, verdict, found.why, as_json, found)


def _show_checked(path, verdict, why, as_json, found=None):
    if as_json:
        fields = {"certificate": path, "verdict": verdict, "claim": None, "why": why}
        if found is not None:
            fields |= {
                "claim": found.claim,
                "net": found.space.net.name,
                "space": {"variables": len(found.space.variables), "text": found.space.describe()},
                "formulas": found.formulas,
                "classes": found.classes,
                "paths": found.paths,
                "inputs": found.inputs,
                "states": found.states,
                "stalls": found.stalls,
                "witness": found.witness,
            }
        print_json(fields)
        return CHECKED[verdict]
    if found is not None:
        click.echo(found.space.describe())
        click.echo("")
    if why is not None:
        about = "" if found is None else f"it does not prove that {found.claim}: "
        click.echo(f"{path}: {verdict}: {about}{why}")
        return CHECKED[verdict]
    click.echo(f"{path}: {found.claim}")
    if found.unknown:
        click.echo(
            f"  proved but for {counted(found.formulas, 'formula')}, which no solver at hand "
            "decides; install cvc5"
        )
    else:
        checked = (
            f"{counted(found.paths, 'path')} checked, "
            f"{counted(found.formulas, 'formula')} decided by a solver"
            if found.inputs is None and found.states is None
            else f"{counted(found.states, 'state')} looked at again"
            if found.inputs is None
            else f"{counted(found.inputs, 'input')} run in the interpreter"
        )
        click.echo(f"  proved: {checked}")
    if found.stalls:
        click.echo("  about inputs that end; some stall or fail")
    if found.states is not None and found.stalls is None:
        click.echo("  about inputs that end; that all do is not said")
    if found.witness:
        click.echo(f"  an input: {input_text(found.witness)}")
    return CHECKED[verdict]
