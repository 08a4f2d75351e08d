"""Links, switches and topology files: times worked out by hand, and what is refused."""

import os
import pathlib
import sys
from dataclasses import replace

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, os.path.join(os.environ.get("LPN_BUILD", ROOT / "build"), "python"))

import lpn  # noqa: E402

MODEL = lpn.load("pcie")
model = MODEL.module
topologies = sys.modules[model.__name__.rpartition(".")[0] + ".topology"]
rates = sys.modules[model.__name__.rpartition(".")[0] + ".rates"]
DEMO = ROOT / "models" / "pcie" / "demo" / "nic_and_disk.toml"

Device, Jobs, Link, Topology = (
    topologies.Device,
    topologies.Jobs,
    topologies.Link,
    topologies.Topology,
)


def one(jobs, device=None, **about):
    """The latency (ps) of jobs at a link of generation 3 with 8 lanes."""
    link = {k: about.pop(k) for k in ("latency", "credits") if k in about}
    topology = Topology(
        links={"link": Link(**link)},
        devices={"device": replace(device or Device("link"), jobs=tuple(jobs))},
        **about,
    )
    net = model.net_of(topology)
    run = lpn.simulate(net, model.workload(topology, net))
    assert not run.stalled
    return run.latency


def wire(*packets):
    """ps of packets of so many bytes, header included."""
    speed = rates.byte_fs(3, 8, 256)
    return sum((n * speed + 500) // 1000 for n in packets)


def test_a_write_is_cut_at_the_payload_and_padded_to_words():
    assert one([Jobs("write", 257)], write=40_000) == wire(24 + 256, 24 + 4) + 40_000


def test_a_write_is_cut_at_multiples_of_the_payload():
    assert one([Jobs("write", 256, address=252)]) == wire(24 + 4, 24 + 252)


def test_a_read_goes_there_and_comes_back_in_pieces_of_the_completion_boundary():
    expected = 60 + wire(24) / 1000 + 90 + wire(20 + 32, 20 + 64, 20 + 4) / 1000 + 60
    ended = one([Jobs("read", 100, address=32)], latency=60_000, read=90_000)
    assert ended == expected * 1000


def test_reads_in_flight_are_limited():
    """With one outstanding request each read waits for the one before it."""
    alone = one([Jobs("read", 64)], latency=60_000)
    jobs = [Jobs("read", 64, count=10)]
    assert one(jobs, Device("link", outstanding=1), latency=60_000) == 10 * alone
    assert one(jobs, Device("link", outstanding=10), latency=60_000) < 2 * alone


def test_writes_wait_for_the_receivers_credits():
    """One packet at a time: each waits until the credit of the one before has come back."""
    link = {"latency": 60_000, "credits": (("posted", 1, 16),)}
    alone = wire(24 + 64) + 60_000 + 40_000
    back = 60_000
    ended = one([Jobs("write", 64, count=5)], write=40_000, **link)
    assert ended == 5 * alone + 4 * back


def test_data_credits_are_units_of_16_bytes():
    link = {"latency": 60_000, "credits": (("posted", 64, 16),)}
    jobs = [Jobs("write", 64, count=4)]
    apart = one(jobs, write=40_000, **{**link, "credits": (("posted", 64, 3 + 13),)})
    assert apart == one(jobs, write=40_000, latency=60_000)  # 4 packets of 4 units fit
    assert one([Jobs("write", 128, count=4)], write=40_000, **link) > 2 * 160_000


def test_a_write_passes_reads_that_are_held_up():
    link = {"latency": 60_000, "credits": (("nonposted", 1, 16),)}
    jobs = [Jobs("read", 64, count=3), Jobs("write", 64, count=1)]
    topology = Topology(
        links={"link": Link(**link)},
        devices={"device": Device("link", queue=4, jobs=tuple(jobs))},
        read=500_000,
    )
    net = model.net_of(topology)
    done = lpn.runs.prepare(net, model.workload(topology, net)).run(collect=["done"])
    wrote = done.collected["done"][0][1::3]
    assert list(wrote) == [1, 0, 0, 0]


def test_a_parameter_is_set_for_one_run_alone():
    """Nets are kept from one call to the next."""
    slower = MODEL.net_of(DEMO, **{"root.read": 500_000})
    assert slower.bound == {"root.read": 500_000}
    assert MODEL.net_of(DEMO).bound == {}


def test_an_answer_waits_for_no_compiler(tmp_path, monkeypatch):
    """It took 10 s for a run of 30 ms."""
    monkeypatch.setenv("LPN_CACHE", str(tmp_path))
    assert model.answer(DEMO)["transfers"]
    assert not list(tmp_path.glob("*.so"))


def test_devices_behind_a_switch_share_its_link_and_get_their_own_data():
    answer = model.answer(DEMO)
    rows = {(r["device"], r["kind"]): r for r in answer["transfers"]}
    assert rows["nic", "write"]["transfers"] == rows["nic", "read"]["transfers"] == 200
    assert rows["disk", "read"]["bytes"] == 50 * 4096
    limit = float(rates.tlp_gbps(3, 4, 256)) * 64 / 84  # completions of 64 bytes and 20 of header
    assert 0.9 * limit < rows["disk", "read"]["gbps"] < limit


def test_the_specifications_tables_come_out_of_their_rule():
    limits = {
        (1, 1, 128): 237,
        (1, 4, 256): 118,
        (1, 8, 128): 67,
        (1, 8, 512): 86,
        (2, 16, 256): 123,
        (3, 1, 4096): 4239,
        (4, 8, 256): 203,
        (5, 32, 1024): 180,
    }
    assert {key: rates._limit(*key) for key in limits} == limits


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("lanes = 8", "lanes = 3", "links.slot.lanes must be one of 1, 2, 4, 8, 16, 32, got 3"),
        ("generation = 4", "generation = 6", "links.slot.generation must be one of 1, 2, 3, 4, 5"),
        ('parent = "riser"', 'parent = "rider"', "hangs on 'rider', which is neither root nor"),
        ('parent = "riser"', "", "no link hangs on switch 'riser'"),
        ('link = "slot"', 'link = "slit"', "switch 'riser' is at link 'slit', which is not there"),
        ('link = "to_disk"', 'link = "to_nic"', "device 'nic' and device 'disk' are at one link"),
        ("read_ns = 90", "read_ns = nan", "root.read_ns must be 0 to 1e9 nanoseconds, got nan"),
        ("read_ns = 90", "reed_ns = 90", "root has an unknown 'reed_ns'; known: read_ns"),
        ("size = 4096, ", "", "devices.disk.jobs[0] has no 'size'"),
        ("size = 4096", "size = 0", "devices.disk.jobs[0].size must be a whole number 1.."),
        ("posted = [64, 512]", "posted = [64, 15]", "15 units are 240 bytes, less than one posted"),
        ("[root]", "[root", "is not TOML"),
        ("[root]", "[rooot]", "the file has an unknown 'rooot'"),
    ],
)
def test_a_wrong_topology_is_refused(tmp_path, old, new, says):
    text = DEMO.read_text()
    assert old in text
    text = text.replace(old, new, -1 if not new else 1)
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(lpn.Error) as error:
        model.net_of(path)
    assert error.value.code == "E-pcie-topology" and says in str(error.value)


