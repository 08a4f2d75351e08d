"""Programs in files: the binary stream, tables of decoded instructions, JSON."""

import csv
import functools
import io
import os
import re

from lpn.runs import decimal, json_data, json_lines, near, unpacked

from models.vta import isa
from models.vta.config import DEFAULT, make
from models.vta.config import read as read_config

_MOST_BYTES = 1 << 30
_FLAGS = ("pop_prev", "pop_next", "push_prev", "push_next")
# Kind of a decoded instruction -> opcode, memory.
_KINDS = {
    "uop": (isa.LOAD_OP, isa.UOP),
    "wgt": (isa.LOAD_OP, isa.WGT),
    "inp": (isa.LOAD_OP, isa.INP),
    "acc": (isa.LOAD_OP, isa.ACC),
    "out": (isa.STORE_OP, isa.OUT),
    "lsync": (isa.LOAD_OP, isa.INP),
    "csync": (isa.LOAD_OP, isa.UOP),
    "ssync": (isa.STORE_OP, isa.OUT),
    "gemm": (isa.GEMM_OP, None),
    "alu": (isa.ALU_OP, None),
    "fin": (isa.FINISH_OP, None),
    "finish": (isa.FINISH_OP, None),
}
_NAMES = {  # fields of the JSON form -> of isa.FIELDS
    "memory": {
        "x": "x",
        "y": "y",
        "xstride": "stride",
        "sram": "sram",
        "dram": "dram",
        "yp0": "y0",
        "yp1": "y1",
        "xp0": "x0",
        "xp1": "x1",
    },
    "gemm": {
        "ub": "uop_begin",
        "ue": "uop_end",
        "lp0": "lp0",
        "lp1": "lp1",
        "reset": "reset",
        "a0": "acc0",
        "a1": "acc1",
        "i0": "inp0",
        "i1": "inp1",
        "w0": "wgt0",
        "w1": "wgt1",
    },
    "alu": {
        "ub": "uop_begin",
        "ue": "uop_end",
        "lp0": "lp0",
        "lp1": "lp1",
        "reset": "reset",
        "d0": "dst0",
        "d1": "dst1",
        "s0": "src0",
        "s1": "src1",
        "useimm": "use_imm",
        "op": "alu_op",
        "imm": "imm",
    },
}


def read(name):
    """(program, hardware configuration) of a file; see README.md, "The input".

    NAME is a file, or FILE.jsonl.gz#LINE, a line of a file of runs. Raises OSError, and ValueError
    with the reason.
    """
    return _read(os.fspath(name), ())


def _read(name, within):
    """read(); `within`: the files, by their real names, that name this one as their program."""
    real = os.path.realpath(name)
    if real in within:
        raise ValueError("the program that it names is, by others or at once, itself")
    within = (*within, real)
    path, mark, line = name.rpartition("#")
    if mark and path.endswith((".jsonl", ".jsonl.gz")):
        rows_ = _lines(path, os.stat(path).st_mtime_ns)
        number = line.partition(":")[0]
        if not re.fullmatch("[0-9]{1,18}", number) or not 1 <= int(number) <= len(rows_):
            raise ValueError(f"{path} has lines 1..{len(rows_)}, asked for {line!r}")
        return _from_json(rows_[int(number) - 1], os.path.dirname(path), within)
    with open(name, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES} bytes, which is more than any program has")
    if name.endswith(".json"):
        return _from_json(_parsed(data), os.path.dirname(name), within)
    if name.endswith((".csv", ".insns", ".txt")):
        return _from_table(data), DEFAULT
    return isa.from_bytes(data), DEFAULT


def rows(path):
    """(name for read(), row) of every run of a .jsonl or .jsonl.gz file."""
    for number, row in enumerate(_lines(path, os.stat(path).st_mtime_ns), 1):
        if not isinstance(row, dict):
            raise ValueError(f"{path}, row {number}: a run is an object")
        yield f"{os.path.basename(path)}#{number}:{row.get('name', '')}", row


@functools.lru_cache(maxsize=2)
def _lines(path, _):
    found = []
    for number, row in json_lines(path, unpacked(path, _MOST_BYTES)):
        if not isinstance(row, (dict, list)):
            raise ValueError(f"{path}, line {number}: a run is an object or a list")
        found.append(row)
    return found


def _parsed(data):
    try:
        return json_data(data)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None


def _from_json(value, folder, within):
    """A list of instructions, or an object with "insns" or "program" and perhaps "hardware"."""
    hardware = DEFAULT
    if isinstance(value, dict):
        given = value.get("hardware")
        if given is not None:
            is_path = isinstance(given, str)
            hardware = read_config(os.path.join(folder, given)) if is_path else make(given)
        for name in value:  # a row of a file of runs has many fields
            meant = "" if name == "hardware" else near(name, ["hardware"])
            if meant:
                raise ValueError(f"a program has no field {name!r}{meant}")
        if "program" in value:
            return _named(value, folder, None if given is None else hardware, within)
        value = value.get("insns")
    if not isinstance(value, list):
        raise ValueError('no list of instructions, and no object with "insns" or "program"')
    return isa.program(_decoded(number, item) for number, item in enumerate(value)), hardware


def _named(value, folder, hardware, within):
    """What read() makes of the file of "program", on `hardware` where that is not None."""
    if not isinstance(value["program"], str) or "insns" in value:
        raise ValueError('"program" is the name of a file, in place of "insns"')
    path = os.path.join(folder, value["program"])
    try:
        program, own = _read(path, within)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return program, own if hardware is None else hardware


