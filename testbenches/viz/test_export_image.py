"""lpn viz -o net.svg, .png: the page's drawing without a page, read back by readers of their own."""

import json
import os
import resource
import shutil
import xml.dom.minidom
from pathlib import Path

import pytest
from conftest import BUILD, DEMO, chain

JPEG = DEMO / "grad_16x16_q90_420.jpg"
SKIPPED = BUILD / "python" / "lpn_page" / "export.mjs"

pytestmark = pytest.mark.skipif(
    not SKIPPED.exists(),
    reason="the page was not built: apt-get install nodejs npm, and build again",
)

# Two instances and what joins them; places that only carry credits.
PARTS = """lpn 1
net parts
type unit ()
place in : unit start
place slots : unit initial 2
place left.mid : unit
place right.mid : unit
place out : unit done
transition left.first {
  take a from in
  take s from slots
  delay 3
  servers 1
  put left.mid
}
transition left.second {
  take a from left.mid
  delay 4
  put right.mid
}
transition right.third {
  take a from right.mid
  delay 5
  put out
  put slots
}
end
"""


class Drawing:
    """An SVG file: its texts, its nodes by label, its boxes."""

    def __init__(self, path):
        self.root = xml.dom.minidom.parse(str(path)).documentElement
        assert self.root.tagName == "svg" and self.root.namespaceURI == "http://www.w3.org/2000/svg"
        self.width, self.height = int(self.root.getAttribute("width")), int(
            self.root.getAttribute("height")
        )
        assert self.root.getAttribute("viewBox") == f"0 0 {self.width} {self.height}"
        self.labels = {
            node.getAttribute("aria-label") for node in self.root.getElementsByTagName("g")
        }
        self.style = "".join(
            node.firstChild.data for node in self.root.getElementsByTagName("style")
        )

    def texts(self):
        def words(node):
            return (
                node.data
                if node.nodeType == node.TEXT_NODE
                else "".join(map(words, node.childNodes))
            )

        return [words(node) for node in self.root.getElementsByTagName("text")]

    def rects(self, name):
        """(x, y, width, height) of the rectangles of a class."""
        return [
            tuple(float(node.getAttribute(a)) for a in ("x", "y", "width", "height"))
            for node in self.root.getElementsByTagName("rect")
            if node.getAttribute("class") == name
        ]


def test_svg_has_the_net_and_needs_nothing_else(tmp_path, lpn_command):
    answer = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "net.svg", "--json")
    assert answer.status == 0, answer.err
    assert (answer.json["format"], answer.json["bytes"]) == (
        "svg",
        (tmp_path / "net.svg").stat().st_size,
    )
    drawing = Drawing(tmp_path / "net.svg")
    for name in (
        "parse",
        "huffman",
        "idct_rows",
        "fill_cr",
        "idct_columns",
        "output",
        "header",
        "coded",
        "bits",
        "coefficients",
        "rows_done",
        "cr_arriving",
        "gate_closed",
        "complete",
        "pixels",
    ):
        assert name in drawing.texts(), name
    assert {"66", "88", "65", "57"} <= set(drawing.texts()), "delays"
    text = (tmp_path / "net.svg").read_text(encoding="utf-8")
    assert "var(--" not in text, "programs beside browsers know no CSS variables"
    assert text.count("url(") == text.count("url(data:font/woff2;base64,") > 0
    assert text.count("http") == text.count("http://www.w3.org/") and "<script" not in text


def test_themes(tmp_path, lpn_command):
    grounds = set()
    for theme in ("light", "dark"):
        assert lpn_command("viz", "jpeg", "-o", tmp_path / "net.svg", "--theme", theme).status == 0
        drawing = Drawing(tmp_path / "net.svg")
        ground = next(n for n in drawing.root.childNodes if n.nodeName == "rect").getAttribute(
            "fill"
        )
        grounds.add(ground)
        assert (sum(int(ground[k : k + 2], 16) for k in (1, 3, 5)) > 384) == (theme == "light")
    assert len(grounds) == 2


