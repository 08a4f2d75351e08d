"""How long the net of the NIC takes to simulate 10^6 packets on 50 cores x 4 threads, saturated.

    testbenches/speed/nfp_simulate.py [--repeat 3] [--only WORD] [--packets N] [--json]

Seconds of the simulation alone (the smaller of wall and CPU time), and CPU seconds of everything:
packets made, simulated, percentiles of their latencies. The rate is asserted to be that of the
cores or of the memory engine. Without ../shared only the demo program and a hand-written path are
measured.
"""

import sys
import time

from _measure import ROOT, SEED, Report, options

sys.path[:0] = [str(ROOT / "testbenches" / "accuracy" / "nfp")]

import nfp_truth  # noqa: E402

ASKED = {"count-min.5": "<= 5"}
# What count-min.5 does on its slowest path, by hand: six reads of the packet, five counters.
BY_HAND = [(16, "sram", 0), *[(60, "sram", 0)] * 5, *[(60, "dram_add", 0)] * 5, (50, "none", 0)]


def cases():
    """(name, mix without its number of packets, greatest rate that cores and memory engine allow)."""
    from models.nfp import costs, mix, nic, program

    table, constants = costs.load(), nic.load()

    def slowest(listing, unroll=None):
        loaded = program.load(listing, unroll=unroll)
        return mix.path_of(loaded, mix.slowest(loaded, 50))

    paths = [
        ("by hand", mix.Path(BY_HAND)),
        ("demo portcount", slowest(nfp_truth.DEMO / "portcount.asm")),
    ]
    if nfp_truth.available():
        paths += [
            (name, slowest(nfp_truth.listing("xdp-" + name)))
            for name in ("count-min.5", "count-min.20", "dns-cache")
        ]
    else:
        print(f"skipped: no programs at {nfp_truth.TRUTH}; set LPN_SHARED", file=sys.stderr)
    for name, path in paths:
        cycles, banks = path.work(table["overhead"])
        most = min(
            table["clock_hz"] * 50 / cycles,
            table["clock_hz"] / max(max(banks), 1e-9),
            table["clock_hz"] * nic.TICKS / nic.ticks(table["clock_hz"] / constants["mac_rate"]),
        )
        yield name, path, most

    return nic.TICKS


def main():
    parser = options(__doc__, repeat=3)
    parser.add_argument("--packets", type=int, default=1_000_000)
    given = parser.parse_args()
    from models.nfp.mix import Mix
    from models.nfp.simulate import simulate

    report = Report(given)
    for name, path, most in cases():
        if not report.wants(name):
            continue
        simulate(Mix([path], 1000))  # compiles
        alone, whole = [], []
        for _ in range(report.repeat):
            begin = time.process_time()
            found = simulate(Mix([path], given.packets, seed=SEED))
            whole.append(time.process_time() - begin)
            alone.append(min(found.seconds, whole[-1]))
        assert found.packets == given.packets, name
        assert 0.9 * most < found.packet_rate < 1.0001 * most, (name, found.packet_rate, most)
        told = f"{found.firings / given.packets:.0f} firings per packet, {found.packet_rate / 1e6:.2f} M/s"
        report.add(f"{name}, {given.packets} packets", "s", alone, told, ASKED.get(name, ""))
        report.add(f"{name}, all of it", "CPU s", whole)
    report.finish()


if __name__ == "__main__":
    main()
