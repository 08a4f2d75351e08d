"""Every illegal program gets exactly its message: the text of illegal/NAME.err.

After a wanted change of texts: PYTHONPATH=build/python python3
testbenches/authoring/test_illegal.py writes them anew; read the difference before committing it.
"""

import os
import runpy
import sys
from pathlib import Path

import lpn
import pytest

FOLDER = Path(__file__).parent / "illegal"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def message_of(program):
    """'code: message' of the lpn.Error that the program ends with."""
    before = os.getcwd()
    os.chdir(FOLDER)
    try:
        runpy.run_path(str(program), run_name="illegal")
    except lpn.Error as error:
        return f"{error.code}: {error}\n"
    finally:
        os.chdir(before)
    raise AssertionError(f"{program.name} raised no lpn.Error")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_message(program):
    assert message_of(program) == program.with_suffix(".err").read_text()


def test_every_code_is_documented():
    errors = FOLDER.parents[2] / "docs" / "errors.md"
    text = errors.read_text()
    codes = {program.with_suffix(".err").read_text().split(":", 1)[0] for program in PROGRAMS}
    assert not [code for code in sorted(codes) if f"## {code}\n" not in text]


if __name__ == "__main__":
    for each in PROGRAMS:
        try:
            each.with_suffix(".err").write_text(message_of(each))
        except Exception as error:
            print(f"{each.name}: {type(error).__name__}: {error}", file=sys.stderr)
