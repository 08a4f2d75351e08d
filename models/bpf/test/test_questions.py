"""lpn bpf diff, --deployment and explain, as commands."""

import json
import time
from struct import pack

import pytest
from lpn import Error
from test_interface import run

from models.bpf.machine import Table
from models.bpf.objects import Map
from models.bpf.worlds import put_entry


def pcap(path, packets, order="<", magic=0xA1B2C3D4, link=1, cut=0):
    with open(path, "wb") as file:
        file.write(pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link))
        for k, packet in enumerate(packets):
            file.write(pack(order + "IIII", k, 0, len(packet), len(packet) + cut) + packet)
    return path


def tagged(*types):
    return bytes(12) + b"".join(pack(">H", t) + b"\0\0" for t in types[:-1]) + pack(">H", types[-1])


def test_diff(demo):
    done = run("diff", demo("port_filter"), demo("port_filter_v2"), "--json")
    data = json.loads(done.stdout)
    assert (data["regressed"], data["improved"], data["unchanged"]) == (7, 2, 1)
    assert [c["verdict_changed"] for c in data["classes"]].count(True) == 1
    assert data["maps_added"] == ["udp_allowed_src", "drops"]
    worst = max(data["classes"], key=lambda c: c["delta_pct"])
    assert (worst["before"], worst["after"]) == (27, 45)
    assert (
        worst["witness"]["maps"]
        == [
            {"map": "blocked_ports", "key": worst["witness"]["packet"][72:76], "value": "00000000"},
            {"map": "drops", "key": "00000000", "value": "0000000000000000"},
        ]
        or worst["witness"]["maps"][0]["map"] == "blocked_ports"
    )


@pytest.mark.parametrize("limit, status", [("5%", 1), ("66", 1), ("67%", 0)])
def test_diff_fails_above(demo, limit, status):
    run("diff", demo("port_filter"), demo("port_filter_v2"), "--fail-above", limit, status=status)


def test_a_program_is_no_dearer_than_itself(demo):
    done = run("diff", demo("bridge"), demo("bridge"), "--fail-above", "0", "--json")
    data = json.loads(done.stdout)
    assert len(data["classes"]) == 11 and data["unchanged"] == 11


@pytest.mark.parametrize(
    "order, magic", [("<", 0xA1B2C3D4), (">", 0xA1B2C3D4), ("<", 0xA1B23C4D), (">", 0xA1B23C4D)]
)
def test_deployment(demo, tmp_path, order, magic):
    packets = [tagged(0x800)] * 6 + [tagged(0x8100, 0x800)] * 3 + [tagged(0x8100, 0x8100, 0x86DD)]
    path = pcap(tmp_path / "a.pcap", packets, order, magic)
    done = run(
        "interface", demo("vlan_walk"), "--deployment", path, "--percentiles", "50,90,99", "--json"
    )
    found = json.loads(done.stdout)["deployment"]
    assert found["overall"] == {
        "n": 10, "min": 15, "p50": 15, "p90": 31, "p99": 46, "max": 46, "mean": 22.9,
    }  # fmt: skip
    assert sorted(row["n"] for row in found["per_class"].values()) == [1, 3, 6]
    assert len(found["never_seen"]) == 12


def test_state_carries_over(demo, tmp_path):
    """The bridge learns: the second packet of a source finds it known."""
    path = pcap(tmp_path / "a.pcap", [bytes(6) + b"\x02" + bytes(7)] * 2)
    costs = []
    for more in ((), ("--carry-state",)):
        done = run("interface", demo("bridge"), "--deployment", path, "--json", *more)
        costs.append(json.loads(done.stdout)["deployment"]["overall"]["min"])
    assert costs == [70, 65]


def test_cut_packets_are_told(demo, tmp_path):
    path = pcap(tmp_path / "a.pcap", [bytes(20)], cut=5)
    done = run("interface", demo("vlan_walk"), "--deployment", path)
    assert "1 packets of the trace are cut off" in done.stderr


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "is no pcap file"),
        (pack("<I", 0x0A0D0D0A) + bytes(40), "pcapng"),
        (pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101), "link type 101"),
        (pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + bytes(9), "ends within packet 1"),
        (pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "has no packets"),
    ],
)
def test_wrong_traces(demo, tmp_path, content, text):
    (tmp_path / "a.pcap").write_bytes(content)
    done = run("interface", demo("vlan_walk"), "--deployment", tmp_path / "a.pcap", status=2)
    assert text in done.stderr and "E-bpf-file" in done.stderr


