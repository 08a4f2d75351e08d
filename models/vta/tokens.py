"""The tokens of a program: what each instruction asks of its unit, and its requests to memory."""

from lpn_models_native import _vta

import lpn
from models.vta.config import Config
from models.vta.isa import MEMORIES


class Chunk(lpn.Token):
    """Instructions that are fetched together."""

    instructions: lpn.Int[1, 128]


class Run(lpn.Token):
    """Instructions for one unit that follow each other in a chunk. Dispatch passes one a clock and
    no unit takes one a clock, so that they may enter their queue together.
    """

    unit: lpn.Int[0, 2]  # load, compute, store
    instructions: lpn.Int[1, 128]
    last: bool  # of its chunk


class Drained(lpn.Token):
    """A chunk has been dispatched."""

    late: lpn.Int[0, 127]  # clocks after the first of its last run


class Burst(lpn.Token):
    """A read of memory; many that nobody can come between are one."""

    beats: lpn.Int[1, 2**40]
    to: lpn.Int[0, 3]
    low: bool  # an accumulator's, behind all others
    waits: lpn.Int[0, 2**31]  # times that all 16 requests are outstanding
    ahead: lpn.Int[0, 2**40]  # beats of the 15 others when the first is answered


class Load(lpn.Token):
    """An instruction of the load unit. No bursts: a sync; no beats: its bursts are tokens; else all
    are one, with these properties.
    """

    flags: lpn.Int[0, 63]
    bursts: lpn.Int[0, 2**31]
    beats: lpn.Int[0, 2**40]
    waits: lpn.Int[0, 2**31]
    ahead: lpn.Int[0, 2**40]
    rows_above: lpn.Int[0, 15]  # of zeros; one a clock before the first address


class Active(lpn.Token):
    """A load that runs."""

    flags: lpn.Int[0, 63]


class Compute(lpn.Token):
    """An instruction of the compute unit; no cycles: it loads the next of `compute_tensors`."""

    flags: lpn.Int[0, 127]
    cycles: lpn.Int[0, 2**40]


class Tensor(lpn.Token):
    """What an instruction of the compute unit loads; its flags are the instruction's and its own."""

    flags: lpn.Int[0, 63]
    bursts: lpn.Int[1, 2**31]
    rows_above: lpn.Int[0, 15]


class Store(lpn.Token):
    """An instruction of the store unit; no bursts: a sync."""

    flags: lpn.Int[0, 63]
    beats: lpn.Int[0, 2**40]  # clocks in which it reads its memory or writes
    bursts: lpn.Int[0, 2**31]


class Padding(lpn.Token):
    """The zeros around a tensor, one element a clock in which no data arrives."""

    cycles: lpn.Int[0, 2**40]  # with all its data
    skipped: lpn.Int[0, 2**20]  # clocks at the start that need not wait for data
    rows: lpn.Int[0, 2**20]  # of these, the ones behind the zeros above
    with_data: bool  # starts when the first beat may come


def columns(words, hardware: Config, every_burst: bool = False, fetch: bool = True) -> dict:
    """Place -> {property: column} for a program's words (native/tokens.h).

    The bursts of a load are one token where no other reader can come between, so that their time is
    arithmetic; with `every_burst` nowhere, with `fetch=False` also where a chunk of instructions
    may.

    Raises ValueError, with the number of the instruction and the reason, for what the hardware
    does not run or what would leave its memories.
    """
    sizes = ([of[name] for name in MEMORIES] for of in (hardware.bytes, hardware.depth))
    return _vta.columns(words, *sizes, every_burst, fetch)
