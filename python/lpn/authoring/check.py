"""Checks of what authors give, shared by nets and transitions."""

import _lpn

from ..errors import listed, mistake, near
from .expr import INT_MAX, INT_MIN, as_index, text_of

__all__ = ["Spelled", "check_fields", "check_name", "check_options", "flag", "plain"]


def check_fields(kind, given, what, missing_ok=False):
    for name in given:
        if name not in kind.fields:
            raise mistake(
                "E-field",
                f"{what} has a property '{name}' that type {kind.name} lacks; it has: "
                f"{listed(kind.fields)}",
            )
    lacking = [name for name in kind.fields if name not in given]
    if lacking and not missing_ok:
        raise mistake(
            "E-field",
            f"{what} lacks {listed(lacking)}; type {kind.name} has: {listed(kind.fields)}",
        )


def check_name(name, what, dots=False):
    if not isinstance(name, str) or not _lpn.is_name(name) or (not dots and "." in name):
        parts = name.split(".") if dots and isinstance(name, str) else []
        wrong = [part for part in parts if not _lpn.is_name(part)]
        if len(parts) > 1 and wrong:
            raise mistake(
                "E-name",
                f"{name!r} cannot name a {what}: each part of it, between dots, is of letters, digits and "
                f"_ and starts with a letter or _; {wrong[0]!r} is no such part",
            )
        raise mistake(
            "E-name",
            f"{name!r} cannot name a {what}: use letters, digits and _, starting with a letter "
            "or _",
        )


def check_options(what, unknown, known):
    if unknown:
        name = next(iter(unknown))
        raise mistake(
            "E-option",
            f"net.{what} has no option '{name}'; it has: {listed(known)}{near(name, known)}",
        )


def flag(value, what):
    """A bool from an author's one; None is False."""
    number = 0 if value is None else as_index(value)
    if number not in (0, 1):
        raise mistake("E-operand", f"{what} must be True or False, got {text_of(value)}")
    return bool(number)


def plain(value, what):
    """An int from an author's number."""
    if isinstance(value, float):
        raise mistake(
            "E-operand", f"{what} must be int, got float {value!r}; use math.ceil or math.floor"
        )
    number = as_index(value)
    if number is None:
        raise mistake("E-operand", f"{what} must be int, got {text_of(value)}")
    value = number
    if not INT_MIN <= value <= INT_MAX:
        raise mistake("E-overflow", f"{what} is {value}, which does not fit in 64 bits")
    return value


class Spelled:
    """Attributes may be set freely, but for what is nearly the name of a property, or a method's."""

    def __setattr__(self, name, value):
        if not name.startswith("_"):
            kind = type(self)
            own = getattr(kind, name, None)
            if callable(own):
                raise mistake("E-option", f"'{name}' of {kind.__name__} is a method; call it")
            if own is None:
                known = [k for k, v in vars(kind).items() if isinstance(v, property) and v.fset]
                if hint := near(name, known):
                    raise mistake("E-option", f"{kind.__name__} has no property '{name}'{hint}")
        super().__setattr__(name, value)
