"""docs/tutorial/embedding.md runs as it stands; instances in many threads, also under the thread
sanitizer.

    LPN_DOCS_UPDATE=1 pytest testbenches/embedding      writes the page's outputs into it; read them before committing
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _command import REPO as ROOT, shell_variables  # noqa: E402

PAGE = ROOT / "docs" / "tutorial" / "embedding.md"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
RUNTIME = ROOT / "lpn2sim" / "runtime"


@pytest.fixture(scope="module")
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


def files_of_page(folder):
    for info, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        _, _, rest = info.partition(" ")
        if rest.startswith("file="):
            (folder / rest.removeprefix("file=")).write_text(text, encoding="utf-8")


def test_the_page(tmp_path, environment):
    files_of_page(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    ran = 0

    def run(block):
        nonlocal ran
        if block[1] != "console":
            return block[0]
        text = ""
        for command, below in COMMAND.findall(block[2]):
            ran += 1
            printed = output(command, tmp_path, environment, shell=True)
            text += f"$ {command}\n{printed}"
            if not os.environ.get("LPN_DOCS_UPDATE"):
                assert printed == below, f"the page shows another output of: {command}"
        return f"```console\n{text}```"

    made = BLOCK.sub(run, page)
    assert ran >= 7
    if os.environ.get("LPN_DOCS_UPDATE"):
        PAGE.write_text(made, encoding="utf-8")


def test_coupled_and_joined_end_at_the_same_time():
    """What the page claims of its two programs is in their outputs."""
    page = PAGE.read_text(encoding="utf-8")
    coupled = re.search(r"^5 lines encoded, the last at (\d+);", page, re.MULTILINE)
    joined = re.search(r'^"latency": (\d+)$', page, re.MULTILINE)
    assert coupled and joined and coupled[1] == joined[1]


def threads(folder, environment, flags, rounds):
    """Two nets and the program, all with `flags`; what the program prints."""
    files_of_page(folder)
    compiler = folder / "compiler"
    compiler.write_text(f'#!/bin/sh\nexec g++ {" ".join(flags)} "$@"\n', encoding="utf-8")
    compiler.chmod(0o755)
    variables = dict(environment, LPN_CXX=str(compiler), LPN_CACHE=str(folder / "cache"))
    for name in ("scaler", "encoder"):
        output(["lpn", "compile", f"{name}.py", "-o", f"{name}_net.so"], folder, variables)
    output(
        [
            str(compiler),
            "-std=c++17",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{RUNTIME}",
            str(Path(__file__).with_name("threads.cc")),
            "-o",
            "threads",
            "-ldl",
            "-pthread",
        ],
        folder,
        variables,
    )
    return output(
        ["./threads", "./scaler_net.so", "./encoder_net.so", "8", str(rounds)], folder, variables
    )


def test_threads(tmp_path, environment):
    assert (
        threads(tmp_path, environment, [], 100)
        == "8 threads, 800 runs, 0 differ from a thread alone\n"
    )


def test_threads_race_for_nothing(tmp_path, environment):
    probe = tmp_path / "probe.cc"
    probe.write_text(
        "#include <thread>\nint x;\nint main() { std::thread t([] { x = 1; }); t.join(); return x - 1; }\n",
        encoding="utf-8",
    )
    made = subprocess.run(
        ["g++", "-fsanitize=thread", str(probe), "-o", str(tmp_path / "probe"), "-pthread"],
        capture_output=True,
        check=False,
    )
    if (
        made.returncode != 0
        or subprocess.run([str(tmp_path / "probe")], capture_output=True, check=False).returncode
        != 0
    ):
        pytest.skip("g++ -fsanitize=thread does not work here")
    assert (
        threads(tmp_path, environment, ["-fsanitize=thread"], 10)
        == "8 threads, 80 runs, 0 differ from a thread alone\n"
    )


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_header_alone(tmp_path, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = tmp_path / "alone.cc"
    source.write_text(
        '#include "lpnrt/embed.h"\n#include "lpnrt/embed.h"\n'
        "lpn::embed::Coupled coupled() { return {}; }\n",
        encoding="utf-8",
    )
    subprocess.run(
        [
            compiler,
            f"-std={standard}",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-fsyntax-only",
            f"-I{RUNTIME}",
            str(source),
        ],
        check=True,
    )
