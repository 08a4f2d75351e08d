"""Rows measured on a machine of ours, kept in a CSV file that says of which machine, and errors against them."""

import csv
import os
import statistics

__all__ = ["mape", "read", "write"]


def read(path):
    """(what the file says of its machine, its rows as dicts of texts)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    about = [line[2:] for line in lines if line.startswith("#")]
    return about, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def write(path, columns, measure, about=""):
    """Writes the rows that measure() gives, with the load of the machine before and after."""
    before = os.getloadavg()[0]
    rows = measure()
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# load average before {before:.1f}, after {os.getloadavg()[0]:.1f}{about}\n")
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def mape(triples):
    """Mean absolute error in percent of (whatever, predicted, measured)."""
    return 100 * statistics.fmean(abs(p / m - 1) for _, p, m in triples)
