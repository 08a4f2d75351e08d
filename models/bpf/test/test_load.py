"""lpn bpf load: the net of a host against queues worked out packet by packet."""

import json
import random

import pytest
from test_interface import run
from test_questions import pcap, tagged

from models.bpf import host

GHZ = 10**9


def worked_out(load, cores, ring, overhead):
    """({packet: end of service}, dropped): rings in front of cores, one packet after the other."""
    ends, dropped, now = {}, [], 0
    free, held = [0] * cores, [[] for _ in range(cores)]
    for k, gap in enumerate(load.gaps):
        now += gap
        core = load.cores[k]
        held[core] = [end for end in held[core] if end > now]
        if len(held[core]) >= ring:
            dropped.append(k)
            continue
        free[core] = ends[k] = max(now, free[core]) + overhead + load.cycles[k]
        held[core].append(ends[k])
    return ends, dropped


def random_load(seed, packets=400):
    """Nothing happens at one time: services end a little after a full thousand."""
    drawn = random.Random(seed)
    cores = drawn.randint(1, 4)
    return cores, host.Load(
        [drawn.choice(["c1", "c2"]) for _ in range(packets)],
        [1000 * drawn.randint(0, 9) + 1 for _ in range(packets)],
        [drawn.randrange(cores) for _ in range(packets)],
        [1000 * drawn.randint(1, 4) for _ in range(packets)],
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_net_is_rings_and_cores(seed):
    cores, load = random_load(seed)
    ring = random.Random(seed).choice([1, 2, 5, 1000])
    ends, dropped = worked_out(load, cores, ring, 3)
    found = host.run(load, cores, GHZ, ring, 3)
    assert (found.dropped, found.packets) == (len(dropped), len(load))
    arrived = [sum(load.gaps[: k + 1]) for k in range(len(load))]
    taken = sorted((end - arrived[k]) / GHZ for k, end in ends.items())
    assert found.latency["max"] == taken[-1]
    assert found.latency["p50"] == taken[-(-len(taken) // 2) - 1]
    assert found.latency["mean"] == pytest.approx(sum(taken) / len(taken))
    assert sum(number for number, _, _ in found.by_class.values()) == len(load)
    assert sum(lost for _, lost, _ in found.by_class.values()) == len(dropped)
    work = [0] * cores
    for k in ends:
        work[load.cores[k]] += 3 + load.cycles[k]
    end = max([*ends.values(), arrived[-1]])
    assert found.busy == [each / end for each in work]


def test_arrivals():
    assert host.gaps_of([0, 1000, 3000], GHZ) == [0, 1000, 2000]
    assert host.gaps_of([5, 1005, 3005], 2 * GHZ) == [0, 2000, 4000]
    # Two gaps at 1 M packets/s are 2 us in all, as 1 to 2 as the trace's.
    assert host.gaps_of([0, 1000, 3000], GHZ, 1e6) == [0, 667, 1333]
    assert host.gaps_of([0, 0, 0], GHZ, 1e6, "even") == [0, 1000, 1000]
    drawn = host.gaps_of([0] * 4000, GHZ, 1e6, "poisson", 3)
    assert drawn == host.gaps_of([0] * 4000, GHZ, 1e6, "poisson", 3) != [1000] * 4000
    assert 950 < sum(drawn) / len(drawn) < 1050
    with pytest.raises(ValueError, match="packet 2 of the trace is earlier than the one before it"):
        host.gaps_of([5, 4], GHZ)
    with pytest.raises(ValueError, match="no time in it; give a rate with other arrivals"):
        host.gaps_of([5, 5], GHZ)
    with pytest.raises(ValueError, match="at 1000 Hz all its packets come within one cycle"):
        host.gaps_of([5, 6, 7], 1e3, 1e9, "even")
    with pytest.raises(
        ValueError, match="packet 2 comes 3600 s after the one before it, more than 2.40 cycles"
    ):
        host.gaps_of([0, 3600 * GHZ, 3601 * GHZ], GHZ)


def test_flows_stay_together():
    def udp(source, port, tags=0):
        ip = bytes([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 0, 9])
        types = b"\x81\x00\0\0" * tags + b"\x08\x00"
        return bytes(12) + types + ip + bytes([0, port, 0, 53])

    cores = [host.queue_of(udp(n, p), 8) for n in range(16) for p in range(4)]
    assert set(cores) == set(range(8))
    assert host.queue_of(udp(3, 2), 8) == host.queue_of(udp(3, 2) + b"more", 8)
    assert host.queue_of(udp(3, 2), 8) == host.queue_of(udp(3, 2, tags=2), 8)
    assert host.queue_of(bytes(60), 8) == host.queue_of(b"", 8) == 0
    fragments = [udp(3, p)[:20] + bytes([0x20, 0]) + udp(3, p)[22:] for p in range(8)]
    assert len({host.queue_of(one, 8) for one in fragments}) == 1
    for cut in range(60):
        assert 0 <= host.queue_of(udp(3, 2)[:cut], 8) < 8


def test_command(demo, tmp_path):
    packets = [tagged(0x800) + bytes(40), tagged(0x8100, 0x800) + bytes(40)] * 30
    path = pcap(tmp_path / "a.pcap", packets)
    common = ["load", demo("vlan_walk"), path, "--costs", "nfp"]
    done = run(*common, "--clock", "800e6", "--rate", "2e6", "--arrivals", "even", "--json")
    data = json.loads(done.stdout)
    assert (data["packets"], data["dropped"], data["cores"]) == (60, 0, 1)
    assert data["capacity"] == pytest.approx(800e6 / data["cycles_per_packet"])
    by_class = {c["class"]: c for c in data["classes"]}
    assert {name: c["packets"] for name, c in by_class.items()} == {"c10": 30, "c13": 30}
    assert by_class["c13"]["latency_seconds"]["max"] == pytest.approx(282 / 800e6)
    text = run(*common, "--clock", "1e9", "--rate", "9e6", "--ring", "4").stdout
    assert "dropped (" in text.splitlines()[1] and text.splitlines()[1].startswith("served")
    for extra, wrong in (
        (["--clock", "1e9", "--arrivals", "poisson"], "--arrivals poisson needs --rate R"),
        (["--clock", "1e9", "--seed", "2"], "--seed does nothing with --arrivals trace"),
        (["--clock", "nan"], "nan"),
        ([], "--clock"),
    ):
        assert wrong in run(*common, *extra, status=2).stderr
    assert "give --costs TABLE" in run(*common[:3], "--clock", "1e9", status=2).stderr
