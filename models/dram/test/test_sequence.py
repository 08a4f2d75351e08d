"""Sequences of commands: when each is legal, what is refused, parts and organisations of one's own."""

import json

import pytest

lpn = pytest.importorskip("lpn")
MODEL = lpn.load("dram").module


def answers(tmp_path, commands, **about):
    path = tmp_path / "sequence.json"
    path.write_text(json.dumps({"part": "ddr4", "commands": commands, **about}))
    return [cycle for _, _, cycle in MODEL.answer(str(path))["commands"]]


def refused(tmp_path, commands, **about):
    with pytest.raises(lpn.Error) as error:
        answers(tmp_path, commands, **about)
    assert error.value.code == "E-dram-sequence"
    return str(error.value)


def test_an_access_by_hand(tmp_path):
    bank, other = [0, 0, 0], [0, 1, 0]
    cycles = answers(
        tmp_path,
        [["ACT", bank], ["ACT", other], ["RD", bank], ["RD", bank], ["RD", other], ["PRE", bank]],
    )
    # The command bus, tRCD 13, tCCD_L 5, tCCD_S 4, and tRAS 32 for the precharge.
    assert cycles == [0, 1, 13, 18, 22, 32]


def test_not_before_a_cycle(tmp_path):
    bank = [1, 3, 3]
    assert answers(tmp_path, [["ACT", bank], ["RD", bank, 100], ["RD", bank]]) == [0, 13, 105]


def test_four_activates_in_a_window(tmp_path):
    banks = [[0, g, b] for b in range(2) for g in range(4)]
    cycles = answers(tmp_path, [["ACT", bank] for bank in banks])
    assert cycles == [0, 1, 2, 3, 22, 23, 24, 25]  # tFAW
    right = answers(tmp_path, [["ACT", bank] for bank in banks], corrected=["trrd_s_of_one_bank"])
    assert right == [0, 4, 8, 12, 22, 26, 30, 34]  # and tRRD_S


def test_two_buses_of_hbm(tmp_path):
    open_, other = [0, 0, 0], [0, 1, 0]
    commands = [["ACT", open_], ["RD", open_], ["ACT", other], ["PRE", [1, 0, 0]]]
    cycles = answers(tmp_path, commands, part="hbm2")
    assert cycles == [0, 15, 15, 16]  # RD goes over the column bus, ACT over the row bus


@pytest.mark.parametrize(
    "part, commands, reason",
    [
        ("ddr4", [["RD", [0, 0, 0]]], "the bank is idle (r0.g0.b0)"),
        ("ddr4", [["ACT", [0, 0, 0]], ["ACT", [0, 0, 0]]], "must be idle is active (r0.g0.b0)"),
        ("ddr4", [["ACT", [1, 2, 0]], ["REF", [1, -1, -1]]], "must be idle is active (r1.g2.b0)"),
        ("ddr4", [["PDE", [0, -1, -1]], ["ACT", [0, 0, 0]]], "is in power-down (r0)"),
        ("ddr4", [["PDX", [0, -1, -1]]], "is not in power-down (r0)"),
        ("ddr4", [["SRE", [0, -1, -1]], ["ACT", [0, 0, 0]]], "is in self refresh (r0)"),
        ("ddr4", [["SRX", [0, -1, -1]]], "is not in self refresh (r0)"),
        (
            "ddr3",
            [["SRE", [0, -1]], ["SRX", [0, -1]], ["SRE", [0, -1]]],
            "no refresh since self refresh (r0)",
        ),
        ("lpddr3", [["DPD", [0, -1]], ["ACT", [0, 0]]], "is in deep power-down (r0)"),
        ("lpddr3", [["DPD", [0, -1]], ["DPDX", [0, -1]], ["ACT", [0, 0]]], "no RESET since"),
        ("lpddr3", [["DPDX", [0, -1]]], "is not in deep power-down (r0)"),
        ("lpddr3", [["RESET", [0, -1]]], "no RESET is due (r0)"),
        ("lpddr3", [["REFPB", [0, 1]]], "another bank is next in the round of refreshes (r0.b1)"),
        ("lpddr3", [["REFPB", [0, 0]], ["REFPB", [0, 0]]], "another bank is next in the round"),
        ("lpddr4", [["REFPB", [0, 3]], ["REFPB", [0, 3]]], "has been refreshed in this round"),
        ("lpddr4", [["ACT", [0, 3]], ["REFPB", [0, 3]]], "must be idle is active (r0.b3)"),
        (
            "gddr6",
            [["REFPB", [0, b]] for b in range(4)],
            "the activation window has too few slots left for ever",
        ),
    ],
)
def test_the_state_refuses_by_name(tmp_path, part, commands, reason):
    text = refused(tmp_path, commands, part=part)
    command, where = commands[-1]
    assert f"command {len(commands) - 1}: {command} {where} is refused: " in text
    assert reason in text


