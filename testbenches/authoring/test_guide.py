"""Every Python block of docs/authoring.md runs as it stands."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "authoring.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.S | re.M)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number, capsys):
    exec(compile(BLOCKS[number], f"authoring.md[{number}]", "exec"), {"__name__": f"guide{number}"})
    assert capsys.readouterr().out.strip()


def test_there_are_blocks():
    assert len(BLOCKS) >= 5
