"""What statistics and the critical path cost: their time over that of a plain run, in one run of
the bench.

    testbenches/speed/observed.py [--repeat 5] [--only WORD] [--quick]
"""


import _workloads
from _measure import HERE, Report, lpn, options, simulated

COMPARED = {"pipe4": 1_000_000, "ring64": 62_500, "forkjoin": 222_222, "arbiter": 1_000_000}
LIMITS = {"statistics": ("<= 1.5", {"stats": True}), "critical path": ("<= 3", {"path": 0})}


def workloads(report, part):
    """(name, net, marking) of the nets measured."""
    for name, count in COMPARED.items():
        model = lpn.load(HERE / "nets" / f"{name}.py")
        net = model.net()
        yield name, net, model.workload(count // part, net)
    _, net = _workloads.reference_net("jpeg")
    yield "ltc jpeg", net, _workloads.jpeg(net, 16_666 // part)
    model = lpn.load("jpeg")
    net = model.net()
    yield "models/jpeg", net, model.workload(_workloads.IMAGE, net)


def observed(report, quick=False):
    """Rows: time with statistics, and with the critical path, over time without either."""
    for name, net, marking in workloads(report, 10 if quick else 1):
        rows = {what: f"{what}, {name}: time with / without" for what in LIMITS}
        if not any(report.wants(row) for row in rows.values()):
            continue

        def seconds(kept, net=net, marking=marking):
            return min(simulated(net, marking, **kept)[1] for _ in range(5))

        rounds, reasons = report.turns(
            {"plain": lambda s=seconds: s({})}
            | {what: lambda s=seconds, k=kept: s(k) for what, (_, kept) in LIMITS.items()}
        )
        for what, (asked, _) in LIMITS.items():
            missing = reasons.get(what) or reasons.get("plain")
            if missing:
                report.missing(rows[what], missing, asked)
            else:
                report.add(rows[what], "times", [r[what] / r["plain"] for r in rounds], asked=asked)


def main():
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    given = parser.parse_args()
    report = Report(given)
    observed(report, given.quick)
    report.finish()


if __name__ == "__main__":
    main()
