"""Trials on disk: a line of JSON that says what is tuned, then one per trial."""

from __future__ import annotations

import json
import os
from typing import Any

from ..errors import Error

__all__ = ["Journal"]


class Journal:
    """A file of trials that a search goes on from; None: none is kept.

    `subject`: what is tuned and how, a JSON object; a file about something else is refused, Error
    "E-tune-file". `known`: candidate as JSON text -> cost, of the trials in the file.
    """

    def __init__(self, path: str | os.PathLike[str] | None, subject: Any) -> None:
        self.known: dict[str, float | None] = {}
        self._file = None
        if path is None:
            return
        head = {"tune": 1, **subject}
        try:
            whole = self._read(os.fspath(path), head) if os.path.exists(path) else 0
            self._file = open(path, "r+" if whole else "w", encoding="utf-8")
        except OSError as error:
            raise Error("E-tune-file", f"cannot use {path}: {error.strerror}") from None
        # What a killed process wrote in part is written anew.
        self._file.seek(whole)
        self._file.truncate()
        if not whole:
            self._write(head)

    def _read(self, path, head):
        """Reads the trials; returns the length of the lines that are whole."""
        with open(path, "rb") as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].splitlines()
        if not lines:
            # Not even the first line: of a search that was killed at once, or somebody's file.
            if not json.dumps(head).encode().startswith(data):
                raise Error("E-tune-file", f"{path} holds no trials; write to another file")
            return 0
        try:
            rows = [json.loads(line) for line in lines]
            same = rows[0] == json.loads(json.dumps(head))
            known = {key(row["candidate"]): row["cost"] for row in rows[1:]}
        except (ValueError, TypeError, KeyError):
            raise Error("E-tune-file", f"{path} holds no trials; write to another file") from None
        if not same:
            raise Error(
                "E-tune-file", f"{path} holds trials of something else; write to another file"
            )
        self.known = known
        return whole

    def add(self, candidate: Any, cost: float | None) -> None:
        """Keeps a trial."""
        self.known[key(candidate)] = cost
        if self._file is not None:
            self._write({"candidate": candidate, "cost": cost})

    def _write(self, row):
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def key(candidate: Any) -> str:
    """A candidate as text."""
    return json.dumps(candidate, sort_keys=True)
