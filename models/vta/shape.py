"""The tensors that instructions load and store: bursts, clocks, zeros around them."""

import numpy

from models.vta import isa
from models.vta.config import BEAT_BYTES

BURST = 256  # beats: lenBits of the memory port (shell/Configs.scala)
PAGE = BURST * BEAT_BYTES  # no burst crosses such a boundary (firstMaxTransfer, xmax_bytes)
OUTSTANDING = 16  # RequestQueueDepth (shell/VME.scala)
COMMAND_INTERVAL = 2  # VMEcmd_Qs (VME.scala): a queue of one entry takes or gives a command a clock

# From the clock behind the last beat to the unit being idle: VME's register, one more in front of
# memories wider than a beat (vmeDataBitsPipe of TensorLoadNarrowVME.scala), done.
NARROW_TAIL = 3  # 2 where wide
PADDED, WIDE = 4, 5  # bits of an instruction's flags, behind its four of the semaphores


def refuse(wrong, text):
    """Raises ValueError with the first instruction for which `wrong` holds."""
    if wrong.any():
        number = int(numpy.argmax(wrong))
        raise ValueError(f"instruction {number}: {text(number)}")


def refuse_at(numbers, wrong, text):
    """refuse() for a part of the program, whose instructions have these numbers."""
    if wrong.any():
        first = int(numpy.argmax(wrong))
        raise ValueError(f"instruction {numbers[first]}: {text(first)}")


