"""A reader of VIPR certificates (version 1.0) with exact fractions, which knows nothing of nets.

    vipr_check.py FILE...

Of each file: proved, with what, or refused and why. Ends with 0 when all are proved, else 1. Whole files only: VER, VAR,
INT, OBJ, CON, RTP, SOL, DER as https://github.com/ambros-gleixner/VIPR specifies them; reasons asm, lin, rnd and uns.
"""

import math
import sys
from fractions import Fraction

SENSES = {"G": 1, "E": 0, "L": -1}


class Refused(Exception):
    """It proves nothing."""


def demand(condition, why):
    if not condition:
        raise Refused(why)


class Words:
    """The words of a file, one after the other."""

    def __init__(self, text):
        lines = text.split("\n")
        while lines and lines[0].startswith("%"):
            lines.pop(0)
        self.words, self.at = " ".join(lines).split(), 0

    def next(self):
        demand(self.at < len(self.words), "the file is cut off")
        self.at += 1
        return self.words[self.at - 1]

    def keyword(self, *allowed):
        word = self.next()
        demand(word in allowed, f"{word[:20]} where {' or '.join(allowed)} is expected")
        return word

    def index(self, end):
        word = self.next()
        demand(
            word.isascii() and word.isdigit() and len(word) < 10 and int(word) < end,
            "no such index",
        )
        return int(word)

    def value(self):
        try:
            return Fraction(self.next())
        except (ValueError, ZeroDivisionError):
            raise Refused("no number") from None

    def pairs(self, end):
        found = {}
        for _ in range(self.index(10**9)):
            k = self.index(end)
            demand(k not in found, "an index twice")
            found[k] = self.value()
        return found


def absurd(row):
    sense, value, parts = row
    return not parts and (value > 0 if sense == "G" else value < 0 if sense == "L" else value != 0)


def dominates(row, other):
    if absurd(row):
        return True
    (s, b, parts), (sense, value, wanted) = row, other
    if parts != wanted or (s != sense and s != "E"):
        return False
    return b >= value if sense == "G" else b <= value if sense == "L" else b == value


def combined(used, rows):
    """A suitable linear combination; its sense is E where all its constraints are equations."""
    signs = {SENSES[rows[k][0]] * (1 if by > 0 else -1) for k, by in used.items() if by} - {0}
    demand(len(signs) < 2, "a combination of both senses")
    parts, value = {}, Fraction(0)
    for k, by in used.items():
        value += by * rows[k][1]
        for i, c in rows[k][2].items():
            parts[i] = parts.get(i, 0) + by * c
    return {1: "G", -1: "L", 0: "E"}[sum(signs)], value, {i: c for i, c in parts.items() if c}


def whole(parts, integers):
    return all(c.denominator == 1 and i in integers for i, c in parts.items())


def rounded(row, integers):
    sense, value, parts = row
    demand(sense != "E" and whole(parts, integers), "a sum that cannot be rounded")
    return sense, Fraction(math.ceil(value) if sense == "G" else math.floor(value)), parts


def opposite(a, b, integers):
    """Whether two assumptions leave no integer point out."""
    low, high = (a, b) if a[0] == "L" else (b, a)
    fits = low[0] == "L" and high[0] == "G" and low[2] == high[2] and whole(low[2], integers)
    return fits and low[1].denominator == 1 and high[1] == low[1] + 1


def proved(text):
    """What is proved. Raises Refused."""
    w = Words(text)
    w.keyword("VER"), w.keyword("1.0"), w.keyword("VAR")
    variables = w.index(10**9)
    for _ in range(variables):
        w.next()
    w.keyword("INT")
    integers = {w.index(variables) for _ in range(w.index(variables + 1))}
    w.keyword("OBJ")
    least = w.keyword("min", "max") == "min"
    goal = {k: c for k, c in w.pairs(variables).items() if c}

    def constraint():
        w.next()
        sense, value = w.keyword(*SENSES), w.value()
        if w.at < len(w.words) and w.words[w.at] == "OBJ":
            w.next()
            return sense, value, goal
        return sense, value, {k: c for k, c in w.pairs(variables).items() if c}

    w.keyword("CON")
    number = w.index(10**9)
    w.index(number + 1)
    rows = [constraint() for _ in range(number)]
    rests = [frozenset()] * number
    w.keyword("RTP")
    wanted = None
    if w.keyword("infeas", "range") == "range":
        wanted = w.next(), w.next()
    w.keyword("SOL")
    demand(w.index(10**9) == 0, "solutions are not looked at")
    w.keyword("DER")
    for _ in range(w.index(10**9)):
        row, known = constraint(), len(rows)
        w.keyword("{")
        reason = w.keyword("asm", "lin", "rnd", "uns")
        if reason == "asm":
            rest = frozenset([known])
        elif reason == "uns":
            one, first, other, second = (w.index(known) for _ in range(4))
            demand(
                opposite(rows[first], rows[second], integers),
                "two assumptions that leave points out",
            )
            demand(
                dominates(rows[one], row) and dominates(rows[other], row), "a case that says less"
            )
            rest = (rests[one] - {first}) | (rests[other] - {second})
        else:
            used = w.pairs(known)
            made = combined(used, rows)
            made = rounded(made, integers) if reason == "rnd" else made
            demand(dominates(made, row), "a sum that says less")
            rest = frozenset().union(*(rests[k] for k in used))
        w.keyword("}")
        w.next()
        rows.append(row)
        rests.append(rest)
    demand(w.at == len(w.words), "words are left over")
    demand(len(rows) > number and not rests[-1], "what is derived rests on assumptions")
    if wanted is None:
        demand(absurd(rows[-1]), "the last constraint is no falsehood")
        return "there is no solution"
    bound = wanted[0] if least else wanted[1]
    demand(
        wanted[1 if least else 0] in ("inf", "-inf"), "both bounds are not proved without solutions"
    )
    try:
        row = ("G" if least else "L", Fraction(bound), goal)
    except (ValueError, ZeroDivisionError):
        raise Refused("no bound") from None
    demand(dominates(rows[-1], row), "the last constraint does not give the bound")
    return f"the objective is at {'least' if least else 'most'} {bound}"


def main(paths):
    wrong = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print(f"{path}: proved: {proved(file.read())}")
        except (Refused, OSError, UnicodeDecodeError) as refused:
            wrong = 1
            print(f"{path}: refused: {refused}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
