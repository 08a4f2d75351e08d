"""How long lpn smt takes to prove bounds, start to answer with the witness run and the certificate
checked.

    testbenches/speed/proofs.py [--repeat 3] [--only WORD] [--json]

Every row asserts its answer: exact values where they are known, the witness's by the interpreter
always. Certificates are verified once more, outside the time shown.
"""

import json
import random
import sys
import time

import numpy
from _measure import ROOT, SEED, Report, lpn, options

sys.path[:0] = [str(ROOT / "testbenches" / "bounds"), str(ROOT / "testbenches" / "ltc")]

import jpeg as ltc_jpeg  # noqa: E402
import pipeline  # noqa: E402
import protoacc as ltc_protoacc  # noqa: E402

# The maximum by an exact dynamic programme of its own (truth/bounds).
PIPELINE = {18: 2215, 48: 5561, 200: None}
ASKED = {18: 1, 48: 3, 200: 5}


def proved(ask, space, quantity="latency", exact=True, gap=0.0, expected=None):
    """(answer, seconds) of a question, checked."""
    begin = time.perf_counter()
    answer = ask(space, quantity)
    seconds = time.perf_counter() - begin
    assert answer.replayed and answer.complete and not answer.unresolved, answer
    if exact:
        assert answer.verdict == "optimal", answer
    assert answer.upper - answer.lower <= gap * answer.lower, answer
    if expected is not None:
        assert answer.upper == expected, (answer, expected)
    checked = lpn.check_certificate(json.loads(json.dumps(answer.certificate)))
    assert checked.holds, checked.why
    return answer, seconds


def timed(report, name, asked, ask, space, **how):
    if not report.wants(name):
        return
    begun, answers = [], []
    for _ in range(report.repeat):
        answer, seconds = proved(ask, space(), **how)
        begun.append(seconds)
        answers.append(answer)
    answer = answers[-1]
    bound = (
        f"{answer.upper}" if answer.upper == answer.lower else f"{answer.lower} .. {answer.upper}"
    )
    report.add(name, "s", begun, f"{bound} cycles", f"< {asked}")


def brute(slopes, constants, capacities, budget):
    """The greatest latency of 5 blocks of 0..63: all inputs that use the budget up, or have every x
    at 63.

    Others are no slower than one of these, since no time falls when an x grows.
    """
    most, stages = 63, len(slopes)
    first = numpy.arange(64)
    grid = numpy.stack(numpy.meshgrid(first, first, first, indexing="ij"), axis=-1).reshape(-1, 3)
    best = 0
    for x0 in range(64):
        rest = budget - x0 - grid.sum(axis=1)
        keep = rest >= 0
        x = [numpy.full(keep.sum(), x0), *grid[keep].T, numpy.minimum(rest[keep], most)]
        t = {}
        for i in range(5):
            for j in range(stages):
                ready = [t[i, j - 1] if j else 0, t[i - 1, j] if i else 0]
                if j + 1 < stages and i >= capacities[j]:
                    ready.append(t[i - capacities[j], j + 1])
                latest = ready[0]
                for each in ready[1:]:
                    latest = numpy.maximum(latest, each)
                t[i, j] = latest + slopes[j] * x[i] + constants[j]
        if len(x[0]):
            best = max(best, int(t[4, stages - 1].max()))
    return best


