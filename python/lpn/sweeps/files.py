"""The files of a sweep: a row is written as it comes, and a sweep goes on where its files end."""

import contextlib
import csv
import fcntl
import hashlib
import io
import json
import os
import stat
from typing import Any

from ..errors import mistake
from .identity import identity_of
from .points import SECONDS
from .requests import LATENCIES

__all__ = ["Files"]

# Rows with these are not kept for a later run: what happened may not happen again.
_PASSING = ("E-worker", "E-memory")

# What a refusal says of the parts of a definition that differ.
_DIFFERENT = {
    "model": "the model",
    "parameters": "the parameters' values",
    "points": "the parameters' values",
    "inputs": "the inputs",
    "input_names": "the inputs' names",
    "input_data": "the content of an input",
    "net": "the net",
    "workload": "the model's Python or a data file that it names",
    "limit": "--limit",
    "budget": "what a run may use",
}


class Files:
    """The CSV and JSON lines files of a sweep; either may be None.

    `rows`: {row number: row} that were there. Raises Error "E-sweep" when a file belongs to another
    sweep, or to one that is running.
    """

    def __init__(self, definition, csv_path=None, jsonl_path=None):
        self.rows = {}
        self._tables = []
        if csv_path is None and jsonl_path is None:
            return
        written = [path for path in (csv_path, jsonl_path) if path is not None]
        identity = identity_of(definition, written)
        self.id = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
        try:
            for kind, path in ((_Csv, csv_path), (_Jsonl, jsonl_path)):
                if path is not None:
                    self._tables.append(
                        _Table(kind(definition, identity, self.id), os.fspath(path))
                    )
        except BaseException:
            self.close()
            raise
        for table in self._tables:
            for number, row in table.known.items():
                if number < len(definition):
                    self.rows.setdefault(number, row)
        for table in self._tables:
            table.add(
                [row for number, row in sorted(self.rows.items()) if number not in table.known]
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def add(self, rows):
        """Appends rows."""
        for table in self._tables:
            table.add(rows)

    def finish(self):
        """All rows are there: puts them into the order of the sweep."""
        for table in self._tables:
            table.sort()

    def close(self):
        for table in self._tables:
            table.close()


class _Table:
    """One file. It is locked while the sweep runs."""

    def __init__(self, form, path):
        self._form = form
        self._path = path
        self._file = self._locked()
        try:
            self.known = self._read()
        except BaseException:
            self._file.close()
            raise

    def _locked(self):
        path = self._path
        for _ in range(100):
            try:
                if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
                    raise mistake(
                        "E-sweep",
                        f"{path} is not a file that rows can be added to; --json prints them",
                    )
                file = open(path, "a+", encoding="utf-8", newline="")
            except OSError as error:
                raise mistake("E-input", f"{path}: {error.strerror}") from None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise mistake(
                    "E-sweep", f"another sweep is writing {path}; wait for it, or name another file"
                ) from None
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    return file
            file.close()  # replaced between open and lock
        raise mistake("E-sweep", f"{path} is replaced again and again by another program")

    def _read(self):
        self._file.seek(0)
        try:
            text = self._file.read()
        except UnicodeDecodeError:
            raise self._foreign() from None
        if not text:
            self._write(self._form.header())
            return {}
        whole = text.endswith("\n")
        if not whole:  # the last row was cut off
            text = text[: text.rfind("\n") + 1]
        found = self._form.read(text)
        if found is None:
            raise self._foreign()
        rows, damaged = found
        if isinstance(rows, str):
            raise mistake(
                "E-sweep",
                f"{self._path} has rows of another sweep: {rows}; name another file, or remove it "
                "to begin anew",
            )
        kept = {number: row for number, row in rows.items() if row["code"] not in _PASSING}
        if not whole or damaged or len(kept) < len(rows):
            self._replace(list(kept.values()))
        return kept

    def _foreign(self):
        return mistake(
            "E-sweep",
            f"{self._path} is there already and was not written by a sweep; name another file",
        )

    def _write(self, text):
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise mistake("E-input", f"cannot write {self._path}: {error.strerror}") from None

    def add(self, rows):
        if rows:
            self._write("".join(map(self._form.line, rows)))

    def sort(self):
        self._file.seek(0)
        found = self._form.read(self._file.read())
        numbers = list(found[0])
        if numbers != sorted(numbers):
            self._replace([found[0][number] for number in sorted(numbers)])

    def _replace(self, rows):
        """The file with just these rows, in one step; the lock goes over to it."""
        path = f"{self._path}.{os.getpid()}"
        try:
            new = open(path, "w+", encoding="utf-8", newline="")
            fcntl.flock(new, fcntl.LOCK_EX)
            new.write(self._form.header() + "".join(map(self._form.line, rows)))
            new.flush()
            os.chmod(path, stat.S_IMODE(os.fstat(self._file.fileno()).st_mode))
            os.replace(path, self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise mistake("E-input", f"cannot write {self._path}: {error.strerror}") from None
        self._file.close()
        self._file = new

    def close(self):
        self._file.close()


class _Jsonl:
    """First a line {"sweep": ...} with the definition, then a line per row."""

    def __init__(self, definition, identity, sweep):
        self._definition = definition
        self._identity = {"id": sweep, **identity}

    def header(self):
        return json.dumps({"sweep": self._identity}, ensure_ascii=False) + "\n"

    @staticmethod
    def line(row):
        return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"

    def read(self, text):
        """({row number: row} or what differs, whether lines had to be left out); None: no
        sweep's.
        """
        lines = text.split("\n")[:-1]
        try:
            header = json.loads(lines[0])["sweep"]
            old = header["id"]
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None
        if old != self._identity["id"]:
            return self._difference(header), False
        rows, damaged = {}, False
        for line in lines[1:]:
            try:
                row = json.loads(line)
                number = row["row"]
                good = isinstance(number, int) and set(self._definition.fields) <= set(row)
            except (ValueError, KeyError, TypeError, RecursionError):
                good = False
            if good and number not in rows:
                rows[number] = row
            else:
                damaged = True
        return (rows, damaged)

    def _difference(self, header):
        parts = list(
            dict.fromkeys(
                what
                for key, what in _DIFFERENT.items()
                if header.get(key) != self._identity.get(key)
            )
        )
        several = len(parts) != 1 or parts[0].endswith("s")
        text = f"{', '.join(parts) or 'its details'} {'differ' if several else 'differs'}"
        then, now = header.get("parameters"), self._identity["parameters"]
        if isinstance(then, dict) and then != now:
            shown = [
                " ".join(f"{k}={v}" for k, v in values.items()) or "none" for values in (then, now)
            ]
            text += f" (then {shown[0]}, now {shown[1]})"
        return text


class _Csv:
    """A column per parameter. The column `sweep` says which sweep a row is of."""

    def __init__(self, definition, identity, sweep):
        self._definition = definition
        self._sweep = sweep
        fields = definition.fields
        fixed = {"row", "sweep", "input", *fields}
        self._parameters = {
            name: f"parameter.{name}" if name in fixed else name for name in definition.names
        }
        self._columns = ["row", "sweep", *self._parameters.values(), "input", *fields]

    def header(self):
        return _csv_line(self._columns)

    def line(self, row):
        values = [
            row["row"],
            self._sweep,
            *(row["parameters"][name] for name in self._parameters),
            row["input"],
            *(row[field] for field in self._definition.fields),
        ]
        return _csv_line([_cell(value) for value in values])

    def read(self, text):
        lines = csv.reader(io.StringIO(text, newline=""))
        try:
            columns = next(lines)
        except (csv.Error, StopIteration):
            return None
        fields = self._definition.fields
        if columns[:2] != ["row", "sweep"] or columns[-len(fields) :] != list(fields):
            return None
        if columns != self._columns:
            then, now = (
                ", ".join(c[2 : -len(fields) - 1]) or "none" for c in (columns, self._columns)
            )
            return f"the parameters differ (then {then}, now {now})", False
        rows, damaged = {}, False
        while True:
            try:
                cells = next(lines)
            except StopIteration:
                return (rows, damaged)
            except csv.Error:
                damaged = True
                continue
            if len(cells) == len(columns) and cells[1] != self._sweep:
                return (
                    f"they are of sweep {cells[1]}, this one is {self._sweep}: other values of "
                    "the parameters, "
                    "another net or Python of its model, other inputs or another limit or budget"
                ), False
            row = self._row(cells) if len(cells) == len(columns) else None
            if row is None or row["row"] in rows:
                damaged = True
            else:
                rows[row["row"]] = row

    def _row(self, cells):
        try:
            number = int(cells[0])
            fields = self._definition.fields
            values = dict(zip(fields, cells[-len(fields) :]))
            result = {
                field: _READ[field](value) if value else None for field, value in values.items()
            }
            return self._definition.row(number, result)
        except (ValueError, IndexError, KeyError):
            return None


_READ: dict[str, Any] = {
    **dict.fromkeys(("latency", "last_commit", "firings", "done_tokens"), int),
    **dict.fromkeys(("throughput", "seconds", SECONDS, *LATENCIES), float),
    "requests": int,
    **dict.fromkeys(("ending", "code", "message"), str),
    "stalled": {"true": True, "false": False}.__getitem__,
}


def _cell(value):
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def _csv_line(values):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()
