"""The command line of this build, and the demo programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
DEMO = REPO / "models" / "nfp" / "demo"
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture
def nfp():
    """nfp("guarantee", ...) runs `lpn nfp guarantee ...`; the result's `data` is what --json
    printed.
    """
    pytest.importorskip("lpn_models_native._nfp")

    def run(*arguments, status=0):
        done = subprocess.run(
            [str(BUILD / "bin" / "lpn"), "nfp", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        done.data = json.loads(done.stdout) if "--json" in arguments else None
        return done

    return run
