"""Published programs cut at any line, or with any line left out: an error, or no higher guarantee.

A sample of the lines; all of them with LPN_SLOW=1 (`ctest -C slow -L slow`).
"""

import os

import pytest

lpn = pytest.importorskip("lpn")

EVERY = 1 if os.environ.get("LPN_SLOW") else 97
TAIL = 12  # lines at the end, where parts may be whole: all of them are tried


def what_runs(program):
    graph = program.graph()
    return sorted(
        (graph["instructions"][i][0], graph["instructions"][i][2], depth)
        for _, depth, code in graph["blocks"]
        for i in code
    )


def test_no_part_of_a_listing_is_faster(truth, tmp_path):
    from models.nfp.program import load

    tried = accepted = 0
    for listing in sorted((truth.TRUTH / "programs").glob("*.asm")):
        lines = listing.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = what_runs(load(listing))
        part = tmp_path / listing.name
        for k in range(len(lines)):
            if k % EVERY and k < len(lines) - TAIL:
                continue
            for kept in (lines[:k], lines[:k] + lines[k + 1 :]):
                part.write_text("".join(kept), encoding="utf-8")
                tried += 1
                try:
                    program = load(part)
                except lpn.Error as error:
                    assert error.code == "E-nfp-listing" and listing.name in str(error)
                    continue
                accepted += 1
                # The same instructions in the same blocks: the same guarantee.
                assert what_runs(program) == whole, (listing.name, k)
    assert tried > 600 and 0 < accepted < tried / 2
