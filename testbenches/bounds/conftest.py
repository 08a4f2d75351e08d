"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKED = ["--inputs", "500", "--sample", "20", "--seconds", "2"]  # of the second checker

if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", ROOT / "build")) / "python"))
sys.path.insert(0, str(ROOT / "testbenches"))

from _command import environment, run  # noqa: E402, F401


@pytest.fixture(scope="session", autouse=True)
def second_opinion(tmp_path_factory):
    """Every certificate that these tests make is refused by no second checker."""
    from lpn.proofs import question

    folder, finish = tmp_path_factory.mktemp("certificates"), question._Search.finish

    def kept(search, claim):
        answer = finish(search, claim)
        if answer.certificate is not None:
            path = folder / f"{sum(1 for _ in folder.iterdir())}.json"
            path.write_text(json.dumps(answer.certificate))
        return answer

    question._Search.finish = kept
    yield
    question._Search.finish = finish
    files = sorted(folder.iterdir())
    checker = [sys.executable, ROOT / "testbenches/second_checker/check.py", *CHECKED, *files]
    if files:
        ran = subprocess.run(checker, capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 3) and "refused" not in ran.stdout, ran.stdout + ran.stderr
        assert len(ran.stdout.splitlines()) == len(files), ran.stderr
