"""lpn classes by several processes and on a cluster: the same classes as alone."""

import pytest

from test_sweep import Cluster

# Each job takes one of two ways, so there are 2**jobs classes.
MODEL = '''import lpn


class Job(lpn.Token):
    size: lpn.Int[0, 100]


def net() -> lpn.Net:
    net = lpn.Net("ways")
    jobs = net.place("jobs", Job, start=True)
    short, long = net.place("short", Job, drain=True), net.place("long", Job, drain=True)
    done = net.place("done", done=True)
    net.transition(
        "sort", take={"j": jobs}, delay=1, servers=1,
        put=[short.emit(count=lambda j: 1 if j.size < 50 else 0, size=lambda j: j.size),
             long.emit(count=lambda j: 0 if j.size < 50 else 1, size=lambda j: j.size)])
    net.transition("quick", take={"j": short}, put=[done], delay=lambda j: j.size, servers=1)
    net.transition("slow", take={"j": long}, put=[done], delay=lambda j: 2 * j.size, servers=1)
    return net


def space(net, jobs: int = 6) -> lpn.InputSpace:
    """jobs: how many."""
    space = lpn.InputSpace(net)
    space.tokens("jobs", jobs, size=(0, 100))
    return space
'''


@pytest.fixture
def ways(tmp_path):
    (tmp_path / "ways.py").write_text(MODEL)
    return tmp_path


def found(answer):
    """What does not depend on who did the work: samples do."""
    assert answer.status == 0, answer.err
    data = answer.json
    assert data["complete"] and not data["unresolved"]
    return sorted(
        (sorted(row["commits"].items()), sorted(row["constraints"]), row["paths"], row["outcome"])
        for row in data["classes"]
    )


def test_processes(lpn, ways):
    alone = found(lpn("classes", ways / "ways.py", "--json"))
    assert len(alone) == 2**6
    for jobs in (2, 3):
        assert found(lpn("classes", ways / "ways.py", "--jobs", jobs, "--json")) == alone


def test_a_cluster(lpn, ways, environment):
    alone = found(lpn("classes", ways / "ways.py", "--json"))
    with Cluster(environment, ways) as cluster:
        assert (
            found(lpn("classes", ways / "ways.py", "--scheduler", cluster.address, "--json"))
            == alone
        )


def test_a_limit_leaves_the_rest_open(lpn, ways):
    answer = lpn("classes", ways / "ways.py", "--jobs", 2, "--max-paths", 20, "--json")
    assert answer.status == 3 and not answer.json["complete"]
    assert sum(row["paths"] for row in answer.json["classes"]) >= 20


def test_nobody_there(lpn, ways):
    answer = lpn("classes", ways / "ways.py", "--scheduler", "tcp://127.0.0.1:1")
    answer.refused("E-scheduler")
