"""Descriptions with entries that nothing reads, or of another kind: each is refused by its name."""

import re
from pathlib import Path

import pytest

lpn = pytest.importorskip("lpn")
FOLDER = Path(lpn.load("dram").module.__file__).parent / "standards"

from models.dram import standard as standards  # noqa: E402


@pytest.mark.parametrize(
    "old, new, said",
    [
        (r"slots = 4,", "slots = 4, slot = 4,", "unknown 'slot' in [windows.tFAW]; known are slots, cyc"),
        (r"slots = 4,", "slots = 4096,", "window tFAW has 4096 slots; at most 1024 are possible"),
        (r'lost = "t', 'lost = "u', "windows.t32AW.lost must name a deviation, got 'u32aw_slots_lost'"),
        (r'order = "any"', 'order = "any"\nordre = 1', "unknown 'ordre' in [round]; known are order, c"),
        (r'\["SREFEN"\]', '["SREFX"]', "round.cleared_by names an unknown command, 'SREFX'"),
        (r'\["SREFEN"\]', '"SREFEN"', "round.cleared_by must be a list of commands, got 'SREFEN'"),
        (r'\["REFB_LAST"\]', '["REFC_LAST"]', "last_refresh_untimed.untimed names an unknown command"),
        (r'\["REFB_LAST"\]', '"REFB_LAST"', "untimed must be a list of commands, got 'REFB_LAST'"),
        (r'text = "Slots', 'txt = "Slots', "unknown 'txt' in [deviations.t32aw_slots_lost]"),
        (r"small = .*", "small = { bank = 2 }", "organisation 'small' must say how many of bank_group"),
        (r"small = .*", "small = 3", "organisation 'small' must say how many of bank_group, bank the"),
        (r"coordinate = .*", "coordinate = []", "coordinate must list its levels, as"),
        (r"coordinate = .*", 'coordinate = ["bank", "bank"]', "coordinate must list its levels, as"),
        (r"tCKE = ", "tCEK = 1\ntCKE = ", "parameter tCEK is used nowhere: no rule or window names it"),
        (r"(?s)\nsame = \[.*?\n\]\n", "\nsame = {}\n", "rules.same must be a list of [from, to, cycles]"),
    ],
)  # fmt: skip
def test_an_entry_that_nothing_reads_is_refused(tmp_path, old, new, said):
    """They had no effect, or ended in an IndexError."""
    text, number = re.subn(old, lambda _: new, (FOLDER / "gddr5.toml").read_text(), count=1)
    assert number == 1
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(lpn.Error) as refused:
        standards.standard(str(tmp_path / "mine.toml"))
    assert refused.value.code == "E-dram-part" and said in str(refused.value)


def test_a_bus_of_unknown_commands_is_refused(tmp_path):
    text = (FOLDER / "hbm2.toml").read_text().replace('row = ["ACT"', 'row = ["ATC"')
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(lpn.Error, match="buses.row names an unknown command, 'ATC'"):
        standards.standard(str(tmp_path / "mine.toml"))
