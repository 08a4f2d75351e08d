"""Pictures of a net without a desktop: the page's own layout and drawing, run by Node.js.

Nothing is laid out or drawn here. export.mjs, which is built beside the page, makes SVG, and pixels
of it by resvg.
"""

import base64
import json
import resource
import shutil
import subprocess
import zlib

import _lpn

from ..errors import mistake
from ..output_file import written
from .page import page_folder, record

__all__ = ["Look", "positions", "svg", "write", "write_movie"]


FRAMES = 60  # of an animation, unless asked for
FPS = 12
TRAIL = 4  # frames for which a token is seen on its way
NODE = ("node", "nodejs"), "nodejs"  # programs by name, their Debian package
FFMPEG = ("ffmpeg",), "ffmpeg"
_MOST_STACK = 64 << 10  # kB


class Look:
    """How a picture is drawn.

    `theme`: "light" or "dark"; `width`: pixels, None for two per px of the drawing, of an animation
    for one, but at most 1280 in all; `collapsed`: groups drawn closed; `credits`: draw places that
    only carry credits; `frames`, `fps`: of an animation, None for 60 and 12 a second.
    """

    def __init__(
        self, theme="light", width=None, collapsed=(), credits=False, frames=None, fps=None
    ):
        self.theme = theme
        self.width = width
        self.collapsed = list(collapsed)
        self.credits = credits
        self.frames = frames or FRAMES
        self.fps = fps or FPS

    def job(self, **more):
        return {
            "theme": self.theme,
            "width": self.width,
            "collapsed": self.collapsed,
            "credits": self.credits,
            **more,
        }


def tool(names, package):
    """The path of a program. Raises Error "E-viz-tool" with the Debian package that has it."""
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise mistake(
        "E-viz-tool",
        f"'{names[0]}' is not on PATH, and this file needs it; "
        f"on Debian: apt-get install {package}",
    )


def write(kind, net, values, marking, path, look):
    """Writes the net as an SVG or PNG file (`kind`), the tokens of `marking` in it.

    Raises Error "E-viz" (the page was not built), "E-viz-tool" (no Node.js), "E-picture" (a group
    that the net has not, a picture too large, a net of nothing), OSError.
    """
    _require_something(net)
    job = look.job(net=_lpn.viz.describe(net._core, values, marking._core), format=kind)
    data = run_node(job)
    with written(path, binary=True) as file:
        file.write(data)


def _require_something(net):
    if not net.places and not net.transitions:
        raise mistake(
            "E-picture",
            f"net '{net.name}' has no place and no transition: there is nothing to draw",
        )


def svg(net, values, marking, look=None):
    """The picture as SVG text. Raises Error "E-viz", "E-viz-tool", "E-picture"."""
    job = (look or Look()).job(
        net=_lpn.viz.describe(net._core, values, marking._core), format="svg"
    )
    return run_node(job).decode()


def positions(net, values, marking):
    """Where the middle of each part is in the picture of the net with its credits, in px from the top
    left: {("place" or "transition", number): (x, y)}. Raises Error "E-viz", "E-viz-tool", "E-picture".
    """
    job = Look(credits=True).job(
        net=_lpn.viz.describe(net._core, values, marking._core), format="layout"
    )
    return {
        (part["kind"], part["index"]): (part["x"] + part["w"] / 2, part["y"] + part["h"] / 2)
        for part in json.loads(run_node(job))
        if part["kind"] in ("place", "transition")
    }


def run_node(job):
    """What export.mjs makes of a job, as bytes."""
    with started(job) as process:
        data, said = process.communicate()
    if process.returncode != 0:
        raise refusal(said)
    return data


