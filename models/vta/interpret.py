"""What a program computes: the instruction set on numpy arrays, for the default hardware.

Three units run a program in parallel, so that its result may depend on which goes first, unless its
semaphores prevent it. run() takes the order of preference; agrees() tries all of them.
"""

import itertools

import numpy

from models.vta import isa
from models.vta.config import DEFAULT
from models.vta.convolution import HIGH, LOW, SHIFT

UNITS = ("load", "compute", "store")
_FLAGS = ("pop_prev", "pop_next", "push_prev", "push_next")
# Of each unit: (flag, semaphore) that it takes and posts; one by (from, to).
_TAKES = {
    "load": (("pop_next", ("compute", "load")),),
    "compute": (("pop_prev", ("load", "compute")), ("pop_next", ("store", "compute"))),
    "store": (("pop_prev", ("compute", "store")),),
}
_POSTS = {
    "load": (("push_next", ("load", "compute")),),
    "compute": (("push_prev", ("compute", "load")), ("push_next", ("compute", "store"))),
    "store": (("push_prev", ("store", "compute")),),
}


def run(words, dram, prefer=UNITS):
    """Runs a program on `dram`, a dict: "inp" int8 [n][16], "wgt" int8 [n][16][16], "acc" int32
    [n][16], "uop" uint32 [n]; returns "out", int8 [n][16], of `dram["out"]` as many.

    `prefer`: which unit goes first where several could. Raises ValueError when the program waits
    for ever, or leaves DRAM or a memory.
    """
    machine = _Machine(dram)
    queues = {unit: [] for unit in UNITS}
    for number, item in enumerate(_decoded(words)):
        queues[_unit(item)].append((number, item))
    heads = dict.fromkeys(UNITS, 0)
    counts = {}
    while True:
        for unit in prefer:
            if heads[unit] == len(queues[unit]):
                continue
            number, item = queues[unit][heads[unit]]
            takes = [pair for flag, pair in _TAKES[unit] if item[flag]]
            if all(counts.get(pair) for pair in takes):
                break
        else:
            break
        for pair in takes:
            counts[pair] -= 1
        try:
            machine.execute(item)
        except IndexError as error:
            raise ValueError(f"instruction {number}: {error}") from None
        for flag, pair in _POSTS[unit]:
            if item[flag]:
                counts[pair] = counts.get(pair, 0) + 1
        heads[unit] += 1
    waiting = [unit for unit in UNITS if heads[unit] < len(queues[unit])]
    if waiting:
        number = queues[waiting[0]][heads[waiting[0]]][0]
        raise ValueError(f"instruction {number} of the {waiting[0]} unit waits for ever")
    return machine.out_dram


def _decoded(words):
    """The instructions as dicts."""
    rows = numpy.ascontiguousarray(words.T)
    op = isa.field(rows, "memory", "op")
    columns = {
        layout: {name: isa.field(rows, layout, name).tolist() for name in fields}
        for layout, fields in isa.FIELDS.items()
    }
    for number, code in enumerate(op.tolist()):
        of = columns[isa.LAYOUT_OF[code]]
        yield {name: values[number] for name, values in of.items()}


def _unit(item):
    if item["op"] == isa.STORE_OP:
        return "store"
    is_load = item["op"] == isa.LOAD_OP and item["mem"] in (isa.INP, isa.WGT)
    return "load" if is_load else "compute"


