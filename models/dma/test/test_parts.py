"""The parts on their own and joined, with times derived by hand from the RTL."""

from pathlib import Path

import pytest

lpn = pytest.importorskip("lpn")
pytest.importorskip("lpn.runs")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MODEL = lpn.load("dma")

from models.dma import parts  # noqa: E402  (lpn.load has made them importable)


def times(run, place):
    return list(run.collected[place][1])


def run_of(net, marking=None, *seen):
    from lpn.runs import prepare

    ready = prepare(net, marking)
    return ready.run(collect=[f"{name}.seen" for name in seen])


def copier(length, addr=0, write_addr=0, memory=None, **bus):
    """A copy from idle: (net, its port)."""
    net = lpn.Net("copy")
    desc, port = parts.Channel(net, "desc", parts.Copy), parts.Port(net, "m")
    done = net.place("done", done=True, sink=True)
    parts.axi_cdma(net, "cdma", desc, port, done, **{"width": 4, "max_burst": 16, **bus})
    (memory or (lambda net, port: parts.axi_ram(net, "ram", port)))(net, port)
    given = {"read_addr": addr, "write_addr": write_addr, "len": length}
    first = net.place("first", parts.Copy, init=[given])
    net.transition("give", take={"t": first}, put=[desc.offer.forward("t")])
    return net


def test_one_word_through_axi_cdma_clock_by_clock():
    """Accepted in 0: AR and AW in 3, R in 5 (axi_ram), FIFO and register: W in 7, B in 8, status 9."""
    run = run_of(copier(4), None, "m.ar", "m.aw", "m.r", "m.w", "m.b")
    seen = [times(run, f"m.{channel}.seen") for channel in ("ar", "aw", "r", "w", "b")]
    assert seen == [[3], [3], [5], [7], [8]]
    assert run.latency == 9 and not run.stalled


