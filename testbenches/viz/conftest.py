"""Runs `lpn viz` of the build tree as a user would, and makes small nets."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import browser as browsers  # noqa: E402
from _command import BUILD, DEMO, REPO, environment, run  # noqa: E402, F401

NETS = REPO / "testbenches" / "nets"


@pytest.fixture(scope="session")
def lpn_command(run):
    """lpn_command(*arguments, **variables) -> Answer of the command line."""
    return lambda *arguments, **variables: run("lpn", *arguments, **variables)


def golden_nets():
    """Golden nets that run from their own tokens without an error."""
    return [
        path
        for path in sorted(NETS.glob("*.lpn"))
        if not path.name.startswith(("fault_", "refused_"))
        and not path.with_suffix(".marking").exists()
    ]


def load(path):
    """A .lpn file as lpn.Net."""
    from lpn.runs import models as _load

    net = _load.load(str(path)).net()
    net.done()
    return net


def chain(count):
    """A net of so many places, one behind the other."""
    places = "".join(f"place p{k} : unit\n" for k in range(count))
    steps = "".join(
        f"transition t{k} {{\n  take a from p{k}\n  delay 1\n  put p{k + 1}\n}}\n"
        for k in range(count - 1)
    )
    return f"lpn 1\nnet chain\ntype unit ()\n{places}{steps}end\n"


def require_page():
    if not (BUILD / "python" / "lpn_page" / "page.js").exists():
        pytest.skip("the page was not built: there was no npm")


@pytest.fixture(scope="session")
def browser():
    browsers.require()
    with browsers.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def page(lpn_command, tmp_path_factory):
    """page(name, *arguments of lpn viz) -> the path of the page, made once per name."""
    require_page()
    folder = tmp_path_factory.mktemp("pages")
    made = {}

    def make(name, *arguments):
        if name not in made:
            path = folder / f"{name}.html"
            answer = lpn_command("viz", *arguments, "-o", path, "--json")
            assert answer.status == 0, answer.err
            made[name] = path
        return made[name]

    return make
