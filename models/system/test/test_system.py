"""Systems: times worked out by hand, files that are refused, and which level answers a write."""

from collections import OrderedDict

import lpn
import pytest
from conftest import ROOT, UNIT
from lpn.runs import prepare

DEMO = ROOT / "models" / "system" / "demo" / "jpeg.toml"
IMAGE = ROOT / "models" / "jpeg" / "demo" / "grad_16x16_q90_420.jpg"

# A tick is 1 ns: nothing is shorter. 2 ns a cycle.
FILE = """
model = "system"
[accelerator]
model = "unit.py"
clock_mhz = 500
inputs = {blocks = "bytes"}
outputs = {out = 64}
finished = {out = "blocks"}
[reads]
bytes = 64
bytes_per_cycle = 8
[link]
latency_ns = 100
[host]
request_ns = 30
answer_ns = 20
wait = "interrupt"
interrupt_ns = 7
[memory]
packet_ns = 1
hit_ns = 5
behind_ns = 11
input = "behind"
output = "behind"
"""
INTERRUPT = 'wait = "interrupt"\ninterrupt_ns = 7\n'


def write(folder, text=FILE, sizes="64"):
    (folder / "unit.py").write_text(UNIT)
    (folder / "sizes").write_text(sizes)
    (folder / "board.toml").write_text(text)
    return str(folder / "board.toml")


def ran(folder, text=FILE, sizes="64", **settings):
    """((ns, ns of the guest's clock) or None, the run)."""
    model = lpn.load(write(folder, text, sizes))
    net = model.net(**settings)
    work = model.workload(folder / "sizes", net)
    run = lpn.simulate(net, work, engine="interp")
    answer = model.module.answer_of_run(run)
    return answer and (answer["ns"], answer["guest_ns"]), run


BELL = 30 + 100 + 2  # request, link, a cycle of the register
READ = 2 + 100 + 5 + 11 + 100 + 8 * 2  # asked, link, memory, link, 8 beats
WORK = 10 * 2
WRITE = 100 + 5 + 11 + 100
TOLD = 2 + 100 + 7  # a cycle, link, interrupt


def test_one_block_by_hand(tmp_path):
    times, run = ran(tmp_path)
    assert not run.stalled
    assert times == (BELL + READ + WORK + WRITE + TOLD,) * 2


def test_a_tick_is_the_longest_that_fits_and_clocks_are_told(tmp_path):
    model = lpn.load(write(tmp_path))
    net = model.net()
    run = lpn.simulate(net, model.workload(tmp_path / "sizes", net))
    answer = model.module.answer_of_run(run)
    assert answer["tick_ps"] == 1000
    ns = BELL + READ + WORK + WRITE + TOLD
    assert answer["clocks"] == [("accelerator", 500.0, round(ns / 2)), ("host", 1000.0, ns)]


def test_registers_are_written_one_after_the_other(tmp_path):
    text = FILE + "[device]\nregisters = 3\n"
    assert ran(tmp_path, text)[0][0] == ran(tmp_path)[0][0] + 2 * (30 + 20)


def test_accepted_ends_before_the_answer(tmp_path):
    text = FILE + '[device]\ndone = "accepted"\n'
    assert ran(tmp_path, text)[0][0] == ran(tmp_path)[0][0] - WRITE


def test_polls_see_the_end_at_the_next_read(tmp_path):
    text = FILE.replace(INTERRUPT, "")
    idle = BELL + READ + WORK + WRITE + 2
    poll = 30 + 100 + 2 + 100 + 20
    arrives = 30 + 20 + 30 + 100  # the first read, behind the answer of the write, at the device
    while arrives < idle:
        arrives += poll
    assert ran(tmp_path, text)[0][0] == arrives + 2 + 100 + 20


