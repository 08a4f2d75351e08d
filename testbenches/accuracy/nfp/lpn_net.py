#!/usr/bin/env python3
"""The net of the NIC against the real NIC: prints how each figure of its calibration is derived,
and the errors.

    PYTHONPATH=build/python python3 testbenches/accuracy/nfp/lpn_net.py [--all]

Needs ../shared. --all simulates every measured path instead of a sample; some minutes.
"""

import csv
import sys

import nfp_truth

PACKETS = 20_000


def section4():
    """The rows of section4.csv that the MAC's fault has not spoilt."""
    with open(nfp_truth.TRUTH / "section4.csv", newline="", encoding="utf-8") as lines:
        return [
            row for row in csv.DictReader(lines) if not row["used_in_paper_plot"].startswith("no")
        ]


def calibration(rows):
    """What the rows measured on 5 cores say of the programs of section 4, whose listings are not
    published.

    Core cycles per packet of `drop` and `slow`, and of `lookupN` those beside its reads (`base`)
    and per read (`per_read`). On 5 cores nothing is shared that is near its limit, and with own
    runs of about 25 cycles per read four threads hide the DRAM's 75 cycles (models/nfp/README.md,
    "Calibration"), so all cycles are the cores' own.
    """
    cycles = {
        row["program"]: 5 * nfp_truth.CLOCK / float(row["pkt_rate_pps_mean"])
        for row in rows
        if row["cores"] == "5"
    }
    per_read = (cycles["lookup12"] - cycles["lookup4"]) / (12 - 4)
    return {
        "drop": cycles["drop"],
        "slow": cycles["slow"],
        "per_read": per_read,
        "base": cycles["lookup4"] - 4 * per_read,
    }


def segments(program, found):
    """[(core cycles, access, bank)] of a program of section 4.

    `inc.N` adds N times to one location. Its core cycles are not known and, where it was measured,
    do not matter: it gets those of lookupN.
    """
    if program in ("drop", "slow"):
        return [(round(found[program]), "none", 0)]
    access = "dram_read" if program.startswith("lookup") else "dram_add"
    number = int(program.removeprefix("lookup").removeprefix("inc."))
    # Whole cycles that add up to the fractions.
    ends = [round(found["base"] + k * found["per_read"]) for k in range(number + 1)]
    runs = [ends[0], *(b - a for a, b in zip(ends, ends[1:]))]
    return [(run, access, 0) for run in runs[:-1]] + [(runs[-1], "none", 0)]


# What section4.csv says of a sender that is not held back; else there is a number of packets/s.
AT_FULL_RATE = ("overload", "unshaped")


def against_section4(packets=PACKETS):
    """[(row, simulated packets/s, relative error)]."""
    from models.nfp.mix import Mix, Path
    from models.nfp.simulate import simulate

    rows = section4()
    found = calibration(rows)
    out = []
    for row in rows:
        shaped = row["offered_pps"] not in AT_FULL_RATE
        mix = Mix(
            [Path(segments(row["program"], found))],
            packets,
            overhead=0,
            overload=not shaped,
            rate=float(row["offered_pps"]) if shaped else None,
            arrivals="even",
        )
        rate = simulate(mix, cores=int(row["cores"])).packet_rate
        out.append((row, rate, rate / float(row["pkt_rate_pps_mean"]) - 1))
    return out


class Programs:
    """The listings of truth/nfp, each read once."""

    def __init__(self):
        self._loaded = {}

    def __getitem__(self, name):
        from models.nfp.program import load

        if name not in self._loaded:
            self._loaded[name] = load(nfp_truth.listing(name), unroll=nfp_truth.unroll(name))
        return self._loaded[name]


def path_rate(programs, row, packets=PACKETS, overload=False):
    """Simulated packets/s of the path of a row of paths.csv, all packets on it, on as many cores as
    it was measured.
    """
    from models.nfp.mix import Mix, path_of
    from models.nfp.simulate import simulate

    mix = Mix([path_of(programs[row["program"]], row["path"])], packets, overload=overload)
    return simulate(mix, cores=int(row["workers_w"])).packet_rate


def measured(bottleneck):
    """The measured rows of paths.csv whose bottleneck the analysis takes to be "dram", "proc" or
    "mac".
    """
    return [
        row
        for row in nfp_truth.paths()
        if row["meas_pkt_rate_pps"]
        and not row["meas_skipped"]
        and row["est_bottleneck"] == bottleneck
    ]


