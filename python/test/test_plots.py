"""plots: what can be drawn, and that the same numbers give the same picture."""

import os

import lpn
import pytest
from lpn.plots import check_plot, check_sweep, plot_lines, plot_samples, plot_sweep
from lpn.sweeps.definition import Definition

pytest.importorskip("matplotlib")


def test_lines_are_the_same_each_time(tmp_path):
    panels = [("rate", [("a", [(2, 1), (1, 3)], False), (None, [(1, 1)], True)])]
    for name in ("one.svg", "two.svg"):
        plot_lines(panels, "cores", str(tmp_path / name), "A title")
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text() and "<svg" in text


def test_samples(tmp_path):
    plot_samples([(10, 11), (200, 190)], str(tmp_path / "s.png"), "interface")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_a_sweep(pipe, tmp_path):
    definition = Definition(pipe, ["4"], {"slots": [1, 2, 4], "work": [2, 3]}, engine="interp")
    path = str(tmp_path / "sweep.svg")
    check_sweep(definition, path)
    rows = lpn.sweep(pipe, ["4"], {"slots": [1, 2, 4], "work": [2, 3]}, engine="interp", jobs=1)
    plot_sweep(definition, rows, path, ["latency", "throughput"])
    text = (tmp_path / "sweep.svg").read_text()
    assert "work=2" in text and "work=3" in text and "latency (cycles)" in text


@pytest.mark.parametrize(
    "check, words",
    [
        (lambda d: check_plot("x.pdf"), "an .svg or a .png file, got x.pdf"),
        (lambda d: check_sweep(d, "x.gif"), "cannot tell from x.gif"),
        (lambda d: check_sweep(d, "/nowhere/x.svg"), "there is no folder /nowhere"),
        (lambda d: check_sweep(d, "x.svg"), "there is nothing to draw"),
        (lambda d: plot_samples([(1, 1)], "/nowhere/x.svg", ""), "cannot write /nowhere/x.svg"),
    ],
)
def test_refusals(pipe, check, words):
    with pytest.raises(lpn.Error, match=words) as caught:
        check(Definition(pipe, ["4"], engine="interp"))
    assert caught.value.code == "E-plot"


def test_a_plot_that_cannot_be_written_leaves_the_older_one(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def full(figure, file, **options):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    path = tmp_path / "old.svg"
    path.write_text("older")
    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(lpn.Error, match="old.svg: No space left on device"):
        plot_lines([("y", [(None, [(1, 2)], False)])], "x", str(path), "title")
    assert path.read_text() == "older" and os.listdir(tmp_path) == ["old.svg"]
