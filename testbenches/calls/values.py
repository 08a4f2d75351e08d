"""Random arguments, as source text: mostly plain ones, sometimes ones that nobody would give."""

_INTS = [
    "-1", "-2", "2**31 - 1", "2**31", "2**32 - 1", "2**32", "2**40", "2**61", "2**62", "2**63 - 2",
    "2**63 - 1", "2**63", "2**64 - 1", "2**64", "-2**31", "-2**63", "-2**63 - 1", "10**30",
]  # fmt: skip
_ODD = [
    "None", "True", "False", "1.5", "-0.5", "float('nan')", "float('inf')", "''", "'x'", "b''",
    "b'LPNM'", "'p0'", "'\\0'", "'\\ud800'", "'x' * 70000", "()", "[]", "{}", "[None]", "[[]]",
    "[1, 2**70]", "{'a': None}", "object()", "Rude()", "int", "lambda *a: 1", "raises", "stop",
    "array('q', [1, 2, 3])", "array('d', [1.5])", "array('q')", "range(3)", "iter([1])", "lpn", "...",
]  # fmt: skip


def small(rng):
    return str(rng.choice([0, 0, 1, 1, 2, 3, 4, 7, 8, 64, 100]))


def integer(rng):
    return small(rng) if rng.random() < 0.8 else rng.choice(_INTS)


def odd(rng, names=()):
    """Anything; `names`: of objects that the sequence has made."""
    pick = rng.random()
    if names and pick < 0.35:
        return rng.choice(names)
    return integer(rng) if pick < 0.5 else rng.choice(_ODD)


def word(rng, letter):
    """A name: mostly one that is there or will be."""
    if rng.random() < 0.96:
        return f"'{letter}{rng.randrange(5)}'"
    return rng.choice(
        ["''", "'a b'", "'p.q'", "'é'", "'p0'", "'x' * 5000", "None", "3", "'_'", "'p\\0'"]
    )


def sometimes(rng, text, share, names=()):
    """`text`, or with this share something odd."""
    return odd(rng, names) if rng.random() < share else text
