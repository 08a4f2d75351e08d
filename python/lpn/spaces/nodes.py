"""Terms as nodes of data: [operator, ...] with the numbers of what each is made of."""

import _lpn

__all__ = ["Nodes", "kids", "made", "with_kids"]


def kids(made_by, given):
    """The numbers of the terms that a node is made of."""
    if made_by in ("constant", "boolean", "param"):
        return []
    if made_by == "lookup":
        return [given[1]]
    return given[:2] if made_by == "assume" else list(given)


def with_kids(made_by, given, numbers):
    """The arguments of a node with other numbers for what it is made of."""
    if made_by in ("constant", "boolean", "param"):
        return list(given)
    if made_by == "lookup":
        return [given[0], *numbers]
    return [*numbers, given[2]] if made_by == "assume" else list(numbers)


class Nodes:
    """Terms as JSON nodes, [[operator, ...], ...]: each once, behind what it is made of; made() reads
    them. `terms`: whose numbers number() is given.
    """

    def __init__(self, terms):
        self.nodes = []
        self._terms = terms
        self._numbers = {}

    def number(self, term):
        """The number of a term among `nodes`."""
        numbers, pending = self._numbers, [term]
        while pending:
            top = pending[-1]
            if top in numbers:
                pending.pop()
                continue
            made_by, *given = self._terms.node(top)
            before = kids(made_by, given)
            missing = [kid for kid in before if kid not in numbers]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            numbers[top] = len(self.nodes)
            self.nodes.append([made_by, *with_kids(made_by, given, [numbers[k] for k in before])])
        return numbers[term]


def made(core, nodes, variables):
    """Makes terms of JSON nodes, [[operator, ...], ...], over the parameters of `core`, so many
    `variables`; the number of each. Raises ValueError, IndexError or TypeError for what is none.
    """
    numbers = []
    for made_by, *given in nodes:
        if made_by not in _lpn.OPERATORS or not _lpn.OPERATORS[made_by].is_term:
            raise ValueError(f"no operator {made_by!r}")
        if made_by == "param" and not 0 <= given[0] < variables:
            raise IndexError("no such variable")
        before = kids(made_by, given)
        if any(type(k) is not int or not 0 <= k < len(numbers) for k in before):
            raise IndexError("a node comes before what it is made of")
        arguments = with_kids(made_by, given, [numbers[k] for k in before])
        numbers.append(
            _lpn.Net.add(core, *arguments)
            if made_by == "add"
            else getattr(core, made_by)(*arguments)
        )
    return numbers