def against_paths(rows, packets=PACKETS, overload=False):
    """[(row, relative error of the net, of the analysis)]."""
    programs = Programs()
    out = []
    for row in rows:
        rate = float(row["meas_pkt_rate_pps"])
        out.append(
            (
                row,
                path_rate(programs, row, packets, overload) / rate - 1,
                float(row["est_pkt_rate_pps"]) / rate - 1,
            )
        )
    return out


def below_guarantee(rows):
    """[(row, simulated rate / guaranteed rate - 1)] for rows of paths.csv: below 0 would be a wrong
    guarantee.

    Guaranteed: by the analysis' costs of this path, and never more than the MAC passes on.
    """
    from models.nfp import costs

    table = costs.load()
    programs = Programs()
    out = []
    for row in rows:
        cost = programs[row["program"]].path_cost(row["path"])
        guaranteed = min(
            table["clock_hz"] * int(row["workers_w"]) / cost["cycles"], table["mac_rate"]
        )
        if cost["dram_cycles"]:
            guaranteed = min(guaranteed, table["clock_hz"] / cost["dram_cycles"])
        # With few cores queues are soon as long as they get.
        packets = PACKETS if int(row["workers_w"]) > 10 else PACKETS // 5
        out.append((row, path_rate(programs, row, packets) / guaranteed - 1))
    return out


def _errors(errors):
    return (
        f"mean {sum(map(abs, errors)) / len(errors):6.2%}  from {min(errors):+.2%} to {max(errors):+.2%}"
        if errors
        else "none"
    )


def main():
    if not nfp_truth.available():
        sys.exit(f"no figures of the NFP at {nfp_truth.TRUTH}: set LPN_SHARED")
    from models.nfp import costs, nic

    whole = "--all" in sys.argv[1:]
    table, constants = costs.load(), nic.load()
    threads = constants["threads"]
    print("calibration")
    for name, distance in (("sram", "distance_sram"), ("dram", "distance_dram")):
        latency = constants[f"{name}_latency"]
        print(
            f"  {name} latency       {latency:g} cycles = ({threads} threads - 1) x {table[distance]}, the analysis' "
            f"{distance}"
        )
    found = calibration(section4())
    print("  from the rows of section4.csv on 5 cores:")
    print(f"  drop, slow         {found['drop']:.2f}, {found['slow']:.2f} core cycles per packet")
    print(
        f"  lookupN            {found['base']:.2f} + N x {found['per_read']:.2f} core cycles per packet"
    )

    print("\nsection 4: rate against cores and accesses per packet (* calibrated on)")
    others = []
    for row, rate, error in against_section4():
        on = row["cores"] == "5"
        if not on:
            others.append(error)
        print(
            f"  {row['program']:9} {row['cores']:>2} cores  {float(row['pkt_rate_pps_mean']) / 1e6:7.3f} M/s measured"
            f"  {rate / 1e6:7.3f} simulated  {error:+.2%}{' *' if on else ''}"
        )
    print(f"  the {len(others)} others: {_errors(others)}")

    print("\nsingle paths, errors of the net and of the analysis")
    for bottleneck, meaning, step in (
        ("dram", "memory-bound", 1),
        ("proc", "processor-bound", 1 if whole else 9),
    ):
        rows = measured(bottleneck)[::step]
        result = against_paths(rows)
        print(
            f"  {meaning}, {len(rows)} paths{'' if step == 1 else ' (every ' + str(step) + 'th)'}"
        )
        print(
            f"    all                net {_errors([n for _, n, _ in result])};  analysis {_errors([a for *_, a in result])}"
        )
        for program in sorted({row["program"] for row in rows}):
            of = [(n, a) for row, n, a in result if row["program"] == program]
            print(
                f"    {program.removeprefix('xdp-'):18} net {_errors([n for n, _ in of])};  "
                f"analysis {_errors([a for _, a in of])}"
            )
    print("  MAC-bound, measured under overload; the NIC's fault takes a third off some of them")
    for row, error, _ in against_paths(measured("mac"), overload=True):
        print(
            f"    {row['program'].removeprefix('xdp-'):12} {int(row['est_cycles']):5} cycles  "
            f"{float(row['meas_pkt_rate_pps']) / 1e6:6.2f} M/s measured ({row['meas_source']})  {error:+.2%}"
        )

    rows = nfp_truth.paths()[:: 1 if whole else 31]
    worst = min(below_guarantee(rows), key=lambda pair: pair[1])
    print(
        f"\nsimulated against guaranteed rate, {len(rows)} paths: at least {worst[1]:+.5%} ({worst[0]['program']})"
    )


if __name__ == "__main__":
    main()
