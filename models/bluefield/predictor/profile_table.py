"""Profiles of network functions: CSV files of measurements, told apart by their columns.

| kind         | columns                                                                                |
|--------------|----------------------------------------------------------------------------------------|
| memory       | throughput_kpps, LEAST_COUNTERS, any of the other COUNTERS and of TRAFFIC              |
| contention   | the same and comp_ENGINE_sum_nt_ms: several resources contended at once                |
| engine times | ENGINE_time_per_pkt_ms and the attributes it depends on                                |
| co-runs      | throughput_kpps and ENGINE_bench_time_ms: against a benchmark with one queue           |

ENGINE is regex, compression, or any other name of letters, digits and _ (crypto, sha, dpa).

comp_* belong to the competitors, summed over them; sum_nt is the sum of queues x time per request.
Times are in milliseconds and rates in thousands of packets per second in the files, microseconds
and packets per microsecond everywhere else in this folder.
"""

import csv
import math
import os
import re
from dataclasses import dataclass

from lpn import Error
from lpn.runs import near

from ..engines import ENGINE_NAME, engines_of, is_engine

__all__ = [
    "COUNTERS",
    "NEAR_FACTOR",
    "TRAFFIC",
    "Profile",
    "attribute_of",
    "competitors",
    "read",
    "read_each",
]

THROUGHPUT = "throughput_kpps"
# Performance counters of the competitors, per second (working set in MB): the seven that SLOMO
# uses.
COUNTERS = (
    "comp_ipc",
    "comp_inst_retired_per_s",
    "comp_l2d_rd_per_s",
    "comp_l2d_wr_per_s",
    "comp_mem_rd_per_s",
    "comp_mem_wr_per_s",
    "comp_wss_MB",
)
LEAST_COUNTERS = ("comp_wss_MB", "comp_l2d_rd_per_s", "comp_l2d_wr_per_s")
FLOWS, SIZE, MATCHES = "flow_count", "pkt_size_B", "mtbr_matches_per_MB"
TRAFFIC = (FLOWS, SIZE, MATCHES)
# Flow counts and packet sizes within this factor of each other are the same traffic.
NEAR_FACTOR = 1.25
# No measurement is beyond these, the former where it must be positive; regression trees count in 32 bits.
_LEAST, _MOST = 1e-12, 1e15
# Engine of a BlueField-2 -> the traffic attribute that its time per request is a line of.
_ATTRIBUTES = {"regex": MATCHES, "compression": SIZE}
_OF_ENGINE = re.compile(
    r"(?:comp_(?P<rival>\w+)_sum_nt_ms|(?P<own>\w+?)_(?:time_per_pkt|bench_time)_ms)"
)

KINDS = ("memory", "contention", "engine times", "co-runs")


@dataclass(frozen=True)
class Profile:
    """Rows of one file: dicts of column -> number, in the file's units; `lines` are their places in
    the file."""

    file: str
    kind: str
    rows: list
    lines: list
    engine: str = None  # of engine times and co-runs

    @property
    def name(self):
        return os.path.basename(self.file)

    def column(self, name):
        return [row[name] for row in self.rows]

    def rates(self):
        """Measured packets per us."""
        return [row[THROUGHPUT] / 1e3 for row in self.rows]

    def competition(self):
        """Engines that some row has competitors at."""
        return engines_of(name for row in self.rows for name in competitors(row))

    def where(self, index):
        return f"{self.file}:{self.lines[index]}"


def competitors(row):
    """{engine: queues x time per request [ms] of the competitors there}, where there are any."""
    matches = {column: _OF_ENGINE.fullmatch(column) for column in row}
    load = {m["rival"]: row[c] for c, m in matches.items() if m and m["rival"] and row[c] > 0}
    return {engine: load[engine] for engine in engines_of(load)}


def attribute_of(engine, rows):
    """The traffic attribute that an engine's time per request is a line of.

    Matches for regex, bytes for compression; of other engines the one that varies in rows measured of
    it, bytes where both do.
    """
    if engine in _ATTRIBUTES:
        return _ATTRIBUTES[engine]
    for name in (SIZE, MATCHES):
        if all(name in row for row in rows) and len({row[name] for row in rows}) > 1:
            return name
    return SIZE if all(SIZE in row for row in rows) else MATCHES


