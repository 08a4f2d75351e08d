"""How long lpn fit searches: a skeleton with 10 unknowns, 10,000 firings.

    testbenches/speed/fit.py [--repeat 3] [--only WORD]

Four stages with room between them, each with a delay and servers unknown, two rooms unknown; 2,500
jobs. Asserted: every instant exact, and the formulas that were put in.
"""

import sys
import time
from pathlib import Path

from _measure import SEED, Report, options

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fit"))

from lpn.fitting.result import errors, total  # noqa: E402
from lpn.fitting.solve import Fit  # noqa: E402
from random_nets import build, jobs, recorded  # noqa: E402

STAGES = [
    {"delay": "job.words + 7", "servers": 1, "capacity": 4},
    {"delay": "job.words // 4 + 30", "servers": 2, "capacity": 2},
    {"delay": "2 * job.words + 3 * job.kind + 5", "servers": 3, "capacity": None},
    {"delay": "lpn.max(job.words, 24)", "servers": 1, "capacity": None},
]
STAGES = [{"ordered": True, "interval": None, "seen": "commit", **s} for s in STAGES]
EXPECTED = {
    ("t0", "delay"): "job.words + 7",
    ("t1", "delay"): "(job.words // 4) + 30",
    ("t2", "delay"): "2 * job.words + 3 * job.kind + 5",
    ("t3", "delay"): "lpn.max(job.words, 24)",
}


def main():
    arguments = options(__doc__, repeat=3).parse_args()
    report = Report(arguments)
    tokens, _ = jobs(SEED, 2500)
    skeleton = build(STAGES, True)
    observed = recorded(STAGES, tokens, skeleton)
    assert len(skeleton.unknowns) == 10

    def once():
        fit = Fit([observed])
        before = time.process_time()
        fit.solve()
        took = time.process_time() - before
        found = {key: f.formula.text() for key, f in fit.found.items()}
        assert found == EXPECTED, found
        compared, exact = total(errors(observed, fit.filled(skeleton), fit.number_values()))
        assert compared == exact == 10_000
        return took

    report.measure("10 unknowns, 10,000 firings", "s, processor", once, asked="<= 30")
    report.finish()


if __name__ == "__main__":
    main()
