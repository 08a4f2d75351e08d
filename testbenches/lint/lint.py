#!/usr/bin/env python3
"""Formatting and likely mistakes, by the tools' own rules: .clang-format, pyproject.toml (black,
mypy), .flake8, .clang-tidy.

    testbenches/lint/lint.py                      # all but clang-tidy, which takes minutes
    testbenches/lint/lint.py clang-tidy --build build
    testbenches/lint/lint.py black clang-format --fix
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # what CTest takes for "not run"
# Programs of the tutorial are shown as they are, with their own lines.
NOT_FORMATTED = ("docs/",)


def files(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [f for f in listed.stdout.splitlines() if (ROOT / f).is_file()]


def run(command):
    """The command's exit status and what it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def clang_format(options):
    sources = [f for f in files("*.cc", "*.h") if not f.startswith(NOT_FORMATTED)]
    return run(["clang-format", *(["-i"] if options.fix else ["--dry-run", "-Werror"]), *sources])


def black(options):
    return run(
        [sys.executable, "-m", "black", "-q", *([] if options.fix else ["--check", "--diff"]), "."]
    )


def flake8(_):
    return run([sys.executable, "-m", "flake8"])


def mypy(_):
    return run([sys.executable, "-m", "mypy"])


def clang_tidy(options):
    """Each product source by itself, all cores; needs the build's compile_commands.json."""
    sources = [f for f in files("*.cc") if "/src/" in f or "/native/" in f or "/bindings/" in f]
    sources = [f for f in sources if "/test/" not in f and not f.startswith("testbenches/")]

    def check(source):
        return source, *run(["clang-tidy", "-quiet", "-p", options.build, source])

    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source, status, text in pool.map(check, sources):
            if status:
                failed.append(source)
                print(text, flush=True)
    return int(bool(failed)), f"clang-tidy: {len(sources)} sources, {len(failed)} with findings\n"


TOOLS = {
    "clang-format": clang_format,
    "black": black,
    "flake8": flake8,
    "mypy": mypy,
    "clang-tidy": clang_tidy,
}


def present(tool):
    if tool.startswith("clang"):
        return shutil.which(tool) is not None
    return run([sys.executable, "-c", f"import {tool}"])[0] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(TOOLS))
    parser.add_argument("--build", default="build", help="the build folder (clang-tidy)")
    parser.add_argument("--fix", action="store_true", help="format in place")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if unknown := set(options.tools) - set(TOOLS):
        parser.error(f"no such tool: {', '.join(sorted(unknown))}; there are {', '.join(TOOLS)}")
    status, absent = 0, []
    for tool in options.tools or [t for t in TOOLS if t != "clang-tidy"]:
        if not present(tool):
            absent.append(tool)
            continue
        code, text = TOOLS[tool](options)
        print(text, end="")
        print(f"lint: {tool} {'found something' if code else 'is content'}", flush=True)
        status = status or int(code != 0)
    if absent:
        print(f"lint: {', '.join(absent)} not installed, left out (make test installs them)")
    return status or (SKIPPED if absent else 0)


if __name__ == "__main__":
    sys.exit(main())
