"""Seconds to simulate 1,500 schedules of ResNet-18's ten convolutions on VTA's net.

    PYTHONPATH=build/python /usr/bin/python3 testbenches/speed/vta.py [SCHEDULES]

Schedules are random and valid, as many of each convolution; their instructions are made beforehand.
Measured is from there to the latencies: markings, and lpn.run_batch on all cores. Both run on as many
processes as there are processors.
"""

import multiprocessing
import os
import random
import resource
import sys
import time

import lpn
from models.vta import schedule
from models.vta.model import marking_of, net
from models.vta.convolution import Conv

CONVOLUTIONS = (
    Conv(56, 56, 64, 64, 3, 1, 1),
    Conv(56, 56, 64, 128, 3, 2, 1),
    Conv(56, 56, 64, 128, 1, 2, 0),
    Conv(28, 28, 128, 128, 3, 1, 1),
    Conv(28, 28, 128, 256, 3, 2, 1),
    Conv(28, 28, 128, 256, 1, 2, 0),
    Conv(14, 14, 256, 256, 3, 1, 1),
    Conv(14, 14, 256, 512, 3, 2, 1),
    Conv(14, 14, 256, 512, 1, 2, 0),
    Conv(7, 7, 512, 512, 3, 1, 1),
)
THE_NET = net()


def latencies(programs):
    """Of programs, in batches that stay in the processor's caches."""
    found = []
    for first in range(0, len(programs), 16):
        markings = [marking_of(THE_NET, p, fetch=False) for p in programs[first : first + 16]]
        found += [run.latency for run in lpn.run_batch(THE_NET, markings, threads=1)]
    return found


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    chosen = random.Random(20261121)
    programs = []
    for conv in CONVOLUTIONS:
        every = schedule.space(conv)
        some = [chosen.choice(every) for _ in range(number // len(CONVOLUTIONS))]
        programs += [schedule.program(conv, one)[0] for one in some]
    sizes = sorted(len(words) for words in programs)
    print(
        f"{len(programs)} programs of {sizes[0]} to {sizes[-1]} instructions, {sum(sizes)} in all, "
        f"median {sizes[len(sizes) // 2]}"
    )
    latencies(programs[:1])  # compiles
    programs.sort(key=len)
    processes = os.cpu_count()
    global _PROGRAMS
    _PROGRAMS = programs
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        found = pool.map(_part, [(k, 8 * processes) for k in range(8 * processes)], 1)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    cycles = sum(sum(part) for part in found)
    print(
        f"{wall:.2f} s on {processes} processes, {cpu:.2f} s of processor; "
        f"{cycles / 1e6:.0f} M cycles"
    )


_PROGRAMS = []


def _part(which):
    first, step = which
    return latencies(_PROGRAMS[first::step])


if __name__ == "__main__":
    main()