@pytest.mark.parametrize("beats", [1, 2, 16, 17, 32, 40, 64])
def test_an_aligned_copy_takes_its_beats_and_a_clock_per_burst(beats):
    bursts = -(-beats // 16)
    assert run_of(copier(4 * beats)).latency == beats + bursts + 7


def test_bursts_end_at_4_kib_on_both_sides():
    run = run_of(copier(64, addr=4096 - 8, write_addr=2 * 4096 - 16), None, "m.ar", "m.aw")
    beats = {name: list(run.collected[f"m.{name}.seen"][0][1::3]) for name in ("ar", "aw")}
    # Written in 4 + 12 words; the first four are read in 2 + 2, the others at once.
    assert beats == {"ar": [2, 2, 12], "aw": [4, 12]}


def test_a_copy_through_an_idle_crossbar_is_slower_by_the_crossbar_s_clocks():
    """AR 3 clocks to the target; R 2 back; W 1, B 2: a word's copy takes 17 in place of 9."""

    def memory(net, port):
        near, far = parts.axi_crossbar(net, "xbar", [port], 2)
        parts.axi_ram(net, "near", near)
        parts.delay_memory(net, "far", far, 5)

    run = run_of(copier(4, memory=memory), None, "m.ar", "xbar.t0.ar", "m.r", "m.w", "m.b")
    seen = [times(run, f"{name}.seen")[0] for name in ("m.ar", "xbar.t0.ar", "m.r", "m.w", "m.b")]
    assert seen == [6, 6, 10, 12, 16]
    assert run.latency == 17


def test_a_copy_through_a_fifo_is_slower_by_its_registers():
    """R and W three clocks each; AR, AW and B pass."""

    def memory(net, port):
        parts.axi_ram(net, "ram", parts.axi_fifo(net, "fifo", port))

    run = run_of(copier(4, memory=memory), None, "m.ar", "m.r", "m.w", "m.b")
    seen = [times(run, f"{name}.seen")[0] for name in ("m.ar", "m.r", "m.w", "m.b")]
    assert seen == [3, 8, 10, 14]


def test_movers_fifo_crossbar_and_memories_in_one_net():
    """models/dma/examples/soc.py. The copy of 8 bytes by hand: AR 6, R 10, W 12 and 13, B 20 later at
    the crossbar, 35 at the mover, status 36; the stream, on the slow memory's read side, is done
    before it.
    """
    soc = lpn.load(str(EXAMPLES / "soc.py"))
    run = run_of(soc.net(bytes=8), None, "copier.ar", "copier.w", "copier.b", "stream")
    assert times(run, "copier.ar.seen") == [6]
    assert times(run, "copier.w.seen") == [12]
    assert times(run, "copier.b.seen") == [35]
    assert len(times(run, "stream.seen")) == 1
    assert run.latency == 36 and not run.stalled
    longer = run_of(soc.net(bytes=2048), None, "stream", "copier.w")
    assert len(times(longer, "stream.seen")) == len(times(longer, "copier.w.seen")) == 256
    assert not longer.stalled


def test_two_masters_take_turns_at_one_target():
    """Both ask in 0 for the same target, four bursts each: after port 0 comes port 1."""
    net = lpn.Net("turns")
    done = net.place("done", done=True, sink=True)
    ports = [parts.Port(net, f"p{m}", write=False) for m in range(2)]
    marking = []
    for port in ports:
        marking.append(parts.read_master(net, port, 4, done))
    [target] = parts.axi_crossbar(net, "xbar", ports, 1)
    parts.axi_ram(net, "ram", target)
    work = lpn.Marking(net)
    for place in marking:
        work.add(place.name, wait=0, addr=0, beats=8, id=5, count=4)
    run = run_of(net, work, "xbar.t0.ar", "p0.r")
    owners = [id_ >> 4 for id_ in run.collected["xbar.t0.ar.seen"][0][2::3]]
    assert owners == [0, 1] * 4
    assert set(run.collected["p0.r.seen"][0][1::2]) == {5}


def test_a_packet_of_another_length_than_its_descriptor_is_an_error():
    net = lpn.Net("wrong")
    desc, port = parts.Channel(net, "desc", parts.Move), parts.Port(net, "m", read=False)
    stream = parts.Channel(net, "stream", parts.Word)
    done = net.place("done", done=True, sink=True)
    packets = parts.words_of(net, stream)
    parts.axi_dma_wr(net, "dma", desc, stream, port, done, width=4, max_burst=16)
    parts.axi_ram(net, "ram", port)
    first = net.place("first", parts.Move, init=[{"addr": 0, "len": 16}])
    net.transition("give", take={"t": first}, put=[desc.offer.forward("t")])
    work = lpn.Marking(net)
    work.add(packets.name, words=3)
    with pytest.raises(lpn.Error, match="as long as its descriptor says"):
        run_of(net, work)


def test_an_address_of_no_target_is_an_error():
    def memory(net, port):
        for k, target in enumerate(parts.axi_crossbar(net, "xbar", [port], 2)):
            parts.axi_ram(net, f"ram{k}", target)

    with pytest.raises(lpn.Error, match="every address belongs to a target"):
        run_of(copier(4, addr=2 << 16, memory=memory))


def test_parts_that_are_joined_wrongly_say_so():
    net = lpn.Net("refused")
    both, reads = parts.Port(net, "p"), parts.Port(net, "r", write=False)
    desc = parts.Channel(net, "desc", parts.Move)
    done = net.place("done", done=True, sink=True)
    bus = {"width": 4, "max_burst": 16}

    def crossbar(**options):
        return lambda: parts.axi_crossbar(net, "x", [both], options.pop("targets", 2), **options)

    for make, text in (
        (crossbar(registers={"s_r": 0}), "x: 's_r' without a register is not here"),
        (crossbar(registers={"r": 0}), "x: there is no register 'r' of type 0; there are s_aw, "),
        (crossbar(registers={"s_r": 3}), "x: there is no register 's_r' of type 3"),
        (crossbar(threads=17), "x: threads must be an int 1..16, got 17"),
        (crossbar(threads=4, accept=2), "x: accept, for 4 threads, must be an int 4..32768, got 2"),
        (crossbar(issue=net.param("issue", 4)), "x: issue must be an int 1..32768, got "),
        (crossbar(targets=0), "x: targets must be an int 1..16, got 0"),
        (
            lambda: parts.axi_crossbar(net, "x", [], 2),
            "x: the number of ports must be an int 1..16",
        ),
        (lambda: parts.axi_crossbar(net, "x", [1], 2), "x: a Port is needed, got 1"),
        (lambda: parts.axi_fifo(net, "f", both, read_depth=24), "f: read_depth must be a power of"),
        (lambda: parts.axi_ram(net, "m", done), "m: a Port is needed, got <place"),
        (
            lambda: parts.axi_cdma(net, "c", desc, both, done, **bus),
            "c: desc must be a Channel of Copy, got one of Move",
        ),
        (
            lambda: parts.axi_dma_wr(
                net, "w", desc, parts.Channel(net, "s", parts.Word), reads, done, **bus
            ),
            "w: port 'r' has no channels to write",
        ),
    ):
        with pytest.raises(lpn.Error) as error:
            make()
        assert error.value.code == "E-operand" and text in str(error.value)


def test_the_net_of_the_readme(capsys):
    """README.md's block runs, and joins what it says."""
    page = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    [block] = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    exec(compile(block, "README.md", "exec"), {})
    # 32 beats in 2 bursts: 32 + 2 + 7 with an axi_ram alone; crossbar and FIFO add their registers.
    assert int(capsys.readouterr().out) > 41
