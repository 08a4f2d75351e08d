"""What a proof found, as an input to look at: a witness of lpn smt."""

from ..authoring.marking import Marking
from ..errors import Error, mistake
from ..json_file import parse_json
from ..source import shown

__all__ = ["Witness", "read_witness"]


class Witness:
    """An input: `parameters` (name -> int), `tokens` (place -> rows) or `marking` (bytes), and
    `title`.
    """

    def __init__(self, title, parameters=None, tokens=None, marking=None):
        self.title = title
        self.parameters = parameters or {}
        self._tokens = tokens
        self._marking = marking

    def fill(self, net):
        """Its marking of `net`. Raises Error "E-marking", "E-marking-file" or "E-place" when it is
        of another.
        """
        if self._marking is not None:
            return Marking.parse(net, self._marking)
        marking = Marking(net)
        for place, rows in self._tokens.items():
            if rows and rows[0]:
                marking.add_rows(place, rows)
            else:
                marking.add(place, count=len(rows))
        return marking


def read_witness(path):
    """The Witness in a file: what `lpn smt --witness` wrote, or the answer of `lpn smt --json`.

    Raises Error "E-viz-witness" for a file that is neither, or an answer that has no input to show.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise mistake("E-viz-witness", f"cannot read {path}: {error.strerror}") from None
    if data[:4] == b"LPNM":
        return Witness(f"witness {shown(path)}", marking=data)
    try:
        answer = parse_json(data, str(path), "E-viz-witness")
    except Error:
        answer = None
    if not isinstance(answer, dict) or "verdict" not in answer:
        raise mistake(
            "E-viz-witness",
            f"{path} is no witness: give the file of lpn smt --witness, or what lpn smt "
            "--json printed",
        )
    try:
        title, found = _found(answer)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise mistake(
            "E-viz-witness", f"{path} is not what lpn smt --json printed; give that as it was"
        ) from None
    if found is None:
        raise mistake(
            "E-viz-witness", f"{path} has no input to show: its verdict is '{answer['verdict']}'"
        )
    return Witness(title, *found)


def _found(answer):
    """(title, (parameters, tokens) or None) of an answer of lpn smt."""
    found, what = answer.get("witness"), f"{answer.get('question')}: {answer['verdict']}"
    if answer.get("stalled"):
        found, what = answer["stalled"]["input"], f"an input that {answer['stalled']['outcome']}"
    if not found:
        return f"witness of {what}", None
    parameters, tokens = found["parameters"], found["tokens"]
    if any(isinstance(v, bool) or not isinstance(v, int) for v in parameters.values()):
        raise TypeError("a parameter is no whole number")
    for rows in tokens.values():
        if not isinstance(rows, list) or not all(isinstance(row, (dict, list)) for row in rows):
            raise TypeError("tokens are no rows")
    return f"witness of {what}", (parameters, tokens)
