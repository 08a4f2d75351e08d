"""The best schedule of a convolution by lpn.tune, with the compiled net as its model of costs."""

import lpn
from models.vta import interpret, schedule
from models.vta.model import marking_of, net

# Estimated clocks beside the work itself: of an instruction, of a burst and of the program.
_PER_INSTRUCTION, _PER_BURST = 10, 4


class Tuner:
    """Schedules of a convolution, their clocks and a rough estimate of them.

    `conv`: a schedule.Conv. `params`: of the net, its latencies. `space`: every valid schedule.
    """

    def __init__(self, conv, params=None):
        self.conv = conv
        self.net = net()
        self.params = {**self.net.params, **(params or {})}
        self.space = schedule.space(conv)

    def clocks(self, schedules):
        """The latency of each, by the compiled net; loads that a fetch of instructions may delay
        are arithmetic (README.md, "Bursts as arithmetic").
        """
        programs = [schedule.program(self.conv, one)[0] for one in schedules]
        markings = [marking_of(self.net, words, fetch=False) for words in programs]
        return [run.latency for run in lpn.run_batch(self.net, markings, self.params)]

    def exact(self, chosen):
        """The latency of one schedule with every burst a token, as `lpn sim` has it."""
        words, _ = schedule.program(self.conv, chosen)
        return lpn.run_batch(self.net, marking_of(self.net, words), self.params)[0].latency

    def estimate(self, chosen):
        """Clocks if units were never in each other's way, or always where there is one buffer."""
        work = schedule.Work(self.conv, chosen)
        bursts = work.loads + work.bursts
        load = work.beats + work.loads * self.params["read_latency"] + _PER_BURST * bursts
        compute = work.products + work.vectors + _PER_INSTRUCTION * work.instructions
        store = 3 * work.elements + work.stores * self.params["write_ack_latency"]
        units = load, compute, store
        # With two buffers the slowest unit decides, but for the first tile and the last.
        begin = work.plan.kernel_size // 2
        if chosen["threads"] == 1:
            return begin + sum(units)
        return begin + max(units) + (sum(units) - max(units)) / work.plan.tiles

    def features(self, chosen):
        return schedule.features(self.conv, chosen)

    def subject(self):
        """What is tuned, as the journal of a search says it."""
        return {"model": "vta", "conv": vars(self.conv), "params": self.params}

    def search(self, **options):
        """lpn.tune over the space, with `options` of it."""
        return lpn.tune(
            self.space,
            self.clocks,
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