def started(job, **options):
    """export.mjs at work on a job, as a process."""
    folder = page_folder()
    node = tool(*NODE)
    job = json.dumps({"folder": folder, **job}).encode()
    process = subprocess.Popen(
        [node, *_stack(), f"{folder}/export.mjs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    try:
        process.stdin.write(job)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it says why on stderr
    process.stdin = None
    return process


def _stack():
    """The option for all the stack that a program here may have: the layout calls itself once for each part
    of a chain, and Node.js would stop at 1 MB, some thousand parts.
    """
    most = resource.getrlimit(resource.RLIMIT_STACK)[0]
    kilobytes = _MOST_STACK if most == resource.RLIM_INFINITY else min(most // 1024, _MOST_STACK)
    kilobytes -= 1024  # what else is on it
    return [f"--stack-size={kilobytes}"] if kilobytes > 1024 else []


def refusal(said):
    """The error that export.mjs ended with."""
    lines = said.decode(errors="replace").strip().splitlines()
    return mistake(
        "E-picture", lines[-1] if lines else "the program that draws ended without a word"
    )


def write_movie(
    kind, net, values, marking, path, look, window, *, limit=None, on_slice=None, on_frame=None
):
    """Writes the run inside `window` as an animated GIF or a WebM file (`kind`); returns the Run.

    The frames are moments at equal distances from the window's begin to its end, which may lie
    between two cycles. `on_frame()` is called after each. Raises Error "E-window" for a window
    after the run, "E-viz-tool" without Node.js or, for WebM, ffmpeg, "E-viz", "E-picture",
    "E-viz-size", RunError, OSError.
    """
    _require_something(net)
    tools = [NODE, FFMPEG] if kind == "webm" else [NODE]
    for needed in tools:  # and the page: without them the run would be for nothing
        tool(*needed)
    page_folder()
    seen = record(net, values, marking, net.name, limit=limit, on_slice=on_slice)
    end = window.cut(seen.run.end)
    step = (end - window.begin) / (look.frames - 1)
    times = [window.begin + k * step for k in range(look.frames)]
    trail = max(step * TRAIL, 1e-6)
    index = json.loads(seen.record.index())
    begins = [begin for begin, _ in index["segments"]]
    segments = {}
    for k, segment in enumerate(seen.record.segments):
        after = begins[k + 1] if k + 1 < len(begins) else None
        if begins[k] <= end and (after is None or after >= window.begin - trail):
            segments[k] = _base64(segment)
    job = look.job(
        net=_lpn.viz.describe(net._core, values, marking._core),
        format="frames",
        times=times,
        trail=trail,
        record={"index": index, "overview": _base64(seen.record.overview), "segments": segments},
    )
    with started(job) as process:
        try:
            head = process.stdout.readline()
            if not head:
                raise refusal(process.stderr.read())
            about = json.loads(head)
            size = about["width"], about["height"]
            pictures = _frames(process, size, look.frames, on_frame)
            (_write_gif if kind == "gif" else _write_webm)(path, pictures, size, look.fps)
        finally:
            process.kill()
    return seen.run


def _base64(data):
    return base64.b64encode(data).decode("ascii")


def _frames(process, size, count, on_frame):
    """The frames as RGBA bytes, one after the other."""
    length = size[0] * size[1] * 4
    for k in range(count):
        data = process.stdout.read(length)
        if len(data) != length:
            raise refusal(process.stderr.read())
        yield data
        if on_frame is not None:
            on_frame()


def _write_gif(path, frames, size, fps):
    from PIL import Image

    kept = [zlib.compress(data, 1) for data in frames]

    def picture(k):
        return Image.frombytes("RGBA", size, zlib.decompress(kept[k])).convert("RGB")

    # One palette for all, of a few frames spread over the run: what does not change stays the same
    # pixels.
    sample = range(0, len(kept), max(1, len(kept) // 8))
    sheet = Image.new("RGB", (size[0], size[1] * len(sample)))
    for row, k in enumerate(sample):
        sheet.paste(picture(k), (0, row * size[1]))
    palette = sheet.quantize(255)
    pictures = (
        picture(k).quantize(palette=palette, dither=Image.Dither.NONE) for k in range(len(kept))
    )
    with written(path, binary=True) as file:
        next(pictures).save(
            file,
            format="GIF",
            save_all=True,
            append_images=pictures,
            loop=0,
            duration=round(1000 / fps),
            optimize=False,
        )


def _write_webm(path, frames, size, fps):
    encode = [
        tool(*FFMPEG),
        "-loglevel",
        "error",
        "-y",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgba",
        "-s",
        f"{size[0]}x{size[1]}",
        "-r",
        str(fps),
        "-i",
        "-",
        "-an",
        "-vf",
        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
        "-c:v",
        "libvpx-vp9",
        "-pix_fmt",
        "yuv420p",
        "-crf",
        "24",
        "-b:v",
        "0",
        "-f",
        "webm",
        "-",
    ]
    with written(path, binary=True) as file, subprocess.Popen(
        encode, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE
    ) as ffmpeg:
        try:
            for data in frames:
                ffmpeg.stdin.write(data)
            ffmpeg.stdin.close()
        except BrokenPipeError:
            pass  # it says why on stderr
        ffmpeg.stdin = None
        said = ffmpeg.communicate()[1]
        if ffmpeg.returncode != 0:
            raise mistake(
                "E-picture", f"ffmpeg: {said.decode(errors='replace').strip() or 'failed'}"
            )
