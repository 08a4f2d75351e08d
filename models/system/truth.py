"""Rows of measured durations: ../shared/truth/system."""

import re

import lpn
from lpn.runs import read_csv

__all__ = ["TICK", "jpeg_rows", "protoacc_rows"]

TICK = 999_848  # ns: what the durations of a guest that counts timer ticks are multiples of
_JPEG = ("image", "rtl_ns", "rtl_quantised")
_PROTOACC = ("bench", "accelerator", "run", "ns_per_iteration", "quantised")


def jpeg_rows(path, device="rtl"):
    """(image, parameters, ns, ns where it was measured in ticks) of each row of a jpeg.csv, whose columns
    of `device` are read.
    """
    column, flag = f"{device}_ns", f"{device}_quantised"
    for number, row in _rows(path, ("image", column, flag)):
        ns, ticks = _whole(path, number, row, column, "ns"), row[flag] != "0"
        if row[flag] not in ("0", "1"):
            raise lpn.Error(
                "E-truth-file", f"{path}, row {number}: {flag} must be 0 or 1, got {row[flag]!r}"
            )
        yield f"{row['image']}.jpg", {"earlier": 1}, ns, ns if ticks else None


def protoacc_rows(path, ports):
    """(file of messages, parameters, ns, ValueError where it is not compared) of each row of a
    protoacc.csv. `ports`: the accelerator has ports to a memory whose cache an earlier run has filled.
    """
    parameters = {"earlier": 1} if ports else {}
    for number, row in _rows(path, _PROTOACC):
        ns = _whole(path, number, row, "ns_per_iteration", "ns")
        why = None
        if row["accelerator"] != "rtl":
            why = f"measured with another net of the accelerator ('{row['accelerator']}'), not its RTL"
        elif _whole(path, number, row, "run", "runs") == 0:
            why = (
                "the first run of a boot: caches are cold, and pages are touched for the first time"
            )
        elif row["quantised"] != "0":
            why = "measured in ticks of a timer"
        yield f"{row['bench']}-ser.json.gz", parameters, ns, why and ValueError(why)


def _rows(path, columns):
    """(number, row) of a CSV file that has these columns."""
    found, rows = read_csv(path)
    if not set(columns) <= set(found):
        raise lpn.Error(
            "E-truth-file", f"{path} has no columns {', '.join(columns)}: {_hint(set(found))}"
        )
    yield from rows


def _hint(found):
    if set(_PROTOACC) <= found:
        return (
            "it has those of Protoacc; write lpn validate models/system/demo/protoacc.toml --truth FILE "
            "--inputs FOLDER, with the messages of its benchmarks"
        )
    if set(_JPEG) <= found:
        return "it has those of the JPEG decoder; write lpn validate system --truth FILE --inputs IMAGES"
    return (
        "durations of the JPEG decoder and of Protoacc are what is compared; of other systems too "
        "little is known (models/system/README.md, Error)"
    )


def _whole(path, number, row, column, unit):
    """The number that a column says."""
    text = row[column]
    if not re.fullmatch(r"[0-9]{1,18}", text):
        shown = text if len(text) <= 40 else text[:40] + "..."
        raise lpn.Error(
            "E-truth-file",
            f"{path}, row {number}: {column} must be a whole number of {unit}, got {shown!r}",
        )
    return int(text)
