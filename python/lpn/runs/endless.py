"""Runs that nothing but a limit ends, as far as that is sure."""

from __future__ import annotations

from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..errors import without_place

__all__ = ["endless", "endless_text", "refuse_endless"]


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
    if limit is not None or limits is not None and limits.seconds:
        return
    names = endless(net, marking)
    if names:
        raise without_place("E-unending", f"net '{net.name}': {endless_text(names[0], instead)}")
