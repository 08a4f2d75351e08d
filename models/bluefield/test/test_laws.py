"""The accelerator's laws against a queue-by-queue simulation written here, and the composition
laws' ends.
"""

import math
import random

import pytest
from lpn import Error

from models.bluefield.predictor.laws import (
    PIPELINE,
    RUN_TO_COMPLETION,
    Load,
    linear_decline,
    pipeline,
    round_time,
    run_to_completion,
    shares,
    stages,
    sum_of_losses,
)


def round_robin(loads, requests):
    """Rates by serving one request after the other; arrivals are evenly spaced per queue."""
    queues = [
        (k, load, load.offered / load.queues)
        for k, load in enumerate(loads)
        for _ in range(load.queues)
    ]
    served, per_function, now, turn = [0] * len(queues), [0] * len(loads), 0.0, 0
    while sum(per_function) < requests:
        for step in range(len(queues)):
            at = (turn + step) % len(queues)
            k, load, offered = queues[at]
            if math.isinf(offered) or served[at] < math.floor(now * offered):
                served[at] += 1
                per_function[k] += 1
                now += load.time
                turn = at + 1
                break
        else:
            now = min(
                (served[at] + 1) / offered * (1 + 1e-12) + 1e-9
                for at, (_, _, offered) in enumerate(queues)
                if offered > 0
            )
    return [count / now for count in per_function]


@pytest.mark.parametrize("seed", range(20))
def test_shares_against_a_simulation(seed):
    draw = random.Random(seed)
    loads = []
    for _ in range(draw.randint(1, 5)):
        time, queues = draw.uniform(0.2, 3), draw.randint(1, 4)
        offered = math.inf if draw.random() < 0.4 else draw.uniform(0.02, 1.2) / time
        loads.append(Load(time, queues, offered))
    for simulated, law in zip(round_robin(loads, 40_000), shares(loads)):
        assert simulated == pytest.approx(law, rel=5e-3)


def test_equilibrium_gives_queues_equal_rates_whatever_their_times():
    loads = [Load(0.5), Load(2.0), Load(1.0, queues=3)]
    assert round_time(loads) == 5.5
    assert shares(loads) == pytest.approx([1 / 5.5, 1 / 5.5, 3 / 5.5])


def test_alone_a_function_has_the_engine():
    assert shares([Load(1.48, queues=2)]) == pytest.approx([1 / 1.48])
    assert shares([Load(1.48, offered=0.3)]) == [0.3]
    assert shares([]) == []


@pytest.mark.parametrize("offered", [0, 0.1, 0.3, 1 / 2.5, 0.5, math.inf])
def test_linear_decline_is_one_queue_against_one(offered):
    rates = shares([Load(1.0), Load(1.5, offered=offered)])
    assert rates[0] == pytest.approx(linear_decline(1.0, 1.5, offered))
    assert rates[1] == pytest.approx(min(offered, 1 / 2.5))


def test_nobody_gets_more_than_offered_and_the_engine_is_never_oversold():
    draw = random.Random(7)
    for _ in range(300):
        loads = [
            Load(
                draw.uniform(0.1, 4),
                draw.randint(1, 6),
                draw.choice([math.inf, draw.uniform(0, 2)]),
            )
            for _ in range(draw.randint(1, 8))
        ]
        rates = shares(loads)
        busy = sum(rate * load.time for rate, load in zip(rates, loads))
        assert busy <= 1 + 1e-9
        assert all(rate <= load.offered for rate, load in zip(rates, loads))
        if any(rate < load.offered for rate, load in zip(rates, loads)):
            assert busy == pytest.approx(1)


def test_an_overload_slows_only_what_is_backlogged():
    slow = Load(1.0, overload=2.0)
    assert shares([slow]) == [0.5]
    assert shares([Load(1.0, offered=0.9, overload=2.0)]) == [0.9]
    # Without overload the second would be satisfied: a third for each queue.
    assert shares([slow, Load(1.0, offered=0.4)]) == pytest.approx([1 / 3, 1 / 3])
    assert shares([slow, Load(1.0, offered=0.3)]) == pytest.approx([0.35, 0.3])


def test_composition():
    assert pipeline([0.5, 0.3], 0.6) == 0.3
    assert pipeline([0.9, 0.8], 0.6) == 0.6
    # Times add: 1/0.6 + (1/0.5 - 1/0.6) + (1/0.3 - 1/0.6).
    assert 1 / run_to_completion([0.5, 0.3], 0.6) == pytest.approx(
        1 / 0.6 + (2 - 1 / 0.6) + (1 / 0.3 - 1 / 0.6)
    )
    assert sum_of_losses([0.5, 0.3], 0.6) == pytest.approx(0.2)
    assert sum_of_losses([0.2, 0.2], 0.6) == 0


def test_stage_lists_close_the_loop():
    times, pipe, rtc = [2.0, 3.0, 2.5], PIPELINE, RUN_TO_COMPLETION
    assert stages(times, [pipe] * 3) == pipeline([1 / t for t in times])
    assert stages(times, [rtc] * 3) == pytest.approx(1 / 7.5)
    assert stages(times, [rtc, pipe, rtc]) == pytest.approx(1 / 4.5)
    assert stages(times, [rtc, rtc, pipe]) == pytest.approx(1 / 5.0)
    assert stages(times, [pipe, rtc, pipe]) == pytest.approx(1 / 3.0)
    assert stages([1.0, 1.0, 1.0, 1.0, 1.0], [rtc, rtc, pipe, rtc, rtc]) == pytest.approx(1 / 4.0)
    # End-to-end rates with one stage contended at a time give the same by Eq 4.
    alone = [1.0, 2.0, 0.5]
    contended_one_by_one = [1 / (sum(alone) - a + t) for a, t in zip(alone, times)]
    assert stages(times, [rtc] * 3) == pytest.approx(
        run_to_completion(contended_one_by_one, 1 / sum(alone))
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Load(0),
        lambda: Load(1, queues=0),
        lambda: Load(1, offered=-1),
        lambda: Load(1, queues=1.5),
        lambda: Load(float("nan")),
        lambda: Load(1, overload=0.5),
        lambda: pipeline([0.0]),
        lambda: run_to_completion([], 1),
        lambda: stages([1.0], ["rtc"]),
        lambda: stages([], []),
        lambda: stages([0.0], [PIPELINE]),
        lambda: Load(1, offered=float("nan")),
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(Error) as error:
        wrong()
    assert error.value.code == "E-law"
