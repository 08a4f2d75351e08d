"""What the cost or the measured latency of a trace's packets goes with: variables of each packet,
ranked by how much of the variation a straight line in one of them explains.

The method is that of section "diagnosing" of Iyer et al. (NSDI'22): latency = a + b * variable by
least squares, variables in the order of R^2.
"""

import numpy

from .errors import refused

MOST = 1e18  # of a latency: 30 years in ns
FEWEST = 3  # packets: a line goes through two whatever they are


def variables_of(replayed):
    """{name: column}: what a packet of a trace met, of every packet (deployment.replay, with traces).

    Bytes of the packet; rounds of every loop; calls of every helper; lookups of every map that
    found something and that did not; entries of the map before the packet.
    """
    heads = sorted({pc for one in replayed for pc in _heads(one.run.trace)})
    rows = [_of_packet(one, heads) for one in replayed]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: numpy.array([row.get(name, 0) for row in rows], float) for name in names}


def costs_of(replayed, metrics):
    """{metric: column} of every packet."""
    return {m: numpy.array([one.run.of(m) for one in replayed], float) for m in metrics}


def _of_packet(one, heads):
    run, out = one.run, {"pkt.len": len(one.content)}
    for head in heads:
        out[f"rounds of the loop at {one.where(head)}"] = run.trace.count(head)
    for name, number in run.helpers.items():
        out[f"calls of {name}"] = number
    for (name, found), number in run.lookups.items():
        out[f"{name}: lookups that {'hit' if found else 'miss'}"] = number
    for name, number in one.entries.items():
        out[f"{name}: entries"] = number
    return out


def _heads(trace):
    """Where backward jumps go that come again to what has run."""
    seen = set()
    for before, pc in zip(trace, trace[1:]):
        seen.add(before)
        if pc <= before and pc in seen:
            yield pc


def ranked(variables, target):
    """[{variable, r2, slope, intercept, least, most}], the best line first. Variables that never
    change explain nothing and are left out.
    """
    target = numpy.asarray(target, float)
    spread = target - target.mean()
    total = float(spread @ spread)
    out = []
    for name, column in variables.items():
        centred = column - column.mean()
        square = float(centred @ centred)
        if square == 0:
            continue
        slope = float(centred @ spread) / square
        out.append(
            {
                "variable": name,
                "r2": round(min(slope * slope * square / total, 1.0), 6) if total else 0.0,
                "slope": _shortened(slope),
                "intercept": _shortened(float(target.mean() - slope * column.mean())),
                "least": column.min(),
                "most": column.max(),
            }
        )
    return sorted(out, key=lambda row: (-row["r2"], row["variable"]))


def _shortened(number):
    """With nine digits, whatever its unit: latencies may be seconds."""
    return float(f"{number:.9g}")


def by_class(names, target):
    """The share of the variation that the class of a packet explains (eta squared)."""
    target = numpy.asarray(target, float)
    spread = target - target.mean()
    total = float(spread @ spread)
    _, of = numpy.unique(names, return_inverse=True)
    between = float((numpy.bincount(of, spread) ** 2 / numpy.bincount(of)).sum())
    return round(between / total, 6) if total else 0.0


def read_latencies(path, packets):
    """A number per packet, 0 to MOST, one in a line, any unit. Raises Error E-bpf-file for other
    contents or another number of lines.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as wrong:
        raise refused("E-bpf-file", f"cannot read '{path}': {wrong}") from None
    if lines and not lines[-1].strip():
        lines.pop()
    out = []
    for number, line in enumerate(lines, 1):
        try:
            out.append(float(line))
        except ValueError:
            raise refused(
                "E-bpf-file", f"'{path}' line {number}: '{line.strip()[:40]}' is no number"
            ) from None
        if not 0 <= out[-1] <= MOST:
            raise refused(
                "E-bpf-file",
                f"'{path}' line {number}: a latency is a number from 0 to {MOST:g}, got "
                f"{line.strip()[:40]}",
            )
    if len(out) != packets:
        raise refused(
            "E-bpf-file", f"'{path}' has {len(out)} latencies for a trace of {packets} packets"
        )
    return out
