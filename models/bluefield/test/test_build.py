"""The net of a scenario: what of it is structure, what is a parameter, and which counts are kept."""

from models.bluefield import scenario as scenarios
from models.bluefield.net import answer, build, steady

BENCH = {
    "name": "bench",
    "cores": 1,
    "stages": [
        {"resource": "cpu", "service_us": 0.05},
        {"resource": "regex", "service_us": 1.0, "queues": 2},
    ],
}


def parsed(**changes):
    return scenarios.parse({"functions": [{**BENCH, **changes}]})


def test_times_are_parameters_of_one_net():
    stages = [{**stage, "service_us": 0.5} for stage in BENCH["stages"]]
    slow, fast = parsed(), parsed(stages=stages)
    assert build.shape(slow) == build.shape(fast)
    assert build.net_of_shape(build.shape(slow)) is build.net_of_shape(build.shape(fast))
    assert build.parameters(slow) != build.parameters(fast)


def test_counts_of_a_saturating_function_and_of_one_with_a_rate():
    saturating = build.net_of_shape(build.shape(parsed()))
    (counts,) = saturating.counts
    assert counts.arrived is None and counts.lost is None
    assert list(map(len, counts.queues)) == [0, 2] and len(counts.free) == 1
    offered = build.net_of_shape(build.shape(parsed(traffic={"rate_kpps": 100})))
    (counts,) = offered.counts
    assert counts.arrived is not None and counts.lost is not None
    assert len(offered.kept) == len(saturating.kept) + 2
    numbers = counts.each(offered.kept.index)
    assert (numbers.delivered, numbers.arrived, numbers.lost, numbers.works) == (0, 1, 2, [3, 4])


def test_an_engine_that_takes_a_microsecond_per_request_holds_its_function_back():
    (result,) = steady.simulate(parsed(), engine="interp", latencies=False).results
    assert abs(result.throughput_kpps - 1000) < 2
    assert result.bottleneck == "regex" and result.queued[0] is None and result.queued[1] > 8
    data = answer.answer(parsed(), engine="interp")
    assert data["steady"] and data["functions"][0]["drop"] == 0
    assert answer.keeps(0.1004, 0.1, 0.001) and not answer.keeps(0.102, 0.1, 0.001)
