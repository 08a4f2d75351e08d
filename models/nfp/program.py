"""NFP listings with their costs: the front-end that every command of `lpn nfp` starts from."""

import os
import re

from . import costs as cost_table

__all__ = ["load", "parse_unroll", "read"]


def parse_unroll(text):
    """(limit for all blocks or None, {block: limit}) of '160' or '10:83,4:94'. Raises Error
    E-nfp-unroll.
    """
    if text is None:
        return None, {}
    if re.fullmatch(r"[1-9][0-9]{0,6}", text):
        return int(text), {}
    blocks = {}
    for part in text.split(","):
        found = re.fullmatch(r"([1-9][0-9]{0,6}):\.?([0-9]{1,5})", part.strip())
        if not found:
            from lpn import Error

            raise Error(
                "E-nfp-unroll",
                f"--unroll {text}: '{part}' is neither a number nor N:BLOCK; write "
                "--unroll 160 or --unroll 10:83,4:94",
            )
        blocks[int(found[2])] = int(found[1])
    return None, blocks


def load(path, costs=None, unroll=None):
    """The program in a listing: an `_nfp.Program` with path_cost, segments, steps and graph.

    `path` is a file, `costs` what models.nfp.costs.load returns (default: the bundled table),
    `unroll` text as of
    --unroll, needed where the program has a loop. Raises Error E-nfp-listing, E-nfp-loop, E-nfp-cost, E-nfp-unroll.
    """
    from lpn_models_native import _nfp

    limit, blocks = parse_unroll(unroll)
    return _nfp.Program(
        read(path), os.path.basename(path), costs or cost_table.load(), limit, blocks
    )


def read(path):
    """The text of a listing. Raises Error E-nfp-listing when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as problem:
        from lpn import Error

        raise Error("E-nfp-listing", f"{path}: cannot be read: {problem}") from None
