"""What weighted token counts and guards prove of the reference toolchain's nets."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", ROOT / "build")) / "python"))
sys.path.insert(0, str(ROOT / "testbenches" / "ltc"))

import _lpn  # noqa: E402


def core(name):
    return importlib.import_module(name).net()._core


def conflicts(net):
    found = _lpn.structure(net, [p.value for p in net.params])["conflicts"]
    return {conflict["place"]: conflict for conflict in found}


def bound(net, place):
    found = _lpn.token_bound(net, place)
    return found and found[0]


def test_vta_decodes_one_at_a_time():
    net = core("vta")
    tokens, weights, relies_on = _lpn.token_bound(net, "decoder")
    assert tokens == 1 and weights == {"decoder": 1} and relies_on == ["decoder"]
    found = conflicts(net)
    assert found["to_decode"]["proof"] == "guards"
    assert found["decoder"]["proof"] == "guards"  # those of to_decode
    for unit in ("load", "compute", "store"):
        assert bound(net, f"{unit}_queue") == bound(net, f"{unit}_work") == 512
    # Dependencies are pushed and popped as instructions say.
    assert bound(net, "load_to_compute") is None


def test_jpeg_planes_take_turns():
    net = core("jpeg")
    starts = ["start_y", "start_cb", "start_cr"]
    assert _lpn.mutually_exclusive(net, starts)
    found = conflicts(net)
    assert found["decoded"]["consumers"] == starts and found["decoded"]["proof"] == "tokens"
    assert not found["decoded"]["router"]
    assert [bound(net, f"turn_{c}") for c in ("y", "cb", "cr")] == [4, 4, 1]
    assert [bound(net, f"work_{c}") for c in ("y", "cb", "cr")] == [1, 1, 1]
    # A plane's IDCT is idle or works, and only the last stage goes on meanwhile.
    assert _lpn.mutually_exclusive(net, ["start_y", "idct_y", "start_cb", "idct_cb"])
    assert not _lpn.mutually_exclusive(net, ["start_y", "colour"])
    assert not _lpn.mutually_exclusive(net, ["start_y", "issue"])
    # As many as there are buffers, of which the parameter allows 1024.
    assert bound(net, "pixel_slots") == 1024 and bound(net, "tasks") is None


def test_protoacc_has_one_turn():
    net = core("protoacc")
    found = conflicts(net)
    dispatch = [f"f{i}.dispatch" for i in range(1, 7)]
    assert found["to_dispatch"]["consumers"] == dispatch
    assert found["to_dispatch"]["proof"] == found["elements"]["proof"] == "tokens"
    # Turns are counts that depend on whose turn it is; only one of the six adds a token.
    assert all(bound(net, f"f{i}.dispatch_turn") == 1 for i in range(1, 7))
    assert all(bound(net, f"f{i}.collect_turn") == 1 for i in range(1, 7))
    # Kinds of fields, one at a time.
    assert found["f1.idle"]["proof"] == "tokens"
    # A repeated field's elements are many requests at once.
    assert found["f1.memory_ready"]["proof"] is None


def test_pcie_routes_by_port():
    net = core("pcie")
    found = conflicts(net)
    for port in (0, 5, 6):
        assert found[f"s1.p{port}.received"]["proof"] == "guards"
        assert found[f"s1.p{port}.idle"]["proof"] == "guards"


def test_names_are_checked():
    net = core("vta")
    with pytest.raises(KeyError, match="decode"):
        _lpn.token_bound(net, "decode")
    with pytest.raises(KeyError, match="launch_load"):
        _lpn.mutually_exclusive(net, ["launch_load"])
