"""All that a run takes, from a model, an input, parameters and the name of an engine."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..errors import Error, mistake, without_place
from .background import Background, background_of, variants_of
from .endless import endless
from .engines import check_engine, library_of
from .models import Model, load
from .quickest import run_by, run_quickest
from .run import Run

__all__ = ["Ready", "prepare"]


class Ready:
    """A net, the values of its parameters, a marking and an engine.

    `net` is checked; `values` are in the order of its parameters. `marking` is made when it is
    first asked for, and raises what the model's workload raises to refuse its input: ValueError,
    OSError; `read()` makes Error "E-input" of that. `library` is made when it is first asked for,
    and `libraries`, one per variant (see background.py); it is None for the interpreter, also when
    the net cannot be compiled here: then `fallback` is the Error that says why, else None. An
    `engine` of None is whatever answers first: then they are what there is so far.
    """

    def __init__(self, model, net, values, input, params, engine, kept):
        self.model = model
        self.net = net
        self.values = values
        self.input = input
        self.engine = engine
        self._params = params
        self._kept = kept

    @property
    def parameters(self) -> dict[str, int]:
        """Name -> value."""
        return dict(zip(self.net.params, self.values))

    @functools.cached_property
    def marking(self) -> Marking:
        """What the workload makes of the input; a file that Marking.save wrote is taken as it is."""
        if self.input is None:
            return (
                self.model.traffic(self.net).marking()
                if self.model.has_traffic
                else Marking(self.net)
            )
        if isinstance(self.input, Marking):
            return self.input
        if is_marking_file(self.input):  # a witness of lpn smt, for instance
            return Marking.load(self.net, self.input)
        return self.model.workload(self.input, self.net)

    def read(self) -> Marking:
        """The marking; a refusal is Error "E-input" with the input's name."""
        try:
            return self.marking
        except (ValueError, OSError, Error) as error:
            raise _naming(self.input, error) from None

    @property
    def endless(self) -> list[str]:
        """Transitions that go on for ever by themselves (see endless.py)."""
        return endless(self.net, self.marking)

    @functools.cached_property
    def _built(self):
        made = []
        for kept in variants_of(*self._what):
            library, error = library_of(self.net, self.engine, **kept)
            if error is not None:
                return (None,), error
            made.append(library)
        return tuple(made), None

    @property
    def _what(self):
        return tuple(bool(self._kept.get(name)) for name in ("stats", "path", "trace"))

    @property
    def background(self) -> Background:
        """What compiles the net while it is interpreted, for an `engine` of None."""
        return background_of(self.net, *self._what)

    @property
    def libraries(self) -> tuple[Any, ...]:
        return self._built[0] if self.engine else self.background.libraries or (None,)

    @property
    def library(self) -> Any:
        return self.libraries[0]

    @property
    def fallback(self) -> Error | None:
        return self._built[1] if self.engine else self.background.fallback

    def on(self, input: Any) -> Ready:
        """The same for another input, with this library unless the model has a net per input."""
        if self.model.has_net_per_input and input not in (None, self.input):
            another = prepare(self.model, input, self._params, self.engine, **self._kept)
            if another.net is self.net and "_built" in self.__dict__:
                another._built = self._built
            return another
        other = Ready(
            self.model, self.net, self.values, input, self._params, self.engine, self._kept
        )
        if self.engine:
            other._built = self._built
        return other

    def stop_compiling(self) -> None:
        """Ends what works in the background."""
        if self.engine is None:
            self.background.close()

    def run(self, observer: Any = None, **options: Any) -> Run:
        """The lpn.Run; `options` as execute() takes them, and `observe` in the place of `observer`
        as run_quickest() does, which an `engine` of None needs.
        """
        if observer is not None:
            options["observe"] = lambda: observer
        run: tuple[Any, ...] = self.net, self.values, self.marking
        if self.engine is None:
            return run_quickest(self.background, *run, **options)
        return run_by(self.libraries, *run, **options)


def is_marking_file(input: Any) -> bool:
    """Whether an input is the name of a file that begins as Marking.save writes it."""
    if not isinstance(input, (str, os.PathLike)) or not os.path.isfile(input):
        return False
    with open(input, "rb") as file:
        return file.read(4) == b"LPNM"


def _naming(input, error):
    """The Error that a refusal of an input is, with the input's name in front."""
    name, code, said = str(input), getattr(error, "code", "E-input"), str(error)
    if isinstance(error, OSError) and error.strerror:
        other = error.filename is not None and str(error.filename) != name
        said = f"{error.filename}: {error.strerror}" if other else error.strerror
    file = name.partition("#")[0]  # many models name it themselves
    named = said.startswith((file, f"'{file}'", f"cannot read {file}"))
    if isinstance(input, (str, os.PathLike)) and not named:
        said = f"{name}: {said}"
    return without_place(code, said)


def prepare(
    model: Model | Net | str | os.PathLike[str],
    input: Any = None,
    params: Mapping[str, int] | Iterable[tuple[str, int]] | None = None,
    engine: str | None = "interp",
    **kept: bool,
) -> Ready:
    """What a run of a model takes: a Ready.

    `model`: a Model, what lpn.load takes, or a Net, with the parameters that it has. `input`: what
    the model's workload takes, or a Marking; None: the net's own tokens. `params`: {name: value},
    or pairs. `engine`: see lpn.runs.engines, None: what answers first; `kept`: what its runs are to
    keep (trace, stats, path). Raises Error: for what is no model, for parameters that it does not
    have, for a net that is wrong.
    """
    if engine is not None:
        check_engine(engine)
    params = dict(params or {})
    if isinstance(model, Net):
        # Its own parameters stay as they are, for it and for whoever else has it.
        net = model.done()
        values = parameter_values(net, params)
        return Ready(Model(net.name, net), net, values, input, params, engine, kept)
    if isinstance(model, (str, os.PathLike)):
        model = load(model)
    if not isinstance(model, Model):
        raise mistake("E-operand", f"a run needs a net, a model or the name of one, got {model!r}")
    if model.has_net_per_input and input is not None and not is_marking_file(input):
        try:
            net = model.net_of(input, **params)
        except (ValueError, OSError, Error) as error:
            raise _naming(input, error) from None
    else:
        net = model.net(**params)
    net.done()
    return Ready(model, net, parameter_values(net, None), input, params, engine, kept)
