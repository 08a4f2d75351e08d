"""Systems behind a PCI Express topology: times worked out by hand, traffic beside, what is refused."""

import re

import lpn
import pytest
from conftest import ROOT, UNIT
from test_system import FILE

lpn.load("system")

from models.pcie import rates  # noqa: E402

BOARD = FILE.replace(
    "[link]\nlatency_ns = 100\n", '[link]\ntopology = "tree.toml"\ndevice = "unit"\n'
)
TREE = """
max_payload = 256
[root]
read_ns = 9
write_ns = 4
completions = 64
[links.slot]
generation = 3
lanes = 8
latency_ns = 60
[switches.riser]
link = "slot"
latency_ns = 110
[links.to_unit]
parent = "riser"
generation = 3
lanes = 4
latency_ns = 30
[devices.unit]
link = "to_unit"
[links.to_nic]
parent = "riser"
generation = 3
lanes = 4
latency_ns = 30
[devices.nic]
link = "to_nic"
JOBS
"""
QUIET = TREE.replace("JOBS\n", "")


def ran(folder, board=BOARD, tree=QUIET, sizes="64", engine="interp", trace=False, **settings):
    """(ns or None, the run)"""
    (folder / "unit.py").write_text(UNIT)
    (folder / "sizes").write_text(sizes)
    (folder / "tree.toml").write_text(tree)
    (folder / "board.toml").write_text(board)
    model = lpn.load(str(folder / "board.toml"))
    net = model.net(**settings)
    run = lpn.simulate(net, model.workload(folder / "sizes", net), engine=engine, trace=trace)
    answer = model.module.answer_of_run(run)
    return answer and answer["ns"], run