def test_groups_and_credits(tmp_path, lpn_command):
    (tmp_path / "parts.lpn").write_text(PARTS)

    def labels(*options):
        answer = lpn_command("viz", tmp_path / "parts.lpn", "-o", tmp_path / "net.svg", *options)
        assert answer.status == 0, answer.err
        return {label for label in Drawing(tmp_path / "net.svg").labels if label}

    whole = labels()
    assert {"group left, open", "group right, open", "place out"} <= whole
    assert any("left.second" in label for label in whole)
    closed = labels("--collapse", "left")
    assert any(label.startswith("group left, closed") for label in closed)
    assert not any("left.second" in label for label in closed)
    assert any("right.third" in label for label in closed)
    both = labels("--collapse", "left", "--collapse", "right")
    assert not any("right.third" in label for label in both)
    assert "place slots" not in whole and "place slots" in labels("--credits")
    error = lpn_command(
        "viz", tmp_path / "parts.lpn", "-o", tmp_path / "x.svg", "--collapse", "middle"
    )
    assert "'middle'" in error.refused("E-picture") and "left, right" in error.err
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("width", [None, 1500])
def test_png_is_the_svg_in_pixels(width, tmp_path, lpn_command):
    from PIL import Image

    assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "net.svg").status == 0
    options = [] if width is None else ["--width", width]
    assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "net.png", *options).status == 0
    drawing = Drawing(tmp_path / "net.svg")
    image = Image.open(tmp_path / "net.png").convert("RGB")
    scale = image.width / drawing.width
    assert image.width == (width or 2 * drawing.width)
    assert abs(image.height - drawing.height * scale) <= 1
    boxes = drawing.rects("box")
    assert len(boxes) == 6
    ground = image.getpixel((0, 0))
    for x, y, w, h in boxes:
        # Inside, beside the left edge: the panel's white; on the edge: a line darker than both.
        inside = image.getpixel((round((x + 5) * scale), round((y + h / 2) * scale)))
        outside = image.getpixel((round((x + w / 2) * scale), round((y - 6) * scale)))
        edge = min(
            sum(image.getpixel((round(x * scale) + d, round((y + h / 2) * scale))))
            for d in (-1, 0, 1)
        )
        assert inside == (255, 255, 255) and outside == ground != inside
        assert edge < sum(ground) - 60
    # The title of a box is ink, not an empty glyph: enough dark pixels where it stands.
    x, y, w, h = boxes[0]
    title = image.crop(tuple(round(v * scale) for v in (x + 8, y + 8, x + 60, y + 26))).convert("L")
    dark = sum(1 for v in title.getdata() if v < 90) / (title.width * title.height)
    assert 0.04 < dark < 0.5


def test_names_beyond_ascii_paths_and_closed_folders(tmp_path, lpn_command):
    path = tmp_path / "ein netz ä.svg"
    assert lpn_command("viz", "jpeg", "-o", path).status == 0 and Drawing(path).width > 100
    lpn_command("viz", "jpeg", "-o", tmp_path / "none" / "net.png").refused("E-input")


def test_too_many_pixels(tmp_path, lpn_command):
    high = "".join(
        f"place p{k} : unit initial 1\ntransition t{k} {{\n  take a from p{k}\n  delay 1\n}}\n"
        for k in range(12)
    )
    (tmp_path / "high.lpn").write_text(f"lpn 1\nnet high\ntype unit ()\n{high}end\n")
    answer = lpn_command("viz", tmp_path / "high.lpn", "-o", tmp_path / "net.png", "--width", 32768)
    assert "--width" in answer.refused("E-picture") and not (tmp_path / "net.png").exists()


def test_a_chain_of_thousands_of_parts(tmp_path, lpn_command):
    """The layout calls itself for each of them."""
    (tmp_path / "chain.lpn").write_text(chain(4000))
    answer = lpn_command("viz", tmp_path / "chain.lpn", "-o", tmp_path / "chain.svg")
    assert answer.status == 0, answer.err
    most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, most[1]))
    try:
        told = lpn_command("viz", tmp_path / "chain.lpn", "-o", tmp_path / "no.svg")
        net = lpn_command("viz", tmp_path / "chain.lpn", "-o", tmp_path / "chain.pnml", "--json")
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, most)
    assert "a chain of the net is too long to be laid out" in told.refused("E-picture")
    # Which PNML does without.
    assert net.status == 0 and net.json["positions"] is False
    assert "note: without positions" in net.err


