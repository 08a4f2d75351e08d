"""How long lpn nfp guarantee takes: CPU seconds of the whole process, one thread, start included.

    testbenches/speed/nfp.py [--repeat 3] [--only WORD] [--json]

Answers are asserted against truth/nfp; without ../shared only the demo programs are measured.
"""

import json
import resource
import subprocess
import sys

from _measure import BUILD, ROOT, Report, options

sys.path[:0] = [str(ROOT / "testbenches" / "accuracy" / "nfp")]

import nfp_truth  # noqa: E402

ASKED = {
    "xdp-cloudflare": 0.8,
    "xdp-quic-lb": 0.2,
    "xdp-count-min.20": 0.4,
    "xdp-alaw2ulaw-opt": 15,
    "xdp-dns-cache": 20,
    "xdp-path-explosion": 300,
}


def cpu_seconds(program, *more):
    """(CPU seconds, what it printed) of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(BUILD / "bin" / "lpn"), "nfp", "guarantee", str(program), "--json", *more],
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, json.loads(done.stdout)


def checked(name, answer):
    """The answer is what the prototype found, or where it found none, at least replayed and exact."""
    assert answer["verdict"] == "exact", name
    slow = answer["slowest"]
    for row in nfp_truth.programs():
        if row["program"] == name and row["mode"] == "bitrate":
            assert answer["naive"]["cycles"] == int(row["naive_max_cycles"]), name
            if row["ssp_path"]:
                assert slow["path"] == row["ssp_path"] and slow["cycles"] == int(
                    row["ssp_cycles"]
                ), name
    return f"{slow['cycles']} cycles, {slow['packet_size']} bytes"


def main():
    report = Report(options(__doc__, repeat=3).parse_args())
    cases = [(path.stem, path, (), None) for path in sorted(nfp_truth.DEMO.glob("*.asm"))]
    if nfp_truth.available():
        for name in ASKED:
            limit = nfp_truth.unroll(name)
            cases.append(
                (name, nfp_truth.listing(name), ("--unroll", limit) if limit else (), ASKED[name])
            )
    else:
        print(f"skipped: no programs at {nfp_truth.TRUTH}; set LPN_SHARED", file=sys.stderr)
    for name, path, more, asked in cases:
        if not report.wants(name):
            continue
        spent = []
        for _ in range(report.repeat):
            seconds, answer = cpu_seconds(path, *more)
            spent.append(seconds)
        told = checked(name, answer) if asked else f"{answer['slowest']['cycles']} cycles"
        report.add(name, "CPU s", spent, told, f"<= {asked}" if asked else "")
    report.finish()


if __name__ == "__main__":
    main()
