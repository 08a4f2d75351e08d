"""White-box laws of contention on a BlueField-2: what shared engines and stages leave to each
function.

Times are in microseconds, rates in requests (packets) per microsecond. One packet makes one
request.

The accelerator laws hold for an engine that serves non-empty queues round robin, one request per
visit, one request at a time, whatever their lengths; equation numbers are those of "Performance
Prediction of On-NIC Network Functions with Multi-Resource Contention and Traffic Awareness" (ASPLOS
2025), section 4. Below saturation (`shares`) and the composition of mixed stage lists (`stages`) go
beyond it.
"""

import math
from dataclasses import dataclass

from lpn import Error

__all__ = [
    "Load",
    "linear_decline",
    "pipeline",
    "round_time",
    "run_to_completion",
    "shares",
    "stages",
    "sum_of_losses",
]

PIPELINE, RUN_TO_COMPLETION = "pipeline", "run-to-completion"


@dataclass(frozen=True)
class Load:
    """What one function asks of an engine.

    time: mean service time of a request [us]; queues: its request queues, equally loaded;
    offered: requests per us it would send if the engine never kept it waiting (inf: saturating);
    overload: its requests take so many times as long while it is backlogged.
    """

    time: float
    queues: int = 1
    offered: float = math.inf
    overload: float = 1.0

    def __post_init__(self):
        if not 0 < self.time < math.inf:
            raise Error(
                "E-law",
                f"service time of a request: {self.time} us; it must be positive and finite",
            )
        if not (isinstance(self.queues, int) and self.queues >= 1):
            raise Error("E-law", f"request queues: {self.queues}; write a whole number, 1 or more")
        if not self.offered >= 0:
            raise Error("E-law", f"offered rate: {self.offered} requests/us; it must be 0 or more")
        if not 1 <= self.overload < math.inf:
            raise Error("E-law", f"overload: {self.overload} times; it must be 1 or more")


def round_time(loads):
    """Time of one round over all queues, none of them empty [us]: S = sum n_j t_j (Eq 1)."""
    return sum(load.queues * load.time for load in loads)


def shares(loads):
    """The rate each function gets of one engine [requests/us], in the order of `loads`.

    Round robin equalises the rates of the queues that are never empty, and gives the others what
    they offer: max-min fair water-filling. With B the backlogged functions and U the others,

        r = (1 - sum_U offered_j t_j) / sum_B n_i t_i      per backlogged queue,   U: offered_j / n_j < r.

    All backlogged it is Eq 2, T_i = n_i / sum_j n_j t_j; one queue against one, Eq 8
    (`linear_decline`). Of B, t is `overload` times `time`; a function is backlogged if it would be
    without overloads, as queues fill from empty, or if the others' overloads make it so.
    """
    left, backlog = 1.0, round_time(loads)
    order = sorted(range(len(loads)), key=lambda k: loads[k].offered / loads[k].queues)
    satisfied = 0
    for load in (loads[k] for k in order):
        if load.offered / load.queues * backlog >= left:
            break
        # Later functions offer more per queue, so that this one stays satisfied whatever they do.
        satisfied += 1
        left -= load.offered * load.time
        backlog -= load.queues * load.time
    # What is backlogged may be overloaded, which leaves less for those that were satisfied.
    backlog = sum(loads[k].overload * loads[k].queues * loads[k].time for k in order[satisfied:])
    while satisfied < len(order) and satisfied > 0:
        last = loads[order[satisfied - 1]]
        if last.offered / last.queues * backlog <= left:
            break
        satisfied -= 1
        left += last.offered * last.time
        backlog += last.overload * last.queues * last.time
    rates = [0.0] * len(loads)
    for place, k in enumerate(order):
        backlogged = place >= satisfied
        rates[k] = loads[k].queues * left / backlog if backlogged else loads[k].offered
    return rates


def linear_decline(time, rival_time, rival_offered):
    """Rate of a saturating function, one queue, against one queue that offers `rival_offered` (Eq
    8).

    T = (1 - offered t_2) / t_1 while offered <= 1 / (t_1 + t_2), from there on 1 / (t_1 + t_2).
    """
    kink = 1 / (time + rival_time)
    return kink if rival_offered >= kink else (1 - rival_offered * rival_time) / time


# ---- Composition: end-to-end rate from the rates with one resource contended at a time ---------------


def _checked(alone, solo):
    if not alone or not 0 < solo < math.inf or not all(0 < rate for rate in alone):
        raise Error(
            "E-law",
            f"composition of rates {list(alone)} with solo rate {solo}: one positive rate per "
            "resource, and a positive solo rate",
        )
    # A resource alone cannot make a function faster than it is by itself.
    return [min(rate, solo) for rate in alone]


def pipeline(alone, solo=None):
    """Packets overlap between stages: T = T_solo - max_k dT_k = min_k T_k (Eq 3).

    alone: rate with only resource k contended, for each k; solo: rate with none contended, an upper
    bound of each (None: the largest of `alone`). As a baseline for other patterns this is "min
    composition".
    """
    return min(_checked(alone, max(alone) if solo is None else solo))


def run_to_completion(alone, solo):
    """The next packet (batch) waits for all resources, so that their added times add up (Eq 4):

    T = 1 / (sum_k 1 / T_k - (R - 1) / T_solo).
    """
    alone = _checked(alone, solo)
    return 1 / (sum(1 / rate for rate in alone) - (len(alone) - 1) / solo)


def stages(times, patterns):
    """Rate of a chain of stages from the time a packet spends at each [us], waiting included (Eq 7,
    generalised).

    patterns: of each stage, "pipeline" (a queue decouples it) or "run-to-completion". Neighbouring
    run-to-completion stages hold the same core, so that their times add up; a run at the end goes
    on with a run at the start, as the core returns there. The slowest run decides. All pipelined it
    is Eq 3; all in one run it is Eq 4.
    """
    if (
        not times
        or len(patterns) != len(times)
        or set(patterns) - {PIPELINE, RUN_TO_COMPLETION}
        or not all(0 < time < math.inf for time in times)
    ):
        raise Error(
            "E-law",
            f"times {list(times)} of stages with patterns {list(patterns)}: one positive time and "
            f"one of {PIPELINE}, {RUN_TO_COMPLETION} for each",
        )
    runs, last = [], PIPELINE
    for time, pattern in zip(times, patterns):
        if pattern == last == RUN_TO_COMPLETION:
            runs[-1] += time
        else:
            runs.append(time)
        last = pattern
    if len(runs) > 1 and patterns[0] == patterns[-1] == RUN_TO_COMPLETION:
        runs[0] += runs.pop()
    return 1 / max(runs)


def sum_of_losses(alone, solo):
    """Baseline: all losses add up, T_solo - sum_k dT_k; 0 where that is negative."""
    return max(0.0, solo - sum(solo - rate for rate in _checked(alone, solo)))
