"""Random topologies and transfers against replay.py: when each transfer ends, to the picosecond.

    LPN_SLOW=1 pytest testbenches/accuracy/pcie/test_replay.py      thousands, and more of them compiled
"""

import os
import random
import sys

from replay import replay

import lpn
from lpn.runs import prepare

SLOW = bool(os.environ.get("LPN_SLOW"))
SEED = 20261128
INTERPRETED = 2000 if SLOW else 120
COMPILED = 20 if SLOW else 1

MODEL = lpn.load("pcie")
model = MODEL.module
topologies = sys.modules[model.__name__.rpartition(".")[0] + ".topology"]
rates = sys.modules[model.__name__.rpartition(".")[0] + ".rates"]


def time(draw, most):
    """Odd ones, so that what is apart seldom meets; none now and then."""
    return 0 if draw.random() < 0.15 else draw.randint(1, most)


def links_of(draw, parents, payload):
    credits = []
    for kind in ("posted", "nonposted", "completion"):
        if draw.random() < 0.4:
            units = draw.randint(payload // 16, payload // 4) if kind != "nonposted" else 1
            credits.append((kind, draw.randint(1, 6), units))
    return topologies.Link(
        parent=draw.choice(parents),
        generation=draw.choice(rates.GENERATIONS),
        lanes=draw.choice(rates.LANES),
        latency=time(draw, 300_000),
        credits=tuple(credits),
    )


def jobs(draw):
    """Sizes of a byte to some packets, at any address."""
    size = draw.choice([1, 4, 64, 300, 1500, 5000])
    return topologies.Jobs(
        kind=draw.choice(["write", "read", "both"]),
        size=draw.randint(1, size),
        count=draw.randint(1, 5),
        address=draw.choice([0, draw.randint(0, 5000)]),
        step=draw.choice([None, 0, draw.randint(0, 5000)]),
    )


def topology(draw):
    """Up to three links at the root; up to three switches in any tree, up to five devices."""
    payload = draw.choice([128, 256, 512])
    links, switches, devices = {}, {}, {}
    parents = ["root"]
    for k in range(draw.randint(0, 3)):
        links[f"l{k}"] = links_of(draw, parents, payload)
        switches[f"s{k}"] = topologies.Switch(f"l{k}", time(draw, 200_000))
        parents.append(f"s{k}")
    # Something hangs on each switch.
    bare = [s for s in switches if all(link.parent != s for link in links.values())]
    for k in range(max(len(bare), draw.randint(1, 5))):
        under = [bare[k]] if k < len(bare) else parents
        links[f"d{k}"] = links_of(draw, under, payload)
        devices[f"dev{k}"] = topologies.Device(
            f"d{k}",
            max_read=draw.choice([128, 256, 512]),
            outstanding=draw.randint(1, 6),
            queue=draw.randint(1, 3),
            jobs=tuple(jobs(draw) for _ in range(draw.randint(0, 3))),
        )
    return topologies.Topology(
        max_payload=payload,
        read=time(draw, 200_000),
        write=time(draw, 100_000),
        chunk=draw.choice([64, 128, payload]),
        links=links,
        switches=switches,
        devices=devices,
    )


def of_net(made, engine):
    """[(instant, device, write, size)] by an engine."""
    net = model.net_of(made)
    ready = prepare(net, model.workload(made, net), engine=engine)
    run = ready.run(collect=["done"])
    values, times = run.collected["done"]
    rows = zip(values[0::3], values[1::3], values[2::3])
    return [(t, device, bool(write), size) for t, (device, write, size) in zip(times, rows)]


def test_transfers_end_when_the_rules_say():
    ended = 0
    for number in range(INTERPRETED):
        made = topology(random.Random(f"{SEED} {number}"))
        speed = {
            name: rates.byte_fs(link.generation, link.lanes, made.max_payload)
            for name, link in made.links.items()
        }
        expected = sorted(replay(made, speed))
        got = sorted(of_net(made, "interp"))
        assert got == expected, f"topology {number}: {made!r}"
        if number < COMPILED:
            assert sorted(of_net(made, "compiled")) == got, f"topology {number}, compiled"
        ended += len(got)
    assert ended > 5 * INTERPRETED
