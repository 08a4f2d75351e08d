"""Schedules of convolutions and matrix products: which there are, and their programs.

A convolution in blocks of 16 channels: inputs [ci][h][w], weights [co][ci][k][k], outputs
[co][oh][ow] of 8 bits. An output tile is reset, summed over tiles of input channels, shifted, clipped
and stored. A schedule says the tiles, how many buffers there are to work in while others are filled
(virtual threads), the order of the outer loops and what the micro-ops unroll.
"""

import itertools
from dataclasses import dataclass

import numpy

from models.vta import isa
from models.vta.config import DEFAULT

# Requantisation: shift right, then clip to 0..127.
SHIFT, LOW, HIGH = 6, 0, 127
_POP_PREV, _POP_NEXT, _PUSH_PREV, _PUSH_NEXT = 1, 2, 4, 8  # bits of `flags`
ORDERS = ("channels", "space")  # the outermost loop
KERNELS = ("channels", "rows")  # what micro-ops unroll beside input channels and the filter
MOST_INSTRUCTIONS = 200_000


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
        block = DEFAULT.block
        for name, low in (("h", 1), ("w", 1), ("ci", 1), ("co", 1), ("k", 1), ("stride", 1)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} must be at least {low}, got {getattr(self, name)}")
        if self.ci % block or self.co % block:
            raise ValueError(f"channels must be multiples of {block}, got {self.ci} and {self.co}")
        if not 0 <= self.pad < self.k:
            raise ValueError(
                f"pad must be 0..{self.k - 1} for a filter of {self.k}, got {self.pad}"
            )
        if min(self.oh, self.ow) < 1:
            raise ValueError(f"a filter of {self.k} does not fit into {self.h} x {self.w}")

    @property
    def oh(self):
        return (self.h + 2 * self.pad - self.k) // self.stride + 1

    @property
    def ow(self):
        return (self.w + 2 * self.pad - self.k) // self.stride + 1

    @property
    def products(self):
        """Clocks of the 16 x 16 array alone."""
        block = DEFAULT.block
        return self.oh * self.ow * self.k**2 * (self.ci // block) * (self.co // block)


def matmul(m, k, n):
    """The product of an m x k and a k x n matrix: a 1 x 1 convolution of m rows."""
    return Conv(m, 1, k, n)


def space(conv):
    """Every valid schedule of the convolution, as dicts."""
    block = DEFAULT.block
    axes = {
        "rows": _divisors(conv.oh),
        "columns": _divisors(conv.ow),
        "out_channels": _divisors(conv.co // block),
        "in_channels": _divisors(conv.ci // block),
        "threads": [1, 2],
        "order": list(ORDERS),
        "kernel": list(KERNELS),
    }
    every = (dict(zip(axes, values)) for values in itertools.product(*axes.values()))
    return [schedule for schedule in every if _Plan(conv, **schedule).refusal is None]


def _divisors(number):
    return [n for n in range(1, number + 1) if number % n == 0]


def program(conv, schedule):
    """(program, micro-ops) of a schedule: words as in isa.py, and numpy.uint32.

    Raises ValueError, with the reason, for a schedule that does not fit.
    """
    plan = _Plan(conv, **schedule)
    if plan.refusal:
        raise ValueError(plan.refusal)
    return _Writer(plan).write()


class Work:
    """What each unit has to do in a schedule: `loads`, their `bursts` and `beats`; clocks of
    `products` and of other operations on `vectors`; `stores` and their `elements`; `instructions`.
    """

    def __init__(self, conv, schedule):
        plan = self.plan = _Plan(conv, **schedule)
        # With all input channels in a tile, what the inner loop does not change stays.
        inputs = plan.steps if plan.ci > 1 or plan.order == "channels" else plan.spaces
        weights = plan.steps if plan.ci > 1 or plan.order == "space" else plan.cos
        self.loads = inputs * plan.in_channels + weights
        self.bursts = inputs * plan.in_channels * plan.ih + weights * plan.out_channels
        self.beats = inputs * plan.input_size * 2 + weights * plan.weight_size * 32
        self.products = conv.products
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


class _Plan:
    """Sizes that follow from a schedule; `refusal`: why it does not fit, or None."""

    def __init__(self, conv, rows, columns, out_channels, in_channels, threads, order, kernel):
        self.conv, self.rows, self.columns = conv, rows, columns
        self.out_channels, self.in_channels = out_channels, in_channels
        self.threads, self.order, self.kernel = threads, order, kernel
        block = DEFAULT.block
        self.co_blocks, self.ci_blocks = conv.co // block, conv.ci // block
        self.refusal = self._choices()
        if self.refusal:
            return
        self.cos, self.ci = self.co_blocks // out_channels, self.ci_blocks // in_channels
        self.across = conv.ow // columns
        self.spaces = conv.oh // rows * self.across
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
            if value < 1 or whole % value:
                return f"{name}={value} does not divide {whole}"
        if self.threads not in (1, 2):
            return f"threads must be 1 or 2, got {self.threads}"
        if self.order not in ORDERS:
            return f"order must be one of {', '.join(ORDERS)}, got {self.order!r}"
        if self.kernel not in KERNELS:
            return f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}"
        return None

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


def _transfer(op, memory, flags, sram, dram, y, x, stride, pads=0):
    low = op | flags << 3 | memory << 7 | sram << 10 | dram << 26
    return low, y | x << 16 | stride << 32 | pads << 48


class _Buffers:
    """The tiles that a memory holds, of so many it can."""

    def __init__(self, number):
        self.tags, self.last_use, self.next = [None] * number, [-1] * number, 0

    def use(self, tag, step):
        """(slot, the step behind which it is free to be filled; None if the tile is there)."""
        free = None
        if tag in self.tags:
            slot = self.tags.index(tag)
        else:
            slot, self.next = self.next, (self.next + 1) % len(self.tags)
            free, self.tags[slot] = self.last_use[slot], tag
        self.last_use[slot] = step
        return slot, free


class _Writer:
    """The program of a plan."""

    def __init__(self, plan):
        self.plan = plan
        self.words, self.uops, self.kernels = [], [], {}

    def write(self):
        plan = self.plan
        steps, posts = self._steps()
        # What the micro-ops are is known when all steps are; they are loaded by one instruction.
        for a in range(plan.threads):
            self.uops.append((a * plan.output_size, a * plan.output_size, 0))
        for step in steps:
            self._kernel(step["slots"])
        self.words.append(
            _transfer(isa.LOAD_OP, isa.UOP, 0, 0, 0, 1, len(self.uops), len(self.uops))
        )
        for number, step in enumerate(steps):
            self._loads(step)
            self._compute(step, number in posts)
            if step["last"]:
                self._store(step)
        for _ in range(min(plan.threads, plan.tiles)):
            self.words.append((isa.LOAD_OP | _POP_NEXT << 3, 0))
        self.words.append((isa.FINISH_OP, 0))
        a, b, c = numpy.array(self.uops, numpy.uint32).T
        return isa.program(self.words), a | b << numpy.uint32(11) | c << numpy.uint32(22)

    def _steps(self):
        """What each step loads and works on; and the steps that tell the load unit to go on."""
        plan = self.plan
        inputs, weights = _Buffers(plan.threads), _Buffers(plan.threads)
        outer = [range(plan.cos), range(plan.spaces)]
        if plan.order == "space":
            outer.reverse()
        steps, posts, released = [], set(), -1
        for tile, pair in enumerate(itertools.product(*outer)):
            co, place = pair if plan.order == "channels" else pair[::-1]
            for ci in range(plan.ci):
                number = len(steps)
                i, i_free = inputs.use((place, ci), number)
                w, w_free = weights.use((co, ci), number)
                free = max(-1 if x is None else x for x in (i_free, w_free))
                wait = free > released
                if wait:
                    released = free
                    posts.add(free)
                steps.append(
                    {
                        "tile": tile,
                        "co": co,
                        "place": divmod(place, plan.across),
                        "ci": ci,
                        "slots": (tile % plan.threads, i, w),
                        "input": i_free is not None,
                        "weight": w_free is not None,
                        "wait": wait,
                        "first": ci == 0,
                        "last": ci == plan.ci - 1,
                    }
                )
        return steps, posts

    def _kernel(self, slots):
        """The micro-ops for these buffers."""
        if slots in self.kernels:
            return
        plan, k = self.plan, self.plan.conv.k
        a, i, w = (
            slot * size
            for slot, size in zip(slots, (plan.output_size, plan.input_size, plan.weight_size))
        )
        begin = len(self.uops)
        rows = plan.kernel == "rows"
        for unrolled in range(plan.rows if rows else plan.out_channels):
            for ci, dy, dx in itertools.product(range(plan.in_channels), range(k), range(k)):
                row = dy + (unrolled * plan.conv.stride if rows else 0)
                block = (0 if rows else unrolled * plan.in_channels) + ci
                self.uops.append(
                    (
                        a + unrolled * plan.columns * (1 if rows else plan.rows),
                        i + (ci * plan.ih + row) * plan.iw + dx,
                        w + (block * k + dy) * k + dx,
                    )
                )
        self.kernels[slots] = begin, len(self.uops)

    def _loads(self, step):
        plan, conv = self.plan, self.plan.conv
        _, i, w = step["slots"]
        loads = []
        if step["input"]:
            row = step["place"][0] * plan.rows * conv.stride - conv.pad
            column = step["place"][1] * plan.columns * conv.stride - conv.pad
            above, left = max(0, -row), max(0, -column)
            below = max(0, row + plan.ih - conv.h)
            right = max(0, column + plan.iw - conv.w)
            for n in range(plan.in_channels):
                channel = step["ci"] * plan.in_channels + n
                loads.append(
                    (
                        isa.INP,
                        i * plan.input_size + n * plan.ih * plan.iw,
                        (channel * conv.h + row + above) * conv.w + column + left,
                        plan.ih - above - below,
                        plan.iw - left - right,
                        conv.w,
                        above | below << 4 | left << 8 | right << 12,
                    )
                )
        if step["weight"]:
            filters = conv.k**2
            first = step["co"] * plan.out_channels * plan.ci_blocks + step["ci"] * plan.in_channels
            loads.append(
                (
                    isa.WGT,
                    w * plan.weight_size,
                    first * filters,
                    plan.out_channels,
                    plan.in_channels * filters,
                    plan.ci_blocks * filters,
                )
            )
        for n, (memory, *rest) in enumerate(loads):
            flags = (_POP_NEXT if step["wait"] and n == 0 else 0) | (
                _PUSH_NEXT if n == len(loads) - 1 else 0
            )
            self.words.append(_transfer(isa.LOAD_OP, memory, flags, *rest))

    def _compute(self, step, post):
        plan, conv = self.plan, self.plan.conv
        a = step["slots"][0]
        area = plan.rows * plan.columns
        # A loop of one round needs no factor, which might not fit into its bits.
        channel = area if plan.out_channels > 1 else 0
        if step["first"]:
            flags = _POP_NEXT if step["tile"] >= plan.threads else 0
            loops = self._loops(a, a + 1, plan.out_channels, area)
            self.words.append((isa.GEMM_OP | flags << 3 | 1 << 7 | loops, channel | 1 << 11))
        flags = (_POP_PREV if step["input"] or step["weight"] else 0) | (_PUSH_PREV if post else 0)
        begin, end = self.kernels[step["slots"]]
        if plan.kernel == "channels":
            loops = self._loops(begin, end, plan.rows, plan.columns)
            outer = (plan.columns, conv.stride * plan.iw, 0) if plan.rows > 1 else (0, 0, 0)
        else:
            loops = self._loops(begin, end, plan.out_channels, plan.columns)
            outer = (area, 0, plan.in_channels * conv.k**2) if channel else (0, 0, 0)
        stride = conv.stride if plan.columns > 1 else 0
        factors = outer[0] | 1 << 11 | outer[1] << 22 | stride << 33 | outer[2] << 44
        self.words.append((isa.GEMM_OP | flags << 3 | loops, factors))
        if step["last"]:
            loops = self._loops(a, a + 1, plan.out_channels, area)
            factors = channel | 1 << 11 | channel << 22 | 1 << 33 | 1 << 47
            for op, imm in ((isa.SHIFT, SHIFT), (isa.MAX, LOW), (isa.MIN, HIGH)):
                flags = _PUSH_NEXT if op == isa.MIN else 0
                self.words.append((isa.ALU_OP | flags << 3 | loops, factors | op << 44 | imm << 48))

    @staticmethod
    def _loops(begin, end, lp0, lp1):
        return begin << 8 | end << 21 | lp0 << 35 | lp1 << 49

    def _store(self, step):
        plan, conv = self.plan, self.plan.conv
        row, column = step["place"][0] * plan.rows, step["place"][1] * plan.columns
        for n in range(plan.out_channels):
            flags = (_POP_PREV if n == 0 else 0) | (_PUSH_PREV if n == plan.out_channels - 1 else 0)
            sram = (step["slots"][0] * plan.out_channels + n) * plan.rows * plan.columns
            channel = step["co"] * plan.out_channels + n
            dram = (channel * conv.oh + row) * conv.ow + column
            self.words.append(
                _transfer(
                    isa.STORE_OP, isa.OUT, flags, sram, dram, plan.rows, plan.columns, conv.ow
                )
            )
