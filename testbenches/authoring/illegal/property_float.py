"""A property that is no int."""

import lpn


class Packet(lpn.Token):
    words: float
