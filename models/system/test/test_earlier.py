"""Outputs of which inputs before wrote a part: those lines are in L3, the others in DRAM."""

import lpn
import pytest
from conftest import UNIT
from test_system import DEMO, FILE, IMAGE, write


def test_the_authors_model_writes_a_line_after_the_other(tmp_path):
    """Link, an I/O cache that lacks the line, L3, link: 819.75 ns, and polls of 914 ns. The first 8 of
    6144 lines, after the small image, are in L3."""
    model = lpn.load(DEMO.parent / "jpeg_lpn.toml")
    net, found = model.net(earlier=1), []
    for name, image in (
        ("1.jpg", "grad_16x16_q90_420.jpg"),
        ("2.jpg", "plasma12_512x384_q50_420.jpg"),
    ):
        (tmp_path / name).symlink_to(IMAGE.parent / image)
        run = lpn.simulate(net, model.workload(tmp_path / name, net))
        found.append(model.module.answer_of_run(run)["ns"])
    rows = 6144 * 64 // 8192
    dram = [8 * (32.75 + 14.25) + 2 * 14.25, (6144 - 8) * (32.75 + 14.25) + (rows - 1) * 2 * 14.25]
    assert abs(found[1] - found[0] - (6144 - 8) * 819.75 - dram[1] + dram[0]) < 914


def test_what_earlier_inputs_wrote_is_not_in_dram_alone(tmp_path):
    text = FILE.replace('output = "behind"\n', "") + (
        "controller_ns = 3\naccess_ns = 13\nactivate_ns = 17\nprecharge_ns = 19\n"
    )
    model = lpn.load(write(tmp_path, text))
    for name, sizes in (("1.jpg", "0"), ("2.jpg", "0 0"), ("3.jpg", "0 0 0")):
        (tmp_path / name).write_text(sizes)
    with pytest.raises(ValueError) as refused:
        model.workload(tmp_path / "2.jpg", model.net(earlier=1))
    assert "a model with a function output_bytes(input)" in str(refused.value)
    (tmp_path / "unit.py").write_text(
        UNIT + "\n\ndef output_bytes(input):\n    return 64 * len(open(input).read().split())\n"
    )
    model, found = lpn.load(tmp_path / "board.toml"), []
    for earlier in (0, 1):
        net = model.net(earlier=earlier, outstanding_writes=1)
        run = lpn.simulate(net, model.workload(tmp_path / "2.jpg", net), engine="interp")
        assert not run.stalled
        found.append(model.module.answer_of_run(run)["ns"])
    assert found[0] - found[1] == 3 + 13 + 17 + 19  # the first of its two lines, which 1.jpg wrote
