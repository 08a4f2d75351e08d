"""Models and runs of their nets: prepare() and execute() for tools, load() and simulate() for
authors.

Tools import from here: `from lpn.runs import prepare`.
"""

from ..authoring.net import parameter_values
from ..json_file import read_json
from .batch import run_batch
from .engines import ENGINES, compiled
from .models import Model, load
from .ready import Ready, prepare
from .result import fields_of
from .run import Run, execute
from .simulate import simulate

__all__ = [
    "ENGINES",
    "Model",
    "Ready",
    "Run",
    "compiled",
    "execute",
    "fields_of",
    "load",
    "parameter_values",
    "prepare",
    "read_json",
    "run_batch",
    "simulate",
]
