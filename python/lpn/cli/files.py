"""lpn new, compile, marking, print: a model as files, to begin with and for programs without Python."""

import contextlib
import os
import sys

import click

import _lpn

from ..authoring.unknown import require_known
from ..command import ANSWERED, OutputFile, json_option, model_argument, params_option, print_json
from ..errors import naming, without_place
from ..output_file import written
from ..runs import prepare


# What somebody who writes these endings wants is something else.
_NO_PROGRAMS = {".a", ".c", ".cpp", ".cxx", ".dll", ".dylib", ".h", ".lpn", ".lpnm", ".o", ".py"}


@click.command()
@model_argument
@params_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    metavar="FILE",
    help="FILE.cc: the source; FILE.so: a library with the C interface of lpnrt/abi.h; "
    "else a program.",
)
@json_option
def compile(model, params, output, as_json):
    """Compiles MODEL into a FILE that runs without Python and without this project.

    The program reads a marking file (lpn marking) and prints JSON; call it with --help. Parameters
    given here become its defaults.
    """
    ending = os.path.splitext(output)[1]
    if ending in _NO_PROGRAMS:
        raise click.UsageError(
            f"a program is not called FILE{ending}; the source is FILE.cc, a library FILE.so"
        )
    ready = prepare(model, params=params)
    require_known(ready.net)
    name = ready.model.name
    core = _lpn.sim.with_defaults(ready.net.core, ready.values)
    seconds = _lpn.sim.write_program(core, name, output)
    size = os.path.getsize(output)
    if as_json:
        print_json({"model": name, "file": output, "bytes": size, "seconds": round(seconds, 6)})
    else:
        click.echo(
            f"{output}: {name}, {size / 1e3:.0f} kB"
            + (f", compiled in {seconds:.1f} s" if seconds else "")
        )
    return ANSWERED


@click.command()
@model_argument
@click.argument("input")
@params_option
@click.option("-o", "--output", required=True, type=OutputFile(), metavar="FILE")
@json_option
def marking(model, input, params, output, as_json):
    """Writes the tokens that MODEL's workload makes of INPUT as a marking file."""
    ready = prepare(model, input, params)
    if ready.model.has_net_per_input:
        raise without_place(
            "E-usage",
            f"the net of model '{ready.model.name}' follows its input, and a marking file does not "
            "say which; give the input itself to lpn sim",
        )
    tokens = ready.read()
    tokens.save(output)
    counts = {name: tokens.count(name) for name in ready.net.places if tokens.count(name)}
    if as_json:
        print_json(
            {
                "model": ready.model.name,
                "input": input,
                "file": output,
                "bytes": os.path.getsize(output),
                "tokens": counts,
            }
        )
    else:
        click.echo(
            f"{output}: "
            + ", ".join(f"{n} in {name}" for name, n in counts.items())
            + f"; {os.path.getsize(output) / 1e3:.1f} kB"
        )
    return ANSWERED


@click.command("print")
@model_argument
@params_option
@click.option(
    "-o", "--output", type=OutputFile(in_place=True), metavar="FILE", help="Default: stdout."
)
def print_net(model, params, output):
    """Prints MODEL as a .lpn file, which needs no Python to run (lpn-run)."""
    with contextlib.redirect_stdout(sys.stderr):  # what the model itself prints is no part of it
        ready = prepare(model, params=params)
    require_known(ready.net)
    text = _lpn.sim.with_defaults(ready.net.core, ready.values).print()
    if output:
        with written(output) as file:
            file.write(text)
    else:
        click.echo(text, nl=False)
    return ANSWERED


_MODEL = '''"""{name}: what this model is of, and where its numbers come from."""

import lpn


class Job(lpn.Token):
    size: lpn.Int[1, 64]  # words
    born: lpn.Birth  # when its request came; the workload fills it in


def net(*, units=2):
    """A reader in front of a buffer of four, and `units` workers behind it. Times are cycles."""
    net = lpn.Net("{name}")
    setup = net.param("setup", default=6, range=(0, 1000))
    jobs = net.place("jobs", Job, start=True)
    buffer = net.place("buffer", Job, capacity=4)
    done = net.place("done", Job, done=True, sink=True)
    net.transition("read", take={{"job": jobs}}, put=[buffer.forward("job")], delay=4, servers=1)
    net.transition(
        "work",
        take={{"job": buffer}},
        put=[done.forward("job")],
        delay=lambda job: setup + job.size,
        servers=units,
    )
    return net


def workload(input, net):
    """A file with a line per job: the cycle at which it comes, and its size."""
    marking = lpn.Marking(net)
    for line in open(input):
        at, size = line.split()
        marking.add("jobs", size=int(size), at=int(at))
    return marking


def traffic(net, seed, gap=25):
    """Jobs of all sizes, one every `gap` cycles on average."""
    traffic = lpn.Traffic(net, seed)
    traffic.stream("jobs", lpn.poisson(gap), 10_000, size=lpn.uniform(1, 64))
    return traffic


def space(net, jobs=3, words=64):
    """Any `jobs` jobs of `words` words in all, there at the start."""
    space = lpn.InputSpace(net)
    tokens = space.tokens("jobs", jobs, born=0)
    space.require(lpn.total(job.size for job in tokens) == words)
    return space
'''

_TEST = '''"""What {name} is sure of. Run: PYTHONPATH=.../build/python python3 -m pytest"""

from pathlib import Path

import lpn

HERE = Path(__file__).parent
MODEL = lpn.load(str(HERE / "{name}.py"))


def test_one_job_by_hand():
    net = MODEL.net()
    marking = lpn.Marking(net)
    marking.add("jobs", size=10)
    assert lpn.simulate(net, marking).latency == 4 + 6 + 10


def test_the_example():
    net = MODEL.net()
    run = lpn.simulate(net, MODEL.workload(str(HERE / "example.txt"), net))
    assert (run.stalled, run.done_tokens) == (False, 3)
'''

_EXAMPLE = "0 10\n3 64\n100 1\n"


@click.command()
@click.argument("folder", type=click.Path())
def new(folder):
    """Begins a model: FOLDER/NAME.py with a net, a workload, open-loop traffic and an input space that
    run, an input for it, and a test. NAME is the folder's.
    """
    name = os.path.basename(os.path.abspath(folder)) if folder else ""
    if not name.isidentifier() or not name.isascii():
        raise click.UsageError(f"'{name}' cannot name a model: use letters, digits and _")
    if name in sys.stdlib_module_names or name in ("lpn", "numpy", "pytest"):
        raise click.UsageError(
            f"'{name}' cannot name a model: Python would take {name}.py for its module of that name"
        )
    if os.path.exists(folder):
        raise click.UsageError(f"{folder} is there already")
    os.makedirs(folder)
    texts = {f"{name}.py": _MODEL, f"test_{name}.py": _TEST}
    for file, text in {**texts, "example.txt": _EXAMPLE}.items():
        path = os.path.join(folder, file)
        with naming(path), open(path, "x", encoding="utf-8") as out:
            out.write(text.format(name=name) if file in texts else text)
    model = os.path.join(folder, f"{name}.py")
    click.echo(f"{model}, test_{name}.py, example.txt; to go on:")
    for command in (
        f"check {model}",
        f"sim {model} {os.path.join(folder, 'example.txt')}",
        f"latency {model}",
        f"smt {model} --maximize latency",
    ):
        click.echo(f"  lpn {command}")
    return ANSWERED
