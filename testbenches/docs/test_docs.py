"""The pages say what is so: tutorial and README run, links lead somewhere, blocks are code that a
test runs.

A page of docs/tutorial is a program. Its `python` blocks run as one, its `console` commands after
that, in an empty folder that has the files of its `file=NAME` blocks. Everything printed is
NAME.out beside the page; the page shows it in its `text` blocks and below its commands.

    LPN_DOCS_UPDATE=1 pytest testbenches/docs      writes the .out files; read them before committing
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _command import BUILD, REPO as ROOT, shell_variables  # noqa: E402

DOCS = ROOT / "docs"
PAGE = BUILD / "python" / "lpn_page" / "page.js"  # not there when there was no npm at build time
TUTORIAL = sorted((DOCS / "tutorial").glob("[0-9]*.md"))
PARTS = sorted(p for p in (DOCS / "parts").glob("*.md") if p.stem != "README")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

# Fenced languages, and on which pages a test runs them: these, test_guide.py, cli/test_docs.py.
RUN_ON = {
    "python": ["authoring.md", "tutorial/", "parts/"],
    "console": ["cli.md", "tutorial/"],
}
NOT_CODE = {"", "text", "ebnf"}


def pages():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return sorted(name for name in listed if name and (ROOT / name).is_file())


def blocks(page):
    """(language, file name or None, text) of every fenced block."""
    for info, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        language, _, rest = info.partition(" ")
        yield language, rest.removeprefix("file=") or None, text


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    return shell_variables(tmp_path_factory)


def output(command, folder, environment, shell=False):
    done = subprocess.run(
        command,
        shell=shell,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", TUTORIAL, ids=lambda page: page.stem)
def test_tutorial(page, tmp_path, environment):
    program, shown, commands = "", "", []
    for language, name, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "python":
            program += text
        elif language == "console":
            commands += COMMAND.findall(text)
        else:
            assert language == "text"
            shown += text
    if any("cc " in command for command, _ in commands) and not shutil.which("cc"):
        pytest.skip("no C compiler: cc is not on PATH")
    if any(".html" in command for command, _ in commands) and not PAGE.exists():
        pytest.skip("no page: there was no npm when this was built")
    printed = ""
    if program:
        (tmp_path / "program.py").write_text(program, encoding="utf-8")
        printed = output([sys.executable, "program.py"], tmp_path, environment)
        assert shown in (printed, ""), "the page shows another output"
    for command, below in commands:
        text = output(command, tmp_path, environment, shell=True)
        assert text == below, f"the page shows another output of: {command}"
        printed += f"$ {command}\n{text}"
    expected = page.with_suffix(".out")
    if os.environ.get("LPN_DOCS_UPDATE"):
        expected.write_text(printed, encoding="utf-8")
    assert printed == expected.read_text(encoding="utf-8")
    assert shown or commands, "a page without output shows nothing"


@pytest.mark.parametrize("page", PARTS, ids=lambda page: page.stem)
def test_part(page, tmp_path, environment):
    """A page of docs/parts is a program, too; its `text` blocks are what it prints."""
    program, shown = "", []
    for language, name, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "python":
            program += text
        elif language == "text":
            shown.append(text)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    printed = output([sys.executable, "program.py"], tmp_path, environment)
    assert shown and printed == "".join(shown)


def test_every_part_has_its_page():
    """Each function of lpn.lib is named in the headings of a page; every page is listed."""
    listed = (DOCS / "parts" / "README.md").read_text(encoding="utf-8")
    assert all(f"({page.name})" in listed for page in PARTS)
    heads = " ".join(page.read_text(encoding="utf-8").split("\n", 1)[0] for page in PARTS)
    import lpn

    functions = [n for n in lpn.lib.__all__ if callable(getattr(lpn.lib, n)) and n.islower()]
    assert functions and all(f"`lib.{name}`" in heads for name in functions)


def test_the_first_model_of_the_readme(tmp_path, environment):
    """The README's Python block is the file that its commands name; they all succeed."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    models = [text for language, _, text in blocks(ROOT / "README.md") if language == "python"]
    commands = re.findall(r"^ +\$ build/bin/(lpn .*)$", page, re.MULTILINE)
    names = {name for command in commands for name in re.findall(r"\w+\.py", command)}
    assert len(models) == len(names) == 1 and len(commands) >= 3
    (tmp_path / names.pop()).write_text(models[0], encoding="utf-8")
    (tmp_path / "packets.txt").write_text("64 10 1 33\n", encoding="utf-8")
    for command in commands:
        if ".html" in command and not PAGE.exists():
            continue
        output(command, tmp_path, environment, shell=True)


def test_the_tutorial_is_there():
    assert 4 <= len(TUTORIAL) <= 20
    outputs = {path.stem for path in (DOCS / "tutorial").glob("*.out")}
    assert outputs == {page.stem for page in TUTORIAL}


@pytest.mark.parametrize("name", pages())
def test_code_blocks_are_run(name):
    if not name.startswith("docs/"):
        return
    for language, _, _ in blocks(ROOT / name):
        if language not in NOT_CODE:
            assert any(
                name.startswith(f"docs/{place}") for place in RUN_ON.get(language, [])
            ), language


def anchor(heading):
    """GitHub's id of a heading."""
    text = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@pytest.mark.parametrize("name", pages())
def test_links_resolve(name):
    page = ROOT / name
    prose = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_relative_to(ROOT), f"{target} leads out of the repository"
        assert file.exists(), f"{target} leads nowhere"
        if fragment and file.suffix == ".md":
            text = BLOCK.sub("", file.read_text(encoding="utf-8"))
            assert fragment in {
                anchor(h) for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
            }, target


# Files of the project that comments and pages name: "docs/semantics.md", "testbenches/nets".
NAMED = re.compile(
    r"(?<![\w./-])((?:docs|testbenches|lpn-core|lpn2sim|models|python)/[\w./-]*[\w-])"
)


def test_named_files_exist():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    wrong = []
    for name in listed:
        if (
            not name.endswith((".md", ".h", ".cc", ".def", ".py", ".txt", ".c"))
            or name == "testbenches/layering/planted.py"
        ):
            continue
        file = ROOT / name
        if not file.is_file():
            continue
        for number, line in enumerate(
            file.read_text(encoding="utf-8", errors="replace").split("\n"), 1
        ):
            for named in NAMED.findall(line):
                if not exists(named):
                    wrong.append(f"{name}:{number}: {named}")
    assert not wrong, "\n".join(wrong)


def exists(named):
    """Exact, or without its ending (docs/architecture, testbenches/nets/NAME)."""
    path = ROOT / named
    return (
        path.exists()
        or any(path.parent.glob(path.name + ".*"))
        or re.search(r"[A-Z]{4,}|XX", named)
    )
