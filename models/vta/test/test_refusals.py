"""What is no program of this hardware is refused with the reason; texts are matched in full."""

import gzip
import json
import re

import pytest
from conftest import DEMO
from models.vta import config, isa

FIN = {"k": "fin"}


@pytest.fixture
def refuses(vta, tmp_path):
    net = vta.net()

    def check(content, text, name="program.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
            vta.workload(str(path), net)

    return check


def words(*instructions):
    return isa.to_bytes(isa.program([isa.encode(op, **fields) for op, fields in instructions]))


def test_streams(refuses):
    whole = words((isa.LOAD_OP, {"mem": isa.INP, "x": 1, "y": 1}), (isa.FINISH_OP, {}))
    refuses(
        whole[:-5], "the stream is cut in instruction 1: 27 bytes are no multiple of 16", "a.bin"
    )
    refuses(b"", "the program has no instruction", "a.bin")
    refuses(
        whole[:16],
        "the program has no finish instruction: the accelerator would never end",
        "a.bin",
    )
    refuses(
        whole[16:] + whole,
        "instruction 0 is a finish, but 2 instructions follow it; finish ends a program",
        "a.bin",
    )
    refuses(bytes([6]) + bytes(15) + whole, "instruction 0: unknown opcode 6", "a.bin")
    refuses(
        words((isa.LOAD_OP, {"mem": 4, "x": 1, "y": 1})) + whole,
        "instruction 0: a load of memory 4: only uop 0, wgt 1, inp 2 and acc 3 can be loaded",
        "a.bin",
    )
    refuses(
        whole[:16] + words((isa.ALU_OP, {"alu_op": 5, "uop_end": 1, "lp0": 1, "lp1": 1})) + whole,
        "instruction 1: unknown ALU operation 5: min 0, max 1, add 2, shift 3",
        "a.bin",
    )


def test_memories_that_are_too_small(refuses):
    refuses(
        [{"k": "inp", "x": 100, "y": 20, "sram": 100}, FIN],
        "instruction 0: it fills inp up to element 2100, of which there are 2048",
    )
    refuses(
        [FIN | {"k": "csync"}, {"k": "wgt", "x": 1, "sram": 1023, "xp1": 1}, FIN],
        "instruction 1: it fills wgt up to element 1025, of which there are 1024",
    )
    refuses(
        [{"k": "uop", "x": 2049}, FIN],
        "instruction 0: it fills uop up to element 2049, of which there are 2048",
    )
    refuses(
        [{"k": "out", "x": 1, "sram": 2048}, FIN],
        "instruction 0: it fills out up to element 2049, of which there are 2048",
    )
    refuses(
        [{"k": "gemm", "ub": 0, "ue": 2049, "lp0": 1, "lp1": 1}, FIN],
        "instruction 0: micro-ops up to 2049: there are 2048",
    )


def test_counters_that_would_wrap(refuses):
    refuses(
        [{"k": "gemm", "ub": 1, "ue": 1, "lp0": 2, "lp1": 3}, FIN],
        "instruction 0: an empty loop (micro-ops 1..1, 2 x 3): the hardware's counters would wrap",
    )
    refuses(
        [{"k": "inp", "x": 1, "y": 0}, FIN],
        "instruction 0: y_size 0 with x_size > 0: the hardware would count 65536 rows",
    )


def test_a_semaphore_that_would_forget(refuses, cycles):
    posts = [{"k": "lsync", "push_next": 1}] * 256
    refuses(
        [*posts, FIN],
        "up to 256 posts of the load unit may wait for the compute unit; the semaphore holds 255 "
        "and forgets the rest",
    )
    assert cycles([*posts[1:], FIN]) > 0
    # Posts that are surely taken before the next ones come do not add up.
    taken = [{"k": "lsync", "pop_next": 1, "push_next": 1}, {"k": "csync", "pop_prev": 1}]
    answer = [{"k": "csync", "push_prev": 1}]
    assert cycles([*answer, *(taken + answer) * 300, FIN]) > 0


def test_json(refuses):
    refuses("[", "no JSON: Expecting value: line 1 column 2 (char 1)")
    refuses({"a": 1}, 'no list of instructions, and no object with "insns" or "program"')
    kinds = "uop, wgt, inp, acc, out, lsync, csync, ssync, gemm, alu, fin, finish"
    refuses([{"k": "conv"}], f"instruction 0: unknown kind 'conv'; kinds: {kinds}")
    refuses([7], f"instruction 0: unknown kind 7; kinds: {kinds}")
    refuses([{"k": "inp", "x": 1, "lp0": 1}], "instruction 0: inp has no field 'lp0'")
    refuses([{"k": "inp", "x": 1.5}], "instruction 0: x is 1.5, which is no whole number")
    refuses([{"k": "inp", "x": 70000}], "instruction 0: x=70000 does not fit into its 16 bits")
    refuses([{"k": "inp"}], "instruction 0: inp needs x > 0")
    refuses([{"k": "lsync", "x": 3}], "instruction 0: lsync with x=3")


def test_programs_named_by_others(refuses, tmp_path):
    itself = "the program that it names is, by others or at once, itself"
    refuses({"program": "program.json"}, f"{tmp_path}/program.json: {itself}")
    (tmp_path / "b.json").write_text('{"program": "program.json"}')
    refuses({"program": "b.json"}, f"{tmp_path}/b.json: {tmp_path}/program.json: {itself}")
    (tmp_path / "c.json").write_text("{}")
    none = 'no list of instructions, and no object with "insns" or "program"'
    refuses({"program": "c.json"}, f"{tmp_path}/c.json: {none}")
    one = '"program" is the name of a file, in place of "insns"'
    refuses({"program": "c.json", "insns": [FIN]}, one)
    refuses({"program": 1}, one)
    refuses(
        {"hardwear": {}, "insns": [FIN]},
        "a program has no field 'hardwear'; did you mean 'hardware'?",
    )


def test_tables(refuses):
    refuses("", "the table is empty", "a.csv")
    refuses("x" * 2**18, "no table: field larger than field limit (131072)", "a.csv")
    refuses("idx,unit,op\n", "the table's first line lacks the column 'x'", "a.csv")
    head = "idx,unit,op,x,y,uop_begin,uop_end,lp_1,lp_0,use_imm,pop_prev,pop_next,push_prev,"
    head += "push_next,encoded_hi64_lo64_as_simulated\n"
    refuses(head + "0,load\n", "instruction 0: 2 columns in place of 15", "a.csv")
    refuses(head.replace("idx", "x"), "the table has two columns 'x'", "a.csv")
    for odd in ("a", "1_6", "+16", "-1"):
        row = f"0,load,inp,{odd},1,,,,,,0,0,0,0,\n"
        refuses(head + row, f"instruction 0: x is '{odd}', no number", "a.csv")
    refuses(
        head + "0,load,inp,15,1,,,,,,0,1,0,0,0000001000100001_0000000000000110\n",
        "instruction 0: x is 15 in the table and 16 encoded",
        "a.csv",
    )
    refuses(
        head + "0,load,inp,15,1,,,,,,0,1,0,0,xyz\n",
        "instruction 0: 'xyz' is no HIGH_LOW",
        "a.csv",
    )
    refuses(
        "insn, load, load\n",
        "instruction 0: not insn, unit, operation, tensor and 11 numbers",
        "a.insns",
    )
    refuses(
        "insn, load, gemm, inp, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n",
        "instruction 0: unknown kind load, gemm, inp",
        "a.insns",
    )
    refuses(b"\xff", "no text: byte 0 is 255", "a.csv")


def test_hardware(refuses):
    fields = json.loads((DEMO / "vta_config.json").read_text())
    program = {"insns": [FIN]}
    refuses(
        {**program, "hardware": {**fields, "LOG_BLOCK": 9}},
        "LOG_BLOCK must be a whole number, 0..7, got 9",
    )
    refuses(
        {**program, "hardware": {**fields, "LOG_WGT_BUFF_SIZE": 7}},
        "LOG_WGT_BUFF_SIZE=7 holds no element of 256 bytes",
    )
    refuses(
        {**program, "hardware": {**fields, "X": 1}}, "a hardware configuration has no field 'X'"
    )
    fields.pop("LOG_BATCH")
    refuses({**program, "hardware": fields}, "the hardware configuration lacks LOG_BATCH")
    refuses({**program, "hardware": 3}, "a hardware configuration is a JSON object, got int")


def test_lines_of_a_file_of_runs(vta, tmp_path):
    path = tmp_path / "runs.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({"insns": [FIN]}).encode()))
    net = vta.net()
    assert vta.workload(f"{path}#1:any name", net)
    with pytest.raises(ValueError, match=r"has lines 1\.\.1, asked for '2'$"):
        vta.workload(f"{path}#2", net)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is no whole gzip file: "):
        vta.workload(f"{path}#1", net)


def test_waiting_for_ever_is_stalled_with_the_reason(command, tmp_path):
    path = tmp_path / "program.json"
    path.write_text(json.dumps([{"k": "inp", "x": 1, "pop_next": 1}, {"k": "csync"}, FIN]))
    done = command("sim", "vta", path, "--engine", "interp", status=1)
    assert "stalled" in done.stdout and "load_start" in done.stdout and "sem" in done.stdout


def test_default_hardware_is_the_chisel_default():
    assert config.DEFAULT.depth == {"uop": 2048, "inp": 2048, "wgt": 1024, "acc": 2048, "out": 2048}
    assert config.DEFAULT.bytes == {"uop": 4, "inp": 16, "wgt": 256, "acc": 64, "out": 16}
