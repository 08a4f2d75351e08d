"""Systems whose memory is a DRAM controller: when its reads are answered, and what is refused."""

import itertools

import lpn
import pytest
from conftest import UNIT
from lpn.runs import prepare

dram = lpn.load("dram").module

from models.dram.trace import Trace  # noqa: E402

FILE = """
model = "system"
[accelerator]
model = "unit.py"
clock_mhz = 500
inputs = {blocks = "bytes"}
OUTPUTS
finished = {out = "blocks"}
[reads]
bytes = 64
bytes_per_cycle = 64
[writes]
bytes = 64
[link]
generation = 4
lanes = 16
latency_ns = 100
[host]
wait = "interrupt"
[memory]
hit_ns = 20
model = "dram"
part = "PART"
clock_mhz = 1600
"""
CHANNELS = """base = "controllers/BASE"
[controller]
channels = 2
address = [["column", 7], ["channel", 1], ["bank_group", 2], ["bank", 2], ["rank", 1], ["row", 16]]
"""
# Neighbouring blocks are in other banks.
BANKS = """base = "controllers/ddr4"
[controller]
address = [["bank_group", 2], ["bank", 2], ["column", 7], ["rank", 1], ["row", 16]]
"""


def system(folder, part="ddr4", outputs="outputs = {out = 1024}", **changed):
    (folder / "unit.py").write_text(UNIT)
    text = FILE.replace("PART", part).replace("OUTPUTS", outputs)
    if not outputs:
        text = text.replace("[writes]\nbytes = 64\n", "")
    for old, new in changed.items():
        text = text.replace(f"{old} = ", f"{old} = {new} # ")
    file = folder / "board.toml"
    file.write_text(text)
    return lpn.load(str(file))


def simulated(model, folder, blocks, **settings):
    (folder / "blocks.txt").write_text(" ".join(map(str, blocks)))
    net = model.net(**settings)
    marking = model.workload(str(folder / "blocks.txt"), net)
    return net, lpn.simulate(net, marking, engine="interp", trace=True)