def test_a_window_of_writes_is_a_round_trip_each(tmp_path):
    sizes = "0 0 0 0 0 0"
    one = ran(tmp_path, FILE, "0", outstanding_writes=1)[0][0]
    many = ran(tmp_path, FILE, sizes, outstanding_writes=1)[0][0]
    assert many == one + 5 * WRITE


def test_as_many_reads_are_in_flight_as_the_file_says(tmp_path):
    """128 of them, a cycle apart, while the first waits for the memory."""
    text = FILE.replace("bytes_per_cycle = 8", "bytes_per_cycle = 64\nbuffer = 8192")
    text = text.replace("hit_ns = 5", "hit_ns = 1001")
    read = 128 * 2 + 100 + 1001 + 11 + 100 + 2
    write = WRITE - 5 + 1001
    found, _ = ran(tmp_path, text, "4096 4096", outstanding_reads=128)
    assert found[0] == BELL + read + WORK + write + TOLD


@pytest.mark.parametrize("pause", ["7", "7.001"])
def test_writes_of_no_cycles_leave_in_one_instant(tmp_path, pause):
    """Whatever a tick is: here 1 ns, and 1 ps."""
    text = FILE.replace("[link]", "[writes]\ncycles = 0\n[link]", 1).replace("packet_ns = 1", "")
    text = text.replace("out = 64", "out = 1024").replace(
        "interrupt_ns = 7", f"interrupt_ns = {pause}"
    )
    found, _ = ran(tmp_path, text)
    assert found[0] == BELL + READ + WORK + WRITE + TOLD - 7 + float(pause)


def test_a_token_of_an_output_may_be_many_writes(tmp_path):
    """More than wait between an output and its engine at once: 128, a cycle apart."""
    text = FILE.replace("out = 64", "out = 1024")
    found, run = ran(tmp_path, text, write_bytes=8, outstanding_writes=128)
    assert not run.stalled
    assert found[0] == BELL + READ + WORK + 127 * 2 + WRITE + TOLD


def test_what_does_not_fit_into_the_buffer_is_refused(tmp_path):
    """It was waited for for ever."""
    small = FILE.replace("bytes = 64\n", "bytes = 64\nbuffer = 100\n", 1)
    model = lpn.load(write(tmp_path, small, "64 65 64"))
    said = (
        "a token of blocks waits for 2 reads of 64 bytes at once, and reads.buffer holds 1 of them"
    )
    with pytest.raises(ValueError, match=f"{said}; write reads.buffer = 128 or more"):
        model.workload(tmp_path / "sizes", model.net())
    assert model.workload(tmp_path / "sizes", model.net(**{"reads.buffer": 2}))
    started = small.replace("buffer = 100", "buffer = 100\nstart = 100")
    model = lpn.load(write(tmp_path, started, "64 64"))
    with pytest.raises(ValueError, match="reads.start waits for 2 reads of 64 bytes at once"):
        model.workload(tmp_path / "sizes", model.net())


def test_a_net_of_another_frequency_is_refused(tmp_path):
    write(tmp_path)
    for mhz in (500, 250):
        said = UNIT.replace(
            "    return net\n", f"    net.frequency = {mhz} * 10**6\n    return net\n"
        )
        (tmp_path / "unit.py").write_text(said)
        model = lpn.load(str(tmp_path / "board.toml"))
        if mhz == 500:
            assert model.net()
    with pytest.raises(
        lpn.Error, match="clock_mhz is 500, .* write clock_mhz = 250, or leave"
    ) as no:
        model.net()
    assert no.value.code == "E-system-file"


