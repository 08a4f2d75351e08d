"""What the prototype of the paper computed for NFP programs, and what the real NIC did: truth/nfp."""

import csv
import gzip
import os
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "nfp"
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
DEMO = REPO / "models" / "nfp" / "demo"
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))

CLOCK = 800e6  # Hz


def available():
    return (TRUTH / "programs.csv").exists()


def programs():
    """The rows of programs.csv: naive bound and slowest satisfiable path per program and metric."""
    with open(TRUTH / "programs.csv", newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def paths():
    """The rows of paths.csv.gz: satisfiable paths, their costs, and the rate measured on them."""
    with gzip.open(TRUTH / "paths.csv.gz", "rt", newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def listing(program):
    return TRUTH / "programs" / f"{program}.asm"


def unroll(program):
    """The unrolling limit the paper used, or None."""
    limits = {row["program"]: row["unroll_limit_U"] for row in programs()}
    return limits.get(program) or None


def metric(row):
    return {"bitrate": "bit-rate", "packetrate": "packet-rate"}[row["mode"]]


def estimates(rows):
    """(row, estimated and measured packets/s, bottleneck) of every row that was measured, but for
    the MAC's.

    The estimate is ours: cycles of the row's path from the listing, at as many cores as it was
    measured with.
    """
    from models.nfp.program import load

    loaded = {}
    for row in rows:
        if not row["meas_pkt_rate_pps"] or row["meas_skipped"] or row["est_bottleneck"] == "mac":
            continue
        name = row["program"]
        if name not in loaded:
            loaded[name] = load(listing(name), unroll=unroll(name))
        cost = loaded[name].path_cost(row["path"])
        cores = CLOCK * int(row["workers_w"]) / cost["cycles"]
        dram = CLOCK / cost["dram_cycles"] if cost["dram_cycles"] else float("inf")
        yield row, min(cores, dram), float(
            row["meas_pkt_rate_pps"]
        ), "dram" if dram < cores else "cores"


def against_hardware(rows):
    """{paths, over: share above the confidence interval, worst_over, worst_under: {cores, dram}} of
    the estimates.
    """
    errors = []
    for row, estimated, measured, bottleneck in estimates(rows):
        beyond = estimated > measured + float(row["meas_ci99_halfwidth_pps"])
        errors.append(((estimated - measured) / measured, beyond, bottleneck))
    under = {kind: -min(error for error, _, b in errors if b == kind) for kind in ("cores", "dram")}
    return {
        "paths": len(errors),
        "over": sum(beyond for _, beyond, _ in errors) / len(errors),
        "worst_over": max(error for error, _, _ in errors),
        "worst_under": under,
    }
