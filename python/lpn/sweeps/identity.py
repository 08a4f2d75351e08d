"""What has to be equal for two sweeps to have the same rows, so that one may go on where the other
ended.
"""

import hashlib
import os
import pickle
import re

from ..authoring.marking import Marking
from ..errors import mistake
from ..source_digest import source_digest

__all__ = ["identity_of"]


def identity_of(definition, written=()):
    """What has to be equal for two sweeps to have the same rows: JSON data.

    The nets' text and what the inputs hold count, and the model's Python apart from comments, with
    what it imports of its own and the data files that it names, since its workload makes the tokens.
    `written`: the files of the sweep itself.
    """
    # Without the places in the author's Python: comments may come and go.
    texts = ["-" if v.net is None else v.net.core.print(sources=False) for v in definition.variants]
    bound = [
        repr(sorted(v.net.bound.items())) if v.net is not None else "" for v in definition.variants
    ]
    points = [repr(tuple(point.values())) for point in definition.points]
    places = "" if definition._point_inputs is None else repr(definition._point_inputs)
    # A net that starts from its own tokens has one input, without a name.
    names = _hash([*("" if i.name is None else i.name for i in definition.inputs), places])
    return {
        "version": 1,
        "model": definition.model.name,
        "rows": len(definition),
        "parameters": _ranges(definition),
        "net": _hash(texts + bound)[:24],
        "workload": source_digest(definition.model.files, written),
        "points": _hash([repr(definition.names), *points])[:24],
        "inputs": len(definition.inputs),
        "input_names": names[:24],
        "input_data": _hash([_digest(i) for i in definition.inputs])[:24],
        "limit": definition.ends.limit,
        # A sweep without one goes on with the files of before there were any.
        **({"budget": definition.ends.budget} if definition.ends.budget else {}),
    }


# What may name a file in the first MiB of a text: what stands in quotes, or a word with an ending.
_NAMES = re.compile(rb'"([^"\n\0]{1,255})"|([\w./+-]{0,250}\.[A-Za-z]\w{0,9})(?![\w.])')


def _hash(parts):
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()


def _ranges(definition):
    """The parameters for people: {'slots': '1,2,4'}."""
    text = {}
    for name in definition.names:
        values = list(dict.fromkeys(point[name] for point in definition.points))
        shown = [str(v) for v in values]
        if len(shown) > 12:
            shown = [*shown[:6], "...", *shown[-3:]]
        text[name] = ",".join(shown)
    return text


def _digest(given):
    """A hash of what an Input holds, so that a file is the same input only while it is the same."""
    if given.value is None:
        return _of(b"none")
    if isinstance(given.value, Marking):
        return _of(b"marking", given.value.save_bytes())
    if isinstance(given.value, (str, os.PathLike)):
        return _digest_of_path(os.fspath(given.value))
    try:
        return _of(b"object", pickle.dumps(given.value, 5))
    except Exception as error:
        raise mistake(
            "E-sweep",
            f"input '{given.name}' is {type(given.value).__name__}, which cannot be told from "
            f"another one ({error}); a sweep that keeps a file needs file names, markings or data "
            "that can be pickled",
        ) from None


def _of(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _digest_of_path(path):
    if os.path.isdir(path):
        files = []
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                status = os.stat(os.path.join(folder, name))
                files.append(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}")
        return _of(b"folder", "\n".join(files).encode())
    part = path.rpartition("#")[0]  # of FILE#3, a part of a file
    whole = part if os.path.isfile(part) and not os.path.exists(path) else path
    found: dict[str, str] = {}
    _read_all(whole, found)
    if not found:  # no file, or none that can be read: its rows will say so
        return _of(b"text", os.fsencode(path))
    if whole == path and len(found) == 1:
        return found[os.path.realpath(whole)]
    return _of(b"files", os.fsencode(path), "\n".join(sorted(found.values())).encode())


def _read_all(path, found):
    """Adds {place: hash} of a file and of those that its text names, as a JSON file those of its data."""
    place = os.path.realpath(path)
    if place in found:
        return
    hashed = hashlib.sha256(b"file\0")
    try:
        with open(path, "rb") as file:
            text = block = file.read(1 << 20)
            while block:
                hashed.update(block)
                block = file.read(1 << 20)
    except OSError:
        return
    found[place] = hashed.hexdigest()
    if b"\0" in text:
        return
    folder = os.path.dirname(path)
    for name in sorted({a or b for a, b in _NAMES.findall(text)}):
        named = os.path.join(folder, os.fsdecode(name))
        if os.path.isfile(named):
            _read_all(named, found)
