"""Latency Petri Nets: performance models of hardware, written as plain Python.

Places are FIFOs of tokens, transitions are pieces of hardware that take tokens, work some cycles
and put tokens. See docs/authoring.md.
"""

from ._arc import max, min, sum
from ._errors import Error, RunError
from ._expr import ceil_div, lookup, select
from ._load import Model, load
from ._marking import Marking
from ._net import Net
from ._place import Place, tokens
from ._run import Run, run_batch, simulate
from ._space import InputSpace, total
from ._token import Bool, Int, Token

__all__ = [
    "Bool", "Error", "InputSpace", "Int", "Marking", "Model", "Net", "Place", "Run", "RunError", "Token",
    "ceil_div", "check_certificate", "load", "lookup", "max", "maximize", "min", "minimize", "partition", "prove",
    "run_batch", "select", "simulate", "sum", "sweep", "tokens", "total",
]


def __getattr__(name):
    if name == "lib":
        import importlib

        return importlib.import_module("lpn.lib")
    if name == "sweep":
        from ._sweep import sweep

        return sweep
    if name == "partition":
        from ._partition import partition

        return partition
    if name in ("maximize", "minimize", "prove"):
        from . import _bounds

        return getattr(_bounds, name)
    if name == "check_certificate":
        from ._bounds import check

        return check
    raise AttributeError(f"module 'lpn' has no attribute '{name}'")
