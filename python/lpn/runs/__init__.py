"""Models and runs of their nets: prepare() and execute() for tools, load() and simulate() for
authors.

Tools import from here: `from lpn.runs import prepare`.
"""

from ..authoring.net import parameter_values
from ..captures import Capture, capture_of, is_capture, read_capture, write_capture
from ..json_file import json_data, json_lines, read_json, unpacked
from .batch import run_batch
from .engines import ENGINES, compiled
from .isolated import isolated
from .models import Model, load
from .ready import Ready, prepare
from .result import fields_of
from .run import Run, execute
from .simulate import simulate

__all__ = [
    "Capture",
    "ENGINES",
    "Model",
    "Ready",
    "Run",
    "capture_of",
    "compiled",
    "execute",
    "fields_of",
    "is_capture",
    "isolated",
    "json_data",
    "json_lines",
    "load",
    "parameter_values",
    "prepare",
    "read_capture",
    "read_json",
    "run_batch",
    "simulate",
    "unpacked",
    "write_capture",
]
