"""Tables that may come from anyone: CSV files, packed or not."""

from __future__ import annotations

import os

from .errors import without_place
from .json_file import unpacked

__all__ = ["read_csv"]


def read_csv(
    path: str | os.PathLike[str], code: str = "E-truth-file"
) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """(columns, [(line, row)]) of a CSV file, unpacked where its first bytes say gzip or xz.

    Raises Error "E-input" for a file that cannot be read, `code` for one that is no CSV file, names
    a column twice, or has a row of another length than its header.
    """
    import csv
    import io

    name = os.fspath(path)
    try:
        text = unpacked(path).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        columns = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise without_place("E-input", f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        said = f"{name} is not a CSV file: byte {error.start} is not UTF-8"
        raise without_place(code, said) from None
    except csv.Error as error:
        raise without_place(code, f"{name} is not a CSV file: {error}") from None
    except ValueError as error:  # a packed file that is cut or damaged
        raise without_place(code, str(error)) from None
    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise without_place(code, f"{name} has two columns '{twice[0]}'")
    for line, row in rows:
        missing = [column for column in columns if row[column] is None]
        if missing:
            said = f"there is no value of {', '.join(missing)}"
            raise without_place(code, f"{name}, row {line}: {said}")
        if len(row) > len(columns):
            said = f"the row has more cells than the header, {len(columns)}"
            raise without_place(code, f"{name}, row {line}: {said}")
    return columns, rows
