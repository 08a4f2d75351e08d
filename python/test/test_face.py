"""import lpn: what it shows, and what it leaves for later."""

import subprocess
import sys

import lpn
import pytest


def test_dir_shows_every_name():
    assert set(lpn.__all__) <= set(dir(lpn)) and "lib" in dir(lpn)
    for name in lpn.__all__:
        assert getattr(lpn, name) is not None
    assert lpn.lib.fork is not None


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'lpn' has no attribute 'simulat'"):
        lpn.simulat


def test_import_loads_neither_commands_nor_sweeps():
    code = (
        "import lpn, sys; "
        "late = ('click', 'lpn.command', 'lpn.sweeps', 'lpn.proofs', 'lpn.spaces.partition', "
        "'lpn.lib'); "
        "print([name for name in late if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
