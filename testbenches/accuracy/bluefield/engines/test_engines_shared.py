"""An engine in software that functions share: the program does what is asked, the recorded rows are predicted."""

import subprocess

import engines
import pytest

from models.bluefield.benches.bench import two_cores
from models.bluefield.benches.engine import Client, EngineBench


@pytest.fixture(scope="module")
def bench():
    try:
        return EngineBench(seconds=0.1)
    except RuntimeError as wrong:
        pytest.skip(str(wrong))


@pytest.mark.parametrize("engine", ["regex", "deflate"])
def test_clients_are_served_side_by_side(bench, engine):
    clients = [Client(256), Client(1024, queues=2), Client(512, kpps=1.0)]
    found = bench.run(engine, clients)
    assert found["engine"] == engine and found["cpu_seconds"] >= 0.1
    busy = [client["busy"] for client in found["clients"]]
    assert len(busy) == 3 and min(busy) >= 0 and 0 < sum(busy) <= 1 + 1e-6
    for client in found["clients"]:
        assert (client["kpps"] > 0) == (client["busy"] > 0)


@pytest.mark.parametrize(
    "engine, client",
    [
        ("regex", Client(63)),
        ("regex", Client(9001)),
        ("regex", Client(queues=0)),
        ("regex", Client(queues=9)),
        ("regex", Client(kpps=-1)),
        ("crypto", Client()),
    ],
)
def test_what_cannot_be_run_is_an_error(bench, engine, client):
    with pytest.raises(RuntimeError, match="failed: engine: "):
        bench.rates(engine, [client])


def test_one_core_is_not_enough(bench):
    """A client that got no core would never ask, and the engine would wait for it."""
    ran = subprocess.run(
        ["taskset", "-c", str(two_cores()[0]), bench._program, "regex", "0.01", "64:0:1:0"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (2, "engine: it takes two cores\n")


def test_the_net_predicts_the_recorded_co_runs():
    _, co_runs = engines.read()
    assert len(co_runs) == engines.CO_RUNS
    found = engines.predicted(co_runs)
    assert engines.mape(found["net"]) <= 6
    assert engines.mape(found["net"]) < engines.mape(found["equal time"]) / 2
    assert engines.mape(found["equal time"]) < engines.mape(found["alone"])