@pytest.mark.parametrize("who", ["marking", "net"])
def test_an_accelerator_with_a_timer_ends_when_the_driver_knows(tmp_path, who):
    """It went on for ever, though its workload said when it ends."""
    write(tmp_path)
    timer = """    timer = net.place("timer", init=1)
    net.transition("tick", take={"t": timer}, put=[timer], delay=100, servers=1)
    return net
"""
    unit = UNIT.replace("    return net\n", timer)
    unit = unit.replace(f"    return {who}\n", f"    {who}.done_count = 1\n    return {who}\n")
    (tmp_path / "unit.py").write_text(unit)
    model = lpn.load(str(tmp_path / "board.toml"))
    net = model.net()
    run = lpn.simulate(net, model.workload(tmp_path / "sizes", net), limit=10**6, engine="interp")
    assert run.ending == "done"
    assert run.latency == BELL + READ + WORK + WRITE + TOLD


@pytest.mark.parametrize("place", ["blocks", "beside"])
def test_tokens_that_arrive_later_are_refused(tmp_path, place):
    """They were there at once."""
    write(tmp_path)
    unit = UNIT.replace(
        "    out = net", '    beside = net.place("beside", start=True)\n    out = net'
    )
    unit = unit.replace('{"b": blocks}', '{"b": blocks, "c": beside}')
    late = f"    marking.add('beside', count=2)\n    marking.add('{place}', at=7VALUES)\n"
    late = late.replace("VALUES", ", bytes=64" if place == "blocks" else "")
    (tmp_path / "unit.py").write_text(
        unit.replace("    return marking", f"{late}    return marking")
    )
    model = lpn.load(str(tmp_path / "board.toml"))
    with pytest.raises(ValueError, match=f"a token of {place} arrives in cycle 7; in a system"):
        model.workload(tmp_path / "sizes", model.net())


def test_a_header_that_does_not_fit_into_the_buffer_is_refused(tmp_path):
    text = DEMO.read_text().replace("buffer = 4096\nstart = 2052", "buffer = 512\nstart = 512")
    (tmp_path / "board.toml").write_text(text)
    model = lpn.load(str(tmp_path / "board.toml"))
    with pytest.raises(ValueError, match="the header waits for 20 reads of 32 bytes at once"):
        model.workload(IMAGE, model.net())


def test_a_guest_whose_clock_is_fast(tmp_path):
    times, _ = ran(tmp_path, guest_clock_ppm=20_000)
    assert times[1] == round(times[0] * 1.02, 3)


def test_the_timer_of_that_guest_counts_true_time(tmp_path):
    true = ran(tmp_path)[0][0]
    model = lpn.load(write(tmp_path))
    ready = prepare(model, tmp_path / "sizes", {"guest_clock_ppm": 400_000}, "interp")
    assert model.module.compare(ready, None)[1] == {"predicted": round(true * 1.4, 3)}
    with pytest.raises(ValueError) as said:
        model.module.compare(ready, 999_848)
    assert f"predicted {true:.0f} ns, within a tick" in str(said.value)


def test_rows_of_dram(tmp_path):
    dram = FILE.replace('input = "behind"\n', "") + (
        "controller_ns = 3\naccess_ns = 13\nactivate_ns = 17\nprecharge_ns = 19\n"
    )
    base = ran(tmp_path)[0][0]
    # The first access of a row finds another one open; with closed pages it need not be shut.
    assert ran(tmp_path, dram)[0][0] == base + 3 + 13 + 17 + 19
    # An odd ns later: the accelerator starts at its next edge.
    assert ran(tmp_path, dram, open_page=0)[0][0] == base + 3 + 13 + 17 + 1


def test_no_access_of_a_row_is_answered_before_the_one_that_opens_it(tmp_path):
    """Each was answered in its own time: 16 reads of a row were there when the row was open."""
    dram = FILE.replace('input = "behind"\noutput = "behind"\n', "") + (
        "access_ns = 13\nactivate_ns = 400\nprecharge_ns = 601\n"
    )
    text = dram.replace("bytes_per_cycle = 8", "bytes_per_cycle = 64")
    text = text.replace("out = 64", "out = 1024")
    found, _ = ran(tmp_path, text, "1024")
    opened = 100 + 5 + 11 + 13 + 1001 + 100
    begun = BELL + 2 + opened + 16 * 2 + WORK  # the first of 16 writes leaves
    assert found[0] == begun + opened + TOLD
    # Two at once: the second is answered with the first, which opens the row for both.
    found, _ = ran(tmp_path, text, "1024", outstanding_writes=2)
    assert found[0] == begun + opened + 7 * (opened - 1001) + 2 + TOLD


