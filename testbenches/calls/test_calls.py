"""A short fixed campaign, and what campaigns found: nothing of it ends the process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import campaign  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("calls")
    campaign.prepare(made, 3)
    return made


@pytest.mark.parametrize("profile, count", [("user", 300), ("c", 400)])
def test_sequences_of_calls_end_no_process(folder, profile, count):
    unit = campaign.run_unit(profile, 20261123, 0, count, folder)
    assert [(folder / name).read_text() for name in unit["found"]] == []
    # And they come somewhere: many a call is answered.
    assert unit["calls"] > 5 * count
    assert unit["good"] > unit["calls"] / 5


@pytest.mark.parametrize("file", sorted(campaign.FOUND.glob("*.calls")), ids=lambda f: f.stem)
def test_kept_sequences(folder, file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert campaign.replayed([n for n in lines if not n.startswith("#")], folder) is None


def test_an_end_is_found_made_small_and_kept(folder):
    """Of the campaign itself: a line that ends the process among others that do not."""
    lines = ["v1 = lpn.Net('n')", "v2 = 3", "os.abort()", "v3 = v2 + 1"]
    name = campaign.keep(lines, "SIGABRT", "said", "of-the-test", folder)
    assert (folder / name).read_text() == "# SIGABRT\nos.abort()\n# said\n"
    assert campaign.replayed(["while True: pass"], folder) is None  # Ctrl-C ends it
    stubborn = "__import__('signal').signal(2, 1); [0 for _ in iter(int, 1)]"  # ignores Ctrl-C
    assert campaign.replayed([stubborn], folder) == "more than 10 s"


def test_a_campaign_goes_on_where_it_was(folder, tmp_path):
    for file in folder.glob("*.artefacts"):
        (tmp_path / file.name).write_text(file.read_text())
    command = [Path(campaign.__file__), "run", "--state", tmp_path, "--profile", "c", "--nets", "3"]
    for wanted in (100, 200):
        done = subprocess.run(
            [*command, "--sequences", str(wanted)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        units = [json.loads(n) for n in (tmp_path / "units.jsonl").read_text().splitlines()]
        assert [u["first"] for u in units] == list(range(0, wanted, 100))
