"""What was found about a question, and how it is said."""

from ..errors import mistake
from .property import text_of

__all__ = ["FORMAT", "PARTITION", "Answer", "bug", "form_text", "json_number", "number"]

FORMAT = 1  # of certificates

# What decides whether a partition is made the same way again.
PARTITION = {
    "max_paths": 10_000,
    "max_firings": 200_000,
    "question_seconds": 10,
    "enumerate": 4096,
    "seed": 1,
}


class Answer:
    """What was found about a question over all inputs of a space.

    `verdict`: "optimal" (the bound is exact), "proved", "refuted" (there is an input without the
    property, or one that stalls or fails), "bounded" (a bound is proved and an input found, but
    they differ), "unknown". `lower`, `upper`: proved bounds or values of inputs found, int or
    Fraction, None when there is none; for a maximum `upper` is proved and `lower` is the witness's,
    for a minimum the other way round. `witness`: {variable: int}; it was run in the interpreter and
    has exactly that value. `stalled`: an input that stalls or fails, with why, else None.
    `classes`, `paths`, `complete`, `why`: of the partition it rests on. `inputs`: how many inputs were
    run instead, where the classes did not answer and every input was tried, else None. `silent`: no input produces
    a done token. `states`: how many reachable states the bound rests on, and `tried`: how many inputs
    were run in search of the witness, where classes did not answer.
    `certificate`: what check() takes.
    """

    def __init__(self, question, space):
        self.question = question
        self.space = space
        self.verdict = "unknown"
        self.lower = self.upper = None
        self.witness = None
        self.replayed = None
        self.stalled = None
        self.silent = False
        self.classes = self.paths = 0
        self.inputs = None
        self.states = self.tried = None
        self.complete = False
        self.why = None
        self.unresolved = 0
        self.notes = []
        self.interrupted = False
        self.seconds = 0.0
        self.certificate = None

    def __repr__(self):
        return f"<{self.question}: {self.verdict}, {self.lower}..{self.upper}>"


def number(value):
    """An int where a Fraction is one."""
    if value is None or isinstance(value, int):
        return value
    return value.numerator if value.denominator == 1 else value


def json_number(value):
    return value if value is None or isinstance(value, int) else str(value)


def form_text(form):
    """A linear form to read: '2*latency - 3*E + 5'."""
    text = ""
    for atom, c in sorted(form.items(), key=lambda each: not each[0]):
        size = (
            str(abs(c))
            if not atom
            else text_of(atom)
            if abs(c) == 1
            else f"{abs(c)}*{text_of(atom)}"
        )
        text += (" - " if c < 0 else " + ") + size
    return text[3:] if text.startswith(" + ") else "-" + text[3:] if text else "0"


def bug(what, witness):
    """An error that is ours, with what we need to find it."""
    text = f"this is our bug, not yours, and no answer: {what}"
    if witness is not None:
        text += "\n  the input: " + ", ".join(f"{name}={value}" for name, value in witness.items())
    return mistake("E-bug", text + "\n  please report it with the model and this message")
