"""A recording as a stream of VCD text: plain, .gz or .xz, or FST through GTKWave's fst2vcd."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from typing import Any

from ..errors import without_place

__all__ = ["Stream"]

PIECE = 1 << 18  # bytes; about what stays in a core's cache

_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_FST = b"\0" * 7 + b"\x01\x49"  # the header block: type 0, its length 329 in eight bytes
_FST_PACKED = b"\xfe"  # one that was packed as a whole


class Stream:
    """The VCD text of the file `path`, "-": of stdin, piece by piece; a context.

    What it is is told by its first bytes, not by its name. Raises Error "E-wave" for a file that
    cannot be read. `damage`: None, or why the text ends before its end.
    """

    def __init__(self, path: str) -> None:
        self.damage: str | None = None
        self.total: int | None = None  # bytes of the file
        self._child: Any = None
        self._open: list[Any] = []
        raw: Any
        try:
            if path == "-":
                raw = sys.stdin.buffer
            else:
                raw = open(path, "rb")  # noqa: SIM115
                self._open.append(raw)
                if os.path.isfile(path):
                    self.total = os.path.getsize(path)
            head = raw.peek(16)[:16]
        except OSError as error:
            self.close()
            raise without_place("E-wave", f"cannot read {path}: {error.strerror}") from None
        self._raw = raw
        self._text: Any = raw
        if head.startswith(_GZIP):
            import gzip

            self._text = gzip.GzipFile(fileobj=raw)
        elif head.startswith(_XZ):
            import lzma

            self._text = lzma.LZMAFile(raw)
        elif head.startswith(_ZSTD):
            self.close()
            raise without_place(
                "E-wave", f"{path} is packed by zstd; unpack it: zstd -dc {path} | ... -"
            )
        elif head.startswith(_FST) or head[:1] == _FST_PACKED:
            self._text = self._fst(path)

    def _fst(self, path):
        """The text of an FST file."""
        if path == "-":
            self.close()
            raise without_place("E-wave", "an FST file is read from a file, not from stdin")
        self._complaint = tempfile.TemporaryFile()
        self._open.append(self._complaint)
        try:
            self._child = subprocess.Popen(
                ["fst2vcd", os.path.abspath(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._complaint,
            )
        except OSError:
            self.close()
            raise without_place(
                "E-wave",
                f"{path} is an FST file, which needs fst2vcd of Debian's package gtkwave; install "
                "that, or dump a VCD",
            ) from None
        self.total = None  # where fst2vcd is in the file is not known
        return self._child.stdout

    def read(self) -> bytes:
        """The next piece; b"" at the end, where `damage` may say that it is none."""
        try:
            piece = self._text.read1(PIECE)
        except EOFError:
            self.damage = "the packed file ends before its end"
            return b""
        except OSError as error:  # gzip's own errors are OSErrors too
            self.damage = f"the file cannot be read on: {error.strerror or error}"
            return b""
        except Exception as error:  # zlib.error, lzma.LZMAError
            self.damage = f"the packed file is damaged: {error}"
            return b""
        if not piece and self._child is not None and self._child.wait() != 0:
            self._complaint.seek(0)
            why = self._complaint.read(200).decode("utf-8", "replace").strip().split("\n")[0]
            self.damage = f"fst2vcd ended with status {self._child.returncode}" + (
                f": {why}" if why else ""
            )
        return piece

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        try:
            return self._raw.tell()
        except (OSError, io.UnsupportedOperation):
            return 0

    def close(self) -> None:
        if self._child is not None:
            self._child.stdout.close()
            self._child.kill()
            self._child.wait()
            self._child = None
        for file in self._open:
            file.close()
        self._open = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
