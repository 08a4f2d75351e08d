"""Schedules of convolutions and matrix products: which there are, and their programs.

An output tile is reset, summed over tiles of input channels, shifted, clipped and stored. A schedule
says the tiles, how many buffers there are to work in while others are filled (virtual threads), the
order of the outer loops and what the micro-ops unroll. Tiles need not divide rows, columns and output
channels: the last one begins earlier, as Halide's TailStrategy ShiftInwards does.
"""

import itertools

import numpy

from models.vta.config import DEFAULT
from models.vta.convolution import Conv, matmul
from models.vta.writer import Writer

__all__ = ["Conv", "Plan", "Work", "features", "matmul", "program", "space"]

ORDERS = ("channels", "space")  # the outermost loop
KERNELS = ("channels", "rows")  # what micro-ops unroll beside input channels and the filter
MOST_INSTRUCTIONS = 200_000


def space(conv, uneven=False):
    """Every valid schedule of the convolution, as dicts. `uneven`: also tiles that do not divide,
    for each number of tiles the smallest that are enough.
    """
    largest = DEFAULT.depth["acc"]  # no tile can have more rows, columns or channels
    sizes = _covers if uneven else _divisors
    areas = [
        {"rows": rows, "columns": columns}
        for rows in sizes(conv.oh, largest)
        for columns in sizes(conv.ow, largest)
        if rows * columns <= largest
        and _ceil(conv.oh, rows) * _ceil(conv.ow, columns) < MOST_INSTRUCTIONS
    ]
    axes = {
        "out_channels": sizes(conv.co_blocks, largest),
        "in_channels": _divisors(conv.ci_blocks, largest),  # none may be summed twice
        "threads": (1, 2),
        "order": ORDERS,
        "kernel": KERNELS,
    }
    others = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    every = ({**area, **other} for area in areas for other in others)
    return [schedule for schedule in every if Plan(conv, **schedule).refusal is None]


def _divisors(number, most):
    return [n for n in range(1, min(number, most) + 1) if number % n == 0]


def _covers(number, most):
    """Of each number of tiles the size that is just enough."""
    return [n for n in range(1, min(number, most) + 1) if n == _ceil(number, _ceil(number, n))]


