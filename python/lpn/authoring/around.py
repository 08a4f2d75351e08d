"""What a function reads of what is around it: a lambda that is written in a loop reads the loop's variables when
it is run, and by then they may be others.
"""

import dis
from types import FunctionType

from .. import source
from ..errors import listed, mistake

__all__ = ["around", "check_apart", "check_around"]

_PLAIN = (int, bool, str)


def around(*given):
    """[(function, name, value, how to read it again)] of the functions among `given`, as they stand now."""
    found = []
    for each in given:
        if isinstance(each, FunctionType):
            _look(each, found, set())
    return found


def _look(function, found, seen):
    code = function.__code__
    seen.add(function)
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # not there yet: it is meant to come later
            continue
        found.append((function, name, value, lambda cell=cell: cell.cell_contents))
        if isinstance(value, FunctionType) and value not in seen:
            _look(value, found, seen)
    outside = function.__globals__
    for name in code.co_names:  # also names of properties
        if type(outside.get(name)) in _PLAIN:
            found.append((function, name, outside[name], lambda o=outside, n=name: o.get(n)))


def check_around(found, what):
    """Raises Error "E-late" where a function would read something else than it did when `what` was written."""
    for function, name, value, again in found:
        try:
            now = again()
        except ValueError:  # deleted; the function says so when it runs
            continue
        if now is value or type(now) in _PLAIN and type(now) is type(value) and now == value:
            continue
        if name not in function.__code__.co_freevars and not _is_global(function, name):
            continue
        called = function.__name__
        called = "the lambda" if called == "<lambda>" else f"'{called}'"
        plain = type(value) in _PLAIN and type(now) in _PLAIN
        change = f" (then {value!r}, now {now!r})" if plain else ""
        raise mistake(
            "E-late",
            f"{called} reads '{name}' when the transition is made, and that has changed since {what} was "
            f"written{change}\n  A parameter with a default keeps it: lambda ..., {name}={name}: ...",
            source.of_function(function),
        )


def check_apart(given, what):
    """Raises Error "E-late" where two functions of a list are one, which a loop has made anew: they read the same
    variables, and so they cannot differ.
    """
    made = {}
    for each in given:
        if not isinstance(each, FunctionType) or not each.__closure__:
            continue
        given_by_default = [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
        what_it_reads = (each.__code__, *map(id, (*each.__closure__, *given_by_default)))
        if made.setdefault(what_it_reads, each) is not each:
            names = each.__code__.co_freevars
            raise mistake(
                "E-late",
                f"{what} are functions that a loop has made and that read the same variable "
                f"{listed(names)}, so all of them do the same\n"
                f"  A parameter with a default keeps what differs: lambda ..., {names[-1]}={names[-1]}: ...; "
                "where nothing does, give one function in place of the list",
                source.of_function(each),
            )


def _is_global(function, name):
    return any(
        i.argval == name and i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        for i in dis.get_instructions(function.__code__)
    )
