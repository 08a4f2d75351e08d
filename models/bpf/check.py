"""Random packets and map states: the written interface against the concrete machine."""

import random

from .machine import Machine, Table, World
from .objects import ARRAYS, OF_MAPS
from .writer import write


def module_of(text):
    """The functions of a written interface."""
    space = {}
    exec(compile(text, "<interface>", "exec"), space)  # pylint: disable=exec-used
    return space


def differences(interface, number, seed=1, metric="insns"):
    """[(World, what the interface says, what the machine says)] of `number` random inputs that do
    not agree; (cost, verdict) each.
    """
    module = module_of(write(interface, metric))
    machine = Machine(interface.program, interface.function, interface.tails, interface.prices)
    seeds = [one.witness for one in interface.classes if one.witness is not None]
    generator = random.Random(seed)
    found = []
    for _ in range(number):
        world = mutated(generator, generator.choice(seeds), interface.program)
        said = module["_answer"](
            world.packet, world.context, tables_of(world), world.environment, world.data
        )
        run = machine.run(world.copy())
        cost = run.of(metric)
        inside = said[1] <= cost <= said[2]
        exact = said[1] == said[2]
        if not inside or (exact and said[0] != cost) or said[3] not in (None, run.verdict):
            found.append((world, (said[0], said[3]), (cost, run.verdict)))
    return found


def tables_of(world):
    """The maps of a World as the written interface takes them."""
    return {name: _entries(table) for name, table in world.maps.items()}


def _entries(table):
    return {
        key: _entries(value) if isinstance(value, Table) else bytes(value)
        for key, value in table.entries.items()
    }


def mutated(generator, seed, program):
    """A World like another one: bytes, length, map entries and answers of helpers change."""
    world = World(seed.packet, dict(seed.context), {}, {}, {})
    world.maps = {name: table.copy() for name, table in seed.maps.items()}
    for name, content in seed.data.items():
        world.data[name] = bytearray(content)
    packet = bytearray(seed.packet)
    if generator.random() < 0.4:
        size = generator.choice(
            [len(packet) + generator.randint(-4, 60), generator.randint(0, 128)]
        )
        packet = packet[: max(size, 0)].ljust(max(size, 0), b"\0")
    for _ in range(generator.choice([0, 0, 1, 2, 8])):
        if packet:
            packet[generator.randrange(len(packet))] = generator.choice(
                [generator.randrange(256), 0, 1, 6, 8, 17, 0x45, 0x81, 255]
            )
    if len(packet) > 12 and generator.random() < 0.2:  # two fields of one content
        size = generator.choice([1, 2, 4, 6])
        a, b = (generator.randrange(0, len(packet) - size, 2) for _ in range(2))
        packet[a : a + size] = packet[b : b + size]
    world.packet = bytes(packet)
    for name in ("ingress_ifindex", "rx_queue_index"):
        if generator.random() < 0.3:
            world.context[name] = generator.choice([0, 1, 2, generator.randrange(1 << 32)])
    for name, table in world.maps.items():
        _mutate_table(generator, table, packet)
    environment = seed.environment
    for what, value in environment.items():
        if isinstance(value, list):
            row = [v if generator.random() < 0.5 else generator.randrange(1 << 16) for v in value]
            world.environment[what] = sorted(row) if what == "ktime" else row
        elif generator.random() < 0.7:
            world.environment[what] = value
    return world


def _mutate_table(generator, table, packet):
    """Keys out of the packet come and go, values change; never more than fit in."""
    shape = table.shape
    table._free = None
    if shape.kind in OF_MAPS:
        for inner in table.entries.values():
            _mutate_table(generator, inner, packet)
        return
    for key in list(table.entries):
        if generator.random() < 0.2 and shape.kind not in ARRAYS:
            del table.entries[key]
        elif generator.random() < 0.2:
            table.entries[key] = bytearray(generator.randbytes(shape.value_size))
    if shape.kind in ARRAYS or shape.kind in ("LPM_TRIE", "PROG_ARRAY"):
        return
    for _ in range(generator.choice([0, 0, 1, 3])):
        if len(packet) < shape.key_size or len(table.entries) + 2 > shape.max_entries:
            break
        at = generator.randint(0, len(packet) - shape.key_size)
        key = bytes(packet[at : at + shape.key_size])
        if generator.random() < 0.3:
            key = generator.choice([bytes(shape.key_size), generator.randbytes(shape.key_size)])
        if shape.key_size == 4 and generator.random() < 0.3:
            key = generator.randint(0, 8).to_bytes(4, "little")
        small = generator.randint(0, 8).to_bytes(shape.value_size, "little")
        table.entries[key] = bytearray(
            small if generator.random() < 0.5 else generator.randbytes(shape.value_size)
        )
