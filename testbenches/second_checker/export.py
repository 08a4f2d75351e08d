"""check.py, and each path's bound for others to decide.

    export.py [--cvc5 S] [--smtlib FOLDER] [--vipr FOLDER] [options of check.py] FILE...
"""

import pathlib

import check
import smtlib
import vipr
from document import Unknown


class Asked:
    """Hears of each path of one certificate, and counts who proves it."""

    def __init__(self, seconds, questions, sums):
        self.seconds, self.questions, self.sums = seconds, questions, sums
        self.paths = self.answered = self.summed = 0

    def __call__(self, problem, maximum, bound, steps):
        name = str(self.paths)
        self.paths += 1
        if self.sums:
            try:
                write(self.sums, f"{name}.vipr", vipr.certificate(problem, maximum, bound, steps))
                self.summed += 1
            except Unknown:
                pass  # counted as not written
        if self.seconds or self.questions:
            question = smtlib.question(problem, maximum, bound)
            if self.questions:
                write(self.questions, f"{name}.smt2", question)
            if self.seconds:
                try:
                    smtlib.ask(question, self.seconds)
                    self.answered += 1
                except Unknown:
                    pass  # counted as not answered

    def told(self):
        said = ""
        if self.seconds:
            said += f"; cvc5 proves {self.answered} of {self.paths} bounds of paths"
        if self.sums:
            said += f"; {self.summed} of {self.paths} bounds of paths written as VIPR"
        return said


def write(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def main():
    parser = check.arguments()
    parser.add_argument("--cvc5", type=float, help="seconds: asks cvc5, too, for each path")
    parser.add_argument("--smtlib", type=pathlib.Path, help="a folder for these questions")
    parser.add_argument(
        "--vipr", type=pathlib.Path, help="a folder for sums of constraints, as VIPR"
    )
    given = parser.parse_args()

    def listener(place):
        folders = [each and each / str(place) for each in (given.smtlib, given.vipr)]
        return Asked(given.cvc5, *folders)

    check.main(given, listener)


if __name__ == "__main__":
    main()
