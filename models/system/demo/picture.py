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


def workload(input, net):
    """The lines of an image's pixels, the bytes of its file spread over them."""
    from lpn_models_native import _jpeg

    with open(input, "rb") as file:
        data = file.read(_jpeg.MAX_FILE_BYTES)
    width, height = _jpeg.size(data)
    lines = -(-2 * width * height // LINE)
    header = min(HEADER, len(data))
    rest = len(data) - header
    marking = lpn.Marking(net)
    for line in range(lines):
        share = rest * (line + 1) // lines - rest * line // lines
        marking.add("lines", bytes=share + (header if line == 0 else 0))
    return marking