def hop(bytes):
    """ns of a packet of so many bytes over both links and the switch."""
    wires = [(bytes * rates.byte_fs(3, lanes, 256) + 500) // 1000 for lanes in (8, 4)]
    return 60 + 110 + 30 + sum(wires) / 1000


WAY = 60 + 110 + 30
TOLD = 2 + hop(24 + 4) + 4 + 7  # a cycle, the packet, the root complex, the handler


def edge(ns):
    """The next edge of the accelerator's clock, of 2 ns."""
    return -(-ns // 2) * 2


def test_one_block_by_hand(tmp_path):
    rung = 30 + hop(24 + 4) + 2
    read = 2 + hop(24) + 9 + 5 + 11 + hop(20 + 64) + 8 * 2
    there = edge(rung + read) + 20
    written = there + hop(24 + 64) + 4 + 5 + 11 + WAY
    ns, run = ran(tmp_path)
    assert not run.stalled
    assert ns == pytest.approx(written + TOLD, abs=1e-6)


def test_polls_go_there_and_come_back(tmp_path):
    """A register is read every time that the one before is known. (With an answer after 50 ns no poll
    meets data on a link.)
    """
    board = BOARD.replace('wait = "interrupt"\ninterrupt_ns = 7\n', "").replace("= 20", "= 50")
    told = ran(tmp_path)[0] - TOLD + 2  # the device is idle
    poll = hop(24) + 2 + hop(20 + 4) + 50
    arrives = 30 + 50 + 30 + hop(24)
    while arrives < told:
        arrives += poll + 30
    assert ran(tmp_path, board)[0] == pytest.approx(arrives + 2 + hop(24) + 50, abs=1e-6)


def test_a_read_of_many_completions_is_there_with_the_last(tmp_path):
    board = BOARD.replace("bytes = 64\nbytes_per_cycle = 8", "bytes = 256\nbytes_per_cycle = 8")
    tree = QUIET.replace("completions = 64", 'completions = "payload"')
    one = ran(tmp_path, board, tree, sizes="256")[0]
    four = ran(tmp_path, board, sizes="256")[0]
    # Three headers more, and three of four packets overlap between the two links.
    slow = rates.byte_fs(3, 4, 256) / 1e6
    quick = rates.byte_fs(3, 8, 256) / 1e6
    assert one - four == pytest.approx((276 - 84) * quick + (276 - 4 * 84) * slow, abs=2.1)


@pytest.mark.parametrize("generation, lanes", [(1, 1), (3, 4), (5, 16)])
def test_one_link_is_the_same_with_and_without_a_topology(tmp_path, generation, lanes):
    """Writes, reads and completions of the payload's size, which take turns by the same rule."""
    tree = (
        'max_payload = 256\n[root]\ncompletions = "payload"\n'
        f"[links.slot]\ngeneration = {generation}\nlanes = {lanes}\nlatency_ns = 100\n"
        '[devices.unit]\nlink = "slot"\n'
    )
    link = f"generation = {generation}\nlanes = {lanes}\nlatency_ns = 100\n"
    sizes = "1024 " * 20
    one = ran(tmp_path, tree=tree, sizes=sizes)[0]
    other = ran(tmp_path, BOARD.replace(ONLY, link), tree, sizes=sizes)[0]
    assert one == other


def test_an_interrupt_passes_no_write_on_one_link_either(tmp_path):
    """It went first wherever it waited with writes: the driver knew before they had left."""
    tree = (
        'max_payload = 256\n[root]\ncompletions = "payload"\n'
        '[links.slot]\ngeneration = 1\nlanes = 1\nlatency_ns = 100\n[devices.unit]\nlink = "slot"\n'
    )
    board = BOARD + '[device]\ndone = "accepted"\n'
    link = "generation = 1\nlanes = 1\nlatency_ns = 100\n"
    sizes = "0 " * 30
    one = ran(tmp_path, board, tree, sizes)[0]
    assert one == ran(tmp_path, board.replace(ONLY, link), tree, sizes)[0]


def test_engines_agree(tmp_path):
    tree = TREE.replace("JOBS", 'jobs = [{kind = "both", size = 700, count = 20}]')
    found = [ran(tmp_path, tree=tree, sizes="64 300 1", engine=e) for e in ("interp", "compiled")]
    assert found[0][1].latency == found[1][1].latency
    assert found[0][1].commits == found[1][1].commits


def test_what_other_devices_transfer_takes_its_share(tmp_path):
    """The card's reads fill the link that it shares with the accelerator."""
    alone = ran(tmp_path, sizes="4096 " * 8)[0]
    jobs = 'jobs = [{kind = "read", size = 4096, count = 200}]'
    beside, run = ran(tmp_path, tree=TREE.replace("JOBS", jobs), sizes="4096 " * 8)
    assert beside > 1.1 * alone
    names = {t.name for t in run.net.core.transitions}
    assert {"link.nic.receive", "link.root.slot.read"} <= names


def test_credits_hold_writes_up(tmp_path):
    """One posted packet at a time: the credit of each comes back before the next one goes."""
    few = QUIET.replace("latency_ns = 30\n[devices.unit]", "latency_ns = 30\n"
                        "credits = {posted = [1, 16]}\n[devices.unit]")  # fmt: skip
    assert few != QUIET
    sizes = "0 0 0 0 0 0"
    many, one = (ran(tmp_path, tree=t, sizes=sizes)[0] for t in (QUIET, few))
    # Each of five waits for a wire, a way of 30, the switch of 110 and a way of 30 of the one before it,
    # which the 20 ns of the accelerator's work hide in part.
    assert one - many > 5 * (30 + 110 + 30 - 20)


def test_the_interrupt_comes_behind_the_writes(tmp_path):
    """Also where the device has ended when its writes have left, and one lane holds them up."""
    board = BOARD + '[device]\ndone = "accepted"\n'
    tree = QUIET.replace("lanes = 4\nlatency_ns = 30\n[devices.unit]",
                         "lanes = 1\nlatency_ns = 30\n[devices.unit]")  # fmt: skip
    assert tree != QUIET
    _, run = ran(tmp_path, board, tree, sizes="0 " * 30, trace=True)
    names = list(run.net.transitions)
    at = {}
    for commit in run.trace:
        at.setdefault(names[commit.transition], []).append(commit.time)
    written, (told,) = at["link.up.write.leave"], at["link.up.interrupt.leave"]
    assert len(written) == 30 and told > written[-1] > at["device.finish"][0] + 1000


def test_a_dram_behind_a_topology(tmp_path):
    board = re.sub(r"hit_ns.*", 'model = "dram"\nclock_mhz = 1600\n', BOARD, flags=re.S)
    ns, run = ran(tmp_path, board, sizes="64 64")
    assert not run.stalled and ns > 30 + 5 * WAY


def test_the_decoder_behind_a_topology(tmp_path):
    """Rows of pixels go as four packets each, and arrive as one run."""
    image = ROOT / "models" / "jpeg" / "demo" / "grad_16x16_q90_420.jpg"
    text = (ROOT / "models" / "system" / "demo" / "jpeg_pcie.toml").read_text()
    link = re.search(r"\[link\].*?\n\n", text, re.S).group()
    said = '[link]\ntopology = "tree.toml"\ndevice = "unit"\n\n'
    (tmp_path / "tree.toml").write_text(QUIET)
    times = {}
    for size in (4, 16):
        (tmp_path / "jpeg.toml").write_text(
            text.replace(link, said).replace("bytes = 16\n", f"bytes = {size}\n")
        )
        model = lpn.load(str(tmp_path / "jpeg.toml"))
        net = model.net()
        run = lpn.simulate(net, model.workload(image, net), engine="interp")
        assert not run.stalled
        times[size] = model.module.answer_of_run(run)["ns"]
    assert times[4] > times[16] > 2 * WAY + 1300 * 2


def test_the_decoder_beside_a_network_card(tmp_path):
    """The demo: its 200 packets each way cost the decoder time."""
    image = ROOT / "models" / "jpeg" / "demo" / "grad_16x16_q90_420.jpg"
    demo = ROOT / "models" / "system" / "demo"
    times = []
    for jobs in (True, False):
        tree = (demo / "tree.toml").read_text()
        if not jobs:
            tree = re.sub("jobs = .*", "", tree)
        (tmp_path / "tree.toml").write_text(tree)
        (tmp_path / "jpeg.toml").write_text((demo / "jpeg_tree.toml").read_text())
        model = lpn.load(str(tmp_path / "jpeg.toml"))
        net = model.net()
        run = lpn.simulate(net, model.workload(image, net), engine="interp")
        times.append(model.module.answer_of_run(run)["ns"])
    assert times[0] > times[1] > 2 * (60 + 110 + 30) + 1300 * 2


ONLY = 'topology = "tree.toml"\ndevice = "unit"\n'


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('device = "unit"\n', "", "link.device names the accelerator among the devices of tree.toml, "
         "unit, nic; it is left out"),
        ('"unit"\n', '"disk"\n', "among the devices of tree.toml, unit, nic; got 'disk'"),
        (ONLY, 'device = "unit"\n', "link.device is a device of link.topology, which is not there"),
        (ONLY, ONLY + "lanes = 4\n", "link.lanes is of a link without a topology; tree.toml says it: "
         "leave it out"),
        (ONLY, ONLY + "latency_ns = 4\n", "link.latency_ns is of a link without a topology; tree.t"),
        ("bytes = 64\nb", "bytes = 1024\nb", "reads.bytes is 1024, more than max_read of device 'unit' "
         "in tree.toml, 512: a request is one packet"),
        ("bytes = 64\nb", "bytes = 96\nb", "reads.bytes is 96, neither a multiple nor a divisor of the 64 "
         "bytes at whose multiples completions end (tree.toml, root.completions)"),
        ("[link]", "[writes]\nbytes = 512\n[link]", "writes.bytes is 512, more than max_payload of "
         "tree.toml, 256: a write is one packet"),
        ("outputs = {out = 64}\n", 'round_trips = {wait = "read"}\n', "leave out link.topology"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(tmp_path, old, new, said):
    assert old in BOARD
    with pytest.raises(lpn.Error) as refused:
        unit = UNIT.replace("blocks = net.place", 'net.param("wait", 3)\n    blocks = net.place')
        (tmp_path / "unit.py").write_text(unit)
        (tmp_path / "tree.toml").write_text(QUIET)
        (tmp_path / "board.toml").write_text(BOARD.replace(old, new, 1))
        lpn.load(str(tmp_path / "board.toml")).net()
    assert refused.value.code == "E-system-file"
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("[devices.unit]\n", '[devices.unit]\njobs = [{kind = "read", size = 1}]\n',
         "device 'unit' of tree.toml is the accelerator and has jobs; it transfers what [reads] and "
         "[writes] say: leave jobs out, or name another device"),
        ("[devices.unit]\n", "[devices.unit]\noutstanding = 4\n", "device 'unit' of tree.toml is the "
         "accelerator and has 'outstanding', which [reads] and [writes] say: leave it out"),
    ],
)  # fmt: skip
def test_what_the_topology_may_not_say(tmp_path, old, new, said):
    with pytest.raises(lpn.Error) as refused:
        ran(tmp_path, tree=QUIET.replace(old, new, 1))
    assert refused.value.code == "E-system-file"
    assert said in str(refused.value)


def test_a_topology_has_no_generation_to_be_set(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        ran(tmp_path, generation=4)
    assert "board: link.generation is of a link without a topology; tree.toml says it" in str(
        refused.value
    )


def test_a_topology_that_is_none(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        ran(
            tmp_path,
            tree=QUIET.replace('parent = "riser"\n', "", 1).replace("lanes = 8", "lanes = 3"),
        )
    assert refused.value.code == "E-pcie-topology" and "tree.toml: links.slot.lanes" in str(
        refused.value
    )
    with pytest.raises(lpn.Error) as refused:
        ran(tmp_path, BOARD.replace("tree.toml", "none.toml"))
    assert refused.value.code == "E-input" and "none.toml" in str(refused.value)
    with pytest.raises(lpn.Error) as refused:
        ran(tmp_path, BOARD.replace("tree.toml", "a\\u0000b"))
    assert refused.value.code == "E-input" and "not a path" in str(refused.value)
