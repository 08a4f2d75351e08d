"""Traced functions compute what Python computes."""

import enum
import functools
import math
import os
import random
from fractions import Fraction

import lpn
import probes
import pytest
from evaluate import Concrete, run_function

SEED = 20261121
ROWS = 2000


class Kind(enum.IntEnum):
    READ = 0
    WRITE = 1
    FLUSH = 5


class T(lpn.Token):
    x: lpn.Int[-1000, 1000]
    y: lpn.Int[0, 5000]
    n: lpn.Int[1, 64]
    p: lpn.Int[0, 7]
    flag: bool
    kind: Kind


NAMES = list(T._properties)


def rows(seed=SEED, count=ROWS):
    r = random.Random(seed)
    edge = lambda lo, hi: r.choice(
        [lo, hi, r.randint(lo, hi), r.randint(lo, hi), r.randint(lo, hi)]
    )
    return [
        (
            edge(-1000, 1000),
            edge(0, 5000),
            edge(1, 64),
            edge(0, 7),
            r.randint(0, 1),
            r.choice([0, 1, 5]),
        )
        for _ in range(count)
    ]


def helper(a, b):
    if a > b:
        return a - b
    return b - a


TABLE = [3, 1, 4, 1, 5, 9, 2, 6]
QUEUES = ["a", "bb", "ccc", "dddd", "e", "ff", "ggg", "hhhh"]


def early(t):
    if t.x < 0:
        return 0
    if t.x > 500 and t.y > 10 or t.flag:
        return t.x * 2
    for k in range(3):
        if t.y > 1000 * (k + 1):
            continue
        return t.y + k
    return -t.y


def chained(t):
    if 0 < t.x <= 64 < t.y:
        return 1
    elif not (t.x or t.flag):
        return 2
    return 3 if t.kind == Kind.FLUSH else 4


def boolean(t):
    return (t.x > 3 or t.flag) and not t.y == 7


def loops(t):
    total = 0
    for k in range(t.p):
        total += k * t.x
    return total


def indexed(t):
    return TABLE[t.p] + len(QUEUES[t.p]) + TABLE[(t.p + 3) % 8]


def ratios(t):
    rate = t.x / t.n
    return math.ceil(rate) * 100000 + math.floor(rate + Fraction(1, 3)) * 10 + round(rate)


def ratio_compare(t):
    if t.x / t.n < 7 / 2:
        return 1
    if t.y / 8 == t.x:
        return 2
    return max(t.x / t.n, t.y / 3) // 1


def closure_made(k):
    def made(t):
        return (t.x + k) // t.n

    return made


class Callable:
    def __call__(self, t):
        return t.x + 1


class Holder:
    def method(self, t):
        return abs(t.x) + t.p


