"""Waiting times of M/M/1 and M/D/1 queues, in units of the mean service time.

L. Kleinrock, Queueing Systems I (1975), 3.2 and 5.7 (Pollaczek-Khinchin); the distribution for M/D/1
is A. K. Erlang's (1909), as in A. Gravey et al., "The M/D/1 queue", and V. B. Iversen and L. Staalhagen,
"Waiting time distribution in M/D/1 queueing systems" (1999), eq. 1, summed exactly.
"""

from decimal import Decimal, getcontext
from math import log


def mm1_mean(load):
    return load / (1 - load)


def mm1_quantile(load, q):
    """P(W > t) = load * exp(-(1 - load) t)."""
    return 0.0 if 1 - q >= load else log(load / (1 - q)) / (1 - load)


def md1_mean(load):
    return load / (2 * (1 - load))


def md1_within(load, t):
    """P(W <= t) = (1 - load) * sum over k <= t of (load (k - t))^k / k! * exp(-load (k - t))."""
    getcontext().prec = 120
    rate, at = Decimal(repr(load)), Decimal(repr(t))
    total, factorial = Decimal(0), Decimal(1)
    for k in range(int(t) + 1):
        factorial *= k or 1
        power = Decimal(1) if k == 0 else (rate * (k - at)) ** k
        total += power / factorial * (-rate * (k - at)).exp()
    return float((1 - rate) * total)


def md1_quantile(load, q):
    lo, hi = 0.0, 1.0
    if md1_within(load, 0.0) >= q:
        return 0.0
    while md1_within(load, hi) < q:
        hi *= 2
    for _ in range(50):
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if md1_within(load, middle) >= q else (middle, hi)
    return hi


# Name -> (mean, quantile, whether the service is exponential).
QUEUES = {"M/M/1": (mm1_mean, mm1_quantile, 1), "M/D/1": (md1_mean, md1_quantile, 0)}
