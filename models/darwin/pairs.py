"""Pairs of sequences for the array, from files.

An input is one of

    PAIRS.txt       a pair per line: NAME REFERENCE QUERY [MAX_TB_STEPS ALIGN_FIELDS]; # a comment
    PAIRS.fa        FASTA: references and queries by turns
    REF.fa,QUERY.fa two FASTA files: the first reference with the first query, and so on

and with #NAME behind it the pair of that name alone (in FASTA the name of the reference). Written
#NAME:RxQ+T, it may also be missing there: then it is a tile of R and Q bases whose traceback takes
T steps, as it was measured on sequences that are not at hand; T! if max_tb_steps ended it.
"""

import dataclasses
import os
import re

from lpn.runs import decimal

MAX_TB_STEPS = 400  # tb_GACTTop.v
ALIGN_FIELDS = 32  # tb_GACTTop.v: return the traceback

_MEASURED = re.compile(r"([^:]+):([0-9]+)x([0-9]+)\+([0-9]+)(!?)")
_MODE = re.compile(r"_af\d+$")
_LETTERS = re.compile(r"[A-Za-z]+")
MAX_FILE_BYTES = 1 << 26


@dataclasses.dataclass(frozen=True)
class Pair:
    """A reference and a query, or only their lengths with the `steps` of their traceback."""

    name: str
    ref: str = ""
    query: str = ""
    ref_len: int = 0  # bases
    query_len: int = 0  # bases
    max_tb_steps: int = MAX_TB_STEPS
    align_fields: int = ALIGN_FIELDS
    steps: tuple | None = None  # (steps, whether max_tb_steps ended it)


def read(input_path) -> list[Pair]:
    """The pairs of an input, at least one. Raises OSError and ValueError with the reason."""
    text = os.fspath(input_path)
    path, entry = text, None
    if "#" in text and not os.path.isfile(text):
        path, _, entry = text.rpartition("#")
    if "," in path and not os.path.isfile(path):
        found = _of_two_files(*path.split(",", 1))
    else:
        found = _of_file(path)
    if entry is None:
        return found
    measured = _MEASURED.fullmatch(entry)
    name = measured[1] if measured else entry
    chosen = [pair for pair in found if pair.name == name]
    if len(chosen) > 1:
        raise ValueError(f"{path} has {len(chosen)} pairs of the name {name}")
    if chosen:
        return chosen
    if not measured:
        raise ValueError(f"{path} has no pair {name}")
    ref_len, query_len, steps = (int(measured[k]) for k in (2, 3, 4))
    # Each pointer goes one base further in the reference, the query or both.
    if steps > ref_len + query_len:
        raise ValueError(
            f"{name}: {steps} steps are more than {ref_len} and {query_len} bases have"
        )
    return [Pair(name, ref_len=ref_len, query_len=query_len, steps=(steps, bool(measured[5])))]


def entry_of(row: dict) -> str:
    """The entry of a truth's row. Sequences of the core's own repository (repo_...) are not beside
    the truth, so that their measured steps stand in unless the pairs have them.
    """
    name = _MODE.sub("", row["name"])
    if not name.startswith("repo_"):
        return name
    mark = "!" if decimal(row["tb_limit_hit"]) else ""
    ref_len, query_len, steps = (decimal(row[name]) for name in ("ref_len", "query_len", "steps"))
    return f"{name}:{ref_len}x{query_len}+{steps}{mark}"


def _read_text(path):
    with open(path, "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"{path} has more than {MAX_FILE_BYTES >> 20} MiB; these are no tiles")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is neither FASTA nor a list of pairs: it is not ASCII") from None


def _of_file(path):
    text = _read_text(path)
    if not text.lstrip().startswith(">"):
        return _of_lines(path, text)
    records = _fasta(path, text)
    if len(records) % 2:
        raise ValueError(
            f"{path} has {len(records)} sequences; references and queries by turns are an even "
            "number, or give REF.fa,QUERY.fa"
        )
    return [_pair(name, ref, query) for (name, ref), (_, query) in zip(*[iter(records)] * 2)]


def _of_two_files(ref_path, query_path):
    refs, queries = (_fasta(path, _read_text(path)) for path in (ref_path, query_path))
    if len(refs) != len(queries):
        raise ValueError(
            f"{ref_path} has {len(refs)} sequences and {query_path} {len(queries)}; there must be "
            "as many"
        )
    return [_pair(name, ref, query) for (name, ref), (_, query) in zip(refs, queries)]


def _of_lines(path, text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) not in (3, 5):
            raise ValueError(
                f"{path}, line {number}: expected NAME REFERENCE QUERY [MAX_TB_STEPS ALIGN_FIELDS],"
                f" got {len(words)} words"
            )
        try:
            most, fields = [decimal(word) for word in words[3:]] or (MAX_TB_STEPS, ALIGN_FIELDS)
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: words 4 and 5 must be numbers of decimal digits"
            ) from None
        if fields >= 256:
            raise ValueError(f"{path}, line {number}: ALIGN_FIELDS out of range, 0 to 255")
        found.append(_pair(*words[:3], most, fields & 63))  # bits 6 and 7: don't care
    if not found:
        raise ValueError(f"{path} has no pair of sequences")
    return found


def _fasta(path, text):
    """(name, sequence) of every record."""
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith(">"):
            records.append((line[1:].split()[0] if line[1:].split() else f"{number}", []))
        elif line and not records:
            raise ValueError(f"{path}, line {number}: FASTA begins with a line '>NAME'")
        elif line:
            records[-1][1].append(line)
    if not records:
        raise ValueError(f"{path} has no sequence")
    return [(name, "".join(lines)) for name, lines in records]


def _pair(name, ref, query, max_tb_steps=MAX_TB_STEPS, align_fields=ALIGN_FIELDS):
    for what, sequence in (("reference", ref), ("query", query)):
        if not _LETTERS.fullmatch(sequence):
            raise ValueError(f"{name}: the {what} is empty or has something else than letters")
    return Pair(name, ref, query, len(ref), len(query), max_tb_steps, align_fields)
