"""lpn tune by several processes and on a cluster: the same search as alone; Ctrl-C and going on."""

import json
import os
import signal
import subprocess

import pytest

from conftest import BUILD
from test_sweep import Cluster, wait_for_lines

SMALL = ("tune", "vta", "matmul", "--shape", "16x32x32", "--strategy", "random", "--trials", 24)
LARGE = ("tune", "vta", "conv2d", "--shape", "28x28x32x32x3", "--pad", 1, "--seed", 3)


@pytest.fixture(scope="module")
def alone(lpn):
    answer = lpn(*SMALL, "--all", "--json", "--jobs", 1)
    assert answer.status == 0, answer.err
    return answer.json


def test_processes_find_the_same(lpn, alone):
    assert lpn(*SMALL, "--all", "--json", "--jobs", 3).json == alone


def test_a_cluster_finds_the_same(lpn, alone, tmp_path, environment):
    with Cluster(environment, tmp_path) as cluster:
        answer = lpn(*SMALL, "--all", "--json", "--scheduler", cluster.address)
    assert answer.status == 0, answer.err
    assert answer.json == alone


def test_nobody_there(lpn):
    lpn(*SMALL, "--scheduler", "tcp://127.0.0.1:1").refused("E-scheduler")
    lpn(*SMALL, "--scheduler", "tcp://127.0.0.1:1", "--jobs", 2).refused("E-usage")


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_and_going_on(lpn, environment, tmp_path, jobs):
    kept = tmp_path / "trials.jsonl"
    asked = [*LARGE, "-o", kept, "--jobs", jobs, "--json", "--all"]
    command = [BUILD / "bin" / "lpn", *asked, "--trials", 3000]
    with subprocess.Popen(
        [str(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_for_lines(kept, 10, process, timeout=120)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=100)
    assert process.returncode == 3 and "Traceback" not in err, (out, err)
    found = json.loads(out)
    assert found["ending"] == "interrupted" and 8 <= found["trials"] < 3000
    least = min(row["cost"] for row in found["table"])
    assert found["best"]["cost"] == least and found["best"]["latency"] > 0
    again = lpn(*asked, "--trials", found["trials"])
    assert again.status == 0 and again.json["table"] == found["table"]
    # Nothing was simulated anew: the file has the head and these trials, or some more.
    assert len(kept.read_bytes().splitlines()) >= 1 + found["trials"]
