"""Convolutions and matrix products, in blocks of 16 channels.

In memory: inputs [ci][h][w], weights [co][ci][k][k], outputs [co][oh][ow], where ci and co count
blocks. Channels are filled up with zeros to whole blocks, as a compiler for VTA lays them out.
"""

from dataclasses import dataclass

from models.vta.config import DEFAULT

# Requantisation: shift right, then clip to 0..127.
SHIFT, LOW, HIGH = 6, 0, 127
_MOST_PAD = 15  # a field of 4 bits
_MOST_STRIDE = 2**16 - 1  # elements between two rows in DRAM, 16 bits
_MOST_ADDRESS = 2**32  # elements in DRAM, an address of 32 bits


@dataclass(frozen=True)
class Conv:
    """A convolution of h x w x ci inputs to co channels by k x k filters; `pad` zeros around."""

    h: int
    w: int
    ci: int
    co: int
    k: int = 1
    stride: int = 1
    pad: int = 0

    def __post_init__(self):
        for name, low in (("h", 1), ("w", 1), ("ci", 1), ("co", 1), ("k", 1), ("stride", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} must be at least {low}, got {getattr(self, name)}")
        if not 0 <= self.pad < self.k:
            raise ValueError(
                f"pad must be 0..{self.k - 1} for a filter of {self.k}, got {self.pad}"
            )
        if self.pad > _MOST_PAD:
            raise ValueError(f"pad must be at most {_MOST_PAD}, the instruction's, got {self.pad}")
        if min(self.oh, self.ow) < 1:
            raise ValueError(f"a filter of {self.k} does not fit into {self.h} x {self.w}")
        for what, stride in (
            ("a row of inputs", self.w),
            ("a row of outputs", self.ow),
            ("the filters of an output channel", self.ci_blocks * self.k**2),
        ):
            if stride > _MOST_STRIDE:
                raise ValueError(
                    f"{what} has {stride} elements in memory, more than a stride of 16 bits can "
                    "step over"
                )
        for what, size in (
            ("inputs", self.ci_blocks * self.h * self.w),
            ("weights", self.co_blocks * self.ci_blocks * self.k**2),
            ("outputs", self.co_blocks * self.oh * self.ow),
        ):
            if size > _MOST_ADDRESS:
                raise ValueError(f"the {what} are {size} elements, more than 32 bits can address")

    @property
    def ci_blocks(self):
        return -(-self.ci // DEFAULT.block)

    @property
    def co_blocks(self):
        return -(-self.co // DEFAULT.block)

    @property
    def oh(self):
        return (self.h + 2 * self.pad - self.k) // self.stride + 1

    @property
    def ow(self):
        return (self.w + 2 * self.pad - self.k) // self.stride + 1

    @property
    def products(self):
        """Clocks of the 16 x 16 array alone, zeros that fill up blocks included."""
        return self.oh * self.ow * self.k**2 * self.ci_blocks * self.co_blocks


def matmul(m, k, n):
    """The product of an m x k and a k x n matrix: a 1 x 1 convolution of m rows."""
    for name, size in (("m", m), ("k", k), ("n", n)):
        if size < 1:
            raise ValueError(f"{name} of M x K by K x N must be at least 1, got {size}")
    return Conv(m, 1, k, n)
