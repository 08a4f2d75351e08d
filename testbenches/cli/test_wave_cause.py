"""The causes that lpn wave compare tells, each of a recording that differs in that alone."""

import pytest

SENDER = """
import lpn


class Word(lpn.Token):
    data: lpn.Int[0, 15]


def net():
    net = lpn.Net("sender")
    words = net.place("words", Word, start=True)
    sent = net.place("sent", done=True)
    net.transition("send", take={"word": words}, put=[sent.emit()], servers=1, delay=5)
    return net
"""
SENT = """clock = "tb.clk"
origin = "5 ns"
[channels.out]
valid = "tb.valid"
ready = "tb.ready"
payload = { data = "tb.data" }
[transitions.send]
channel = "out"
payload = { data = "word.data" }
"""


def sent(tmp_path, cycles):
    """The causes that compare tells of a recording: `cycles` of (valid, ready, data)."""
    lines = ["$timescale 1 ns $end", "$scope module tb $end", "$var wire 1 ! clk $end"]
    lines += ["$var wire 1 v valid $end", "$var wire 1 r ready $end", "$var wire 4 d data $end"]
    lines += ["$upscope $end", "$enddefinitions $end"]
    for k, (valid, ready, data) in enumerate([*cycles, (0, 1, 0)]):
        lines += [f"#{10 * k} 0! {valid}v {ready}r b{data:b} d", f"#{10 * k + 5} 1!"]
    (tmp_path / "sent.vcd").write_text("\n".join(lines) + "\n")
    (tmp_path / "sender.py").write_text(SENDER)
    (tmp_path / "sent.toml").write_text(SENT)
    (tmp_path / "words.json").write_text('{"words": [[1], [2], [3], [4], [5]]}')
    return [tmp_path / name for name in ("sender.py", "words.json", "sent.vcd")]


def cycles_of(*words):
    """(gap before, cycles without ready, data) of each word as cycles."""
    return [
        each
        for gap, stalled, data in words
        for each in (*[(0, 1, 0)] * gap, *[(1, 0, data)] * stalled, (1, 1, data))
    ]


RIGHT = [(5, 0, 1), (4, 0, 2), (4, 0, 3), (4, 0, 4), (4, 0, 5)]


@pytest.mark.parametrize(
    "words, cause",
    [
        ([(8, 0, 1), *RIGHT[1:]], "3 cycles late by a constant from here on (5 firings)"),
        (
            [*RIGHT[:2], (4, 2, 3), *RIGHT[3:]],
            "2 cycles late by a constant from here on (3 firings); 2 cycles of back-pressure on 'out' "
            "since the firing before, a stall that the model has not",
        ),
        ([*RIGHT[:2], (6, 0, 3), (2, 0, 4), RIGHT[4]], "2 cycles late, 0 to 2 from here on"),
        ([*RIGHT[:3], (4, 0, 9), RIGHT[4]], "the payload differs: 4 in the model, 9 recorded"),
        (
            [*RIGHT[:2], (4, 0, 4), (4, 0, 3), RIGHT[4]],
            "the order differs: 4 recorded, 3 in the model; the firing with 4 comes 1 place sooner than "
            "in the model; -5 to 5 cycles late from here on, each against its own firing",
        ),
        (RIGHT[:4], "the model fires at cycle 25, the recording has no transfer any more and ends at cycle 22"),
        ([*RIGHT, (4, 0, 6)], "the recording has a transfer at cycle 30, the model fires no more"),
    ],
)  # fmt: skip
def test_cause(lpn, tmp_path, words, cause):
    answer = lpn(
        "wave", "compare", *sent(tmp_path, cycles_of(*words)), "--map", tmp_path / "sent.toml"
    )
    assert answer.status == 1
    assert answer.out.endswith(f"\n  send: {cause}\n"), answer.out


def test_no_cause(lpn, tmp_path):
    answer = lpn(
        "wave", "compare", *sent(tmp_path, cycles_of(*RIGHT)), "--map", tmp_path / "sent.toml"
    )
    assert answer.status == 0 and answer.out.endswith("no difference in 5 firings\n")


@pytest.mark.parametrize(
    "words, cause",
    [
        ([(8, 0, 1), *RIGHT[1:]], "3 cycles later, offered later, not held back; so are all that follow"),
        (
            [*RIGHT[:2], (4, 2, 3), *RIGHT[3:]],
            "2 cycles later, held back for 2 cycles by a missing ready, against 0; so are all that follow",
        ),
        ([*RIGHT[:2], (2, 0, 3), *RIGHT[3:]], "2 cycles earlier, offered earlier; so are all that follow"),
        ([*RIGHT[:3], (4, 0, 9), RIGHT[4]], "the payload differs, in this transfer alone"),
        ([*RIGHT[:2], (4, 0, 4), (4, 0, 3), RIGHT[4]], "the order differs: the next 3 payloads are the same ones"),
        (RIGHT[:4], "the first recording alone has it; the second ends at cycle 22"),
    ],
)  # fmt: skip
def test_cause_between_recordings(lpn, tmp_path, words, cause):
    one = sent(tmp_path, cycles_of(*RIGHT))[2].rename(tmp_path / "right.vcd")
    two = sent(tmp_path, cycles_of(*words))[2]
    answer = lpn("wave", "compare", "--between", one, two, "--map", tmp_path / "sent.toml")
    assert answer.status == 1
    assert f"\n  out: {cause}\n" in answer.out, answer.out
