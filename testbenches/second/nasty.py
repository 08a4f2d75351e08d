"""Nets of the fuzzer made nasty, by changes of their printed text: what random nets seldom come to.

`changed(profile, net, inputs, random)` gives the changed texts. A change may make a net that is refused, or one
that never ends; compare.py counts and leaves out the latter.
"""

import re

LAST = 2**63 - 2
EXTREMES = [
    0,
    -1,
    1,
    2,
    63,
    64,
    -64,
    2**31 + 1,
    -(2**31),
    2**32,
    2**62,
    LAST,
    2**63 - 1,
    -(2**63),
]
WIDTH = 64  # properties of a type, at most


def late_time(random):
    return random.choice(
        [LAST - random.randint(0, 8), LAST + 1, 2**62, 2**62 - 1, LAST // 3, 2**61]
    )


def late(text, inputs, random):
    """Delays, intervals, clocks, pushes and limits around the last instant, 2^63 - 2."""

    def line(match):
        if random.random() < 0.6:
            return match.group()
        shape = random.choice(["{0}", "{0}", "{0} - ({1}) % 8"])
        return match.group(1) + shape.format(late_time(random), match.group(2))

    text = re.sub(r"(?m)^(  (?:delay|interval) )(.*)$", line, text)
    if random.random() < 0.5:
        clock = random.choice([2**62, LAST, 2**63 - 1, 7])
        phase = random.choice([0, LAST, 2**63 - 1, 2**62, 3])
        text = re.sub(r"(?m)^  clock .*$", f"  clock {clock} phase {phase}", text)
    times = sorted(late_time(random) for _ in inputs.splitlines())
    lines = []
    for words, time in zip(map(str.split, inputs.splitlines()), times):
        if words[0] in ("push", "run") and len(words) > 1 and random.random() < 0.7:
            words[1] = str(time)
        lines.append(" ".join(words))
    return text, "\n".join(lines) + "\n"


def ties(text, inputs, random):
    """Everything takes the same time, and what is pushed comes together with it."""
    delay = random.choice([1, 1, 2, 4])
    text = re.sub(r"(?m)^  delay .*$", f"  delay {delay}", text)
    text = re.sub(
        r"(?m)^  interval .*$", f"  interval {random.choice([0, delay, delay * 2])}", text
    )
    return text, re.sub(
        r"(?m)^push -?\d+", lambda _: f"push {delay * random.randint(0, 6)}", inputs
    )


def zero(text, inputs, random):
    """Chains and loops without delay."""

    def line(match):
        return random.choice(["  delay 0", "  delay 0", match.group()])

    return re.sub(r"(?m)^  delay .*$", line, text), inputs


def clocks(text, inputs, random):
    """Each transition has an interval and a clock."""

    def transition(match):
        body = match.group()
        if "\n  interval " not in body:
            body = re.sub(r"(\n  delay .*)", rf"\1\n  interval {random.randint(0, 5)}", body)
        if "\n  clock " not in body:
            clock = f"  clock {random.randint(1, 6)} phase {random.randint(0, 9)}"
            body = re.sub(r"(\n  delay .*)", rf"\1\n{clock}", body)
        return body

    return re.sub(r"(?ms)^transition .*?^}", transition, text), inputs


def errors(text, inputs, random):
    """Numbers in the formulas of transitions that make them fail."""

    def number(match):
        return str(random.choice(EXTREMES)) if random.random() < 0.08 else match.group()

    head, mark, body = text.partition("\ntransition ")
    return head + mark + re.sub(r"(?<![\w.'])\d+\b", number, body), inputs


def bits(text, inputs, random):
    """Bit operators, negative numbers and shifts in the place of sums and products."""

    def operator(match):
        signs = [match.group()] + [" & ", " | ", " ^ ", " << ", " >> ", " + ~", " * -"]
        return random.choice(signs)

    head, mark, body = text.partition("\ntransition ")
    return head + mark + re.sub(r" (?:[-+*&|^]|//|%|<<|>>) (?![-~])", operator, body), inputs


def wide(text, inputs, random):
    """Types with more properties, up to the 64 that a type may have."""
    types = dict(re.findall(r"(?m)^type (\S+) \((.+)\)$", text))
    more = {
        name: random.randint(0, WIDTH - 1 - fields.count(",")) for name, fields in types.items()
    }
    place_type = dict(re.findall(r"(?m)^place (\S+) : (\S+)", text))
    lines = []
    for line in text.splitlines():
        if match := re.match(r"type (\S+) \((.+)\)$", line):
            line = line[:-1] + "".join(f", w{k}" for k in range(more[match.group(1)])) + ")"
        elif match := re.match(r"(place (\S+) : .*? initial |  put (\S+) )(?=\()(.*)$", line):
            count = more.get(place_type[match.group(2) or match.group(3)], 0)
            extra = "".join(f", index * {k} - 5" for k in range(count))
            line = match.group(1) + widened(match.group(4), extra)
        lines.append(line)
    rows = []
    for words in map(str.split, inputs.splitlines()):
        at = {"tokens": 3, "push": 3}.get(words[0])
        name = words[1] if words[0] == "tokens" else words[2] if words[0] == "push" else None
        count = more.get(place_type.get(name), 0)
        if at and count:
            width = len(types[place_type[name]].split(","))
            old = words[at:]
            new = [
                old[i : i + width] + [str(k) for k in range(count)]
                for i in range(0, len(old), width)
            ]
            words = words[:at] + sum(new, [])
        rows.append(" ".join(words))
    return "\n".join(lines) + "\n", "\n".join(rows) + "\n"


def widened(groups, extra):
    """`(a, b) times n, (c, d)` with `extra` before the end of each tuple."""
    made, depth, tuple_at = "", 0, True
    for k, letter in enumerate(groups):
        if letter == "(":
            depth += 1
            if depth == 1 and tuple_at is True:
                tuple_at = k
        elif letter == ")":
            depth -= 1
            if depth == 0 and tuple_at is not True and tuple_at is not None:
                made, tuple_at = made + extra, None
        elif letter == "," and depth == 0:
            tuple_at = True
        made += letter
    return made


def many(text, inputs, random):
    """Hundreds of initial tokens without properties, so that counts and places grow."""
    text = re.sub(
        r"(?m)^(place \S+ : unit(?: start| done| drain| sink)* )initial .*$",
        lambda m: m.group(1) + f"initial {random.choice([40, 300, 1000])}",
        text,
    )
    return text, inputs


PROFILES = {f.__name__: f for f in (late, ties, zero, clocks, errors, bits, wide, many)}


def changed(profile, text, inputs, random):
    return PROFILES[profile](text, inputs, random)