class _Machine:
    def __init__(self, dram):
        depth, block = DEFAULT.depth, DEFAULT.block
        self.dram = dram
        self.out_dram = numpy.array(dram["out"])
        self.memory = {
            "inp": numpy.zeros((depth["inp"], block), numpy.int8),
            "wgt": numpy.zeros((depth["wgt"], block, block), numpy.int8),
            "acc": numpy.zeros((depth["acc"], block), numpy.int32),
            "out": numpy.zeros((depth["out"], block), numpy.int8),
            "uop": numpy.zeros(depth["uop"], numpy.uint32),
        }

    def execute(self, item):
        if item["op"] == isa.LOAD_OP:
            self._load(item)
        elif item["op"] == isa.STORE_OP:
            self._store(item)
        elif item["op"] == isa.GEMM_OP:
            self._gemm(item)
        elif item["op"] == isa.ALU_OP:
            self._alu(item)

    def _load(self, item):
        if item["x"] == 0:
            return
        name = isa.MEMORIES[item["mem"]]
        memory, dram = self.memory[name], self.dram[name]
        width = item["x"] + item["x0"] + item["x1"]
        height = item["y"] + item["y0"] + item["y1"]
        rows = numpy.arange(item["y"])[:, None]
        where = item["dram"] + rows * item["stride"] + numpy.arange(item["x"])
        tile = numpy.zeros((height, width, *memory.shape[1:]), memory.dtype)
        tile[item["y0"] : item["y0"] + item["y"], item["x0"] : item["x0"] + item["x"]] = dram[where]
        end = item["sram"] + width * height
        if end > len(memory):
            raise IndexError(f"{name} has {len(memory)} elements, not {end}")
        memory[item["sram"] : end] = tile.reshape(-1, *memory.shape[1:])

    def _store(self, item):
        rows = numpy.arange(item["y"])[:, None]
        where = item["dram"] + rows * item["stride"] + numpy.arange(item["x"])
        source = item["sram"] + rows * item["x"] + numpy.arange(item["x"])
        self.out_dram[where] = self.memory["out"][source]

    def _micro_ops(self, item):
        """Fields of the micro-ops, and the counters of both loops, in the order of the hardware."""
        uops = self.memory["uop"][item["uop_begin"] : item["uop_end"]].astype(numpy.int64)
        outer, inner = numpy.arange(item["lp0"]), numpy.arange(item["lp1"])
        fields = uops & 0x7FF, uops >> 11 & 0x7FF, uops >> 22

        def index(field, step0, step1):
            return (fields[field] + outer[:, None, None] * step0 + inner[:, None] * step1).reshape(
                -1
            )

        return index

    def _gemm(self, item):
        index = self._micro_ops(item)
        acc = index(0, item["acc0"], item["acc1"])
        if item["reset"]:
            self.memory["acc"][acc] = 0
            return
        inp = self.memory["inp"][index(1, item["inp0"], item["inp1"])].astype(numpy.float32)
        wgt = self.memory["wgt"][index(2, item["wgt0"], item["wgt1"])].astype(numpy.float32)
        # 16 products of 8 bits are exact in 24 bits.
        products = numpy.matmul(wgt, inp[:, :, None])[:, :, 0].astype(numpy.int32)
        numpy.add.at(self.memory["acc"], acc, products)
        self.memory["out"][acc] = self.memory["acc"][acc].astype(numpy.int8)

    def _alu(self, item):
        index = self._micro_ops(item)
        memory = self.memory["acc"]
        dst, src = index(0, item["dst0"], item["dst1"]), index(1, item["src0"], item["src1"])
        imm = item["imm"] - (item["imm"] >> 15 << 16)
        independent = len(numpy.unique(dst)) == len(dst) and (
            numpy.array_equal(dst, src) or not len(numpy.intersect1d(dst, src))
        )
        for part in [slice(None)] if independent else range(len(dst)):
            if item["use_imm"]:
                one, other = memory[src[part]], numpy.int32(imm)
            else:
                one, other = memory[dst[part]], memory[src[part]]
            memory[dst[part]] = _operation(item["alu_op"], one, other)
        self.memory["out"][dst] = memory[dst].astype(numpy.int8)


def _operation(code, one, other):
    if code == isa.MIN:
        return numpy.minimum(one, other)
    if code == isa.MAX:
        return numpy.maximum(one, other)
    if code == isa.ADD:
        return one + other
    # TensorAlu.scala: five bits; a negative immediate shifts to the left.
    by = numpy.bitwise_and(other, 31)
    return numpy.where(other >= 0, one >> by, one << (-other & 31)).astype(numpy.int32)


def data(conv, seed=1):
    """Random inputs and weights of a convolution: int8 [ci][h][w], [co][ci][k][k]."""
    random = numpy.random.default_rng(seed)
    inputs = random.integers(-128, 128, (conv.ci, conv.h, conv.w), numpy.int8)
    weights = random.integers(-8, 8, (conv.co, conv.ci, conv.k, conv.k), numpy.int8)
    return inputs, weights


def convolve(conv, inputs, weights):
    """What a convolution gives, by numpy alone: int8 [co][oh][ow]."""
    pad, stride = conv.pad, conv.stride
    padded = numpy.pad(inputs, ((0, 0), (pad, pad), (pad, pad))).astype(numpy.float64)
    total = numpy.zeros((conv.co, conv.oh, conv.ow))
    for dy, dx in itertools.product(range(conv.k), range(conv.k)):
        part = padded[:, dy : dy + stride * conv.oh : stride, dx : dx + stride * conv.ow : stride][
            :, : conv.oh, : conv.ow
        ]
        total += numpy.tensordot(weights[:, :, dy, dx].astype(numpy.float64), part, 1)
    total = total.astype(numpy.int64) >> SHIFT
    return numpy.clip(total, LOW, HIGH).astype(numpy.int8)


def blocked(array, *axes):
    """The array as it lies in memory: these axes cut into blocks of 16, filled up with zeros; what
    is in a block comes last.
    """
    block = DEFAULT.block
    for axis in axes:
        array = numpy.pad(
            array, [(0, -size % block if k == axis else 0) for k, size in enumerate(array.shape)]
        )
        shape = array.shape
        array = array.reshape(*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :])
        array = numpy.moveaxis(array, axis + 1, array.ndim - 1)
    return array


def agrees(conv, words, uops, orders=None, seed=1):
    """Raises ValueError unless the program computes the convolution whichever unit goes first.

    `orders`: of preference; default all six.
    """
    inputs, weights = data(conv, seed)
    block = DEFAULT.block
    wanted = blocked(convolve(conv, inputs, weights), 0).reshape(-1, block)
    dram = {
        "inp": blocked(inputs, 0).reshape(-1, block),
        "wgt": blocked(weights, 0, 1).reshape(-1, block, block),
        "acc": numpy.zeros((1, block), numpy.int32),
        "uop": uops,
        "out": numpy.full_like(wanted, -1),
    }
    for prefer in orders or itertools.permutations(UNITS):
        found = run(words, dram, prefer)
        if not numpy.array_equal(found, wanted):
            raise ValueError(
                f"{int((found != wanted).any(axis=1).sum())} of {len(wanted)} outputs are wrong when "
                f"the units go in the order {', '.join(prefer)}"
            )
