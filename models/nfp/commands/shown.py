"""How the commands on NFP programs say latencies, paths and what limits a rate."""

from lpn.command import seconds

LIMITED_BY = {
    "cores": "the cores",
    "dram": "a bank of the memory engine",
    "mac": "the MAC",
    "latency": "answers of memories that all threads of a core wait for",
    "load": "what arrives",
}


def time(value):
    """Seconds to read; below 100 us with digits of a nanosecond: '3.21 us'."""
    return seconds(value) if value >= 1e-4 else f"{value * 1e6:.2f} us"


def latencies(found):
    """'50 % 3.21 us, ..., mean 3.40 us' of {percentile or 'mean': seconds}."""
    return ", ".join(f"{'mean' if k == 'mean' else f'{k} %'} {time(v)}" for k, v in found.items())


def busy(utilisation):
    """'cores 93.1 %, ...' of {unit: share}."""
    return ", ".join(f"{name} {100 * share:.1f} %" for name, share in utilisation.items())


def shortened(path, most):
    """A path in its notation, the middle left out where it is longer than about `most`."""
    if len(path) <= most:
        return path
    half = (most - 5) // 2
    return f"{path[:half]} ... {path[-half:]}"


def unit_of(metric):
    return "bit/s" if metric == "bit-rate" else "packets/s"
