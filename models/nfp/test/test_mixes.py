"""What a mix says has an effect wherever it is asked, or is refused."""

import json
from pathlib import Path

import pytest
from models.nfp import program as front
from models.nfp import sweep

from lpn import Error, load
from lpn.runs import prepare

DEMO = Path(front.__file__).parent / "demo"
SHORT = {"paths": [{"segments": [[5, "none"]]}], "packets": 2000, "overhead": 0}


def written(folder, **keys):
    file = folder / "mix.json"
    file.write_text(json.dumps({**SHORT, **keys}), encoding="utf-8")
    return file


def test_overload_slows_the_net_too(tmp_path, nfp):
    """lpn sim ran at the MAC's full rate, where lpn nfp simulate said 53.2 M/s."""
    file = written(tmp_path, overload=True)
    model = load("nfp")
    with pytest.raises(Error, match="write -p mac_interval=301, too") as error:
        model.workload(file, model.net())
    assert error.value.code == "E-nfp-mix"
    ready = prepare("nfp", str(file), {"mac_interval": 301}, "interp")
    assert ready.run().latency == 2000 * 301 + 100
    told = nfp("simulate", DEMO / "portcount.asm", "--mix", file, "--json").data
    assert told["packet_rate"] == pytest.approx(16e9 / 301, rel=1e-3)


def test_the_slowest_path_is_that_of_the_nets_cores(tmp_path, monkeypatch):
    from models.nfp import mix_file

    asked = []
    monkeypatch.setattr(
        mix_file, "slowest", lambda program, cores, what: asked.append(cores) or "->0--15->15000"
    )
    monkeypatch.setattr(mix_file, "path_of", lambda *_: mix_file.Path([(5, "none", 0)]))
    file = written(tmp_path, program=str(DEMO / "portcount.asm"), paths=[{"path": "slowest"}])
    prepare("nfp", str(file), {"cores": 5}, "interp").read()
    assert asked == [5]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"costs": "own.json"}, "'costs' is no key of a mix"),
        ({"arrivals": "even"}, "'arrivals' is how packets of a 'rate' arrive; write a 'rate', too"),
        ({"paths": [{"path": 15000}]}, "path 1 must be text, as"),
        ({"unroll": 160}, '\'unroll\' must be text, as "160" or "10:83,4:94", got 160'),
        ({"paths": [{"path": "slowest", "name": ["a"]}]}, "the name of path 1 must be text"),
        (
            {"paths": [{"segments": [[4, "sram", True], [5, "none"]]}]},
            "the segments of path 1 must be",
        ),
    ],
)
def test_a_key_without_effect_or_meaning_is_refused(tmp_path, nfp, keys, told):
    file = written(tmp_path, **keys)
    done = nfp("simulate", DEMO / "portcount.asm", "--mix", file, status=2)
    assert told in done.stderr and "[E-nfp-mix]" in done.stderr


def test_a_buffer_is_for_packets_of_a_rate(tmp_path, nfp):
    done = nfp("simulate", DEMO / "portcount.asm", "--buffer", "3", status=2)
    assert "--buffer is where packets of a --rate wait; give --rate PPS" in done.stderr
    file = written(tmp_path)
    done = nfp("simulate", DEMO / "portcount.asm", "--mix", file, "--buffer", "3", status=2)
    assert "a buffer of 3 packets is for those of a rate" in done.stderr
    with pytest.raises(Error, match="a buffer of 3 packets is for those of a rate"):
        prepare("nfp", str(file), {"buffer": 3}, "interp").read()
    prepare("nfp", str(written(tmp_path, rate=1e6)), {"buffer": 3}, "interp").read()


def test_a_sweep_simulates_the_measured_nic_alone(tmp_path, nfp):
    costs = tmp_path / "costs.json"
    costs.write_text('{"overhead": 1000}', encoding="utf-8")
    listing = tmp_path / "p1.asm"
    listing.write_bytes((DEMO / "portcount.asm").read_bytes())
    done = nfp("sweep", listing, "--simulate", "100", "--costs", costs, status=2)
    assert "--simulate is of the measured NIC, which --costs does not change" in done.stderr


def test_a_sweep_has_a_column_once(nfp):
    """A derived column never stands in the place of what was computed."""
    listing = DEMO / "portcount.asm"
    derive = ("--name", "{n}.asm", "--derive")
    for label in ("guarantee", "cycles", "n", "program"):
        done = nfp("sweep", listing, *derive, f"{label}=2*n", status=2)
        assert f"the table has a column '{label}' already" in done.stderr
    done = nfp("sweep", listing, *derive, "e=n", "--derive", "e=2*n", status=2)
    assert "the table has a column 'e' already" in done.stderr
    done = nfp("sweep", listing, "--parameter", "verdict", status=2)
    assert "--parameter verdict: the table has a column of this name" in done.stderr


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("exp(-n)", pytest.approx(0.1353352832)), ("n+9**9**9**9", None), ("sqrt((0-n)**0.5)", None)],
)
def test_formulas_without_a_value(formula, expected):
    assert sweep.evaluate(sweep.parse_expression(formula, "n"), 2) == expected