def test_a_round_of_refreshes_can_begin_again(tmp_path):
    once = [["REFPB", [0, bank]] for bank in (3, 1, 0, 2, 7, 6, 5, 4)]
    assert len(answers(tmp_path, [*once, *once], part="lpddr4")) == 16
    begun = [*once[:3], ["REFAB", [0, -1]], *once]
    assert len(answers(tmp_path, begun, part="lpddr4")) == 12


def test_deviations_can_be_corrected(tmp_path):
    bank = [0, 0, 0]
    commands = [["ACT", bank], ["RDA", bank], ["ACT", bank]]
    assert answers(tmp_path, commands) == [0, 13, 34]
    assert answers(tmp_path, commands, corrected=["act_act_by_trcd"]) == [0, 13, 45]
    power = [["PDE", [-1, -1, -1]], ["PDX", [-1, -1, -1]], ["ACT", bank]]
    assert answers(tmp_path, power, part="hbm2") == [0, 8, 9]
    fixed = ["device_commands_untimed"]
    assert answers(tmp_path, power, part="hbm2", corrected=fixed) == [0, 8, 13]
    last = [["ACT", [0, 0]], *(["REFB", [g, b]] for g in range(4) for b in range(4) if g + b)]
    late = [*last, ["PRE", [0, 0]], ["ACT", [3, 3]], ["REFB", [0, 0]]]
    wrong = answers(tmp_path, late, part="gddr5")
    right = answers(
        tmp_path,
        late,
        part="gddr5",
        corrected=["last_refresh_unchecked", "last_refresh_untimed"],
    )
    assert wrong[-1] == wrong[-2] + 1 and right[-1] == right[-2] + 2  # tRRDS


def test_every_deviation_can_be_corrected(tmp_path):
    from models.dram.standard import names, standard

    for name in names():
        known = tuple(standard(name).deviations)
        made = standard(name, "small", known)
        assert made.deviations == {}
        assert not lpn.load("dram").module._net(made).text() == ""


def test_a_part_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'base = "ddr4"\ncorrected = ["act_act_by_trcd"]\n'
        "[organisations]\nthree = { rank = 3, bank_group = 2, bank = 2 }\n"
        "[parameters]\ntRCD = 20\ntRC = 60\n"
    )
    bank = [2, 1, 1]
    commands = [["ACT", bank], ["RDA", bank], ["ACT", bank], ["ACT", [0, 0, 0]]]
    about = {"part": "mine.toml", "organisation": "three"}
    assert answers(tmp_path, commands, **about) == [0, 20, 60, 61]
    assert "cannot be given at [3, 0, 0]" in refused(tmp_path, [["ACT", [3, 0, 0]]], **about)


@pytest.mark.parametrize(
    "text, said",
    [
        ("base = 7", "base must be one of"),
        ('base = "ddr9"', "base must be one of"),
        ("base =", "is not TOML"),
        ('base = "ddr4"\nspeed = 3', "unknown 'speed'"),
        ('coordinate = ["rank", "bank"]', "lacks 'power'"),
        ('base = "ddr4"\npower = "bank"', "power must be 'device' or 'rank'"),
        ('base = "ddr4"\nparameters = 3', "parameters must be a table"),
        ('base = "ddr4"\n[parameters]\ntRCD = "long"', "parameter tRCD must be a number"),
        ('base = "ddr4"\n[organisations]\nfull = { rank = 2 }', "must say how many of rank"),
        ('base = "ddr4"\n[organisations]\nsmall = { rank = 1 }', "has no organisation 'full'"),
        ('base = "ddr4"\n[commands]\nMRS = "set mode"', "command MRS is 'set mode'"),
        ('base = "ddr4"\n[rules]\nplanet = []', "there is no scope 'planet'"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "ACT"]]', "a rule is [from, to, cycles]"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "MRS", "tRP"]]', "unknown command, MRS"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "ACT", "tX"]]', "no parameter 'tX'"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "ACT", "tRP /"]]', "cannot compute 'tRP /'"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "ACT", "tRP ** 2"]]', "cannot compute"),
        ('base = "ddr4"\n[rules]\nany = [["ACT", "ACT", "1", "odd"]]', "not described: odd"),
        ('base = "ddr4"\ncorrected = ["all"]', "has no deviation 'all'"),
        ('base = "ddr4"\n[buses]\nrow = 3', "buses.row must be a list of commands"),
        ('base = "ddr4"\n[windows]\ntFAW = 22', "windows.tFAW must be a table"),
        ('base = "ddr4"\n[round]\nsize = 3', "unknown 'size' in [round]; known are order"),
        (
            'base = "ddr4"\n[organisations]\nfull = { rank = 8, bank_group = 8, bank = 8 }',
            "has 3120 commands",
        ),
    ],
)
def test_a_wrong_part(tmp_path, text, said):
    if text.startswith('base = "ddr4"\n[organisations]\nsmall'):
        text = text.replace(
            'base = "ddr4"', 'coordinate = ["rank"]\npower = "rank"\nrefresh = "rank"'
        )
        text += "\n[commands]"
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(lpn.Error) as error:
        answers(tmp_path, [], part="mine.toml")
    assert error.value.code == "E-dram-part" and said in str(error.value)


