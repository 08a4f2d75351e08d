"""A property whose name means something else."""

import lpn


class Packet(lpn.Token):
    count: lpn.Int
