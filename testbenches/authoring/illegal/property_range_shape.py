"""A range of one number."""

import lpn


class Packet(lpn.Token):
    words: lpn.Int[9]
