"""What the rows of a sweep are: every point, a choice of parameter values, with every input."""

import inspect
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Optional

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..errors import listed, mistake, refusal, without_place
from ..runs.engines import check_engine
from ..runs.models import Model, load
from ..runs.open_loop import ends_of_requests
from ..runs.ready import is_marking_file
from ..runs.run import budget_of, whole_limit
from ..words import grouped, integer
from .points import FIELDS, SECONDS
from .requests import LATENCIES

__all__ = ["Definition", "whole_values"]

MOST_ROWS = 1_000_000


def whole_values(text, name):
    """The values that '1,2,8:64:8' stands for: numbers and ranges lo:hi[:step] that include hi."""
    values = []
    for part in text.split(","):
        try:
            numbers = [integer(n) for n in part.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise mistake(
                "E-sweep",
                f"'{part.strip()}' is no value of parameter '{name}'; write whole numbers and "
                f"ranges lowest:highest:step, as in {name}=1,2,8:64:8",
            )
        if len(numbers) == 1:
            values += numbers
            continue
        lo, hi, step = [*numbers, 1][:3]
        if step < 1 or hi < lo:
            raise mistake(
                "E-sweep",
                f"the range {part.strip()} of parameter '{name}' is empty; write "
                "lowest:highest:step with a step of 1 or more",
            )
        if (hi - lo) // step >= MOST_ROWS:
            raise mistake(
                "E-sweep",
                f"the range {part.strip()} of parameter '{name}' has more than {grouped(MOST_ROWS)} "
                "values; use a larger step",
            )
        values += range(lo, hi + 1, step)
    return values


def _values(name, given):
    """The values of a parameter, each once."""
    if isinstance(given, str):
        values = whole_values(given, name)
    elif isinstance(given, Iterable):
        values = list(given)
    else:
        values = [given]
    for value in values:
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise mistake("E-sweep", f"parameter '{name}' must have whole numbers, got {value!r}")
    values = [int(value) for value in values]
    twice = (
        next((v for k, v in enumerate(values) if v in values[:k]), None)
        if len(values) < 1000
        else None
    )
    if twice is None and len(set(values)) < len(values):
        twice = "a value"
    if twice is not None:
        raise mistake("E-sweep", f"parameter '{name}' is given {twice} twice; give each value once")
    if not values:
        raise mistake("E-sweep", f"parameter '{name}' has no values; give at least one")
    return values


class Input:
    """An input with its name in the table. `value`: what the workload gets; None: nothing."""

    def __init__(self, name, value):
        self.name = name
        self.value = value


class Variant:
    """The net for one choice of the parameters that are arguments of the model's net() function.

    `failure`: (code, message) when there is no such net.
    """

    def __init__(self, net, failure=None):
        self.net = net
        self.failure = failure


class Ends(NamedTuple):
    """What ends a run before its time: cycles, or None; what it may use, as budget_of has it."""

    limit: Optional[int]
    budget: dict


class Definition:
    """The rows of a sweep: every point with every input, or for points with inputs of their own
    each with its own. Row numbers are 0, 1, ... in that order. `budget`: {"max_time": seconds, ...},
    what each run may use, as budget_of has it.
    """

    def __init__(
        self,
        model,
        inputs=None,
        params=None,
        points=None,
        point_inputs=None,
        limit=None,
        engine=None,
        budget=None,
    ):
        self.model = _as_model(model)
        self.engine = None if engine is None else check_engine(engine)
        budget = {name: value for name, value in (budget or {}).items() if value is not None}
        budget_of(**budget)  # refuses what is none
        self.ends = Ends(whole_limit(limit), budget)
        self.grid = {name: _values(name, given) for name, given in (params or {}).items()}
        self.points = self._product(points)
        self.names = list(self.points[0])
        self._swept = [
            name for name in self.names if len({point[name] for point in self.points}) > 1
        ]
        self._inputs(inputs, point_inputs, points)
        if len(self) > MOST_ROWS:
            raise mistake(
                "E-sweep",
                f"the sweep has {grouped(len(self))} rows, more than {grouped(MOST_ROWS)}; split it "
                "into several",
            )
        self._variants()

    def _product(self, points):
        listed_points = [dict(point) for point in points] if points is not None else [{}]
        if not listed_points:
            raise mistake("E-sweep", "the list of points is empty; give at least one")
        names = list(listed_points[0])
        for number, point in enumerate(listed_points):
            if set(point) != set(names):
                raise mistake(
                    "E-sweep",
                    f"point {number} has the parameters {listed(point)}, the first one "
                    f"{listed(names)}; "
                    "all points of a sweep have the same ones",
                )
            for name, value in point.items():
                if isinstance(value, str) or not hasattr(value, "__index__"):
                    raise mistake(
                        "E-sweep",
                        f"parameter '{name}' of point {number} must be a whole number, got "
                        f"{value!r}",
                    )
        both = [name for name in names if name in self.grid]
        if both:
            raise mistake(
                "E-sweep",
                f"parameter '{both[0]}' is in the list of points and in the grid; give it once",
            )
        size = len(listed_points)
        for values in self.grid.values():
            size *= len(values)
            if size > MOST_ROWS:
                raise mistake(
                    "E-sweep",
                    f"the sweep has more than {grouped(MOST_ROWS)} points; split it into several",
                )
        combined = [{name: int(point[name]) for name in names} for point in listed_points]
        for name, values in self.grid.items():
            combined = [{**point, name: value} for point in combined for value in values]
        return combined

    def _inputs(self, inputs, point_inputs, points):
        if point_inputs is not None:
            if inputs:
                raise mistake("E-sweep", "the points have inputs of their own; give no others")
            if len(point_inputs) != len(points):
                raise mistake(
                    "E-sweep",
                    f"there are {len(points)} points, but {len(point_inputs)} inputs for them",
                )
            numbers = {name: k for k, name in enumerate(dict.fromkeys(point_inputs))}
            self.inputs = [Input(str(name), name) for name in numbers]
            each = len(self.points) // len(points)
            self._point_inputs = [numbers[name] for name in point_inputs for _ in range(each)]
        else:
            self._point_inputs = None
            self.inputs = list(_named_inputs(inputs))
        names = [i.name for i in self.inputs]
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise mistake("E-sweep", f"input '{twice}' is given twice; give each input once")
        module = self.model.module
        if (
            any(i.value is None for i in self.inputs)
            and getattr(module, "workload", None) is not None
            and getattr(module, "traffic", None) is None
        ):
            raise mistake("E-sweep", f"model '{self.model.name}' needs an input")
        if points is not None:
            own = self._point_inputs or [None] * len(self.points)
            seen = {}
            for where, (number, point) in enumerate(zip(own, self.points)):
                first = seen.setdefault((number, *point.values()), where)
                if first != where:
                    raise mistake(
                        "E-sweep",
                        f"point {where} is the same as point {first}; give each point once",
                    )

    def _variants(self):
        """A net per choice of what net() takes as arguments; every value is checked once."""
        model = self.model
        self._net_input = self._input_of_the_net()
        self._own = own = [] if self._net_input is not None else _own_names(model, self.names)
        self._bound_names = [name for name in self.names if name not in own]
        self.variants, self._variant_of = [], []
        numbers = {}
        for point in self.points:
            key = tuple(point[name] for name in own)
            if key not in numbers:
                numbers[key] = len(self.variants)
                self.variants.append(self._variant(point))
            self._variant_of.append(numbers[key])
        failures = [v.failure for v in self.variants]
        if all(failures):
            raise without_place(*failures[0])
        open_loop = any(v.net is not None and ends_of_requests(v.net) for v in self.variants)
        timed = any(v.net is not None and v.net.frequency is not None for v in self.variants)
        self.fields = (*(LATENCIES if open_loop else ()), *([SECONDS] if timed else []), *FIELDS)
        distinct = {}
        for number, point in zip(self._variant_of, self.points):
            for name in self._bound_names:
                distinct.setdefault((number, name), set()).add(point[name])
        for (number, name), values in distinct.items():
            net = self.variants[number].net
            for value in sorted(values) if net is not None else ():
                self._bind(net, {name: value})

    def _input_of_the_net(self):
        """The one input whose net is swept, for models in which the net follows the input."""
        given = [i.value for i in self.inputs if not isinstance(i.value, Marking)]
        given = [value for value in given if value is not None and not is_marking_file(value)]
        if not self.model.has_net_per_input or not given:
            return None
        if len(self.inputs) > 1:
            raise mistake(
                "E-sweep",
                f"the net of model '{self.model.name}' follows its input; sweep one input at a time",
            )
        return given[0]

    def _variant(self, point):
        model = self.model
        if self._net_input is not None:
            model.net_of(self._net_input, **point)  # are these its parameters?
            return Variant(model.net_of(self._net_input).done())
        if isinstance(model._make, Net):
            net, bound = model._make, model._make.bound
            try:
                model.net(**point)  # are these its parameters?
                return Variant(net.done())
            finally:
                net.bound = bound
        try:
            net = model.net(**point)
            net.bound = {}
            return Variant(net.done())
        except Exception as error:
            code, message = refusal(error)
            if code == "E-param":
                raise
            return Variant(None, (code, message))

    def _bind(self, net, values):
        return parameter_values(net, values)

    def __len__(self):
        return len(self.points) * (1 if self._point_inputs is not None else len(self.inputs))

    def where(self, row):
        """(number of the point, number of the input) of a row."""
        if self._point_inputs is not None:
            return row, self._point_inputs[row]
        return divmod(row, len(self.inputs))

    def variant(self, row):
        """The number of the net of a row."""
        return self._variant_of[self.where(row)[0]]

    def bound(self, row):
        """The parameters of a row that its net takes as values: {name: value}."""
        point = self.points[self.where(row)[0]]
        return {name: point[name] for name in self._bound_names}

    def vector(self, row):
        """The values of all parameters of the net of a row, in the net's order."""
        return self._bind(self.variants[self.variant(row)].net, self.bound(row))

    def agrees(self, row, reads):
        """Whether a workload that saw these values sees the same for this row."""
        if not reads:
            return True
        point = self.points[self.where(row)[0]]
        return all(point.get(name, value) == value for name, value in reads.items())

    def swept(self):
        """The parameters that have more than one value."""
        return self._swept

    def row(self, row, result):
        """A row as users get it."""
        point, number = self.where(row)
        out = {
            "row": row,
            "input": self.inputs[number].name,
            "parameters": dict(self.points[point]),
        }
        for field in self.fields:
            out[field] = result.get(field)
        if SECONDS in self.fields and out["latency"] is not None:
            frequency = self.variants[self.variant(row)].net.frequency
            out[SECONDS] = None if frequency is None else out["latency"] / frequency
        return out


def _as_model(model):
    if isinstance(model, Net):
        model.done()
        return Model(model.name, model)
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    raise mistake("E-operand", f"sweep needs a net, a model or the name of one, got {model!r}")


def _own_names(model, names):
    """Those of the names that the model's net() takes as arguments: each value is another net."""
    if isinstance(model._make, Net):
        return []
    accepted = inspect.signature(model._make).parameters
    if any(p.kind == p.VAR_KEYWORD for p in accepted.values()):
        return list(names)
    return [name for name in names if name in accepted]


def _named_inputs(inputs):
    if inputs is None or inputs == []:
        yield Input(None, None)
        return
    if isinstance(inputs, (str, os.PathLike, Marking)):
        inputs = [inputs]
    if isinstance(inputs, Mapping):
        for name, value in inputs.items():
            yield Input(str(name), value)
        return
    for number, value in enumerate(inputs):
        if isinstance(value, (str, os.PathLike)):
            yield Input(os.fspath(value), value)
        else:
            yield Input(f"input {number}", value)