def _decoded(number, item):
    """The words of a decoded instruction {"k": kind, field: value, ...}."""
    if not isinstance(item, dict) or not isinstance(item.get("k"), str) or item["k"] not in _KINDS:
        kind = item.get("k") if isinstance(item, dict) else item
        raise ValueError(f"instruction {number}: unknown kind {kind!r}; kinds: {', '.join(_KINDS)}")
    op, memory = _KINDS[item["k"]]
    layout = isa.LAYOUT_OF[op]
    names = {**_NAMES[layout], **{flag: flag for flag in _FLAGS}}
    fields = {} if memory is None else {"mem": memory}
    for name, value in item.items():
        if name == "k":
            continue
        if name not in names:
            raise ValueError(f"instruction {number}: {item['k']} has no field {name!r}")
        if not isinstance(value, int):
            raise ValueError(f"instruction {number}: {name} is {value!r}, which is no whole number")
        fields[names[name]] = int(value)
    if item["k"] in ("lsync", "csync", "ssync"):
        if fields.get("x"):
            raise ValueError(f"instruction {number}: {item['k']} with x={fields['x']}")
    elif memory is not None:
        if not fields.get("x"):
            raise ValueError(f"instruction {number}: {item['k']} needs x > 0")
        fields.setdefault("y", 1)
        fields.setdefault("stride", fields["x"])
    try:
        return isa.encode(op, **fields)
    except ValueError as error:
        raise ValueError(f"instruction {number}: {error}") from None


# Columns of a table -> fields of the JSON form.
_COLUMNS = {
    "x": "x",
    "y": "y",
    "uop_begin": "ub",
    "uop_end": "ue",
    "lp_0": "lp0",
    "lp_1": "lp1",
    "use_imm": "useimm",
    **{flag: flag for flag in _FLAGS},
}
_ENCODED = "encoded_hi64_lo64_as_simulated"
# The reference's form has no head: insn, unit, operation, tensor and these.
_REFERENCE = ("x", "y", "uop_begin", "uop_end", "lp_1", "lp_0", "use_imm", *_FLAGS)
_REFERENCE_KINDS = {
    ("load", "load", "inp"): "inp",
    ("load", "load", "wgt"): "wgt",
    ("load", "sync", "empty"): "lsync",
    ("compute", "loaduop", "empty"): "uop",
    ("compute", "loadacc", "empty"): "acc",
    ("compute", "gemm", "empty"): "gemm",
    ("compute", "alu", "empty"): "alu",
    ("compute", "sync", "empty"): "csync",
    ("load", "sync", "finish"): "fin",
    ("store", "store", "empty"): "out",
    ("store", "sync", "empty"): "ssync",
}


def _from_table(data):
    """A table with a head (idx,unit,op,...), or the reference's lines "insn, unit, ..."."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as error:
        raise ValueError(f"no text: byte {error.start} is {data[error.start]}") from None
    try:
        lines = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error as error:
        raise ValueError(f"no table: {error}") from None
    if not lines:
        raise ValueError("the table is empty")
    if lines[0][0] == "insn":
        return isa.program(_reference_line(number, row) for number, row in enumerate(lines))
    head, *lines = lines
    lacking = [name for name in ("op", *_COLUMNS) if name not in head]
    if lacking:
        raise ValueError(f"the table's first line lacks the column {lacking[0]!r}")
    twice = [name for name in head if head.count(name) > 1]
    if twice:
        raise ValueError(f"the table has two columns {twice[0]!r}")
    return isa.program(_table_line(number, head, row) for number, row in enumerate(lines))


def _table_line(number, head, row):
    if len(row) != len(head):
        raise ValueError(f"instruction {number}: {len(row)} columns in place of {len(head)}")
    cells = dict(zip(head, row))
    item = {"k": cells["op"]}
    for column, name in _COLUMNS.items():
        if cells[column] != "":
            item[name] = _number(number, column, cells[column])
    words = _decoded(number, item)
    if not cells.get(_ENCODED):
        return words
    try:
        high, low = (int(part, 16) for part in cells[_ENCODED].split("_"))
        encoded = isa.program([(low, high)])
    except (ValueError, OverflowError):
        raise ValueError(f"instruction {number}: {cells[_ENCODED]!r} is no HIGH_LOW") from None
    # The encoded form has more fields; those of both must agree.
    layout = isa.LAYOUT_OF[_KINDS[cells["op"]][0]]
    plain = isa.program([words])
    names = {**_NAMES[layout], **{flag: flag for flag in _FLAGS}}
    for name in item:
        own = "op" if name == "k" else names[name]
        values = [int(isa.field(form.T, layout, own)[0]) for form in (plain, encoded)]
        if values[0] != values[1]:
            raise ValueError(
                f"instruction {number}: {own} is {values[0]} in the table and {values[1]} encoded"
            )
    return low, high


def _reference_line(number, row):
    if len(row) != 4 + len(_REFERENCE) or row[0] != "insn":
        raise ValueError(
            f"instruction {number}: not insn, unit, operation, tensor and {len(_REFERENCE)} numbers"
        )
    kind = _REFERENCE_KINDS.get(tuple(cell.lower() for cell in row[1:4]))
    if kind is None:
        raise ValueError(f"instruction {number}: unknown kind {', '.join(row[1:4])}")
    op, _ = _KINDS[kind]
    known = {**_NAMES[isa.LAYOUT_OF[op]], **{flag: flag for flag in _FLAGS}}
    item = {"k": kind}
    for column, cell in zip(_REFERENCE, row[4:]):
        name, value = _COLUMNS[column], _number(number, column, cell)
        if name in known:
            item[name] = value
        elif value and name not in ("x", "y"):  # the reference's own compute lines have y 1
            raise ValueError(f"instruction {number}: a {kind} has no {column}, got {value}")
    return _decoded(number, item)


def _number(number, column, cell):
    try:
        return decimal(cell)
    except ValueError:
        raise ValueError(f"instruction {number}: {column} is {cell!r}, no number") from None