@pytest.mark.parametrize("kind", ["html", "svg", "pnml", "json"])
def test_nothing_is_left_of_a_file_that_could_not_be_written(kind, tmp_path, lpn_command):
    """No room for more than some bytes of a file, as on a full disk."""
    path = tmp_path / f"net.{kind}"
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))
    try:
        answer = lpn_command("viz", "jpeg", *([JPEG] if kind == "json" else []), "-o", path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert str(path) in answer.refused("E-input") and not path.exists()


@pytest.mark.parametrize("kind", ["svg", "png", "gif"])
def test_a_net_of_nothing(tmp_path, lpn_command, kind):
    (tmp_path / "none.lpn").write_text("lpn 1\nnet none\nend\n")
    answer = lpn_command("viz", tmp_path / "none.lpn", "-o", tmp_path / f"none.{kind}")
    assert "net 'none' has no place and no transition" in answer.refused("E-picture")
    assert not (tmp_path / f"none.{kind}").exists()


def test_without_node(tmp_path, lpn_command):
    """Another PATH: what the starter needs, but no node."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "readlink", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    text = lpn_command("viz", "jpeg", "-o", tmp_path / "net.svg", PATH=str(tools)).refused(
        "E-viz-tool"
    )
    assert "'node'" in text and "apt-get install nodejs" in text
    assert not (tmp_path / "net.svg").exists()


def test_without_the_page(tmp_path, lpn_command):
    """A build that skipped the page: its module stands in a folder of its own."""
    build = tmp_path / "build"
    (build / "python").mkdir(parents=True)
    for part in (BUILD / "python").iterdir():
        if part.name != "lpn_page":
            (build / "python" / part.name).symlink_to(part.resolve())
    shutil.copytree(BUILD / "bin", build / "bin", symlinks=True)
    import subprocess

    env = {**os.environ, "PYTHONPATH": ""}
    # The extension is found by its real file, so it is copied, not linked.
    extension = next((BUILD / "python").glob("_lpn*.so"))
    (build / "python" / extension.name).unlink()
    shutil.copy(extension, build / "python" / extension.name)
    done = subprocess.run(
        [build / "bin" / "lpn", "viz", "jpeg", "-o", tmp_path / "net.svg", "--json"],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "E-viz" and error["message"] == (
        "the page of lpn viz is not built\n"
        "  run `make page`; it needs Node.js with npm (Debian: apt-get install nodejs npm)"
    )
    assert not Path(tmp_path / "net.svg").exists()


# ---- animations ----------------------------------------------------------------------------------


def frames_of(path):
    """(frames as RGB images, milliseconds of each) of a GIF."""
    from PIL import Image, ImageSequence

    movie = Image.open(path)
    frames, times = [], []
    for frame in ImageSequence.Iterator(movie):
        frames.append(frame.convert("RGB"))
        times.append(frame.info["duration"])
    return frames, times


def near(a, b):
    """Colours up to the rounding of a palette."""
    return all(abs(x - y) <= 24 for x, y in zip(a, b))


def test_gif_shows_what_the_interpreter_does(tmp_path, lpn_command):
    """In each frame the bars of transitions with firings in flight, and no others, are drawn."""
    import lpn
    from conftest import load

    (tmp_path / "parts.lpn").write_text(PARTS)
    (tmp_path / "in.json").write_text('{"in": 5}')
    model, tokens = tmp_path / "parts.lpn", tmp_path / "in.json"
    answer = lpn_command(
        "viz", model, tokens, "-o", tmp_path / "run.gif", "--frames", 28, "--fps", 10, "--json"
    )
    assert answer.status == 0, answer.err
    assert (answer.json["format"], answer.json["firings"], answer.json["ending"]) == (
        "gif",
        15,
        "quiet",
    )
    frames, times = frames_of(tmp_path / "run.gif")
    end = answer.json["last_commit"]
    # Equal frames are one in the file, shown longer.
    assert sum(times) == 28 * 100 and set(times) <= {100 * k for k in range(1, 29)}

    net = load(model)
    marking = lpn.Marking(net)
    marking.add("in", count=5)
    commits = lpn.simulate(net, marking, engine="interp", trace=True).trace
    assert lpn_command("viz", model, tokens, "-o", tmp_path / "net.svg").status == 0
    drawing = Drawing(tmp_path / "net.svg")
    boxes = {}
    for group in drawing.root.getElementsByTagName("g"):
        if group.getAttribute("class") == "node block":
            box = next(
                n for n in group.getElementsByTagName("rect") if n.getAttribute("class") == "box"
            )
            name = group.getAttribute("aria-label").split(",")[0].removeprefix("transition ")
            boxes[name] = [float(box.getAttribute(a)) for a in ("x", "y", "width", "height")]
    assert set(boxes) == {t.name for t in net._core.transitions}
    scale = frames[0].width / drawing.width
    seen = set()
    shown = []
    for frame, lasts in zip(frames, times):
        shown += [frame] * (lasts // 100)
    for k, frame in enumerate(shown):
        time = k * end / 27
        for number, t in enumerate(net._core.transitions):
            x, y, w, h = boxes[t.name]
            # The bar of a firing is near the block's lower edge; its first part is filled from the
            # start on.
            row = [
                frame.getpixel((round((x + 12 + d) * scale), round((y + h - 7) * scale)))
                for d in (1, 2)
            ]
            flying = [c for c in commits if c.transition == number and c.start <= time < c.time]
            drawn = not all(near(pixel, (255, 255, 255)) for pixel in row)
            assert drawn == bool(flying), (t.name, time)
            seen.add((t.name, drawn))
    assert len(seen) == 6, "each block is seen with and without a firing"


def test_the_window_of_a_gif(tmp_path, lpn_command):
    whole = lpn_command(
        "viz",
        "jpeg",
        JPEG,
        "-o",
        tmp_path / "a.gif",
        "--frames",
        4,
        "--width",
        640,
        "--theme",
        "dark",
        "--window",
        "600:612",
        "--json",
    )
    assert whole.status == 0 and whole.json["window"] == [600, 612]
    frames, _ = frames_of(tmp_path / "a.gif")
    assert {frame.width for frame in frames} == {640} and 2 <= len(frames) <= 4
    assert sum(frames[0].getpixel((2, 2))) < 150, "the dark theme"
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "b.gif", "--window", "5000:").refused(
        "E-window"
    )
    lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "b.svg", "--frames", 4).refused("E-usage")
    lpn_command("viz", "jpeg", "-o", tmp_path / "b.gif").refused("E-usage")
    assert not (tmp_path / "b.gif").exists()


def test_webm(tmp_path, lpn_command):
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        pytest.skip("no ffmpeg: apt-get install ffmpeg")
    import subprocess

    answer = lpn_command(
        "viz", "jpeg", JPEG, "-o", tmp_path / "a.webm", "--frames", 10, "--fps", 5, "--width", 501
    )
    assert answer.status == 0, answer.err
    said = subprocess.run(
        [
            "ffprobe",
            "-v",
            "error",
            "-count_frames",
            "-of",
            "json",
            "-show_entries",
            "stream=codec_name,width,r_frame_rate,nb_read_frames",
            tmp_path / "a.webm",
        ],
        check=True,
        capture_output=True,
    ).stdout
    (stream,) = json.loads(said)["streams"]
    # Odd widths get a column: the encoder wants even ones.
    assert (
        stream["codec_name"],
        stream["width"],
        stream["r_frame_rate"],
        stream["nb_read_frames"],
    ) == ("vp9", 502, "5/1", "10")


def test_webm_without_ffmpeg(tmp_path, lpn_command):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "readlink", "dirname", "node"):
        (tools / name).symlink_to(shutil.which(name))
    answer = lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "a.webm", PATH=str(tools))
    assert (
        "apt-get install ffmpeg" in answer.refused("E-viz-tool")
        and not (tmp_path / "a.webm").exists()
    )


def test_pixels_have_names_and_operators_as_written(tmp_path, lpn_command):
    """What stands behind a character does not change it: 16x16 was drawn as 16\u00d716, >= as one sign."""
    from PIL import Image, ImageChops

    pictures = []
    for name, guard in (("q16x16", "j.size >= 10"), ("q16xaa", "j.size > (10)")):
        (tmp_path / "net.lpn").write_text(
            f"lpn 1\nnet n\ntype job (size: 0..20)\nplace {name} : job start\n"
            f"place out : job done\ntransition t {{\n  take j from {name} when {guard}\n  delay 1\n"
            "  put out (j.size)\n}\nend\n"
        )
        for ending in ("png", "svg"):
            answer = lpn_command("viz", tmp_path / "net.lpn", "-o", tmp_path / f"net.{ending}")
            assert answer.status == 0, answer.err
        drawing = Drawing(tmp_path / "net.svg")
        texts = {
            "".join(c.data for c in node.childNodes if c.nodeType == c.TEXT_NODE): node
            for node in drawing.root.getElementsByTagName("text")
        }
        assert name in texts and any(text.startswith("j.size >") for text in texts)
        formula = next(text for text in texts if text.startswith("j.size >"))
        picture = Image.open(tmp_path / "net.png").convert("RGB")
        parts = []
        # Up to the x (widths of its characters: 4 * 0.6 em at most), and up to the > (8 of 0.6 em).
        for text, wide in ((name, 2 + 24), (formula, 8 * 6.6)):
            x, y = (float(texts[text].getAttribute(a)) for a in ("x", "y"))
            parts.append(picture.crop([round(2 * v) for v in (x, y - 12, x + wide, y + 4)]))
        pictures.append(parts)
    for one, two in zip(*pictures):
        assert one.getextrema() != ((247, 247),) * 3  # there is something
        assert ImageChops.difference(one, two).getbbox() is None