FUNCTIONS = {
    "arithmetic": lambda t: 6 + 3 * t.x - t.y * 2 + -t.n,
    "reflected": lambda t: 10 - t.x + 2 * t.y,
    "floor": lambda t: t.x // 7 + t.x // t.n + (-t.x) // 3,
    "floor negative": lambda t: t.x // -7,
    "mod": lambda t: t.x % 7 + t.x % t.n,
    "mod negative": lambda t: t.x % -7,
    "constant over": lambda t: 1000 // t.n + 1000 % t.n,
    "divmod": lambda t: divmod(t.x, t.n)[0] * 100 + divmod(t.x, 5)[1],
    "power": lambda t: t.x**2 + t.x**0 + 3 * t.p**3,
    "power of two": lambda t: 2**t.p
    + (1 << t.p)
    + (t.y << 3)
    + (t.x >> 2)
    + (t.y >> t.p)
    + (t.y << t.p),
    "mask": lambda t: (t.x & 15) + (t.y & 0),
    "bits": lambda t: (t.x & 6 | t.y & ~t.n) ^ (t.x | 9) + (t.y ^ -3) * 2 + (~t.x & t.n),
    "reflected bits": lambda t: (6 & t.x) + (9 | t.y) * 2 + (-5 ^ t.n) * 3 + (-1000 >> t.p),
    "computed shifts": lambda t: (t.x >> (t.n & 7)) + (t.y << (t.n & 7)) + (-1 << t.p),
    "min max": lambda t: max(t.x, 3, t.y) + min(t.x, t.y) - min([t.x, 0, t.n]),
    "lpn min max": lambda t: lpn.max(t.x, 3, t.y) + lpn.min(t.x, t.y),
    "abs": lambda t: abs(t.x) + abs(t.x - t.y),
    "sum": lambda t: sum([t.x, t.y, t.n]) + sum(t.p for _ in range(3)),
    "select": lambda t: lpn.select(t.x > t.y, t.x, 5) + lpn.select(t.flag, 1, 0),
    "lookup": lambda t: lpn.lookup(TABLE, t.p) + lpn.lookup(range(0, 800, 100), (t.x + 1000) % 8),
    "ceil_div": lambda t: lpn.ceil_div(t.x, 8) + lpn.ceil_div(t.y, t.n) + lpn.ceil_div(100, t.n),
    "ceil_div negative": lambda t: lpn.ceil_div(t.x, -8),
    "ternary": lambda t: t.x if t.x > t.y else t.y - 1,
    "bool arithmetic": lambda t: (t.x > 0) + 2 * (t.y > t.n) + t.flag * 5,
    "logic operators": lambda t: ((t.x > 0) & (t.y > 9))
    + ((t.x > 0) | (t.flag == 1)) * 2
    + ((t.x > 0) ^ (t.y > 9)) * 4,
    "membership": lambda t: 1 if t.x in (1, 2, 3, 1000) else 2,
    "comparisons": lambda t: (t.x < 4)
    + (t.x <= 4) * 2
    + (t.x > 4) * 4
    + (t.x >= 4) * 8
    + (t.x == 4) * 16
    + (t.x != 4) * 32,
    "bool equality": lambda t: int_of((t.x > 0) == (t.y > 100)),
    "early": early,
    "chained": chained,
    "boolean": boolean,
    "loops": loops,
    "indexed": indexed,
    "ratios": ratios,
    "ratio compare": ratio_compare,
    "ratio round half": lambda t: round(t.x / 2) + round(t.x / 4) * 3 + round(t.x / 3),
    "ratio round by token": lambda t: round(t.x / t.n),
    "ratio trunc": lambda t: math.trunc(t.x / 3),
    "ratio times": lambda t: math.floor(27 * (t.x / 8) * t.y / 3 - t.x / 5),
    "ratio modulo": lambda t: math.floor(t.x / 2 % 3 * 2),
    "ratio floor div": lambda t: (t.x / 3) // 2 + 7 // (t.n / 2),
    "ratio power": lambda t: math.floor((t.x / 4) ** 2),
    "ratio abs": lambda t: math.ceil(abs(t.x / 7)),
    "inverted ratio": lambda t: math.floor(100 / t.n) + math.ceil(3 / (t.n / 2)),
    "exact float": lambda t: math.floor(t.x * 3.375 + 0.5),
    "helper": lambda t: helper(t.x, t.y) + helper(t.y, 3),
    "closure": closure_made(17),
    "partial": functools.partial(lambda k, t: t.x * k, 3),
    "callable": Callable(),
    "method": Holder().method,
    "default": lambda t, k=4: t.x + k,
    "keyword only": lambda *, t: t.x + 1,
    "invert": lambda t: ~t.x,
    "enum": lambda t: {Kind.READ: 1, Kind.WRITE: 2, Kind.FLUSH: 3}[Kind.READ]
    if t.kind == Kind.WRITE
    else 9,
    "any all": lambda t: any(t.x > k for k in (5, 50)) + 2 * all(v > 3 for v in (t.x, t.y)),
    "sorted": lambda t: sorted([t.x, t.y, t.n])[1],
    "not": lambda t: not t.x > 3,
    "or value": lambda t: t.x or t.y,
    "and value": lambda t: t.x and t.y,
    "early bool": lambda t: True if t.x > 3 else t.flag == 1 and t.y > 2,
    "nested ternary": lambda t: (1 if t.y > 3 else 2) if t.x > 0 else (3 if t.y > 3 else 4),
    "clamp": lambda t: min(max(t.x, 0), 255),
}


def int_of(value):
    return value + 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced_equals_python(name):
    function = FUNCTIONS[name]
    data = rows()
    got = run_function(function, T, data)
    for row, value in zip(data, got):
        concrete = Concrete(NAMES, row)
        try:
            want = function(concrete)
        except TypeError:
            want = function(t=concrete)
        assert value == int(want), f"{name} of {dict(zip(NAMES, row))}"