def refused(tmp_path, text):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(lpn.Error) as error:
        model.net_of(path)
    assert error.value.code == "E-pcie-topology"
    return str(error.value)


WIRE = "generation = 3\nlanes = 4\n"


def test_links_in_a_circle_are_refused(tmp_path):
    said = refused(
        tmp_path,
        f"[links.a]\nparent = 'low'\n{WIRE}[links.b]\nparent = 'high'\n{WIRE}[links.c]\nparent = 'low'\n"
        f"{WIRE}[switches.high]\nlink = 'a'\n[switches.low]\nlink = 'b'\n[devices.d]\nlink = 'c'\n",
    )
    assert "wrong.toml: links a, b, a go round in a circle" in said


@pytest.mark.parametrize("name", ["root", "a.b", "", "1", "a\\u0000", "a" * 65])
def test_names_that_would_not_do_are_refused(tmp_path, name):
    said = refused(tmp_path, f"[links.'l']\n{WIRE}[devices.\"{name}\"]\nlink = 'l'\n")
    assert "must be named by a letter and up to 63 letters, digits and _, and not 'root'" in said


def test_a_switch_and_a_device_of_one_name_are_refused(tmp_path):
    said = refused(
        tmp_path,
        f"[links.a]\n{WIRE}[links.b]\nparent = 'a'\n{WIRE}[switches.a]\n[devices.a]\nlink = 'b'\n",
    )
    assert "'a' is a switch and a device; choose another name" in said


def test_more_than_can_be_numbered_is_refused(tmp_path):
    chain = f"[links.l0]\n{WIRE}[switches.l0]\n"
    for k in range(1, 1001):
        chain += f"[links.l{k}]\nparent = 'l{k - 1}'\n{WIRE}"
        chain += f"[switches.l{k}]\n" if k < 1000 else f"[devices.d]\nlink = 'l{k}'\n"
    assert "there are 1 devices and 1001 links; at most 256 and 1000" in refused(tmp_path, chain)


