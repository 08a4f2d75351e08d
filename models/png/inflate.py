"""A deflate stream in steps, each a piece of it that the core works through without waiting.

Nothing is decompressed: only how many bits, codes and bytes there are. A step ends where the parser
is asked for a new chunk, where bits of a new chunk begin, with a row, a phase and a block.
"""

import array
import enum

import numpy as np

# Table 3.2.5 of RFC 1951: base and extra bits of lengths (from 257 on) and distances.
_LENGTH_EXTRA = [0] * 8 + [k for k in range(1, 6) for _ in range(4)][:20] + [0]
_DISTANCE_EXTRA = [0, 0] + [k for k in range(14) for _ in range(2)]


def _bases(first, extras):
    found = [first]
    for extra in extras[:-1]:
        found.append(found[-1] + (1 << extra))
    return found


_LENGTH_BASE = _bases(3, _LENGTH_EXTRA[:-1]) + [258]
_DISTANCE_BASE = _bases(1, _DISTANCE_EXTRA)
_CODE_LENGTH_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
_REPEATS = {16: (2, 3), 17: (3, 3), 18: (7, 11)}  # extra bits, fewest repeats
_END_OF_BLOCK = 256
_LITERAL_CODES = 288  # hard_png.v, codetree_builder
_DISTANCE_CODES = 32  # hard_png.v, distree_builder


class Phase(enum.IntEnum):
    """What the inflate state machine does."""

    TABLES = 0  # reads a block's header and code lengths
    LENGTH_TREE = 1  # builds the tree of the code lengths
    TREES = 2  # builds the trees of literals, lengths and distances
    SYMBOLS = 3


class Row(enum.IntEnum):
    """What leaves at the end of a step."""

    NONE = 0
    LITERAL = 1  # a row's last byte, as a literal
    COPIED = 2  # a row's last byte, out of the history


COLUMNS = ("phase", "bits", "codes", "moves", "waits", "releases", "row", "ends_block")


def steps(image) -> dict:
    """The steps of a chunks.Image: a list for each of COLUMNS.

    Raises ValueError, with the reason, for what is no deflate stream of that image or what the
    core decodes wrongly.
    """
    return _Stream(image).run()


class _Tree:
    """A canonical Huffman code: `table[bits & mask]` is symbol << 4 | length, 0 for no code."""

    def __init__(self, lengths, what, single=True):
        used = [length for length in lengths if length]
        longest = max(used, default=1)
        free = (1 << longest) - sum(1 << longest - length for length in used)
        # As zlib: a single code of 1 bit may stand alone, and there may be no distances at all.
        if free < 0 or free > 0 and (not single or longest > 1):
            raise ValueError(f"the compressed data is damaged: no complete code of {what}")
        self.mask = (1 << longest) - 1
        self.table = [0] * (1 << longest)
        code = 0
        for length in range(1, longest + 1):
            for symbol, its_length in enumerate(lengths):
                if its_length != length:
                    continue
                low = int(f"{code:0{length}b}"[::-1], 2)
                self.table[low :: 1 << length] = [symbol << 4 | length] * (1 << longest - length)
                code += 1
            code <<= 1


_FIXED_LITERALS = _Tree([8] * 144 + [9] * 112 + [7] * 24 + [8] * 8, "literals")
_FIXED_DISTANCES = _Tree([5] * 32, "distances")


