"""The forms of a program say the same."""

import json

import numpy
from conftest import DEMO
from models.vta import files, isa

PROGRAM = json.loads((DEMO / "two_steps.json").read_text())


def test_binary_and_json(tmp_path):
    words, _ = files.read(DEMO / "two_steps.json")
    path = tmp_path / "program.bin"
    path.write_bytes(isa.to_bytes(words))
    assert numpy.array_equal(files.read(path)[0], words)
    assert len(isa.to_bytes(words)) == 16 * len(PROGRAM)


def test_a_known_encoding():
    """Instruction 4 of the demo, bit by bit from the table of fields."""
    low = 2 | 1 << 3 | 1 << 5 | 0 << 7 | 0 << 8 | 2 << 21 | 1 << 35 | 8 << 49
    high = 0 | 1 << 11 | 0 << 22 | 2 << 33
    words, _ = files.read(DEMO / "two_steps.json")
    assert [int(word) for word in words[4]] == [low, high]


def test_both_tables(tmp_path):
    reference = "\n".join(
        [
            "insn, load, load, inp, 16, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1",
            "insn, compute, gemm, empty, 0, 1, 0, 2, 16, 3, 0, 1, 0, 0, 0",
            "insn, compute, alu, empty, 0, 0, 0, 2, 16, 3, 1, 0, 0, 0, 1",
            "insn, store, store, empty, 8, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0",
            "insn, compute, sync, empty, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0",
            "insn, load, sync, finish, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
        ]
    )
    table = "\n".join(
        [
            "idx,unit,op,x,y,uop_begin,uop_end,lp_1,lp_0,use_imm,pop_prev,pop_next,push_prev,push_next",
            "0,load,inp,16,2,,,,,,0,0,0,1",
            "1,compute,gemm,,,0,2,16,3,,1,0,0,0",
            "2,compute,alu,,,0,2,16,3,1,0,0,0,1",
            "3,store,out,8,1,,,,,,1,0,1,0",
            "4,compute,csync,,,,,,,,0,1,0,0",
            "5,compute,fin,,,,,,,,0,0,0,0",
        ]
    )
    plain = [
        {"k": "inp", "x": 16, "y": 2, "push_next": 1},
        {"k": "gemm", "ub": 0, "ue": 2, "lp0": 3, "lp1": 16, "pop_prev": 1},
        {"k": "alu", "ub": 0, "ue": 2, "lp0": 3, "lp1": 16, "useimm": 1, "push_next": 1},
        {"k": "out", "x": 8, "pop_prev": 1, "push_prev": 1},
        {"k": "csync", "pop_next": 1},
        {"k": "fin"},
    ]
    forms = []
    for name, content in (
        ("a.insns", reference),
        ("a.csv", table),
        ("a.json", json.dumps(plain)),
    ):
        (tmp_path / name).write_text(content + "\n")
        forms.append(files.read(tmp_path / name)[0])
    assert numpy.array_equal(forms[0], forms[1]) and numpy.array_equal(forms[1], forms[2])


def test_hardware_travels_with_a_program(vta):
    _, hardware = files.read(DEMO / "two_steps_on_config.json")
    assert hardware.depth["uop"] == 8192


def test_a_program_has_its_own_hardware_unless_told_otherwise(tmp_path):
    written = json.loads((DEMO / "vta_config.json").read_text())
    (tmp_path / "own.json").write_text(json.dumps({"hardware": written, "insns": PROGRAM}))
    (tmp_path / "outer.json").write_text(json.dumps({"program": "own.json"}))
    assert files.read(tmp_path / "outer.json")[1].depth["uop"] == 8192
    other = {"program": "own.json", "hardware": {**written, "LOG_UOP_BUFF_SIZE": 13}}
    (tmp_path / "outer.json").write_text(json.dumps(other))
    assert files.read(tmp_path / "outer.json")[1].depth["uop"] == 2048
