"""Latency Petri Nets: performance models of hardware, written as plain Python.

Places are FIFOs of tokens, transitions are pieces of hardware that take tokens, work some cycles
and put tokens. See docs/authoring.md.
"""

from .authoring.arc import max, min, sum
from .authoring.expr import ceil_div, lookup, select
from .authoring.marking import Marking
from .authoring.net import Net
from .authoring.place import Place, tokens
from .authoring.token import Bool, Int, Token
from .errors import Error, RunError
from .runs import Model, Run, load, run_batch, simulate
from .spaces.space import InputSpace, total

__all__ = [
    "Bool",
    "Error",
    "InputSpace",
    "Int",
    "Marking",
    "Model",
    "Net",
    "Place",
    "Run",
    "RunError",
    "Token",
    "ceil_div",
    "check_certificate",
    "load",
    "lookup",
    "max",
    "maximize",
    "min",
    "minimize",
    "partition",
    "prove",
    "run_batch",
    "select",
    "simulate",
    "sum",
    "sweep",
    "tokens",
    "total",
]


def __getattr__(name):
    if name == "lib":
        import importlib

        return importlib.import_module("lpn.lib")
    if name == "sweep":
        from .sweeps.sweep import sweep

        return sweep
    if name == "partition":
        from .spaces.partition import partition

        return partition
    if name in ("maximize", "minimize", "prove"):
        from .proofs import question as _bounds

        return getattr(_bounds, name)
    if name == "check_certificate":
        from .proofs.question import check

        return check
    raise AttributeError(f"module 'lpn' has no attribute '{name}'")
