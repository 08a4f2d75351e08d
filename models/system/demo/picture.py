"""A device that puts out a picture line of memory by line of memory, as fast as they are taken.

What dslab-epfl/SimBricks-LPN's own model of the JPEG decoder is to a host (sims/lpn/jpeg_decoder): it decodes
sooner than its writes leave, and writes 16-bit pixels row by row, without the padding of MCUs.
"""

import lpn

LINE = 64  # bytes
HEADER = 576  # bytes of the file that it has before it begins


class Line(lpn.Token):
    bytes: lpn.Int[0, 2**24]  # of the file, that it waits for


def net():
    """One line of pixels each cycle."""
    net = lpn.Net("picture")
    lines = net.place("lines", Line, start=True)
    written = net.place("written", done=True, sink=True)
    net.transition("put_out", take={"line": lines}, put=[written], delay=1, servers=1)
    return net


def output_bytes(input):
    """What it writes of an image."""
    return _read(input)[1]


def workload(input, net):
    """The lines of an image's pixels, the bytes of its file spread over them."""
    file_bytes, pixel_bytes = _read(input)
    lines = -(-pixel_bytes // LINE)
    header = min(HEADER, file_bytes)
    rest = file_bytes - header
    marking = lpn.Marking(net)
    for line in range(lines):
        share = rest * (line + 1) // lines - rest * line // lines
        marking.add("lines", bytes=share + (header if line == 0 else 0))
    return marking


def _read(path):
    """Bytes of the file and of its pixels."""
    from lpn_models_native import _jpeg

    with open(path, "rb") as file:
        data = file.read(_jpeg.MAX_FILE_BYTES)
    width, height = _jpeg.size(data)
    return len(data), 2 * width * height