def random_pipelines(report):
    """Pipelines with random coefficients, capacities and budgets: 48 blocks, and 5 by trying all
    inputs.
    """
    names = [
        "20 random pipelines, 48 blocks, slowest",
        "20 random pipelines, 5 blocks: all by trial",
    ]
    if not any(report.wants(name) for name in names):
        return
    draw = random.Random(SEED)
    worst, agree, gaps = 0.0, 0, []
    for _ in range(20):
        stages = draw.randint(3, 5)
        slopes = [draw.choice((0, 0, 1, 2, 3, 5)) for _ in range(stages)]
        slopes[draw.randrange(stages)] = draw.randint(1, 4)
        constants = [draw.randint(0, 90) for _ in range(stages)]
        capacities = [draw.randint(1, 4) for _ in range(stages - 1)]
        per_block = draw.randint(4, 40)
        net = pipeline.net(slopes=slopes, constants=constants, capacities=capacities)
        answer, seconds = proved(
            lpn.maximize, pipeline.space(net, 48, 48 * per_block), exact=False, gap=0.005
        )
        worst = max(worst, seconds)
        gaps.append((answer.upper - answer.lower) / answer.lower)
        small, _ = proved(lpn.maximize, pipeline.space(net, 5, 5 * per_block))
        assert small.upper == brute(slopes, constants, capacities, 5 * per_block), (
            slopes,
            constants,
            capacities,
        )
        agree += 1
    exact = sum(gap == 0 for gap in gaps)
    report.add(names[0], "s", [worst], f"{exact} exact, worst gap {100 * max(gaps):.2f} %", "< 10")
    report.add(names[1], "agree", [agree], "", "20")


def smallest_buffer(report):
    """The fewest output buffers with which the share of stalled cycles is at most 0.4 for all
    pictures.
    """
    name = "reference JPEG: fewest buffers, stalls <= 40 %"
    if not report.wants(name):
        return
    net = ltc_jpeg.net()
    stalls = " + ".join(f"stall(start_{plane}, pixel_slots)" for plane in ("y", "cb", "cr"))
    begun = []
    for _ in range(report.repeat):
        begin = time.perf_counter()
        for buffers in range(9):
            answer = lpn.prove(
                ltc_jpeg.space(net, 18, buffers=buffers), f"({stalls}) / latency <= 0.4"
            )
            if answer.verdict == "proved":
                break
            assert answer.stalled is not None, answer  # fewer deadlock
        begun.append(time.perf_counter() - begin)
        assert lpn.check_certificate(json.loads(json.dumps(answer.certificate))).holds
    report.add(name, "s", begun, f"{buffers} buffers; fewer deadlock", "< 30")


def proofs(report):
    for blocks, expected in PIPELINE.items():
        timed(
            report,
            f"pipeline, {blocks} blocks: maximum",
            ASKED[blocks],
            lpn.maximize,
            lambda k=blocks: pipeline.space(pipeline.net(), k),
            expected=expected,
        )
    random_pipelines(report)
    for blocks, expected in ((6, 668), (12, 1188), (18, 1714)):

        def space(k=blocks):
            return ltc_jpeg.space(ltc_jpeg.net(), k, sum_from=17 * k, sum_below=18 * k)

        timed(
            report,
            f"reference JPEG, {blocks} blocks: minimum",
            5,
            lpn.minimize,
            space,
            expected=expected,
        )
        timed(report, f"reference JPEG, {blocks} blocks: maximum", 10, lpn.maximize, space)
    model = lpn.load("jpeg")
    for compression in (75, 90):

        def space(c=compression):
            return model.space(model.net(), blocks=18, compression=c)

        timed(report, f"own JPEG, 18 blocks, {compression} %: minimum", 20, lpn.minimize, space)
        timed(report, f"own JPEG, 18 blocks, {compression} %: maximum", 20, lpn.maximize, space)
    smallest_buffer(report)
    timed(
        report,
        "reference Protoacc, four strings: maximum",
        1,
        lpn.maximize,
        lambda: ltc_protoacc.space(ltc_protoacc.net()),
        expected=246,
    )
    for mean in (5, 10, 18, 25):
        timed(
            report,
            f"own JPEG, 300 blocks, {300 * mean} nonzero: maximum",
            60,
            lambda space, quantity: lpn.maximize(space, quantity, seconds=60),
            lambda m=mean: model.space(model.net(), blocks=300, nonzero_sum=300 * m),
            exact=False,
            gap=0.01,
        )


def main():
    report = Report(options(__doc__, repeat=3).parse_args())
    proofs(report)
    report.finish()


if __name__ == "__main__":
    main()