@pytest.mark.parametrize(
    "commands, about, said",
    [
        (3, {}, '{"part"'),
        ([], {"speed": 1}, "unknown 'speed'"),
        ([], {"part": 4}, "part must be a name"),
        ([], {"corrected": "all"}, "corrected must be a list"),
        ([["ACT"]], {}, "command 0: must be [command, coordinate]"),
        ([["ACT", 3]], {}, "the coordinate must be a list of numbers"),
        ([["ACT", [0, 0, 0], -1]], {}, "not before must be a cycle"),
        ([["ACT", [0, 0, 0], 1, "now"]], {}, 'can only be "ask"'),
        ([["MRS", [0, 0, 0]]], {}, "ddr4 has no command MRS"),
        ([["ACT", [0, 0]]], {}, "ACT cannot be given at [0, 0]"),
        ([["REF", [0, 0, 0]]], {}, "coordinates are (rank, bank_group, bank), as [0, -1, -1]"),
    ],
)
def test_a_wrong_sequence(tmp_path, commands, about, said):
    assert said in refused(tmp_path, commands, **about)


def test_an_unknown_standard(tmp_path):
    with pytest.raises(lpn.Error) as error:
        answers(tmp_path, [], part="sdram")
    assert "there is no standard 'sdram'; there are ddr2" in str(error.value)


ROW = {
    "id": "a",
    "std": "ddr4",
    "org": "small",
    "cmds": [["ACT", [0, 0, 0], 0], ["RD", [0, 0, 0], 13]],
    "gapped": [[0, 2], [15, 20]],
}
TRACE = {
    "name": "t",
    "part": "ddr4",
    "arrive": [0, 1],
    "block": [0, 9],
    "write": "01",
    "accept": [1, 2],
    "done": [30, 3],
}


@pytest.mark.parametrize(
    "row, key, value, text",
    [
        (ROW, "id", None, "'id' must be text, got None"),
        (ROW, "std", 1.5, "'std' must be text, got 1.5"),
        (ROW, "std", "ddr9", "there is no standard 'ddr9'"),
        (ROW, "org", "x", "ddr4 has no organisation 'x'"),
        (ROW, "cmds", [], "'cmds' must be a list of"),
        (ROW, "cmds", [["ACT", [0, 0, 0]]], "'cmds' must be a list of"),
        (ROW, "gapped", [[0, 2]], "'gapped' must have [earliest cycle, cycle] for each command"),
        (ROW, "gapped", None, "'gapped' must have"),
        (TRACE, "part", [], "'part' must be text"),
        (TRACE, "done", [], "must have a number per request"),
        (TRACE, "arrive", [0], "must have a number per request"),
        (TRACE, "accept", [1, "2"], "must have a number per request"),
        (TRACE, "write", "0x", "'write' must have 0 or 1 per request"),
    ],
)
def test_a_damaged_row_of_a_truth_is_named(tmp_path, row, key, value, text):
    path = tmp_path / "truth.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, key: value}) + "\n")
    with pytest.raises(lpn.Error) as error:
        list(MODEL.truth_rows(str(path)))
    assert error.value.code == "E-truth-file"
    assert "truth.jsonl, line 2: no measured sequence or trace: " in str(error.value)
    assert text in str(error.value)
    path.write_text("\n" + json.dumps(row) + "\n\n")
    assert len(list(MODEL.truth_rows(str(path)))) == 1
    path.write_text("1\n")
    with pytest.raises(lpn.Error, match="line 1: no measured"):
        list(MODEL.truth_rows(str(path)))
