"""PNG files for tests, written chunk by chunk."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIXEL_BYTES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind, payload=b""):
    body = kind + payload
    return struct.pack(">I", len(payload)) + body + struct.pack(">I", zlib.crc32(body))


def header(width, height, colour=0, depth=8, interlaced=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def compress(raw, level=6, strategy=zlib.Z_DEFAULT_STRATEGY, memory=8):
    packer = zlib.compressobj(level, zlib.DEFLATED, 15, memory, strategy)
    return packer.compress(raw) + packer.flush()


def png(width, height, stream, colour=0, sizes=(), before=b"", between=b"", **other):
    """A file with a zlib stream in IDAT chunks of `sizes` bytes and one with the rest."""
    parts, at = [], 0
    for size in sizes:
        parts.append(chunk(b"IDAT", stream[at : at + size]))
        at += size
    parts.append(chunk(b"IDAT", stream[at:]))
    palette = chunk(b"PLTE", bytes(range(256)) * 3) if colour == 3 else b""
    head = SIGNATURE + header(width, height, colour, **other) + palette + before
    return head + between.join(parts) + chunk(b"IEND")


class Bits:
    """A deflate stream bit by bit, least significant first."""

    def __init__(self):
        self.bits = []

    def put(self, value, count):
        self.bits += [value >> k & 1 for k in range(count)]
        return self

    def huffman(self, code, length):
        """A Huffman code, which is written from its most significant bit on."""
        self.bits += [code >> k & 1 for k in reversed(range(length))]
        return self

    def zlib(self):
        """The bits as a zlib stream, its checksum 0."""
        padded = self.bits + [0] * (-len(self.bits) % 8)
        body = bytes(
            sum(bit << k for k, bit in enumerate(padded[at : at + 8]))
            for at in range(0, len(padded), 8)
        )
        return b"\x78\x9c" + body + bytes(4)