def test_a_switch_may_bear_the_name_of_its_link(tmp_path):
    """As the file's page says; it ended in E-duplicate."""
    text = (
        f"[links.middle]\n{WIRE}[switches.middle]\nlatency_ns = 10\n"
        f"[links.nic]\nparent = 'middle'\n{WIRE}[devices.nic]\nlink = 'nic'\n"
        "jobs = [{kind = 'write', size = 100}]\n"
    )
    path = tmp_path / "same.toml"
    path.write_text(text)
    net = model.net_of(path)
    run = lpn.simulate(net, model.workload(path, net), engine="interp")
    speed = rates.byte_fs(3, 4, 256)
    assert run.latency == 2 * ((124 * speed + 500) // 1000) + 10_000


def test_completions_larger_than_a_packet_are_refused(tmp_path):
    """They were sent as packets of 4096 bytes over links whose largest is 256."""
    text = DEMO.read_text().replace("completions = 64", "completions = 4096")
    assert (
        "root.completions is 4096 bytes, more than a packet carries (max_payload 256)"
        in refused(tmp_path, text)
    )
    with pytest.raises(lpn.Error, match="more than a packet carries"):
        model.net(max_payload=128, completions=256)
    with pytest.raises(lpn.Error, match="root.completions is 512"):
        Topology(max_payload=256, chunk=512)
    path = tmp_path / "payload.toml"
    path.write_text(text.replace("4096", '"payload"', 1))
    topology = topologies.read(path)
    net = model.net_of(topology)
    with pytest.raises(lpn.Error, match="root.completions"):
        lpn.simulate(net, model.workload(topology, net), {"root.completions": 512})


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("generation", 6, "links.link.generation must be one of 1, 2, 3, 4, 5, got 6"),
        ("lanes", 3, "links.link.lanes must be one of 1, 2, 4, 8, 16, 32, got 3"),
        ("max_payload", 200, "max_payload must be one of 128, 256, 512, 1024, 2048, 4096, got 200"),
        (
            "max_read",
            300,
            "device.max_read must be one of 128, 256, 512, 1024, 2048, 4096, got 300",
        ),
        (
            "completions",
            100,
            "root.completions must be one of 64, 128, 256, 512, 1024, 2048, 4096, got",
        ),
    ],
)
def test_what_no_link_has_is_refused_of_the_one_link_too(name, value, said):
    """A KeyError, or the times of packets that cross 4 KiB."""
    with pytest.raises(lpn.Error, match=said) as refused:
        model.net(**{name: value})
    assert refused.value.code == "E-pcie-topology"


@pytest.mark.parametrize("name, value", [("nic.max_read", 300), ("root.completions", 100)])
def test_a_parameter_is_set_to_what_a_file_may_say(name, value):
    loaded = lpn.load("pcie")
    with pytest.raises(lpn.Error, match=f"{name} must be one of .*, got {value}") as refused:
        loaded.workload(DEMO, loaded.net_of(DEMO, **{name: value}))
    assert refused.value.code == "E-param"
    assert loaded.workload(DEMO, loaded.net_of(DEMO, **{name: 256}))


def test_the_largest_payload_is_no_parameter_of_a_net():
    """Rates of links follow from it, which stayed as they were where it alone was set."""
    net = model.net_of(DEMO)
    assert "root.completions" in net.params and "max_payload" not in net.params


ROWS = "gen,lanes,mps,mrrs,rcb,rcb_chunks,size_bytes,write_eff_gbps,read_eff_gbps,rw_rx_eff_gbps"


@pytest.mark.parametrize(
    "row, said",
    [
        ("gen1,x1,128,512,64,0,64,nan,1,1", "row 2: a bandwidth must be a number above 0, got nan"),
        ("gen1,x1,128,512,64,0,64,1,0,1", "row 2: a bandwidth must be a number above 0, got 0"),
        ("gen1,x1,128,512,64,0,64,1,-1,1", "row 2: a bandwidth must be a number above 0, got -1"),
        ("gen1,x1,128,512,64,0,64,1,1", "row 2: there is no value of rw_rx_eff_gbps"),
        ("gen1,x1,128,512,64,0,64,1,1,1,1", "row 2: the row has more cells than the header, 10"),
        ("gen1,x1,128,300,64,0,64,1,1,1", "row 2: rcb_chunks 0, mrrs 300"),
        ("gen1,x1,128,512,96,1,64,1,1,1", "row 2: rcb 96"),
        ("gen1,x1,128,512,64,2,64,1,1,1", "row 2: rcb_chunks 2, mrrs 512"),
        ("gen1,x1,128,512,64,0,6_4,1,1,1", "row 2: '6_4' is no whole number of decimal digits"),
    ],
)
def test_rows_of_bandwidths_that_are_damaged(tmp_path, row, said):
    """A bandwidth that is no number counted as measured, a request size of no device as one."""
    path = tmp_path / "rows.csv"
    path.write_text(f"{ROWS}\n{row}\n")
    with pytest.raises(lpn.Error) as refused:
        list(lpn.load("pcie").module.truth_rows(path))
    assert refused.value.code == "E-truth-file" and said in str(refused.value)
    assert "\n" not in str(refused.value)  # no line of the model's, which is not the user's
