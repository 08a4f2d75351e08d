"""The best schedule of a convolution by lpn.tune, with the compiled net as its model of costs."""

import functools

import lpn
from lpn.runs import source_digest
from models.vta import interpret, schedule
from models.vta.model import marking_of, net

# Estimated clocks beside the work itself: of an instruction, of a burst and of the program.
_PER_INSTRUCTION, _PER_BURST = 10, 4


@functools.lru_cache(1)
def _net():
    return net()


def clocks(conv, params, schedules, fetch=False):
    """The latency of each schedule of a convolution, by the compiled net, on one processor. Without
    `fetch`, loads that a fetch of instructions may delay are arithmetic (README.md, "Bursts as
    arithmetic"); with it, every burst is a token, as `lpn sim` has it.
    """
    programs = [schedule.program(conv, one)[0] for one in schedules]
    markings = [marking_of(_net(), words, fetch=fetch) for words in programs]
    return [run.latency for run in lpn.run_batch(_net(), markings, params, threads=1)]


class Tuner:
    """Schedules of a convolution, their clocks and a rough estimate of them.

    `conv`: a schedule.Conv. `params`: of the net, its latencies. `uneven`: also tiles that do not
    divide. `space`: every valid schedule. `jobs`, `scheduler`: who simulates (lpn.Spread).
    """

    def __init__(self, conv, params=None, uneven=False, jobs=1, scheduler=None):
        self.conv, self.uneven = conv, uneven
        self.params = {**_net().params, **(params or {})}
        self.space = schedule.space(conv, uneven)
        self._workers = {"jobs": jobs, "scheduler": scheduler}

    def cost(self, chosen):
        """The latency of one schedule as the search has it."""
        return clocks(self.conv, self.params, [chosen])[0]

    def exact(self, chosen):
        """The latency of one schedule as `lpn sim` has it."""
        return clocks(self.conv, self.params, [chosen], fetch=True)[0]

    def estimate(self, chosen):
        """Clocks if the slowest unit never waited once it has begun; with one buffer, if no two
        units worked at once.
        """
        work, latency = schedule.Work(self.conv, chosen), self.params["read_latency"]
        plan = work.plan
        bursts = work.loads + work.bursts
        load = work.beats + work.loads * latency + _PER_BURST * bursts
        compute = work.products + work.vectors + _PER_INSTRUCTION * work.instructions
        store = 3 * work.elements + work.stores * self.params["write_ack_latency"]
        begin = plan.kernel_size * min(plan.steps, plan.threads**2) // 2
        if chosen["threads"] == 1:
            return begin + load + compute + store
        # Work begins when the first tiles of inputs and weights are there; behind the last products
        # their outputs are still to be clipped and stored.
        first = 2 * plan.input_size + 32 * plan.weight_size + 2 * latency
        last = store / plan.tiles
        return begin + max(
            first + compute + last,
            load + work.products / plan.steps + work.vectors / plan.tiles + last,
            first + compute / plan.tiles + store,
        )

    def features(self, chosen):
        return schedule.features(self.conv, chosen)

    def subject(self):
        """What is tuned, as the journal of a search says it; the Python counts that makes programs,
        clocks and candidates.
        """
        subject = {"model": "vta", "source": source_digest([(__file__, __package__)])}
        subject |= {"conv": vars(self.conv), "params": self.params}
        return {**subject, "uneven": True} if self.uneven else subject

    def search(self, **options):
        """lpn.tune over the space, with `options` of it."""
        with lpn.Spread(clocks, self.conv, self.params, **self._workers) as cost:
            return lpn.tune(
                self.space,
                cost,
                features=self.features,
                prior=self.estimate,
                subject=self.subject(),
                **options,
            )

    def check(self, chosen, orders=None):
        """Raises ValueError unless the schedule's program computes the convolution, whichever unit
        goes first (interpret.agrees).
        """
        interpret.agrees(self.conv, *schedule.program(self.conv, chosen), orders)