@pytest.mark.parametrize("outstanding", [16, 40, 100])
def test_reads_are_answered_as_the_controller_answers_a_trace(tmp_path, outstanding):
    """And in the order in which they were asked for: blocks are data from the first one on. A quarter of a
    cycle is 625 ticks of 250 fs.
    """
    (tmp_path / "part.toml").write_text(BANKS)
    model = system(tmp_path, "part.toml", outputs="", hit_ns=0)
    net, run = simulated(model, tmp_path, [1024] * 8, outstanding_reads=outstanding)
    names = list(net.transitions)

    def commits(*which):
        return sorted(c.time for c in run.trace if names[c.transition] in which)

    asked = [-(-t // 625) // 4 for t in commits("memory.find_read")]
    part = str(tmp_path / "part.toml")
    trace = Trace("reads", part, asked, list(range(128)), [False] * 128)
    made = dram.net_of(trace)
    _, _, done = trace.times(prepare(made, trace.marking(made), engine="interp"))
    assert len(asked) == 128 and run.ending == "done"
    assert [t // 2500 for t in commits("memory.read")] == list(itertools.accumulate(done, max))
    assert list(done) != sorted(done)


def test_the_time_in_front_of_the_controller_is_the_parameters_of_the_file(tmp_path):
    blocks = [4096] * 4
    net, slow = simulated(system(tmp_path, hit_ns=40), tmp_path, blocks)
    ticks = net.params["memory.hit"]
    settings = {"memory.hit": ticks}
    assert simulated(system(tmp_path), tmp_path, blocks, **settings)[1].latency == slow.latency
    assert simulated(system(tmp_path), tmp_path, blocks)[1].latency < slow.latency


def test_reads_at_once_are_a_parameter(tmp_path):
    blocks, times = [4096] * 4, []
    for text, settings in ("17", {}), ("16", {"reads.outstanding": 17}), ("16", {}):
        system(tmp_path, outputs="")
        file = tmp_path / "board.toml"
        file.write_text(
            file.read_text().replace("[reads]\n", f"[reads]\noutstanding = {text}\nbuffer = 8192\n")
        )
        net, run = simulated(lpn.load(str(file)), tmp_path, blocks, **settings)
        times.append(run.latency)
    assert times[0] == times[1] < times[2]


def test_output_begins_within_a_small_memory(tmp_path):
    """2^13 rows of 128 columns of 64 bytes, and four banks: 256 MB."""
    (tmp_path / "small.toml").write_text(
        'base = "controllers/ddr4"\n[organisations]\nfull = { rank = 1, bank_group = 2, bank = 2 }\n'
        '[controller]\naddress = [["column", 7], ["bank_group", 1], ["bank", 1], ["rank", 0], ["row", 13]]\n'
    )
    _, run = simulated(system(tmp_path, "small.toml"), tmp_path, [1024] * 4)
    assert run.ending == "done"


def test_a_device_that_only_writes(tmp_path):
    system(tmp_path)
    file = tmp_path / "board.toml"
    text = file.read_text().replace("[reads]\nbytes = 64\nbytes_per_cycle = 64\n", "")
    file.write_text(text.replace('blocks = "bytes"', "blocks = 0"))
    net, run = simulated(lpn.load(str(file)), tmp_path, [1024] * 3)
    assert run.ending == "done"
    names = list(net.transitions)
    asked = sum(names[c.transition] == "memory.find_write" for c in run.trace)
    assert asked == 3 * 1024 // 64


def test_what_is_slow_is_slow(tmp_path):
    """Pages that close and one channel cost time where the memory is what everybody waits for."""
    times = {}
    for base in ("ddr4", "ddr4close"):
        (tmp_path / f"{base}.toml").write_text(CHANNELS.replace("BASE", base))
        for part in (base, f"{base}.toml"):
            model = system(tmp_path, part)
            _, run = simulated(model, tmp_path, [4096] * 4, outstanding_reads=128)
            times[part] = model.module.answer_of_run(run)["ns"]
    assert times["ddr4close.toml"] < times["ddr4close"]
    assert times["ddr4.toml"] <= times["ddr4"] <= times["ddr4close"]


def test_accesses_under_way_in_the_controllers_are_as_many_as_the_file_says(tmp_path):
    """Others wait in front of them; 64 where it says nothing."""
    times = []
    for many in (None, 64, 1):
        (tmp_path / "part.toml").write_text(CHANNELS.replace("BASE", "ddr4close"))
        model = system(tmp_path, "part.toml")
        if many:
            file = tmp_path / "board.toml"
            file.write_text(f"{file.read_text()}outstanding = {many}\n")
            model = lpn.load(str(file))
        _, run = simulated(model, tmp_path, [4096] * 4, outstanding_reads=128)
        times.append(model.module.answer_of_run(run)["ns"])
    assert times[0] == times[1] < times[2]


def test_a_part_that_is_written_again_is_read_again(tmp_path):
    nets = []
    for channels in (2, 1):
        text = CHANNELS.replace("BASE", "ddr4")
        if channels == 1:
            text = text.replace("channels = 2", "channels = 1").replace('["channel", 1], ', "")
        (tmp_path / "part.toml").write_text(text)
        nets.append(system(tmp_path, "part.toml").net())
    assert len(nets[0].transitions) > len(nets[1].transitions) + 200


def refusal(folder, text, **changed):
    with pytest.raises(lpn.Error) as refused:
        model = system(folder, **changed)
        model.net()
    assert refused.value.code == "E-system-file"
    assert text in str(refused.value)


def test_what_a_controller_says_itself_is_refused(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        system(tmp_path).net(open_page=0)
    assert refused.value.code == "E-system-file"
    assert (
        'board: memory.page is of memory.model = "latency"; with "dram" the part says it, see '
        "memory.part: leave it out"
    ) in str(refused.value)


def test_what_is_refused(tmp_path):
    refusal(
        tmp_path,
        "memory.part: controller 'ddr9' is not modelled; there are ddr3, ddr4, ddr4close, gddr5, gddr6, ",
        part="ddr9",
    )
    (tmp_path / "board.toml").write_text(
        'model = "system"\n[accelerator]\nmodel = "jpeg"\n[memory]\nmodel = "dram"\n'
    )
    with pytest.raises(lpn.Error) as refused:
        lpn.load(str(tmp_path / "board.toml")).net()
    assert (
        'board: memory.model = "dram" needs the address of each write; of the JPEG decoder\'s rows '
        "of pixels only the level of the memory is known: leave out memory.model"
    ) in str(refused.value)
    (tmp_path / "board.toml").write_text(
        'model = "system"\n[accelerator]\nmodel = "vta"\n'
        'round_trips = {read_latency = "read"}\n[memory]\nmodel = "dram"\n'
    )
    with pytest.raises(lpn.Error) as refused:
        lpn.load(str(tmp_path / "board.toml")).net()
    assert (
        'accelerator.round_trips is a fixed latency, which memory.model = "dram" has not; leave '
        "out memory.model, or join the net by accelerator.ports"
    ) in str(refused.value)