class Shape:
    """What some instructions of a program load, or store."""

    def __init__(self, words, numbers, hardware, store=False):
        mine = words[:, numbers]
        get = lambda name: isa.field(mine, "memory", name)
        self.flags = isa.flags(mine)
        self.memory = numpy.full(len(numbers), isa.OUT) if store else get("mem")
        self.x, self.y, self.stride, self.dram = get("x"), get("y"), get("stride"), get("dram")
        self.bytes = numpy.array([hardware.bytes[name] for name in isa.MEMORIES])[self.memory]
        some = self.x > 0
        refuse_at(
            numbers,
            some & (self.y == 0),
            lambda i: "y_size 0 with x_size > 0: the hardware would count 65536 rows",
        )
        self.y = self.y * some
        self.y0 = self.y1 = self.x0 = self.x1 = numpy.zeros(len(numbers), numpy.int64)
        # The upper 16 bits; TensorStore*.scala ignores them.
        if not store and (mine[1] >> numpy.uint64(48)).any():
            self.y0, self.y1, self.x0, self.x1 = (
                get(name) * some for name in ("y0", "y1", "x0", "x1")
            )
        self.width = self.x + self.x0 + self.x1
        end = get("sram") + self.width * (self.y + self.y0 + self.y1)
        depth = numpy.array([hardware.depth[name] for name in isa.MEMORIES])[self.memory]
        refuse_at(
            numbers,
            some & (end > depth),
            lambda i: f"it fills {isa.MEMORIES[self.memory[i]]} up to element {end[i]}, of which "
            f"there are {depth[i]}",
        )
        # As if every row began at a beat, which is so for elements of a beat and more.
        self.row_beats = -(-self.x * self.bytes // BEAT_BYTES)

    def even(self, exact):
        """Whether a load's time is arithmetic: all rows are one burst, of at least a command's
        interval, or there are so few that one is always on its way. With `exact` as they lie in
        memory, else as if no row but the longest crossed a page.
        """
        long_enough = (self.row_beats >= COMMAND_INTERVAL) & (self.bytes > BEAT_BYTES)
        if not exact:
            return long_enough
        rows = _Rows(self, numpy.arange(len(self.x)))
        number = rows.number(len(self.x))
        return long_enough & ((number <= OUTSTANDING) | (number == self.y))

    def together(self, alone):
        """Columns of loads of which some have all their bursts in one token."""
        number = self.y * -(-self.row_beats // BURST)
        return {
            "beats": self.row_beats * self.y * alone,
            "waits": numpy.maximum(number - 1, 0) // OUTSTANDING * alone,
            "ahead": (OUTSTANDING - 1) * numpy.minimum(self.row_beats, BURST),
        }

    def loads(self, alone, to):
        """Columns of the loads' own tokens, and of the requests of those that are not `alone`; `to`
        takes each load's last.
        """
        rows = _Rows(self, numpy.flatnonzero(~alone))
        number = rows.number(len(self.x))
        load = {
            "flags": self.flags
            | (self._zeros() > 0).astype(numpy.int64) << PADDED
            | (self.bytes <= BEAT_BYTES).astype(numpy.int64) << WIDE,
            "bursts": number + (alone & (self.x > 0)),
            "rows_above": self.y0,
        }
        row = numpy.repeat(numpy.arange(len(rows.of)), rows.bursts)
        begin = numpy.cumsum(rows.bursts) - rows.bursts
        inside = numpy.arange(len(row)) - begin[row]
        first = rows.first[row]
        left = rows.beats[row] - first - (inside - 1) * BURST
        whose = rows.of[row]
        last = numpy.ones(len(whose), bool)
        last[:-1] = whose[1:] != whose[:-1]
        return load, {
            "beats": numpy.where(inside == 0, first, numpy.minimum(left, BURST)),
            "to": last * to,
            "low": self.memory[whose] == isa.ACC,
            "waits": numpy.zeros(len(whose)),
            "ahead": numpy.zeros(len(whose)),
        }

    def _zeros(self):
        """Elements of zeros."""
        return self.width * (self.y0 + self.y1) + (self.x0 + self.x1) * self.y

    def zeros(self, with_data):
        """Columns of the zeros around each padded tensor, from its first address on."""
        zeros = self._zeros()
        padded = zeros > 0
        if not padded.any():
            return {}
        beats = self.row_beats * self.y
        skipped = numpy.where((self.x0 + self.x1 == 0) & (self.y1 > 0), self.y, 0)
        above = self.width * self.y0
        return {
            "cycles": numpy.maximum(zeros + skipped + beats - 2 - self.y0, 0)[padded],
            "skipped": numpy.where(skipped > 0, 2 + above + skipped, 0)[padded],
            "rows": numpy.minimum(skipped, beats)[padded],
            "with_data": with_data[padded],
        }

    def stored(self):
        """Columns of a store's token."""
        # TensorStoreNarrowVME.scala: an element's beats, and sReadMem before each but a burst's
        # first; TensorStoreWideVME.scala: a beat a clock.
        rows = _Rows(self, numpy.arange(len(self.x)))
        number, beats = rows.number(len(self.x)), rows.total(len(self.x))
        narrow = beats + self.x * self.y - number
        return {
            "flags": self.flags,
            "beats": numpy.where(self.bytes > BEAT_BYTES, narrow, beats),
            "bursts": number,
        }


class _Rows:
    """The rows of some tensors of a Shape, cut into bursts (GenVMECmd*.scala): the first ends at a
    page, the others are whole.
    """

    def __init__(self, shape, which):
        y = shape.y[which]
        self.of = numpy.repeat(which, y)  # whose row
        inside = numpy.arange(len(self.of)) - numpy.repeat(numpy.cumsum(y) - y, y)
        size = shape.bytes[self.of]
        address = (shape.dram[self.of] + inside * shape.stride[self.of]) * size
        start = address % BEAT_BYTES
        self.beats = -(-(shape.x[self.of] * size + start) // BEAT_BYTES)
        room = (PAGE - address % PAGE + start) // BEAT_BYTES
        self.first = numpy.minimum(self.beats, room)
        self.bursts = 1 + -(-(self.beats - self.first) // BURST)

    def number(self, tensors):
        """Bursts of each of so many tensors."""
        return numpy.bincount(self.of, self.bursts, tensors).astype(numpy.int64)

    def total(self, tensors):
        """Beats of each."""
        return numpy.bincount(self.of, self.beats, tensors).astype(numpy.int64)
