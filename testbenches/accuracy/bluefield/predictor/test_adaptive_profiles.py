"""Profiling under a quota: what is measured, what is left out, what a model learns from it."""

import json

import pytest
import synthetic
from models.bluefield.predictor import measurements
from models.bluefield.predictor.measurements import Profiler


def test_adaptive_halves_the_error_of_random_profiling():
    """On half of the family at least, at equal quota; the table is printed by synthetic.py."""
    methods = ("random", "adaptive", "random, log")
    found = {name: synthetic.compare(name, 60, 2, methods) for name in synthetic.FUNCTIONS}
    halved = [name for name, of in found.items() if of["adaptive"] <= 0.5 * of["random"]]
    assert len(halved) * 2 >= len(found), found
    # Where there is nothing to gain it does not lose much either.
    assert all(of["adaptive"] <= of["random"] + 2 for of in found.values()), found
    # Random samples of one who knows the scale are better; not by much.
    told, known = (sum(of[m] for of in found.values()) for m in ("adaptive", "random, log"))
    assert 0.9 < told / known < 1.5, found


@pytest.mark.parametrize(
    "name, kept",
    [
        ("FlowStats", {"flow_count"}),
        ("ACL", set()),
        ("IPTunnel", {"pkt_size_B"}),
        ("NIDS", {"mtbr_matches_per_MB"}),
        ("Firewall", {"flow_count", "mtbr_matches_per_MB"}),
    ],
)
def test_what_changes_nothing_is_dropped(name, kept):
    assert set(synthetic.compare(name, 40, 1, ("adaptive",))["kept"]) == kept


def test_measurements_go_where_the_function_changes():
    """A table outgrown at 16 K of 16 M flows: uniform samples would hardly see that range."""
    profiler = Profiler(synthetic.noisy("NAT", 0), synthetic.ATTRIBUTES, synthetic.CONTENTIONS, 60)
    measurements.adaptive(profiler)
    near = [point["flow_count"] <= 64_000 for point, _ in profiler.rows()]
    assert sum(near) >= 30


@pytest.mark.parametrize("quota", [1, 5, 12, 60])
@pytest.mark.parametrize(
    "method",
    [measurements.adaptive, measurements.uniform, lambda p: measurements.full(p, [3, 3, 3])],
)
def test_the_quota_is_kept_and_nothing_is_measured_twice(quota, method):
    asked = []

    def measure(point):
        asked.append(json.dumps(point, sort_keys=True))
        return synthetic.rate("Meter", point)

    profiler = Profiler(measure, synthetic.ATTRIBUTES, synthetic.CONTENTIONS, quota)
    method(profiler)
    assert len(asked) == len(set(asked)) == len(profiler.rows()) == quota
