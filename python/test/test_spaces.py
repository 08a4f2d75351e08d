"""spaces.text and proofs.property: terms in words, and questions as linear forms."""

from fractions import Fraction

import lpn
import pytest
from lpn.proofs.property import claims, is_strict, largest, whole
from lpn.spaces.text import span


class Job(lpn.Token):
    size: lpn.Int(0, 100)


@pytest.fixture
def net():
    net = lpn.Net("n")
    jobs = net.place("jobs", Job, start=True)
    net.transition(
        "work", take={"j": jobs}, put=[net.place("out", done=True)], delay=lambda j: j.size
    )
    return net


def test_a_space_in_words(net):
    space = lpn.InputSpace(net)
    jobs = space.tokens("jobs", 3, size=(1, 9))
    space.require(lpn.total(j.size for j in jobs) <= 12)
    text = space.describe()
    assert "jobs: 3 tokens, size 1..9 each" in text
    assert "jobs[0].size + jobs[1].size + jobs[2].size <= 12" in text
    assert (
        space.text(jobs[0].size * 2 + 1) == "2 * jobs[0].size + 1"
        or space.text(jobs[0].size * 2 + 1) == "jobs[0].size * 2 + 1"
    )


def test_span():
    assert span([5, 0, 1, 2]) == "0..2,5"


def test_claims_are_forms_that_are_at_most_0(net):
    [form] = claims("latency <= 2300", net, False)
    assert form == {("latency",): 1, (): -2300}
    low, high = claims("3 <= completion(2) <= 9", net, False)
    assert {low[("completion", 2)], high[("completion", 2)]} == {-1, 1}
    assert is_strict("latency < 3") and not is_strict("latency <= 3")


def test_the_largest_of_a_maximum_is_one_of_several(net):
    forms = largest("max(latency, 2 * busy(work))", net, False, 1)
    assert sorted(map(sorted, forms)) == [[("busy", "work")], [("latency",)]]
    assert whole({("latency",): 1, (): Fraction(1, 2)}) == ({("latency",): 2, (): 1}, 2)


@pytest.mark.parametrize("text", ["latency", "speed <= 3", "busy(none) <= 3", "latency <= E"])
def test_refused(net, text):
    with pytest.raises(lpn.Error) as caught:
        claims(text, net, False)
    assert caught.value.code == "E-property"
