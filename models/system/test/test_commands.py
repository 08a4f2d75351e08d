"""The processor's work: before the first command, and before each, while the device works."""

import lpn
import pytest
from conftest import ROOT
from lpn.runs import prepare
from test_system import FILE, ran, write

PROTOACC = ROOT / "models" / "system" / "demo" / "protoacc.toml"
ITEMS = ROOT / "models" / "protoacc" / "demo" / "two_items.json"  # ten times: 20 commands
COMMAND = 9 * (60 + 54)  # ns of its register writes
POLL = 5000 + 60 + 54 + 8 + 4  # a pause and a read of the register


def ns(**settings):
    model = lpn.load(str(PROTOACC))
    run = prepare(model, ITEMS, {"setup_ns": 0, "earlier": 1, **settings}, "interp").run()
    assert not run.stalled
    return model.module.answer_of_run(run)["ns"]


def test_work_before_the_first_command_is_added(tmp_path):
    assert ran(tmp_path)[0][0] + 700 == ran(tmp_path, setup_ns=700)[0][0]
    assert ns(setup_ns=1_000_000) == ns() + 1_000_000


@pytest.mark.parametrize("key", ["setup_ns", "command_ns"])
def test_work_shorter_than_any_other_time_is_not_lost(tmp_path, key):
    text = FILE.replace("request_ns = 30", f"request_ns = 30\n{key} = 0.5")
    base, more = ran(tmp_path)[0][0], ran(tmp_path, text)[0][0]
    # The accelerator may start at its next edge, of 2 ns.
    assert base + 0.5 <= more <= base + 2


def test_a_slow_processor_is_what_commands_wait_for():
    more = ns(command_ns=200_000) - ns(command_ns=100_000)
    assert abs(more - 20 * 100_000) <= POLL


def test_a_slow_device_hides_the_work_of_all_commands_but_the_first():
    slow = {"latency_ns": 2000}
    assert ns(**slow) > 20 * (COMMAND + 500)
    assert ns(**slow, command_ns=500) == ns(**slow) + 500


def test_a_net_of_commands_gets_the_time_from_one_to_the_next():
    net = lpn.load(str(PROTOACC)).net()
    assert net.system[1].parameters["command_interval"] == 2 * COMMAND
    net = lpn.load(str(PROTOACC)).net(command_ns=333)
    assert net.system[1].parameters["command_interval"] == 2 * (COMMAND + 333)


BOARD = """
model = "system"
[accelerator]
model = "protoacc"
clock_mhz = 2000
inputs = {messages = 0}
finished = {completed = "messages"}
round_trips = {read_latency = "read"}
[link]
latency_ns = 4
[memory]
hit_ns = 8.75
behind_ns = 11
controller_ns = 32.75
access_ns = 14.25
input = "behind"
"""


def test_where_the_data_is_can_be_said(tmp_path):
    (tmp_path / "own.toml").write_text(BOARD)
    board = lpn.load(str(tmp_path / "own.toml"))
    parameters = board.net(in_dram=1).system[1].parameters
    near = board.net().system[1].parameters
    assert parameters["read_latency"] == -(-2 * (8 + 8.75 + 11 + 32.75 + 14.25) // 1)
    assert near["read_latency"] == -(-2 * (8 + 8.75 + 11) // 1)
    assert ran(tmp_path, FILE + "access_ns = 40\n", in_dram=1)[0][0] == ran(tmp_path)[0][0] + 80


def test_unknown_kinds_and_negative_work_are_refused(tmp_path):
    for old, new, said in (
        ("outputs = {out = 64}", "round_trips = {a = 'poll'}", "must be one of read, write, comma"),
        ("request_ns = 30", "command_ns = -1", "host.command_ns must be 0 to 1e9 nanoseconds"),
    ):
        with pytest.raises(lpn.Error) as refused:
            lpn.load(write(tmp_path, FILE.replace(old, new))).net()
        assert refused.value.code == "E-system-file" and said in str(refused.value)