def _ceil(number, by):
    return -(-number // by)


def program(conv, schedule):
    """(program, micro-ops) of a schedule: words as in isa.py, and numpy.uint32.

    Raises ValueError, with the reason, for a schedule that does not fit.
    """
    plan = Plan(conv, **schedule)
    if plan.refusal:
        raise ValueError(plan.refusal)
    return Writer(plan).write()


class Work:
    """What each unit has to do in a schedule: `loads`, their `bursts` and `beats`; clocks of
    `products` and of other operations on `vectors`; `stores` and their `elements`; `instructions`.
    """

    def __init__(self, conv, schedule):
        plan = self.plan = Plan(conv, **schedule)
        # What the buffers hold all of stays: of one place or one output channel in the outer loop.
        spaces, cos = (1, plan.cos) if plan.order == "channels" else (plan.spaces, 1)
        stays = plan.ci * plan.spaces // spaces <= plan.threads
        inputs = plan.spaces * plan.ci if stays else plan.steps
        stays = plan.ci * plan.cos // cos <= plan.threads
        weights = plan.cos * plan.ci if stays else plan.steps
        self.loads = inputs * plan.in_channels + weights
        self.bursts = inputs * plan.in_channels * plan.ih + weights * plan.out_channels
        self.beats = inputs * plan.input_size * 2 + weights * plan.weight_size * 32
        self.products = plan.tiles * plan.output_size * conv.k**2 * conv.ci_blocks
        self.vectors = 4 * plan.tiles * plan.output_size
        self.stores = plan.tiles * plan.out_channels * plan.rows
        self.elements = plan.tiles * plan.output_size
        self.instructions = plan.steps + 4 * plan.tiles


def features(conv, schedule):
    """Numbers about a schedule that its clocks depend on, for a model of costs: logarithms of what
    each unit has to do, and the choices.
    """
    work = Work(conv, schedule)
    plan = work.plan
    amounts = (
        work.beats,
        work.bursts,
        work.loads,
        work.stores,
        work.instructions,
        plan.tiles,
        plan.kernel_size,
        plan.rows,
        plan.columns,
    )
    choices = [plan.threads, ORDERS.index(plan.order), KERNELS.index(plan.kernel)]
    return [float(numpy.log2(1 + x)) for x in amounts] + choices


class Plan:
    """Sizes that follow from a schedule; `refusal`: why it does not fit, or None."""

    def __init__(self, conv, rows, columns, out_channels, in_channels, threads, order, kernel):
        self.conv, self.rows, self.columns = conv, rows, columns
        self.out_channels, self.in_channels = out_channels, in_channels
        self.threads, self.order, self.kernel = threads, order, kernel
        self.co_blocks, self.ci_blocks = conv.co_blocks, conv.ci_blocks
        self.refusal = self._choices()
        if self.refusal:
            return
        self.cos, self.ci = _ceil(self.co_blocks, out_channels), self.ci_blocks // in_channels
        self.across = _ceil(conv.ow, columns)
        self.spaces = _ceil(conv.oh, rows) * self.across
        self.tiles = self.cos * self.spaces
        self.steps = self.tiles * self.ci
        self.ih = (rows - 1) * conv.stride + conv.k
        self.iw = (columns - 1) * conv.stride + conv.k
        self.input_size = in_channels * self.ih * self.iw
        self.weight_size = out_channels * in_channels * conv.k**2
        self.output_size = out_channels * rows * columns
        unrolled = out_channels if kernel == "channels" else rows
        self.kernel_size = unrolled * in_channels * conv.k**2
        self.refusal = self._sizes()

    def _choices(self):
        conv = self.conv
        for name, value, whole in (
            ("rows", self.rows, conv.oh),
            ("columns", self.columns, conv.ow),
            ("out_channels", self.out_channels, self.co_blocks),
            ("in_channels", self.in_channels, self.ci_blocks),
        ):
            if not 1 <= value <= whole:
                return f"{name}={value} is not 1 to {whole}"
        if self.ci_blocks % self.in_channels:
            return f"in_channels={self.in_channels} does not divide {self.ci_blocks}"
        if self.threads not in (1, 2):
            return f"threads must be 1 or 2, got {self.threads}"
        if self.order not in ORDERS:
            return f"order must be one of {', '.join(ORDERS)}, got {self.order!r}"
        if self.kernel not in KERNELS:
            return f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}"
        return None

    def begin(self, co, place):
        """(output channel, row, column) where a tile begins. The last tile of an axis ends at its
        edge: where tiles do not divide it computes some outputs of the one before once more.
        """
        row, column = divmod(place, self.across)
        return (
            min(co * self.out_channels, self.co_blocks - self.out_channels),
            min(row * self.rows, self.conv.oh - self.rows),
            min(column * self.columns, self.conv.ow - self.columns),
        )

    def _sizes(self):
        for name, size in (
            ("inp", self.input_size),
            ("wgt", self.weight_size),
            ("acc", self.output_size),
        ):
            if size * self.threads > DEFAULT.depth[name]:
                return f"{self.threads} tiles of {size} do not fit into {name}"
        # A kernel for each combination of buffers, and a micro-op for each of outputs.
        if self.kernel_size * self.threads**3 + self.threads > DEFAULT.depth["uop"]:
            return f"kernels of {self.kernel_size} micro-ops do not fit"
        most = self.steps * (self.in_channels + 2) + self.tiles * (4 + self.out_channels)
        if most > MOST_INSTRUCTIONS:
            return f"{most} instructions are more than {MOST_INSTRUCTIONS}"
        return None
