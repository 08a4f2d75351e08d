"""Models and runs of their nets: prepare() and execute() for tools, load() and simulate() for
authors.

Tools import from here: `from lpn.runs import prepare`.
"""

from ..authoring.net import parameter_values
from ..captures import Capture, capture_of, is_capture, read_capture, write_capture
from ..csv_file import read_csv
from ..errors import near
from ..json_file import json_data, json_lines, read_json, unpacked
from ..output_file import written
from ..source_digest import source_digest
from ..toml_file import WrongValue, one_of, picoseconds, read_toml, toml_data, whole
from ..words import decimal, integer
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
    "WrongValue",
    "capture_of",
    "compiled",
    "decimal",
    "execute",
    "fields_of",
    "integer",
    "is_capture",
    "isolated",
    "json_data",
    "json_lines",
    "load",
    "near",
    "one_of",
    "parameter_values",
    "picoseconds",
    "prepare",
    "read_capture",
    "read_csv",
    "read_json",
    "read_toml",
    "run_batch",
    "simulate",
    "source_digest",
    "toml_data",
    "unpacked",
    "whole",
    "write_capture",
    "written",
]
