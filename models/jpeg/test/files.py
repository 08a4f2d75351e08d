"""JPEG files taken apart and put together again, to make the bad ones."""

import struct


def segment(marker, payload):
    """The bytes of a segment."""
    return bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + bytes(payload)


def split(data):
    """(list of [marker, payload], entropy-coded bytes, what follows from EOI on)."""
    at, segments = 2, []
    while True:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        segments.append([marker, data[at + 4 : at + 2 + length]])
        at += 2 + length
        if marker == 0xDA:
            end = data.rindex(b"\xff\xd9")
            return segments, data[at:end], data[end:]


def join(segments, scan, tail=b"\xff\xd9"):
    """The file again."""
    return b"\xff\xd8" + b"".join(segment(m, p) for m, p in segments) + scan + tail


def edit(data, marker, change, occurrence=0):
    """The file with the payload of one segment replaced by change(bytearray)."""
    segments, scan, tail = split(data)
    chosen = [s for s in segments if s[0] == marker][occurrence]
    payload = bytearray(chosen[1])
    chosen[1] = bytes(change(payload) or payload)
    return join(segments, scan, tail)


def insert(data, marker, payload, before=None):
    """The file with one more segment: first of all, or before the first `before`."""
    segments, scan, tail = split(data)
    at = 0 if before is None else next(k for k, s in enumerate(segments) if s[0] == before)
    segments.insert(at, [marker, bytes(payload)])
    return join(segments, scan, tail)


def set_size(data, width, height):
    """The file with another size in its frame header."""

    def change(payload):
        payload[1:5] = struct.pack(">HH", height, width)

    return edit(data, 0xC0, change)


def stuff(data):
    """Entropy-coded bytes as they stand in a file."""
    return data.replace(b"\xff", b"\xff\x00")


def flat(like, width, height, first_dc="00"):
    """An image of one colour, every block DC difference 0 and EOB, with the header of `like`
    (which must use the Annex K tables). `first_dc`: bits of the very first DC difference.
    """
    segments, _, _ = split(like)
    frame = next(p for m, p in segments if m == 0xC0)
    luma, chroma = "00" + "1010", "00" + "00"
    if frame[5] == 1:
        mcu, size = luma, 8
    elif frame[7] == 0x11:
        mcu, size = luma + 2 * chroma, 8
    else:
        mcu, size = 4 * luma + 2 * chroma, 16
    bits = mcu * (-(-width // size) * -(-height // size))
    bits = first_dc + bits[2:]
    bits += "1" * (-len(bits) % 8)
    scan = bytes(int(bits[k : k + 8], 2) for k in range(0, len(bits), 8))
    return set_size(join(segments, stuff(scan)), width, height)
