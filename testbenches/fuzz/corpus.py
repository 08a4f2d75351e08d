#!/usr/bin/env python3
"""Keeps a fuzzer's corpus in one file: `corpus.py pack FOLDER FILE`, `corpus.py unpack FILE FOLDER`.

Per entry a line `SIZE NAME`, the bytes, and a line end; in the order of the names. replay.cc reads
the same form. Files whose names begin with regr_ are findings: they stay files of their own.
"""

import os
import sys


def pack(folder, path):
    """The number of entries written."""
    names = sorted(name for name in os.listdir(folder) if not name.startswith("regr_"))
    with open(path, "wb") as out:
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            out.write(b"%d %s\n%s\n" % (len(data), name.encode(), data))
    return len(names)


def unpack(path, folder):
    """The number of files written."""
    os.makedirs(folder, exist_ok=True)
    count = 0
    with open(path, "rb") as file:
        while head := file.readline():
            size, name = head.split()
            data = file.read(int(size))
            if len(data) != int(size) or file.read(1) != b"\n" or b"/" in name:
                raise ValueError(f"{path} is damaged at {name.decode(errors='replace')}")
            with open(os.path.join(folder, name.decode()), "wb") as out:
                out.write(data)
            count += 1
    return count


def main():
    """Exit status 2 for other words than those above."""
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    print({"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:]), "entries")


if __name__ == "__main__":
    main()
