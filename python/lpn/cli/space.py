"""What the commands about all inputs of a model share: --space, and how its mistakes are said."""

import re

import click

from ..authoring.expr import Expr
from ..errors import Error, mistake
from ..runs import prepare
from ..words import integer


class Bound(click.ParamType):
    name = "name=value"

    def convert(self, value, param, ctx):
        parts = value.split(",")
        if not all("=" in part for part in parts):
            parts = [value]
        return [self._one(part) for part in parts]

    def _one(self, text):
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            # As an argument behind another one it has no name of its own.
            raise click.BadParameter(
                f"'{text}' is not name=value; write --space "
                f"{name if name.isidentifier() else 'blocks'}=18",
                param_hint="'--space'",
            )
        return name, _value(value.strip())


def _value(text):
    """A bound as the model gets it: int, float, (lo, hi) for lo..hi, else the string itself."""
    span = re.fullmatch(r"(-?[0-9]+)\.\.(-?[0-9]+)", text)
    if span:
        return int(span[1]), int(span[2])
    try:
        return integer(text)
    except ValueError:
        fraction = re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
        return float(text) if fraction else text


bounds_option = click.option(
    "--space",
    "bounds",
    multiple=True,
    type=Bound(),
    help="A bound of the model's space(): blocks=18, a range as 4..8; may be given several times.",
)
_more = click.argument("more", nargs=-1, type=Bound(), metavar="")


def space_options(function):
    """--space name=value, several of them after one --space too."""
    return bounds_option(_more(function))


def load_space(spec, params, bounds):
    """(model, net, space) of a MODEL argument and its bounds."""
    ready = prepare(spec, params=params)
    model, net = ready.model, ready.net
    given = {}
    for name, value in (pair for pairs in bounds for pair in pairs):
        if name in given:
            raise mistake("E-space", f"the bound '{name}' is given twice")
        given[name] = value
    try:
        space = model.space(net, **given)
        _need_param(space, params)
        return model, net, space
    except Error:
        raise
    except (TypeError, ValueError) as error:  # how a space refuses a bound
        raise mistake("E-space", f"the input space of model '{model.name}': {error}") from None


def _need_param(space, params):
    """Refuses values of parameters to which the space gives other ones."""
    for name, value in params:
        own = space._params.get(name, value)
        if isinstance(own, Expr) or own != value:
            seen = "lets it vary" if isinstance(own, Expr) else f"says {own}"
            raise mistake(
                "E-space",
                f"parameter '{name}' is to be {value}, but the model's space() {seen}: "
                f"space.param('{name}', ...); leave it out of one of them",
            )


def input_text(values, most=24):
    """An input to read: 'coded[0..3].symbols = 2, 2, 5, 2; slots = 4'."""
    groups = {}
    for name, value in values.items():
        indexed = re.fullmatch(r"(.*)\[(\d+)\](.*)", name)
        key = (indexed[1], indexed[3]) if indexed else (name, None)
        groups.setdefault(key, []).append((int(indexed[2]) if indexed else None, value))
    parts = []
    for (before, after), entries in groups.items():
        shown = ", ".join(str(value) for _, value in entries[:most])
        if len(entries) > most:
            shown += f", ... ({len(entries) - most} more)"
        if after is None:
            parts.append(f"{before} = {shown}")
        else:
            from ..spaces.text import span

            parts.append(f"{before}[{span([index for index, _ in entries])}]{after} = {shown}")
    return "; ".join(parts) or "the only one"
