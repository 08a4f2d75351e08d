"""A PNG file as the core's parser meets it: the bytes of the zlib stream and where they lie.

Refused with a ValueError is what is no whole PNG file and what the core swallows without a pixel.
Checksums are not looked at, as in the core.
"""

import dataclasses

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_FILE_BYTES = 1 << 26
MAX_ROWS = 1 << 24
MAX_WIDTH = 2**14 - 1  # hard_png.v, sizevalid
MAX_ROW_BYTES = 2**14 - 1  # hard_png.v, bprtmp[15:14] == 0

# Bytes per pixel, by the colour type of IHDR.
_PIXEL_BYTES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PALETTE = 3


@dataclasses.dataclass(frozen=True)
class Image:
    """What the clocks depend on, beside the symbols of the deflate stream."""

    width: int  # pixels
    height: int  # pixels
    row_bytes: int  # without the filter byte
    deflate: bytes  # the zlib stream behind its header of 2 bytes
    # (k, skipped): byte k of `deflate` begins a chunk; the parser reads `skipped` bytes between it
    # and the byte before, or the beginning of the file.
    chunks: tuple


def read(path) -> Image:
    """Raises OSError when the file cannot be read and ValueError, with the reason."""
    with open(path, "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"the file has more than {MAX_FILE_BYTES >> 20} MiB, which is not read")
    if not data.startswith(SIGNATURE):
        raise ValueError("this is no PNG file: it does not begin with the signature of PNG")
    found = list(_chunks(data))
    if not found or found[0][0] != b"IHDR" or found[0][2] != 13:
        raise ValueError("the file is damaged: the first chunk is not IHDR with 13 bytes")
    kinds = [kind for kind, _, _ in found]
    if kinds.count(b"IHDR") > 1:
        raise ValueError("the file is damaged: it has a second IHDR")
    if b"IDAT" not in kinds:
        raise ValueError("the file has no image data (IDAT)")
    at = found[0][1]
    width, height, row_bytes = _header(data[at : at + 13])
    if data[at + 9] == _PALETTE:
        _check_palette(found)
    return Image(width, height, row_bytes, *_deflate(data, found))


def _chunks(data):
    """(type, offset of the payload, its bytes) of every chunk up to IEND."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if at + 12 + size > len(data):
            break
        yield kind, at + 8, size
        if kind == b"IEND":
            return
        at += 12 + size
    raise ValueError("the file is truncated: it ends before the chunk IEND")


def _header(ihdr):
    width, height = int.from_bytes(ihdr[:4], "big"), int.from_bytes(ihdr[4:8], "big")
    depth, colour, compression, filtering, interlaced = ihdr[8:]
    if not 1 <= width < 2**31 or not 1 <= height < 2**31:
        raise ValueError(f"the file is damaged: an image of {width} x {height} pixels")
    if colour not in _PIXEL_BYTES:
        raise ValueError(f"the file is damaged: there is no colour type {colour}")
    if depth != 8:
        raise ValueError(
            f"bit depth {depth}: the core decodes 8 bits per sample only and swallows the file "
            "without a pixel; save the image with 8 bits"
        )
    if interlaced:
        raise ValueError(
            "interlaced: the core swallows the file without a pixel; save it without interlacing"
        )
    if compression or filtering:
        raise ValueError("compression or filter method not 0: the core gives no pixel")
    row_bytes = width * _PIXEL_BYTES[colour]
    if width > MAX_WIDTH or row_bytes > MAX_ROW_BYTES:
        raise ValueError(
            f"rows of {width} pixels, {row_bytes} bytes: the core takes at most {MAX_ROW_BYTES} "
            "bytes and swallows the file without a pixel; use a narrower image"
        )
    if height > MAX_ROWS:
        raise ValueError(f"{height} rows; more than {MAX_ROWS} are not read")
    return width, height, row_bytes


def _check_palette(found):
    kinds = [kind for kind, _, _ in found]
    if b"PLTE" not in kinds[: kinds.index(b"IDAT")]:
        raise ValueError("a palette image without a palette (PLTE) before its data")
    size = found[kinds.index(b"PLTE")][2]
    if size % 3 or not 3 <= size <= 768:
        raise ValueError(f"the file is damaged: a palette of {size} bytes")


def _deflate(data, found):
    """The deflate stream and the chunks in which it lies, as in Image."""
    parts, chunks = [], []
    position, last = 0, -1  # in the zlib stream; file offset of the byte before
    for offset, size in ((at, size) for kind, at, size in found if kind == b"IDAT"):
        # The 2 bytes of the zlib header pass the parser like any other byte (hard_png.v, gapcnt).
        header = min(size, max(0, 2 - position))
        if size > header:
            chunks.append((position + header - 2, offset + header - last - 1))
            last = offset + size - 1
        position += size
        parts.append(data[offset : offset + size])
    zlib = b"".join(parts)
    if len(zlib) < 3:
        raise ValueError("the compressed data ends too early")
    if zlib[0] & 15 != 8 or zlib[1] & 32:
        raise ValueError("the image data is no zlib stream as PNG has it (method 8, no dictionary)")
    return zlib[2:], tuple(chunks)