def random_function(r, depth=0):
    """Source of a random function body expression over t."""
    atoms = ["t.x", "t.y", "t.n", "t.p", "t.flag", str(r.randint(-9, 9))]
    if depth > 3 or r.random() < 0.15:
        return r.choice(atoms)
    a, b, c = (random_function(r, depth + 1) for _ in range(3))
    return r.choice(
        [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {r.randint(-5, 5)})",
            f"({a} // {r.randint(1, 9)})",
            f"({a} % {r.randint(1, 9)})",
            f"max({a}, {b})",
            f"min({a}, {b})",
            f"abs({a})",
            f"({a} if {b} < {c} else {b})",
            f"({a} if {b} == {c} or {a} > {c} else {c})",
            f"({a} if not {b} <= {c} else {a} + 1)",
            f"math.ceil({a} / {r.randint(1, 9)})",
            f"(({a} > {b}) + {c})",
            f"({a} and {b})",
            f"({a} or {c})",
            f"round({a} / {r.choice([1, 2, 3, 4, 8])})",
            f"-{a}",
        ]
    )


def test_random_functions_equal_python():
    r = random.Random(SEED)
    data = rows(SEED + 1, 300)
    tried = 0
    while tried < 150:
        source = random_function(r)
        function = eval(f"lambda t: {source}", {"math": math})
        try:
            got = run_function(function, T, data)
        except lpn.Error as error:
            assert error.code in ("E-questions", "E-paths", "E-expr"), (source, error)
            continue
        tried += 1
        for row, value in zip(data, got):
            assert value == int(function(Concrete(NAMES, row))), (source, row)


def test_assert_is_an_assumption():
    assert run_function(probes.with_message, T, [(5, 0, 1, 0, 0, 0)]) == [5]
    with pytest.raises(
        lpn.RunError, match="the assumption 'x is never 77' of the model's author does not hold"
    ) as e:
        run_function(probes.with_message, T, [(77, 0, 1, 0, 0, 0)])
    assert e.value.code == "E-assume"


def test_assert_without_message_shows_its_line():
    with pytest.raises(lpn.RunError, match="the assumption '0 <= t.x < 100' of"):
        run_function(probes.without_message, T, [(100, 0, 1, 0, 0, 0)])


def text_of_delay(function):
    net = lpn.Net("n")
    p = net.place("p", T)
    net.transition("t", take={"t": p}, delay=function)
    return net.core.text(net.core.transitions[0], net.core.transitions[0].delay[0])


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda t: max(t.x, t.y), "max(t.x, t.y)"),
        (lambda t: min(t.x, t.y), "min(t.x, t.y)"),
        (lambda t: max(0, t.x), "max(0, t.x)"),
        (lambda t: t.x + 1 + 2, "t.x + 3"),
        (lambda t: t.x + 3 - 1, "t.x + 3 - 1"),
        (lambda t: 1 if t.x > 3 or t.y > 4 else 0, "select(t.x > 3 or t.y > 4, 1, 0)"),
        (lambda t: 1 if t.x > 3 and t.y > 4 else 0, "select(t.x > 3 and t.y > 4, 1, 0)"),
        (lambda t: 5 if t.y >= 0 else 6, "5"),
        (lambda t: t.x if not t.x > 3 else t.y, "select(t.x > 3, t.y, t.x)"),
        (lambda t: 2 if t.x > 3 and t.x > 3 else 1, "select(t.x > 3, 2, 1)"),
        (lambda t: math.ceil(t.x / 4), "ceil_div(t.x, 4)"),
        (lambda t: t.x & 7, "t.x % 8"),
        (lambda t: t.x & 6 | ~t.y, "t.x & 6 | ~t.y"),
        (lambda t: (t.x >> 4) + (t.x << 4), "t.x // 16 + t.x * 16"),
        (lambda t: t.x >> t.p << 1, "(t.x >> t.p) * 2"),
        (lambda t: t.x > 3 or t.flag, "select(t.x > 3, 1, t.flag)"),
        (lambda t: t.x > 3 and t.y > 4, "select(t.x > 3 and t.y > 4, 1, 0)"),
    ],
)
def test_results_stay_readable(function, text):
    assert text_of_delay(function) == text


