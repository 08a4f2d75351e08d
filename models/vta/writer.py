"""The program of a schedule: its instructions and micro-ops."""

import itertools

import numpy

from models.vta import isa
from models.vta.convolution import HIGH, LOW, SHIFT

_POP_PREV, _POP_NEXT, _PUSH_PREV, _PUSH_NEXT = 1, 2, 4, 8  # bits of `flags`


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


class Writer:
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
                        "begin": plan.begin(co, place),
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
            row, column = (at * conv.stride - conv.pad for at in step["begin"][1:])
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
            first = step["begin"][0] * plan.ci_blocks + step["ci"] * plan.in_channels
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
        first, row, column = step["begin"]
        for n in range(plan.out_channels):
            flags = (_POP_PREV if n == 0 else 0) | (_PUSH_PREV if n == plan.out_channels - 1 else 0)
            sram = (step["slots"][0] * plan.out_channels + n) * plan.rows * plan.columns
            channel = first + n
            dram = (channel * conv.oh + row) * conv.ow + column
            self.words.append(
                _transfer(
                    isa.STORE_OP, isa.OUT, flags, sram, dram, plan.rows, plan.columns, conv.ow
                )
            )
