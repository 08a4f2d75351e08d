"""The concrete machine, which every witness and interface is held against, and the kernel itself:
verdict, bytes of the packet and maps behind every random packet and map state.

With LPN_SLOW=1 20,000 of them for every object, else a sample.
"""

import os
import random

import bpf_truth
import kernel
import pytest

from models.bpf import check, interface
from models.bpf.machine import Machine
from models.bpf.objects import ARRAYS, OF_MAPS, REDIRECTS

SAMPLE = 20_000 if bpf_truth.SLOW else 100
NAMES = bpf_truth.names() if bpf_truth.available() else []


@pytest.fixture(autouse=True)
def on_one_cpu():
    """Maps per CPU are read on the one that the program ran on."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


def content(shape, entries):
    """Of an array only what is not 0: the kernel has every entry."""
    if shape.kind not in ARRAYS:
        return entries
    return {key: value for key, value in entries.items() if any(value)}


def worlds(found, seed):
    """Random packets and maps as the kernel can have them: it is asked without a context, and packets
    have an Ethernet header and fit into a page.
    """
    generator = random.Random(seed)
    seeds = [one.witness for one in found.classes]
    for _ in range(SAMPLE):
        world = check.mutated(generator, generator.choice(seeds), found.program)
        world.packet = world.packet[: kernel.LONGEST].ljust(kernel.SHORTEST, b"\0")
        world.context = {"ingress_ifindex": kernel.LOOPBACK}
        world.environment.pop("headroom", None)
        yield world


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_does_what_the_machine_does(name):
    for variant, path in bpf_truth.objects_of(name):
        if not (bpf_truth.SLOW or "reference" in variant):
            continue
        found = interface.extract(str(path))
        program = found.program
        try:
            loaded = kernel.Kernel(path, program)
        except kernel.Refused as wrong:
            pytest.skip(f"{variant}: {wrong}")
        machine = Machine(program, found.function, found.tails)
        for world in worlds(found, variant):
            assert not world.environment and not world.data
            try:
                loaded.fill(world.maps)
                verdict, packet = loaded.run(world.packet)
            except kernel.Refused as wrong:  # not every kernel, nor everybody, may do that
                loaded.close()
                pytest.skip(f"{variant}: {wrong}")
            where = (variant, world.packet.hex())
            run = machine.run(world)
            assert (run.verdict, run.packet) == (verdict, packet), where
            for each, shape in program.maps.items():
                if shape.kind not in REDIRECTS + OF_MAPS:
                    mine = {k: bytes(v) for k, v in world.maps[each].entries.items()}
                    assert content(shape, mine) == content(shape, loaded.content(each)), where
        loaded.close()