def read(file, measured=True):
    """The Profile of a CSV file.

    measured: throughput_kpps must be there; False: rows to predict, it need not.
    Raises lpn.Error E-profile for what is no such table, naming file, line and column.
    """
    with open(file, newline="", encoding="utf-8-sig") as stream:
        try:
            table = list(csv.reader(stream))
        except (csv.Error, UnicodeDecodeError) as error:
            raise Error("E-profile", f"{file} is no CSV file: {error}") from None
    if not table or not any(cell.strip() for cell in table[0]):
        raise Error(
            "E-profile",
            f"{file}:1: no header; the columns are explained in models/bluefield/predictor/README.md",
        )
    names = [name.strip() for name in table[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Error("E-profile", f"{file}:1: column '{twice[0]}' is there twice")
    kind, engine = _kind(file, set(names), measured)
    known = [name for name in names if _known(name)]
    _refuse_misspelt(file, [name for name in names if not _known(name)])
    rows, lines = [], []
    for line, cells in enumerate(table[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise Error(
                "E-profile",
                f"{file}:{line}: {len(cells)} cells, but the header has {len(names)} columns",
            )
        row = dict(zip(names, cells))
        rows.append({name: _number(row[name], name, f"{file}:{line}") for name in known})
        lines.append(line)
    if not rows:
        raise Error("E-profile", f"{file}: no rows below the header")
    return Profile(file, kind, rows, lines, engine)


def read_each(files):
    """The Profiles of files to train on. Raises lpn.Error E-profile for one that is given twice: its
    rows would be learnt from and judged by at once.
    """
    places = [os.path.realpath(file) for file in files]
    for k, file in enumerate(files):
        if places[k] in places[:k]:
            raise Error("E-profile", f"{file} is given twice; its rows count once")
    return [read(file) for file in files]


def _kind(file, names, measured):
    parts = [match for match in map(_OF_ENGINE.fullmatch, sorted(names)) if match]
    for match in parts:
        if not is_engine(match["own"] or match["rival"]):
            raise Error(
                "E-profile",
                f"{file}:1: column '{match[0]}': an engine's name must be {ENGINE_NAME}",
            )
    engines = engines_of(match["own"] for match in parts if match["own"])
    if len(engines) > 1:
        raise Error(
            "E-profile",
            f"{file}:1: times of the engines {' and '.join(engines)}; write a file for each",
        )
    for engine in engines:
        timed = f"{engine}_time_per_pkt_ms" in names
        kind = "engine times" if timed else "co-runs"
        attribute = _ATTRIBUTES.get(engine, MATCHES if MATCHES in names else SIZE)
        needs = {attribute} | (set() if timed else {THROUGHPUT})
        if needs - names:
            raise Error(
                "E-profile",
                f"{file}:1: {kind} of the {engine} engine need the columns "
                f"{', '.join(sorted(needs))}; "
                f"missing: {', '.join(sorted(needs - names))}",
            )
        return kind, engine
    contention = bool(parts)
    needs = set(LEAST_COUNTERS) | ({THROUGHPUT} if measured else set())
    if needs - names:
        raise Error(
            "E-profile",
            f"{file}:1: these columns make no known kind of profile; for memory contention it "
            f"lacks {', '.join(c for c in (*COUNTERS, THROUGHPUT) if c in needs - names)}",
        )
    return ("contention" if contention else "memory"), None


def _known(name):
    return (
        name in COUNTERS
        or name in TRAFFIC
        or name == THROUGHPUT
        or _OF_ENGINE.fullmatch(name) is not None
    )


def _refuse_misspelt(file, others):
    """Refuses a column that is nearly one that would count; others are the author's own, as `row`."""
    columns = (*COUNTERS, *TRAFFIC, THROUGHPUT)
    for name in others:
        hint = near(name, columns)
        if hint or name.startswith("comp_"):
            raise Error(
                "E-profile",
                f"{file}:1: column '{name}' would not count{hint or ';'} columns that do are "
                f"{', '.join(columns)} and those of engines; rename or remove it",
            )


def _number(text, name, where):
    # Python also reads '1_000' and 'nan'; neither belongs in a table of measurements.
    try:
        value = float(text) if re.fullmatch(r"\s*[+-]?[\d.]+([eE][+-]?\d+)?\s*", text) else math.nan
    except ValueError:
        value = math.nan
    positive = name == THROUGHPUT or name.endswith(("_time_per_pkt_ms", "_bench_time_ms"))
    if not math.isfinite(value) or value < 0 or positive and value == 0:
        raise Error(
            "E-profile",
            f"{where}: {name} is '{text}'; it must be a {'positive ' if positive else ''}number"
            f"{'' if positive else ', 0 or more'}",
        )
    least, most = (_LEAST if positive else 0), _MOST
    if not least <= value <= most:
        raise Error("E-profile", f"{where}: {name} is '{text}'; it must be {least:g} to {most:g}")
    return value
