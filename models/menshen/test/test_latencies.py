"""Latency of each packet and throughput of a stream."""

import pytest

import lpn
from models.menshen.latencies import Departure, departures, summary


def test_each_packet(tmp_path):
    path = tmp_path / "stream"
    path.write_text("128\n100 0 control\n128\n65 4\n")
    found, clock_mhz = departures(path, {"arb_phase": 3, "clock_mhz": 100})
    assert clock_mhz == 100
    assert [(p.packet, p.bytes, p.first_in) for p in found] == [
        (0, 128, 0),
        (2, 128, 4),
        (3, 65, 10),
    ]
    assert found[0] == Departure(0, 128, 0, 105, 106)
    assert found[0].latency == 106


def test_summary():
    found = [Departure(k, 125, 2 * k, 100, 100 + 3 * k) for k in range(100)]
    said = summary(found, 200)
    assert said["packets"] == 100 and said["clocks"] == 398
    assert said["latency"] == {"least": 100, "mean": 149.5, "p99": 198, "most": 199}
    assert said["packets_per_second"] == pytest.approx(100 * 2e8 / 398)
    assert said["bits_per_second"] == pytest.approx(1000 * 100 * 2e8 / 398)


def test_refusals(tmp_path):
    with pytest.raises(lpn.Error, match="No such file"):
        departures(tmp_path / "none")
    (tmp_path / "stream").write_text("64\n64\n")
    with pytest.raises(lpn.Error, match="the RTL loses its header"):
        departures(tmp_path / "stream")
    (tmp_path / "stream").write_text("0\n")
    with pytest.raises(lpn.Error, match="0 bytes, not 1 to") as refused:
        departures(tmp_path / "stream")
    assert str(refused.value).count(str(tmp_path / "stream")) == 1
