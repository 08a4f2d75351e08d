"""Runs that nothing but a limit ends, as far as that is sure."""

from __future__ import annotations

import warnings
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..errors import without_place

__all__ = ["endless", "endless_text", "refuse_endless", "warn_endless"]


def endless(net: Net, marking: Marking) -> list[str]:
    """Transitions that go on for ever by themselves, where no number of done tokens ends a run."""
    if net.done_count is not None or marking.done_count is not None:
        return []
    return _lpn.endless(net.core)


def endless_text(transition: str, instead: str = "--limit T, or ") -> str:
    """What is said of a run that such a transition keeps going. `instead`: what else ends it."""
    return (
        f"'{transition}' goes on for ever by itself, so nothing but a limit ends this run: write "
        f"{instead}marking.done_count = ... in the workload"
    )


def refuse_endless(
    net: Net,
    marking: Marking,
    limit: int | None = None,
    limits: Any = None,
    instead: str = "--limit T, or ",
) -> None:
    """Raises Error "E-unending" for a run that nothing ends: no `limit` of cycles, and none of time in
    `limits`, an _lpn.Budget.
    """
    why = _unending(net, marking, limit, limits, instead)
    if why is not None:
        raise without_place("E-unending", why)


def warn_endless(net: Net, marking: Marking, limit: int | None, limits: Any) -> None:
    """A RuntimeWarning of such a run, for who can end it by Ctrl-C and have what there is: at the line
    that called what calls this.
    """
    why = _unending(net, marking, limit, limits, "limit=T, max_time=SECONDS, or ")
    if why is not None:
        warnings.warn(why, RuntimeWarning, stacklevel=3)


def _unending(net, marking, limit, limits, instead):
    if limit is not None or limits is not None and limits.seconds:
        return None
    names = endless(net, marking)
    return f"net '{net.name}': {endless_text(names[0], instead)}" if names else None
