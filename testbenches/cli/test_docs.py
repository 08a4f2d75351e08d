"""docs/cli.md shows what the commands print today, times apart."""

import json
import os
import re
import subprocess

import pytest
from conftest import BUILD, REPO

PAGE = (REPO / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = [
    (command, shown.strip())
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def timeless(text):
    """The text without what differs from run to run: times, rates, which engine answered first and
    whether it was compiled before.
    """
    lines, rates = [], False  # rates: in a table whose last column is one
    for line in text.strip().splitlines():
        rates = line.endswith("cycles/s") or (rates and bool(line.strip()))
        if line.startswith("{"):
            line = json.dumps(without_seconds(json.loads(line)))
        line = re.sub(r"(first interpreted, then )?compiled (before|in [\d.]+ s)", "compiled", line)
        line = re.sub(r"\((compiled|interpreted)\)$", "(engine)", line)
        line = re.sub(r"\b\d+(\.\d+)? ?(us|ms|s|kB|MB)\b", "~", line)
        line = re.sub(r"\b\d+(\.\d+)? [GMk](?= |$)", "~", line)
        if rates:
            line = re.sub(r"\b\d+(\.\d+)?$", "~", line)  # below 1000, of a slow build
        lines.append(re.sub(r"\s+", " ", line))
    return lines


def without_seconds(data):
    if isinstance(data, dict):
        return {
            k: without_seconds(v)
            for k, v in data.items()
            if not k.endswith("seconds") and k not in ("cached", "line", "engine")
        }
    return [without_seconds(v) for v in data] if isinstance(data, list) else data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("docs")
    (path / "models").symlink_to(REPO / "models")
    for name, text in re.findall(r"```text file=(\S+)\n(.*?)```", PAGE, re.DOTALL):
        (path / name).write_text(text)
    return path


def test_the_page_has_commands():
    assert len(COMMANDS) >= 13


def test_a_rate_of_any_size_is_no_difference():
    table = "input  latency  cycles/s\na.json      17    {}\n\n5 tokens 17"
    assert timeless(table.format("1.2 G")) == timeless(table.format("850"))
    assert timeless(table.format("1.2 G"))[-1] == "5 tokens 17"


@pytest.mark.parametrize("command, shown", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_command(environment, folder, command, shown):
    environment = {**environment, "PATH": f"{BUILD / 'bin'}{os.pathsep}{environment['PATH']}"}
    done = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=120,
        check=False,
    )
    printed = done.stdout + done.stderr
    if done.returncode:
        printed += f"[status {done.returncode}]\n"
    assert timeless(printed) == timeless(shown)
