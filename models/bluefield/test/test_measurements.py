"""Which configurations are measured: grids, humps, and measurements that fail."""

import pytest
from lpn import Error
from models.bluefield.predictor import measurements
from models.bluefield.predictor.measurements import Attribute, Profiler


def test_full_is_every_combination():
    attributes = [Attribute(name, 0, 100, 50) for name in "abc"]
    profiler = Profiler(lambda point: 1.0, attributes, [{"w": float(w)} for w in range(4)], 10**6)
    measurements.full(profiler, [5, 3, 2])
    assert len(profiler.rows()) == 5 * 3 * 2 * 4


def test_a_hump_between_equal_ends_is_not_missed():
    attribute = Attribute("x", 0, 1000, 0)
    profiler = Profiler(
        lambda point: 1.0 if 300 < point["x"] < 700 else 2.0,
        [attribute],
        [{"w": 0.0}, {"w": 1.0}],
        30,
    )
    assert measurements.adaptive(profiler)["kept"] == ["x"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Attribute("x", 5, 5, 5),
        lambda: Attribute("x", 0, 5, 9),
        lambda: Attribute("x", 0, 5, 1, log=True),
    ],
)
def test_wrong_attributes_are_refused(wrong):
    with pytest.raises(Error):
        wrong()


@pytest.mark.parametrize(
    "line, told",
    [
        ("false", "ended with status 1"),
        ("echo many", "it must print a number"),
        ("echo '{}'", "it must print a number"),
        ("echo -3", "answered -3"),
        ("echo oh no >&2; exit 3", "status 3"),
        ("sleep 60", "did not answer within"),
    ],
)
def test_measurements_that_fail_are_told(line, told):
    timeout = 0.5 if line.startswith("sleep") else 60
    profiler = Profiler(
        measurements.command(line, timeout=timeout), [Attribute("x", 0, 1, 0)], [{}], 3
    )
    with pytest.raises(Error, match=told) as error:
        measurements.uniform(profiler)
    assert error.value.code == "E-measurement"
