"""Token types: classes whose annotations are the properties."""

import enum
import sys

from ..errors import mistake
from ..source import is_ours
from .expr import INT_MAX, INT_MIN

__all__ = ["BORN", "Birth", "Bool", "Int", "Token", "birth_of"]

# What arcs answer to themselves in formulas.
RESERVED = ("count", "free", "taken")


class Int:
    """A 64-bit integer property; `Int[0, 63]` promises an inclusive range, which engines check."""

    def __init__(self, lo=None, hi=None):
        self.range = None if lo is None else (lo, hi)

    def __class_getitem__(cls, bounds):
        if (
            not isinstance(bounds, tuple)
            or len(bounds) != 2
            or not all(type(b) is int for b in bounds)
        ):
            raise mistake(
                "E-type",
                f"Int[{_shown(bounds)}] is not a range; write Int[lowest, highest], both int",
            )
        lo, hi = bounds
        if lo > hi:
            raise mistake(
                "E-type", f"Int[{lo}, {hi}] is an empty range; write Int[lowest, highest]"
            )
        if lo < INT_MIN or hi > INT_MAX:
            raise mistake("E-type", f"Int[{lo}, {hi}] does not fit in 64 bits")
        return cls(lo, hi)

    def __repr__(self):
        return "Int" if self.range is None else f"Int[{self.range[0]}, {self.range[1]}]"


# When the request of a token was born: `born: lpn.Birth`. The workload fills it in, whoever emits
# tokens hands it on, and `lpn latency` reads it from what is done. Name and range make it known.
BORN = "born"
Birth = Int(0, 1 << 62)


def birth_of(kind):
    """Whether a type of a net (place._type) says when its tokens' requests were born."""
    return BORN in kind.fields and kind.ranges[kind.fields[BORN]] == Birth.range


def _shown(bounds):
    return ", ".join(map(str, bounds)) if isinstance(bounds, tuple) else str(bounds)


class Bool:
    """A property that is 0 or 1. `bool` means the same."""


def _property(owner, name, annotation, at):
    """The Int of one annotation."""
    if isinstance(annotation, str):
        frame = sys._getframe(1)
        while frame.f_back is not None and is_ours(frame.f_code.co_filename):
            frame = frame.f_back
        try:
            annotation = eval(annotation, frame.f_globals, frame.f_locals)
        except Exception as error:
            raise mistake(
                "E-type",
                f"property '{name}' of token type {owner.__name__}: cannot evaluate "
                f"{annotation!r} ({error}); write lpn.Int or lpn.Int[0, 63]",
                at,
            ) from None
    if annotation is Int or annotation is int:
        return Int()
    if isinstance(annotation, Int):
        return annotation
    if annotation is Bool or annotation is bool:
        return Int(0, 1)
    if isinstance(annotation, enum.EnumMeta):
        values = [member.value for member in annotation]
        if not issubclass(annotation, int) or not values:
            raise mistake(
                "E-type",
                f"property '{name}' of token type {owner.__name__}: {annotation.__name__} "
                "must be an enum.IntEnum with members, so that its values are numbers",
                at,
            )
        return Int(int(min(values)), int(max(values)))
    raise mistake(
        "E-type",
        f"property '{name}' of token type {owner.__name__} is "
        f"{getattr(annotation, '__name__', annotation)!r}; "
        "a property is lpn.Int, lpn.Int[lo, hi], bool or an enum.IntEnum",
        at,
    )


class Token:
    """Base of token types: `class Block(lpn.Token): nonzero: lpn.Int[0, 63]`.

    The order of the annotations is the order of the properties. An instance, `Block(nonzero=5)`,
    is one token for `init` and `Marking.add`. Raises Error "E-type" for what is no property, and
    "E-range" for a value outside its range.
    """

    _properties = {}  # type: ignore[var-annotated]  # an annotation would be a property

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        from .. import source

        at = source.caller()
        properties = {}
        for base in reversed(cls.__mro__):
            if base is not cls:
                properties.update(getattr(base, "__dict__", {}).get("_properties", {}))
        for name, annotation in cls.__dict__.get("__annotations__", {}).items():
            if name in RESERVED:
                raise mistake(
                    "E-type",
                    f"property '{name}' of token type {cls.__name__}: arc.{name} already means "
                    "something in formulas; choose another name",
                    at,
                )
            if name.startswith("_"):
                raise mistake(
                    "E-type",
                    f"property '{name}' of token type {cls.__name__} starts with _; choose "
                    "another name",
                    at,
                )
            if name in cls.__dict__:
                raise mistake(
                    "E-type",
                    f"property '{name}' of token type {cls.__name__} has a default; tokens have "
                    "none, so give the value where the token is made",
                    at,
                )
            properties[name] = _property(cls, name, annotation, at)
            if annotation is Birth and name != BORN:
                raise mistake(
                    "E-type",
                    f"property '{name}' of token type {cls.__name__} is lpn.Birth; call it "
                    f"'{BORN}', by which it is known",
                    at,
                )
        for name, value in cls.__dict__.items():
            if isinstance(value, Int) or value is Int:
                raise mistake(
                    "E-type",
                    f"property '{name}' of token type {cls.__name__} is assigned, not declared; "
                    f"write {name}: lpn.Int",
                    at,
                )
        cls._properties = properties
        cls._at = at

    def __init__(self, /, **values):
        for name in values:
            if name not in self._properties:
                raise mistake(
                    "E-field",
                    f"token type {type(self).__name__} has no property '{name}'; it has: "
                    + (", ".join(self._properties) or "none"),
                )
        for name, kind in self._properties.items():
            if name not in values:
                raise mistake("E-field", f"{type(self).__name__}(...) lacks the property '{name}'")
            value = values[name]
            if not isinstance(value, int):
                raise mistake("E-field", f"{type(self).__name__}.{name} must be int, got {value!r}")
            if kind.range and not kind.range[0] <= value <= kind.range[1]:
                raise mistake(
                    "E-range",
                    f"{type(self).__name__}.{name} = {value} is outside "
                    f"{kind.range[0]}..{kind.range[1]}",
                )
            setattr(self, name, value)

    def __repr__(self):
        values = ", ".join(f"{n}={getattr(self, n)}" for n in self._properties)
        return f"{type(self).__name__}({values})"

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]
