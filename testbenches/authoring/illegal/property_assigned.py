"""A property that is assigned."""

import lpn


class Packet(lpn.Token):
    words = lpn.Int[0, 9]
