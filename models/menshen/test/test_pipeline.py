"""Clocks of the net against rules of the RTL, by hand; and where the RTL loses beats."""

import pytest

import lpn
from lpn.runs import prepare

MODEL = lpn.load("menshen")


def run(lengths, idle=None, kinds=None, phase=0, **parameters):
    """(first beats out, last beats out) of data packets, in their order."""
    net = MODEL.net(**parameters)
    idle = idle or [0] * len(lengths)
    marking = MODEL.module.marking(net, lengths, idle, kinds, phase)
    found = prepare(net, marking).run(collect=["begun", "sent"])
    assert not found.stalled
    clocks = []
    for place in ("begun", "sent"):
        values, times = found.collected[place]
        clocks.append([time for _, time in sorted(zip(values, times))])
    return clocks


@pytest.mark.parametrize("phase", range(4))
def test_an_idle_arbiter_spins(phase):
    """The pointer reaches queue 0 up to 3 clocks after the packet can be seen."""
    assert run([128], phase=phase) == [[108 - phase], [109 - phase]]
    assert run([1500], phase=phase) == [[108 - phase], [131 - phase]]


def test_parts_of_an_empty_pipeline():
    """A beat is visible 3 clocks after it is written; a header takes 10, 75 and 8 more to the first
    clock of the deparser's, which emits 6 clocks later what the arbiter can see 4 later.
    """
    seg = 1 + 6
    assert run([65], phase=3)[0] == [seg + 88 + 10]
    # A packet of one beat has its header ready with it.
    assert run([64], phase=2)[0] == [0 + 7 + 88 + 10 + 1]


def test_stages_are_a_parameter():
    for stages in (1, 2, 9):
        first = run([128], stages=stages)[0][0]
        assert first % 4 == 0 and 0 <= first - (105 + 15 * (stages - 5)) <= 3
    with pytest.raises(lpn.Error, match="stages must be 1 to 64"):
        MODEL.net(stages=0)


def test_full_rate_of_three_beats_and_more():
    for length, count in ((192, 20), (1500, 8)):
        first, last = run([length] * count, phase=2)
        assert last[-1] == first[0] + count * -(-length // 64) - 1


def test_figures_of_the_rtl():
    """RTL_FACTS.md, "Formulas that follow"."""
    assert run([128] * 200, phase=3)[1][-1] == 556
    assert run([128] * 64)[1][-1] == 247
    assert run([64] * 200, [1] * 200, phase=2)[1][-1] == 504
    assert run([320, 1600], [0, 5], phase=3) == [[105, 118], [109, 142]]


def test_control_and_dropped_packets_take_only_their_beats():
    alone = run([128, 128], [0, 4])
    for kind in ("control", "drop"):
        assert run([128, 256, 128], [0, 0, 0], ["data", kind, "data"]) == alone


@pytest.mark.parametrize(
    "distances, late",
    [
        ([2, 3], [0, 0, 1]),
        ([3, 3], [0, 0, 0]),
        ([2, 4], [0, 0, 0]),
        ([2, 2, 2, 2, 3], [0, 0, 0, 0, 0, 1]),
        ([2, 3, 3], [0, 0, 1, 0]),  # 2 clocks behind where the late one is
        ([2, 3, 3, 3], [0, 0, 1, 0, 1]),
        ([2, 3, 4], [0, 0, 1, 1]),  # 3 clocks behind the late one
        ([2, 3, 4, 4], [0, 0, 1, 1, 0]),
        ([2, 3, 2, 2], [0, 0, 1, 1, 1]),  # two more wait behind a late one
        ([2, 3, 2, 2, 4], [0, 0, 1, 1, 1, 1]),
        ([2, 3, 2, 2, 5], [0, 0, 1, 1, 1, 0]),
    ],
)
def test_a_header_three_clocks_behind_a_close_one_is_late(distances, late):
    """Headers come with second beats: distances are the sizes of packets in beats."""
    net = MODEL.net()
    sizes = [*distances, 2]
    marking = MODEL.module.marking(net, [64 * beats for beats in sizes], [0] * len(sizes))
    found = lpn.simulate(net, marking, engine="interp", trace=True)
    stage = net.transitions.index("stage0")
    starts = [commit.start for commit in found.trace if commit.transition == stage]
    came = [starts[0] + sum(distances[:k]) for k in range(len(sizes))]
    assert [start - time for start, time in zip(starts, came)] == late


@pytest.mark.parametrize(
    "lengths, idle, words",
    [
        ([64, 64], None, "right behind one of 64 bytes"),
        ([64, 1500], None, "right behind one of 64 bytes"),
        ([128] * 700, None, "the input FIFO is full"),
        ([9000], None, "the FIFO of further beats is full"),
        ([128, 192, 128, 128], None, "2, 3 and 2 clocks apart: the RTL loses the last"),
        ([128, 192, 128, 192, 128], None, "2, 3 and 2 clocks apart: the RTL loses the last"),
        ([128, 192, 128, 128, 128, 128], None, "2, 3, 2, 2 and 2 clocks apart"),
        ([128, 192, 256, 128, 128], None, "2, 3, 4 and 2 clocks apart"),
    ],
)
def test_streams_in_which_the_rtl_loses_beats(lengths, idle, words):
    with pytest.raises(lpn.Error, match=words):
        run(lengths, idle)


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_a_full_fifo_is_written_in_the_clock_in_which_it_is_read(engine):
    """That of further beats; clocks as the RTL had them under Verilator."""
    net = MODEL.net()
    lengths = [1500, 1500, 1500, 193, 65, 1500, 1500, 1500, 1500, 65]
    marking = MODEL.module.marking(net, lengths, [0, 0, 0, 24, 0, 0, 0, 0, 40, 0], None, 2)
    found = prepare(net, marking, engine=engine).run(collect=["begun", "sent"])
    times = [sorted(found.collected[place][1]) for place in ("begun", "sent")]
    assert times == [
        [106, 130, 154, 202, 206, 208, 232, 256, 320, 344],
        [129, 153, 177, 205, 207, 231, 255, 279, 343, 345],
    ]


def test_six_hundred_packets_of_two_beats_are_clean():
    first, last = run([128] * 600, phase=3)
    assert len(last) == 600 and last == sorted(last)


def test_the_slowest_stream_is_proved():
    net = MODEL.net()
    answer = lpn.maximize(MODEL.space(net, packets=2, least=2, most=3))
    assert answer.upper == answer.lower == 113
    worst = max(
        run([64 * a, 64 * b], phase=phase)[1][-1]
        for a in (2, 3)
        for b in (2, 3)
        for phase in range(4)
    )
    assert worst == 113


def test_bounds_of_the_space():
    net = MODEL.net()
    for bounds, words in (
        ({"packets": 0}, "packets 1 to 64"),
        ({"least": 1}, "least must be 2"),
        ({"least": 5}, "least <= most"),
    ):
        with pytest.raises(ValueError, match=words):
            MODEL.space(net, **bounds)
    with pytest.raises(ValueError, match="arb_phase=N"):
        MODEL.space(MODEL.net(arb_phase=1))