def test_packets_of_pci_express_take_turns(tmp_path):
    slow = ran(tmp_path, FILE, "4096", generation=1, lanes=1)[0][0]
    fast = ran(tmp_path, FILE, "4096", generation=5, lanes=16)[0][0]
    # 64 completions of 84 bytes at about 0.23 bytes per ns
    assert slow - fast > 64 * 84 / 0.25 * 0.9
    assert fast > ran(tmp_path, FILE, "4096")[0][0]


def test_time_before_the_first_register_write(tmp_path):
    later = FILE.replace('wait = "interrupt"\n', 'wait = "interrupt"\nsetup_ns = 1000\n')
    assert ran(tmp_path, later)[0][0] == ran(tmp_path)[0][0] + 1000


def test_an_input_is_asked_for_several_times(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        ran(tmp_path, rounds=3)
    assert refused.value.code == "E-system-file"
    assert "host.rounds is 3, but 'unit.py' cannot repeat an input" in str(refused.value)
    path = write(tmp_path, FILE)
    several = """

def several(input, number):
    with open(input + "s", "w") as file:
        file.write(open(input).read() * number)
    return file.name
"""
    (tmp_path / "unit.py").write_text(UNIT + several)
    (tmp_path / "once").write_text("64 0 ")
    (tmp_path / "thrice").write_text("64 0 " * 3)
    system = lpn.load(path)
    once = system.workload(str(tmp_path / "once"), system.net(rounds=3))
    thrice = system.workload(str(tmp_path / "thrice"), system.net())
    places = [p.name for p in system.net().core.places]
    assert {p: once.rows(p) for p in places} == {p: thrice.rows(p) for p in places}


def test_a_device_that_never_ends_is_a_run_that_stalls(tmp_path):
    text = FILE.replace(INTERRUPT, "polls = 50\n").replace(
        'finished = {out = "blocks"}', "finished = {out = 2}"
    )
    times, run = ran(tmp_path, text)
    assert times is None and run.stalled
    assert any(name == "device.finish" for name, *_ in run.blocked)


def test_a_driver_that_gives_up_before_the_end_is_a_run_that_stalls(tmp_path):
    times, run = ran(tmp_path, FILE.replace(INTERRUPT, "polls = 1\n"))
    assert times is None and run.stalled
    assert ("host.poll", "no token", "p") in run.blocked


def test_a_net_with_a_memory_of_its_own_gets_round_trips(tmp_path):
    text = FILE.replace("outputs = {out = 64}\n", "round_trips = {wait = 'read'}\n")
    text = text.replace('output = "behind"\n', "")
    path = write(tmp_path, text)
    unit = UNIT.replace("blocks = net.place", 'wait = net.param("wait", 3)\n    blocks = net.place')
    (tmp_path / "unit.py").write_text(unit.replace("delay=10", "delay=wait"))
    net = lpn.load(path).net()
    assert net.system[1].parameters == {"wait": (2 * 100 + 5 + 11) // 2}


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("[reads]", "[raeds]", "there is an unknown 'raeds'; known: model, accelerator, device"),
        ("bytes = 64\n", "byte = 64\n", "[reads] has an unknown 'byte'; known: bytes, outstanding"),
        ('model = "unit.py"', "", "[accelerator] has no 'model': the name of a bundled model"),
        ("latency_ns = 100", "latency_us = 0.1", "[link] has an unknown 'latency_us'; known: lat"),
        ("latency_ns = 100", "latency_ns = -1", "link.latency_ns must be 0 to 1e9 nanoseconds"),
        ("latency_ns = 100", "latency_ns = nan", "link.latency_ns must be 0 to 1e9 nanoseconds"),
        ("latency_ns = 100", 'latency_ns = "100ns"', "link.latency_ns must be a number of nanosec"),
        ("latency_ns = 100", "latency_ns = 0.0001", "link.latency_ns has more than three decimals"),
        ("latency_ns = 100", "generation = 6", "link.generation must be one of 0, 1, 2, 3, 4, 5,"),
        ("clock_mhz = 500", "clock_mhz = 3000", "the period of 3000 MHz is not a whole number of"),
        ("clock_mhz = 500", "clock_mhz = true", "accelerator.clock_mhz must be a whole number 1.."),
        ("bytes = 64\n", "bytes = 0\n", "reads.bytes must be a whole number 1..4096, got 0"),
        ("bytes = 64\n", "start = 9999\n", "reads.start is 9999 bytes, more than reads.buffer ho"),
        ("bytes = 64\n", "bytes = 64\nbuffer = 32\n", "reads.buffer has 32 bytes, less than read"),
        (
            "ns = 100\n[host]\nrequest_ns = 30\nanswer_ns = 20\n" + INTERRUPT,
            "ns = 0\n[device]\nregister_cycles = 0\n[host]\n",
            "host.wait is 'poll', and no time passes between two polls, which would go on for ever",
        ),
        ('"interrupt"', '"sleep"', "host.wait must be one of poll, interrupt, got 'sleep'"),
        ("{out = 64}", "{uot = 64}", "accelerator.outputs: 'uot' is not one of unit.py's done pl"),
        ('"bytes"}', '"size"}', "accelerator.inputs.blocks: its tokens have no property 'size'"),
        ('{out = "blocks"}', '{out = "b"}', "accelerator.finished.out must be a number or a star"),
        ('inputs = {blocks = "bytes"}', "", "accelerator.inputs says which tokens wait for the s"),
        ('finished = {out = "blocks"}', "", "accelerator.finished says how many tokens of which"),
        ("[link]", "[[link]]", "link must be a table, [link]"),
        ('"unit.py"', '"gone"', "[accelerator]: there is no model 'gone'; bundled: "),
        (
            '"unit.py"',
            '"jpeg"\nparameters = {a = 1}',
            "[accelerator]: model 'jpeg' has no parameter 'a'",
        ),
        ('"unit.py"', '"system"', "accelerator.model is 'system', a system itself"),
        ('"unit.py"', '"x.toml"', "accelerator.model is 'x.toml', a system itself"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, old, new, said):
    assert old in FILE
    with pytest.raises(lpn.Error) as refused:
        lpn.load(write(tmp_path, FILE.replace(old, new, 1))).net()
    assert refused.value.code == "E-system-file"
    assert said in str(refused.value)


@pytest.mark.parametrize("table", ["[link]\ngeneration = 1", '[memory]\nmodel = "dram"'])
def test_a_token_of_an_output_is_whole_writes(tmp_path, table):
    """A token of 4 bytes went over the link, and into the DRAM, as the 64 of a write."""
    head = table.split("\n", 1)[0]
    text = FILE.replace(head, table, 1).replace("{out = 64}", "{out = 4}")
    if "dram" in table:
        text = text[: text.index("input = ")]
    assert ran(tmp_path, text, write_bytes=4)[0]
    with pytest.raises(lpn.Error, match="writes.bytes must divide accelerator.outputs.out, 4, got"):
        lpn.load(write(tmp_path, text)).net()


def test_files_that_are_no_system(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        lpn.load(write(tmp_path, FILE.replace('model = "system"', "", 1)))
    assert refused.value.code == "E-model" and "does not say which model" in str(refused.value)
    with pytest.raises(lpn.Error) as refused:
        lpn.load(write(tmp_path, FILE.replace('"system"', '"jpeg"', 1)))
    assert "model 'jpeg' takes no configuration" in str(refused.value)
    with pytest.raises(lpn.Error) as refused:
        lpn.load(write(tmp_path, "= 1"))
    assert "is not TOML" in str(refused.value)
    with pytest.raises(lpn.Error) as refused:
        lpn.load(str(tmp_path / "none.toml"))
    assert "cannot read" in str(refused.value)


def test_the_decoder_knows_what_it_writes(tmp_path):
    for old, new, said in (
        ("bytes = 4\n", "bytes = 5\n", "writes.bytes must divide 16"),
        ("clock_mhz = 2000\n", "clock_mhz = 2000\ninputs = {coded = 1}\n", "jpeg is known: leave"),
    ):
        (tmp_path / "x.toml").write_text(DEMO.read_text().replace(old, new, 1))
        with pytest.raises(lpn.Error) as refused:
            lpn.load(str(tmp_path / "x.toml")).net()
        assert said in str(refused.value)


def test_an_image_of_the_demo_agrees_between_the_engines():
    model = lpn.load(str(DEMO))
    net = model.net()
    work = model.workload(IMAGE, net)
    fast = lpn.simulate(net, work, engine="compiled")
    slow = lpn.simulate(net, work, engine="interp")
    assert (fast.latency, fast.commits) == (slow.latency, slow.commits)
    # 128 words, 16 at a time: at least 8 round trips of 800 ns, and the start and the end.
    assert 8 * 800 < model.module.answer_of_run(fast)["ns"] < 16 * 1000


def expected_levels(width, height, mcu, line, lines, warm, reads):
    """The levels of each row, by a cache that is written down again."""
    cache, known, found, done = OrderedDict(), set(), [], 0
    across, down, side = -(-width // mcu), -(-height // mcu), mcu // 8

    def touch(at):
        hit = at in cache
        cache[at] = cache.pop(at, True)
        if len(cache) > lines:
            cache.popitem(last=False)
        return hit

    for k in range(across * down * side * side):
        m, b = divmod(k, side * side)
        block = 0
        for row in range(8):
            x = m % across * mcu + b % side * 8
            y = m // across * mcu + b // side * 8 + row
            level = late = 0
            words = [(2 * (y * width + x) + 4 * w) // line for w in range(4)]
            of = {}
            for at in dict.fromkeys(words):
                if touch(at):
                    of[at] = 0
                elif at in known or (at + 1) * line <= warm:
                    of[at] = 1
                else:
                    known.add(at)
                    of[at] = 3
                level = max(level, of[at])
            late = sum(of[at] > 0 for at in words)
            block |= (level | late << 3) << 6 * row
        found.append(block)
        while done * across * down * side * side < reads * len(found):
            touch(-1 - done)
            done += 1
    return found


@pytest.mark.parametrize(
    "width, height, mcu, lines, warm, reads",
    [
        (64, 32, 16, 16, 0, 0),
        (75, 40, 16, 16, 3000, 7),
        (33, 17, 8, 4, 500, 90),
        (590, 33, 16, 16, 0, 9),
    ],
)
def test_which_level_answers_each_row(width, height, mcu, lines, warm, reads):
    from lpn_models_native import _system

    column = _system.levels(
        width=width, height=height, mcu=mcu, line=64, cache_lines=lines, warm_bytes=warm,
        read_lines=reads, row_bytes=8192, banks=4, open_rows=False,
    )  # fmt: skip
    assert list(memoryview(column)) == expected_levels(width, height, mcu, 64, lines, warm, reads)


def test_a_line_that_stays_in_the_cache_is_fetched_once():
    from lpn_models_native import _system

    about = dict(width=32, height=16, mcu=16, line=64, cache_lines=16, warm_bytes=10**6,
                 read_lines=0, row_bytes=8192, banks=4, open_rows=True)  # fmt: skip
    rows = [b >> 6 * k & 63 for b in memoryview(_system.levels(**about)) for k in range(8)]
    assert rows == ([1 | 4 << 3] * 8 + [0] * 8) * 2 + [0] * 32
    none = memoryview(_system.levels(**{**about, "cache_lines": 0}))
    assert all(b >> 6 * k & 63 == 1 | 4 << 3 for b in none for k in range(8))


def test_shares_of_the_input_add_up():
    import array

    from lpn_models_native import _system

    bits = array.array("q", [100, 3, 0, 900, 25])
    shares = list(memoryview(_system.shares(bits, 640, 256, 3, 9)))
    assert sum(shares) == 9 - 3 and min(shares) >= 0 and shares[3] == max(shares)


def test_a_parameter_of_the_accelerator_reaches_its_workload():
    """An optimised file has Huffman tables of its own, which the build with fixed ones refuses."""
    image = ROOT / "models" / "jpeg" / "demo" / "htiles_256x256_q85_mono_opt.jpg"
    model = lpn.load(str(DEMO))
    with pytest.raises(ValueError):
        model.workload(image, model.net())
    net = model.net(**{"accelerator.writable_tables": 1})
    assert model.workload(image, net).count("device.waiting.coded") == 1024


@pytest.mark.parametrize("name, file", [("vta", "two_steps.json"), ("protoacc", "two_items.json")])
def test_a_joined_net_takes_its_own_cycles(tmp_path, name, file):
    """Around the accelerator's own latency: the driver, the doorbell, a cycle to end, and the interrupt."""
    text = (ROOT / "models" / "system" / "demo" / f"{name}.toml").read_text()
    if name == "protoacc":  # its memory as a latency
        lines = [line for line in text.splitlines() if not line.startswith(("ports", "parameters"))]
        text = "\n".join(lines).replace("{command_", '{read_latency = "read", command_')
        text = text[: text.index("[memory]")] + '[memory]\nhit_ns = 8.75\ninput = "behind"\n'
    text = (
        text.replace('wait = "poll"\n', "")
        .replace("pause_ns = 5000", "")
        .replace("rounds = 10", "rounds = 1")
    )
    (tmp_path / "system.toml").write_text(text.replace("[host]", '[host]\nwait = "interrupt"'))
    input = ROOT / "models" / name / "demo" / file
    model, alone = lpn.load(str(tmp_path / "system.toml")), lpn.load(name)
    net, own = model.net(), alone.net()
    system, joined, _ = net.system
    run = lpn.simulate(net, model.workload(input, net), engine="interp")
    cycles = lpn.simulate(
        own, alone.workload(input, own), joined.parameters, engine="interp"
    ).latency
    rings = system.host.setup / 1000 + (system.device.registers - 1) * (60 + 54) + 60
    link = system.link.latency / 1000
    # Clocks are of 2 GHz; a register takes four of them.
    expected = rings + link + 4 * 0.5 + cycles * 0.5 + 0.5 + link
    assert model.module.answer_of_run(run)["ns"] == expected


def test_the_decoder_on_a_board():
    model = lpn.load(str(DEMO.with_name("jpeg_pcie.toml")))
    net = model.net()
    run = lpn.simulate(net, model.workload(IMAGE, net), engine="interp")
    # At least two links, the interrupt, and the decoder's own 1402 cycles of 2 ns less its last pixels'.
    assert not run.stalled and model.module.answer_of_run(run)["ns"] > 300 + 1000 + 1300 * 2


def test_a_system_answers_before_it_is_compiled(tmp_path, monkeypatch):
    """It waited 11 s for a compiler, for a run of a millisecond."""
    from lpn.runs import load, prepare

    monkeypatch.setenv("LPN_CACHE", str(tmp_path / "cache"))
    system = load(str(DEMO))
    ready = prepare(system, str(IMAGE), engine=None)
    assert ready.run().engine == "interp"
    assert not list((tmp_path / "cache").glob("*.so"))
