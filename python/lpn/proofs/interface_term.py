"""A performance interface, which is Python, as a term over the variables of a space."""

from ..authoring.expr import Expr
from ..authoring.trace import trace
from ..errors import mistake

__all__ = ["interface_term"]


class _Input:
    """What a performance interface is called with: places' tokens and parameters by name."""

    def __init__(self, space):
        self._space = space

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        space = self._space
        if name in space._counts:
            raise mistake(
                "E-property",
                f"the interface reads the tokens of '{name}', whose number differs per input; "
                "give the space a fixed number of them",
            )
        if name in space._tokens:
            return space._tokens[name]
        if name in space.net.params:
            return space._params.get(name, space._fixed()[name])
        raise mistake(
            "E-property",
            f"the interface asks for '{name}'; an input has tokens of: "
            f"{', '.join(space._tokens) or 'no place'}; and the parameters: "
            f"{', '.join(space.net.params) or 'none'}",
        )


def interface_term(space, function):
    """The term of the space that a performance interface computes for an input."""

    def latency():  # whose name messages say
        return function(_Input(space))

    term = trace(space._scope, latency, {}, "int")
    space._made = None  # the space's plain data must have the new term
    return Expr(space._scope, term)._id
