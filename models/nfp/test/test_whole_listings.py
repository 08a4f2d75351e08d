"""A part of a listing is refused, or is as slow as the whole: demo programs cut at every line and
with each line left out.
"""

import re

import pytest
from conftest import DEMO

_nfp = pytest.importorskip("lpn_models_native._nfp")

PROGRAMS = ("portcount", "dashes", "bits")


def parts(text):
    """(what was done, the lines left) of every cut and every deletion."""
    lines = text.splitlines(keepends=True)
    for k in range(1, len(lines)):
        yield f"cut behind line {k}", lines[:k]
    for k in range(len(lines)):
        yield f"without line {k + 1}", lines[:k] + lines[k + 1 :]


def what_runs(program):
    """The instructions that packets can get to."""
    graph = program.graph()
    return sorted(
        (graph["instructions"][i][0], graph["instructions"][i][2])
        for block in graph["blocks"]
        for i in block[2]
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_of_listings(name):
    from models.nfp import costs

    text = (DEMO / f"{name}.asm").read_text(encoding="utf-8")
    table = costs.load()
    whole = what_runs(_nfp.Program(text, name, table))
    refused = 0
    for what, lines in parts(text):
        try:
            program = _nfp.Program("".join(lines), f"{name}.asm", table)
        except Exception as error:
            assert re.match(rf"{name}.asm(:\d+)?: .*(missing|not whole|no instruction)", str(error))
            refused += 1
            continue
        assert what_runs(program) == whole, what
    assert refused > len(text.splitlines())


@pytest.mark.parametrize(
    "lines, message",
    [
        ([".0 nop", ".2 br[.15000]"], "own.asm:2: instruction .1 is missing before it: "),
        ([".0 nop", ".4 br[.15000]"], "own.asm:2: instructions .1 to .3 are missing before it: "),
        (
            [".0 alu[--, --, B, gprA_1]", ".1 beq[.7]", ".2 br[.15000]"],
            "the branch goes to .7, but",
        ),
        ([".0 br[.15001]", ".1 br[.15000]"], "only the end of the program, .15000, is no line"),
        ([".0 nop", ".1 nop"], "own.asm:2: the program goes on behind .1, the last instruction"),
        (["0: .0 nop", "10: .1 br[.15000]"], "byte offset 10 of .1 should be 8, as .0 is at 0"),
        (["zz: .0 nop", "8: .1 br[.15000]"], "'zz' is no byte offset"),
    ],
)
def test_what_is_missing_is_named(lines, message):
    from models.nfp import costs

    with pytest.raises(Exception) as raised:
        _nfp.Program("\n".join(lines), "own.asm", costs.load())
    assert message in str(raised.value)
    assert raised.value.code == "E-nfp-listing"


def test_what_no_packet_gets_to_may_be_cut():
    from models.nfp import costs

    lines = [".0 br[.15000]", ".1 nop", ".2 nop"]
    for kept in (1, 2, 3):
        assert _nfp.Program("\n".join(lines[:kept]), "own.asm", costs.load()).instructions == kept
