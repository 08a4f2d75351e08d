"""The command line of this build, and programs in files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
DEMO = REPO / "models" / "vta" / "demo"
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture(scope="session")
def vta():
    return pytest.importorskip("lpn").load("vta")


@pytest.fixture
def cycles(vta, tmp_path):
    """cycles(instructions, read_latency=20, **hardware and write_ack_latency): the latency."""
    import lpn

    net = vta.net()

    def run(instructions, read_latency=20, write_ack_latency=None, hardware=None):
        path = tmp_path / "program.json"
        program = {"insns": instructions, **({"hardware": hardware} if hardware else {})}
        path.write_text(json.dumps(program))
        ack = read_latency if write_ack_latency is None else write_ack_latency
        params = {"read_latency": read_latency, "write_ack_latency": ack}
        result = lpn.simulate(net, vta.workload(str(path), net), params)
        assert not result.stalled, result.blocked
        return result.latency

    return run


@pytest.fixture
def command():
    """command("sim", ...) runs `lpn sim ...` by the interpreter of nets."""

    def run(*arguments, status=0):
        done = subprocess.run(
            [str(BUILD / "bin" / "lpn"), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    return run