def test_numpy_constants_are_ints():
    numpy = pytest.importorskip("numpy")
    table = numpy.array([5, 6, 7, 8, 9, 10, 11, 12])
    function = lambda t: (  # noqa: E731
        numpy.int64(3) * t.x
        + t.y * numpy.int32(2)
        + lpn.lookup(table, t.p)
        + table[t.p]
        + (t.x << numpy.int64(2))
        + max(t.n, numpy.int64(9))
    )
    data = rows(count=200)
    assert run_function(function, T, data) == [
        3 * x + 2 * y + 2 * (5 + p) + 4 * x + max(n, 9) for x, y, n, p, _, _ in data
    ]


def test_a_condition_of_numpy_is_one():
    """It was refused: 'must return a condition, got True'."""
    numpy = pytest.importorskip("numpy")
    for number, passed in ((3, 1), (4, 0)):
        net = lpn.Net("n")
        queue, done = net.place("queue", init=1), net.place("done", done=True)
        net.transition(
            "pass",
            take={"t": queue.take(guard=lambda t, k=number: numpy.int64(k) == 3)},
            put=[done],
        )
        assert lpn.simulate(net, engine="interp").done_tokens == passed


def test_import_is_light():
    import subprocess
    import sys

    code = "import sys, lpn; print([m for m in ('numpy', 'click', 'rich', 'inspect', 'json') if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert out.stdout.strip() == "[]"


class Half(lpn.Token):
    x: lpn.Int


@pytest.mark.parametrize("part", ["delay", "interval", "take", "need", "count", "property"])
def test_a_ratio_must_be_rounded_everywhere(part):
    half = lambda: 5 if part == "x" else SLOTS / 2  # noqa: E731
    net = lpn.Net("n")
    SLOTS = net.param("slots", 4)
    a, b = net.place("a", Half), net.place("b", Half)
    take = a.take(half) if part == "take" else a.take(1, need=half) if part == "need" else a.take()
    put = (
        b.emit(count=half, x=1)
        if part == "count"
        else b.emit(x=half)
        if part == "property"
        else b.emit(x=1)
    )
    options = {part: half} if part in ("delay", "interval") else {}
    with pytest.raises(
        lpn.Error, match=r"must return int, got ratio \(slots / 2\); use // or math.ceil"
    ) as error:
        net.transition("t", take={"w": take}, put=[put], **options)
    assert error.value.code == "E-result"


def test_a_whole_ratio_is_still_a_ratio():
    net = lpn.Net("n")
    a = net.place("a", Half)
    with pytest.raises(lpn.Error, match="must return int, got ratio"):
        net.transition("t", take={"w": a}, delay=lambda w: w.x * 4 / 2)
    net.transition("t", take={"w": a}, delay=lambda w: math.floor(w.x * 4 / 2))


def test_ratios_stay_exact_where_floats_do_not():
    big = (1 << 60) + 1
    assert run_function(lambda t: math.floor(t.x / 3 * 3), Half, [(big,), (-big,)]) == [big, -big]
    assert run_function(lambda t: round(t.x / 1), Half, [(big,)]) == [big]


def test_overflow_is_an_error_of_the_run():
    with pytest.raises(lpn.RunError, match="a value leaves 64 bits") as error:
        run_function(lambda t: t.x * t.x, Half, [(1 << 40,)])
    assert error.value.code == "E-overflow" and error.value.site[0] == "field"


def test_a_loop_over_a_list_and_nested_helpers_share_questions():
    def cost(t, limit):
        return 1 if t.x > limit else 2

    def f(t):
        return sum(cost(t, limit) for limit in (1, 1, 1, 2, 2, 2))

    assert run_function(f, Half, [(0,), (2,), (3,)]) == [12, 9, 6]


def test_texts_that_nothing_looks_into():
    """Messages with properties in them, and texts of numbers of Python, mean what they say."""
    width = 512

    def cycles(job):
        assert job.size > 3, f"too few: {job.size} of {len(str(width))}"
        return len(f"{width}") + job.size if len(str(width)) < job.size else 4

    class Job(lpn.Token):
        size: lpn.Int[0, 999]

    net = lpn.Net("n")
    jobs = net.place("jobs", Job, start=True)
    net.transition("work", take={"job": jobs}, delay=cycles, servers=1)
    work = lpn.Marking(net)
    work.add("jobs", size=10)
    assert lpn.simulate(net, work, trace=True).trace[0].time == 13