class _Stream:
    def __init__(self, image):
        padded = np.frombuffer(image.deflate + bytes(4), np.uint8).astype(np.uint32)
        words = sum(padded[k : len(padded) - 3 + k] << np.uint32(8 * k) for k in range(4))
        self.words = array.array("I", words.tobytes())  # 32 bits from each byte on
        self.bits = 8 * len(image.deflate)
        self.row_bytes = 1 + image.row_bytes  # with the filter byte
        self.height = image.height
        self.columns = {name: [] for name in COLUMNS}
        # Bits at which a step ends: (bit, whether it is the first bit of a chunk's last byte, with
        # which the parser goes on, and not the first bit of a chunk).
        self.fences = []
        for k, _ in image.chunks[1:]:
            self.fences += [(8 * (k - 1), True), (8 * k, False)]
        self.fences = self.fences[::-1]
        self.fence = self.fences[-1][0] if self.fences else self.bits
        self.pos = self.start = 0  # next bit; first bit of the step
        self.phase, self.codes, self.moves = Phase.TABLES, 0, 0
        self.waits = True  # the first step waits for the first byte
        self.out, self.rows = 0, 0  # bytes and rows so far
        self.row_end = self.row_bytes

    def run(self):
        last = False
        while not last:
            last = bool(self.read(1))
            kind = self.read(2)
            if kind in (0, 3):
                raise ValueError(
                    "a stored deflate block, which the core decodes as garbage: compress the "
                    "image data with fixed or dynamic codes only"
                    if kind == 0
                    else "the compressed data is damaged: a deflate block of type 3"
                )
            trees = self.dynamic_trees() if kind == 2 else (_FIXED_LITERALS, _FIXED_DISTANCES)
            self.enter(Phase.SYMBOLS)
            self.symbols(*trees)
            self.cut(ends_block=True)
            self.enter(Phase.TABLES)
        expected = self.height * self.row_bytes
        if self.out != expected:
            raise ValueError(
                f"the compressed data has {self.out} bytes and the image {expected}; the core "
                f"{'never ends' if self.out < expected else 'does not stop at the last row'}"
            )
        return self.columns

    def cut(self, row=Row.NONE, ends_block=False, releases=False):
        """Ends the step before bit `pos`."""
        bits = self.pos - self.start
        if bits or self.codes or self.moves or self.waits or row or ends_block or releases:
            values = (
                self.phase,
                bits,
                self.codes,
                self.moves,
                self.waits,
                releases,
                row,
                ends_block,
            )
            for name, value in zip(COLUMNS, values):
                self.columns[name].append(int(value))
        self.start, self.codes, self.moves, self.waits = self.pos, 0, 0, False

    def enter(self, phase):
        if self.pos != self.start or self.codes or self.moves:
            self.cut()
        self.phase = phase

    def build(self, phase, lengths):
        """A tree: a clock per bit of its codes, and one per code that is not used."""
        self.enter(phase)
        self.moves = sum(max(1, length) for length in lengths)
        self.enter(Phase.TABLES)

    def take(self, bits):
        """`bits` bits go to the state machine; steps end at the fences among them."""
        end = self.pos + bits
        while self.fence < end:
            if not self.fences:
                raise ValueError("the compressed data ends too early")
            at, releases = self.fences.pop()
            self.pos = at + releases
            self.cut(releases=releases)
            self.waits = not releases
            self.fence = self.fences[-1][0] if self.fences else self.bits
        self.pos = end

    def peek(self):
        """At least 25 bits from `pos` on; zeros behind the end."""
        byte = self.pos >> 3
        return self.words[byte] >> (self.pos & 7) if byte < len(self.words) else 0

    def read(self, bits):
        value = self.peek() & ((1 << bits) - 1)
        self.take(bits)
        return value

    def code(self, tree, what):
        """A Huffman code: a clock per bit, and one in which its symbol is seen."""
        entry = tree.table[self.peek() & tree.mask]
        if not entry:
            self.take(1)  # ends too early, if it does
            raise ValueError(f"the compressed data is damaged: no such code of {what}")
        self.take(entry & 15)
        self.codes += 1
        return entry >> 4

    def dynamic_trees(self):
        literals, distances = 257 + self.read(5), 1 + self.read(5)
        count = 4 + self.read(4)
        if literals > 286 or distances > 30:
            raise ValueError("the compressed data is damaged: too many codes in a block")
        lengths = [0] * 19
        for symbol in _CODE_LENGTH_ORDER[:count]:
            lengths[symbol] = self.read(3)
        self.moves += 19 - count  # zeros for the rest
        tree = _Tree(lengths, "code lengths", single=False)
        self.build(Phase.LENGTH_TREE, lengths)
        found = self.code_lengths(tree, literals + distances)
        # Zeros up to all 288 and 32, and 2 clocks in which nothing is written (hard_png.v, hend).
        self.moves += max(0, max(_LITERAL_CODES, literals + _DISTANCE_CODES) - len(found)) + 2
        of_literals = found[:literals] + [0] * (_LITERAL_CODES - literals)
        if not of_literals[_END_OF_BLOCK]:
            raise ValueError("the compressed data is damaged: a block without an end")
        # The builder of the distances' tree runs beside and is always the faster one.
        self.build(Phase.TREES, of_literals)
        return _Tree(of_literals, "literals"), _Tree(found[literals:], "distances")

    def code_lengths(self, tree, number):
        found = []
        while len(found) < number:
            symbol = self.code(tree, "code lengths")
            if symbol < 16:
                found.append(symbol)
                continue
            bits, least = _REPEATS[symbol]
            repeat = least + self.read(bits)
            self.moves += 1 + repeat  # set-up, and an entry per clock
            if symbol == 16 and not found or len(found) + repeat > number:
                raise ValueError("the compressed data is damaged: a repeat of code lengths")
            found += [found[-1] if symbol == 16 else 0] * repeat
        return found

    def symbols(self, literals, distances):
        """The symbols of a block up to its end."""
        table, mask, words = literals.table, literals.mask, self.words
        while True:
            # A literal, which most symbols are, without a call where no step ends.
            pos = self.pos
            entry = table[words[pos >> 3] >> (pos & 7) & mask] if pos < self.bits else 0
            end = pos + (entry & 15)
            if entry and end <= self.fence:
                self.pos = end
                self.codes += 1
                symbol = entry >> 4
            else:
                symbol = self.code(literals, "literals")
            if symbol < _END_OF_BLOCK:
                self.out += 1
                if self.out == self.row_end:
                    self.end_row(Row.LITERAL)
            elif symbol == _END_OF_BLOCK:
                return
            else:
                self.match(symbol - 257, distances)

    def match(self, symbol, distances):
        """The rest of a match, of the length symbol `symbol`."""
        if symbol >= len(_LENGTH_BASE):
            raise ValueError("the compressed data is damaged: no such length")
        left = _LENGTH_BASE[symbol] + self.read(_LENGTH_EXTRA[symbol])
        symbol = self.code(distances, "distances")
        if symbol >= len(_DISTANCE_BASE):
            raise ValueError("the compressed data is damaged: no such distance")
        if _DISTANCE_BASE[symbol] + self.read(_DISTANCE_EXTRA[symbol]) > self.out:
            raise ValueError("the compressed data is damaged: a distance before its beginning")
        self.moves += 1  # address
        while self.out + left >= self.row_end:
            copied = self.row_end - self.out
            self.moves += copied
            self.out += copied
            left -= copied
            self.end_row(Row.COPIED)
        self.moves += left + 1  # a byte per clock, and the clock that sees the end
        self.out += left

    def end_row(self, row):
        self.rows += 1
        if self.rows > self.height:
            raise ValueError(
                f"the compressed data has more than the {self.height} rows of the image; the core "
                "does not stop at the last row"
            )
        self.cut(row)
        self.row_end += self.row_bytes