@pytest.mark.parametrize(
    "state, text",
    [
        ("{", "cannot read"),
        ("3", "no list"),
        ('[{"map": "x", "key": "00", "value": "00"}]', "no map 'x'"),
        ('[{"map": "blocked_ports", "key": "00", "value": "00000000"}]', "keys of"),
        ('[{"map": "blocked_ports", "key": "0000", "value": "00"}]', "values of"),
        ('[{"map": "blocked_ports", "key": "zz", "value": "00"}]', "no entry"),
        (
            '[{"map": "blocked_ports", "key": "0050", "value": "00000000"},'
            ' {"map": "blocked_ports", "key": "0050", "value": "00000001"}]',
            "'blocked_ports' has the key 0050 twice",
        ),
    ],
)
def test_wrong_map_states(demo, tmp_path, state, text):
    path = pcap(tmp_path / "a.pcap", [bytes(20)])
    (tmp_path / "s.json").write_text(state)
    done = run(
        "interface", demo("port_filter"), "--deployment", path, "--maps", tmp_path / "s.json",
        status=2,
    )  # fmt: skip
    assert text in done.stderr and "E-bpf-file" in done.stderr


@pytest.mark.parametrize(
    "kind, key_size, keys, text",
    [
        ("ARRAY", 4, ["04000000"], "'m' has the indices 0..3, not 4"),
        ("PERCPU_ARRAY", 4, ["ffffffff"], "'m' has the indices 0..3, not 4294967295"),
        ("LPM_TRIE", 8, ["210000000a000000"], "a prefix of 'm' has at most 32 bits, not 33"),
        ("LPM_TRIE", 8, ["080000000a000000", "080000000a0000ff"], "key 080000000a0000ff twice"),
        ("HASH", 4, ["00000001", "00000001"], "'m' has the key 00000001 twice"),
    ],
)
def test_keys_without_a_place(kind, key_size, keys, text):
    tables = {"m": Table(Map("m", kind, key_size, 1, 4))}
    with pytest.raises(Error, match=text) as wrong:
        for key in keys:
            put_entry(tables, {"map": "m", "key": key, "value": "00"}, "s.json")
    assert wrong.value.code == "E-bpf-file"
    if kind == "LPM_TRIE":
        put_entry(tables, {"map": "m", "key": "200000000a000001", "value": "07"}, "s.json")
        assert tables["m"].find(bytes.fromhex("200000000a000001")) == b"\x07"


def test_a_prefix_is_its_bits_and_a_routing_table_loads_in_no_time():
    tables = {"m": Table(Map("m", "LPM_TRIE", 8, 4, 1 << 20))}
    begin = time.monotonic()
    for k in range(20_000):
        key = (
            "18000000" + (k << 8 | 0xAB).to_bytes(4, "big").hex()
        )  # 24 bits, and 8 that do not count
        put_entry(tables, {"map": "m", "key": key, "value": f"{k:08x}"}, "s.json")
    assert time.monotonic() - begin < 20  # comparing all with all takes minutes
    assert tables["m"].entries[bytes.fromhex("1800000000000700")] == bytes.fromhex("00000007")
    assert tables["m"].find(bytes.fromhex("2000000000000712")) == bytes.fromhex("00000007")


def test_inner_maps_have_entries():
    shape = Map("m", "HASH_OF_MAPS", 4, 4, 4, inner=Map("m[]", "HASH", 4, 1, 4))
    for entries in (5, [5], None):
        row = {"map": "m", "key": "00000001", "entries": entries}
        with pytest.raises(Error, match="has no list of key and value"):
            put_entry({"m": Table(shape)}, row, "s.json")


def test_explain(demo):
    data = json.loads(run("explain", demo("ip_counter"), "--json").stdout)
    assert data["witness_insns"] == 87 == sum(row["insns"] for row in data["source"])
    assert data["bytes"][:12] == ["--"] * 12 and data["bytes"][12:14] == ["86", "dd"]
    done = run("explain", demo("ip_counter"), "--class", "c99", status=2)
    assert "c99" in done.stderr


def test_a_budget(demo):
    data = json.loads(
        run("interface", demo("port_filter"), "--budget", "27", "--json", status=1).stdout
    )
    assert [row["most"] for row in data["above"]] == [28]
    run("interface", demo("port_filter"), "--budget", "28")


def test_resolutions(demo):
    done = run("interface", demo("port_filter"), "--all-resolutions", "--resolution", "3", "--json")
    data = json.loads(done.stdout)
    assert [each["resolution"] for each in data["resolutions"]] == [1, 2, 3, 6, 11]
    assert data["interface"] == data["resolutions"][2]["interface"]
    text = run("interface", demo("port_filter"), "--resolution", "3", "--text").stdout
    module = {}
    exec(text, module)
    assert module["perf"](bytes(10)) == 7
    assert module["bounds"](bytes(60)) == (12, 18)
    refused = run("interface", demo("port_filter"), "--paths", "0", "--all-resolutions", status=2)
    assert "E-bpf-limit" in refused.stderr
