#!/usr/bin/env python3
"""Prints what models/nfp/README.md says about accuracy: needs ../shared.

    PYTHONPATH=build/python python3 testbenches/accuracy/nfp/report.py
"""

import sys

import nfp_truth


def main():
    if not nfp_truth.available():
        sys.exit(f"no figures of the NFP at {nfp_truth.TRUTH}: set LPN_SHARED")
    from models.nfp.guarantee import guarantee

    print(
        f"{'program':20} {'metric':11} {'naive':>7} {'cycles':>7} {'DRAM':>7} {'bytes':>5}  as the prototype"
    )
    for row in nfp_truth.programs():
        ours = guarantee(
            nfp_truth.listing(row["program"]),
            nfp_truth.metric(row),
            unroll=row["unroll_limit_U"] or None,
        )
        slow = ours.slowest[0]
        naive = ours.naive["cycles"] == int(row["naive_max_cycles"])
        same = (
            slow.path == row["ssp_path"]
            and slow.cycles == int(row["ssp_cycles"])
            and slow.packet_size == int(row["ssp_mps_byte"])
            if row["ssp_path"]
            else None
        )
        told = "naive only; it found none" if same is None else "yes" if same else "NO"
        print(
            f"{row['program']:20} {nfp_truth.metric(row):11} {ours.naive['cycles']:7} {slow.cycles:7} "
            f"{slow.dram_cycles:7.2f} {slow.packet_size:5}  {told if naive else 'NAIVE DIFFERS'}"
        )
    for name in ("xdp-dns-cache",):
        for metric in ("bit-rate", "packet-rate"):
            slow = guarantee(nfp_truth.listing(name), metric).slowest[0]
            print(
                f"{name:20} {metric:11} {'':7} {slow.cycles:7} {slow.dram_cycles:7.2f} {slow.packet_size:5}  "
                f"no row; packet {'replayed' if slow.replayed else 'NOT REPLAYED'}"
            )

    seen = nfp_truth.against_hardware(nfp_truth.paths())
    print(f"\nestimate against hardware, {seen['paths']} measured paths not limited by the MAC")
    print(f"  over by more than the 99 % confidence interval  {seen['over']:.1%}")
    print(f"  worst over                                      {seen['worst_over']:.2%}")
    print(f"  worst under, cores                              {seen['worst_under']['cores']:.2%}")
    print(f"  worst under, memory engine                      {seen['worst_under']['dram']:.2%}")


if __name__ == "__main__":
    main()
