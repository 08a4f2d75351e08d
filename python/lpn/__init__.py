"""Latency Petri Nets: performance models of hardware, written as plain Python.

Places are FIFOs of tokens, transitions are pieces of hardware that take tokens, work some cycles
and put tokens. See docs/authoring.md.
"""

import importlib

from .authoring.arc import max, min, sum
from .authoring.expr import ceil_div, lookup, select
from .authoring.marking import Marking
from .authoring.net import Net
from .authoring.place import Place, tokens
from .authoring.token import Birth, Bool, Int, Token
from .authoring.unknown import unknown
from .errors import Error, RunError
from .runs import Model, Run, load, run_batch, simulate
from .spaces.space import InputSpace
from .spaces.terms import total

# Names that are loaded when they are first used -> (module, name there; None: the module itself).
_LATE = {
    "check_certificate": ("lpn.proofs.certificate", "check"),
    "lib": ("lpn.lib", None),
    "maximize": ("lpn.proofs.question", "maximize"),
    "minimize": ("lpn.proofs.question", "minimize"),
    "partition": ("lpn.spaces.partition", "partition"),
    "prove": ("lpn.proofs.question", "prove"),
    "Traffic": ("lpn.traffic", "Traffic"),
    "bursts": ("lpn.traffic", "bursts"),
    "choice": ("lpn.traffic", "choice"),
    "exponential": ("lpn.traffic", "exponential"),
    "periodic": ("lpn.traffic", "periodic"),
    "poisson": ("lpn.traffic", "poisson"),
    "sweep": ("lpn.sweeps.sweep", "sweep"),
    "uniform": ("lpn.traffic", "uniform"),
    "Spread": ("lpn.tuning.spread", "Spread"),
    "tune": ("lpn.tuning.search", "tune"),
}

__all__ = [
    "Birth",
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
    "Spread",
    "Token",
    "Traffic",
    "bursts",
    "ceil_div",
    "check_certificate",
    "choice",
    "exponential",
    "load",
    "lookup",
    "max",
    "maximize",
    "min",
    "minimize",
    "partition",
    "periodic",
    "poisson",
    "prove",
    "run_batch",
    "select",
    "simulate",
    "sum",
    "sweep",
    "tokens",
    "total",
    "tune",
    "uniform",
    "unknown",
]


def __getattr__(name):
    if name not in _LATE:
        raise AttributeError(f"module 'lpn' has no attribute '{name}'")
    module, attribute = _LATE[name]
    loaded = importlib.import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__():
    return sorted({*globals(), *_LATE})


def _shown_by(function):
    def _repr_html_(self):
        """HTML for notebooks."""
        return getattr(importlib.import_module("lpn.pages.notebook"), function)(self)

    return _repr_html_


# What a notebook shows of them; loaded when one does.
setattr(Net, "_repr_html_", _shown_by("html_of_net"))
setattr(Run, "_repr_html_", _shown_by("html_of_run"))
