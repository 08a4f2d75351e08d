"""Models by name, by Python file or by .lpn file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..errors import Error, listed, mistake, near, without_place
from ..json_file import parse_json, unpacked_of
from ..spaces.space import InputSpace
from ..toml_file import read_toml
from ..traffic import Traffic

__all__ = ["Model", "bundled", "command", "commands", "load"]

_MODELS = os.path.join(os.path.realpath(__file__).rsplit(os.sep, 4)[0], "models")
_COMMANDS = ("commands.py", os.path.join("commands", "__init__.py"))


def bundled() -> dict[str, str]:
    """Name -> path of the models that come with the project: models/NAME/model.py."""
    return _files("model.py")


def commands() -> dict[str, str]:
    """Name -> what it does, for the commands of the models: the docstring of
    models/NAME/commands.
    """
    return {name: _about(path) for name, path in _files(*_COMMANDS).items()}


def command(name):
    """The click command of the model `name`: the object `command` of its module commands."""
    return _bundled_module(name, _files(*_COMMANDS)[name], "commands").command


def _files(*files):
    """Model name -> path of the first of these files that it has, of those that have one."""
    try:
        names = sorted(os.listdir(_MODELS))
    except OSError:
        return {}
    found = {}
    for name in names:
        for path in (os.path.join(_MODELS, name, file) for file in files):
            if os.path.isfile(path):
                found.setdefault(name, path)
    return found


def _about(path):
    """The first line of a module's docstring. The module is read, not imported: --help lists them
    all.
    """
    import ast

    with open(path, encoding="utf-8") as file:
        return (ast.get_docstring(ast.parse(file.read())) or "").partition("\n")[0]


class Model:
    """A net, its workload and its input space.

    `net(**params)`: parameters go to the model's net() function where it has them, else they are
    bound as parameters of the net. `workload(input, net)`: the marking for an input. `module`: the
    Python module, None for a .lpn file.
    """

    def __init__(self, name: str, make: Any, module: Any = None) -> None:
        self.name = name
        self._make = make
        self.module = module

    def __repr__(self):
        return f"<model '{self.name}'>"

    @property
    def files(self) -> list[tuple[str, str]]:
        """(path, the Python package that it is in) of the files that say what the model is: its module's,
        and those that the module names in `made_of`, where a path alone is a file of data. None of a .lpn
        file, of which the net is all.
        """
        if self.module is None:
            return []
        import sys

        named = getattr(self.module, "__file__", None)
        own = self.module if named else sys.modules[type(self.module).__module__]
        found = [(str(own.__file__), own.__package__ or "")]
        for more in getattr(self.module, "made_of", ()):
            found.append((os.fspath(more), "") if isinstance(more, (str, os.PathLike)) else more)
        return found

    @property
    def has_workload(self) -> bool:
        """Whether the model reads inputs of its own; otherwise an input is a file of tokens."""
        return getattr(self.module, "workload", None) is not None

    @property
    def has_net_per_input(self) -> bool:
        """Whether net_of() makes the net of an input."""
        return getattr(self.module, "net_of", None) is not None

    def net(self, **params: int) -> Net:
        """The net with these parameters. Raises Error "E-param" for an unknown one."""
        own, bound = dict(params), {}
        accepted: Mapping[str, Any] = {}
        if not isinstance(self._make, Net):
            import inspect

            accepted = inspect.signature(self._make).parameters
            if not any(p.kind == p.VAR_KEYWORD for p in accepted.values()):
                own = {k: v for k, v in params.items() if k in accepted}
                bound = {k: v for k, v in params.items() if k not in accepted}
            net = self._make(**own)
            if not isinstance(net, Net):
                raise mistake(
                    "E-model", f"model '{self.name}': net() must return an lpn.Net, got {net!r}"
                )
        else:
            net, bound = self._make, own
        unknown = [name for name in bound if name not in net.params]
        if unknown:
            known = [n for n in accepted] + [n for n in net.params if n not in accepted]
            raise mistake(
                "E-param",
                f"model '{self.name}' has no parameter '{unknown[0]}'; it has: {listed(known)}"
                + self._of_traffic(),
            )
        net.bound = bound
        return net

    def _of_traffic(self):
        """'; its traffic() has, for lpn latency: gap', for messages."""
        names = self.traffic_parameters()
        return f"; its traffic() has, for lpn latency: {listed(names)}" if names else ""

    def net_of(self, input: Any, **params: int) -> Net:
        """The net of an input, for models in which its structure follows the input: the module's
        net_of(input).

        `params`: values of the net's parameters in place of those of the input.
        """
        net = self.module.net_of(input)
        unknown = [name for name in params if name not in net.params]
        if unknown:
            raise mistake(
                "E-param",
                f"model '{self.name}' has no parameter '{unknown[0]}' for this input; it has: "
                f"{listed(net.params)}",
            )
        net.bound = {**net.bound, **params}
        return net

    def workload(self, input: Any, net: Net) -> Marking:
        """The marking for an input: the model's workload(), or a marking file, or JSON.

        JSON is {place: count or [{property: value}, ...]}.
        """
        if not self.has_workload:
            return read_marking(input, net)
        marking = self.module.workload(input, net)
        if not isinstance(marking, Marking):
            raise mistake(
                "E-model",
                f"model '{self.name}': workload() must return an lpn.Marking, got {marking!r}",
            )
        if marking.net is not net:
            raise mistake(
                "E-foreign",
                f"model '{self.name}': workload() must return a marking of the net that it is "
                "given, write lpn.Marking(net)",
            )
        return marking

    @property
    def has_traffic(self) -> bool:
        """Whether the model says what open-loop traffic is: traffic(net, seed)."""
        return getattr(self.module, "traffic", None) is not None

    def traffic_parameters(self) -> list[str]:
        """What traffic() takes beside the net and the seed."""
        if not self.has_traffic:
            return []
        import inspect

        return list(inspect.signature(self.module.traffic).parameters)[2:]

    def traffic(self, net: Net, seed: int = 1, **params: int) -> Traffic:
        """The model's traffic(net, seed, **params). Raises Error "E-model" where it has none."""
        if not self.has_traffic:
            raise mistake(
                "E-model",
                f"model '{self.name}' has no traffic() function, which says when requests come; "
                "write def traffic(net, seed): ... return an lpn.Traffic",
            )
        traffic = self.module.traffic(net, seed, **params)
        if not isinstance(traffic, Traffic) or traffic.net is not net:
            raise mistake(
                "E-model",
                f"model '{self.name}': traffic() must return an lpn.Traffic of the net that it is "
                f"given, got {traffic!r}",
            )
        return traffic

    def space(self, net: Net, **bounds: Any) -> InputSpace:
        """The inputs of `net` within bounds: what the model's space(net, **bounds) says.

        Raises Error "E-space" for a bound that space() does not know, and "E-model" when the model
        has no space() or it returns something else.
        """
        function = getattr(self.module, "space", None)
        if function is None:
            raise mistake(
                "E-model",
                f"model '{self.name}' has no space() function, which says what its inputs are; "
                "write def space(net): ... return an lpn.InputSpace",
            )
        _check_bounds(self.name, function, bounds)
        space = function(net, **bounds)
        if not isinstance(space, InputSpace):
            raise mistake(
                "E-model",
                f"model '{self.name}': space() must return an lpn.InputSpace, got {space!r}",
            )
        if space.net is not net:
            raise mistake(
                "E-model",
                f"model '{self.name}': space() must return a space of the net it was given",
            )
        return space.done()


def _check_bounds(model, function, bounds):
    """Raises Error "E-space" for a bound that space() does not know, listing those it does."""
    import inspect

    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    lacking = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind != p.VAR_POSITIONAL and p.name not in bounds
    ]
    wrong = [name for name in bounds if name not in known]
    if not wrong and not lacking:
        return
    if wrong:
        text = (
            f"the input space of model '{model}' has no bound '{wrong[0]}'{near(wrong[0], known)}"
        )
    else:
        text = f"the input space of model '{model}' needs the bound '{lacking[0]}'"
    listed_ = ", ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters
    )
    text += f"\n  its bounds: {listed_ or 'none'}"
    about = inspect.getdoc(function)
    if about:
        text += "".join(f"\n  {line}" if line else "" for line in about.splitlines()[1:])
    raise mistake("E-space", text)


def read_marking(path: str | os.PathLike[str], net: Net) -> Marking:
    """A marking file (LPNM or JSON) for a net."""
    try:
        with open(path, "rb") as file:  # once: it may be a pipe
            if file.peek(4)[:4] == b"LPNM":
                return Marking.parse(net, file.read())
            text = unpacked_of(file, path)
    except ValueError as error:
        raise without_place("E-input", str(error)) from None
    except OSError as error:
        raise without_place("E-input", f"cannot read {path}: {error.strerror}") from None
    data = parse_json(text, f"{os.fspath(path)} is neither a marking file (LPNM) nor JSON")
    marking = Marking(net)
    if not isinstance(data, dict):
        raise mistake("E-input", f"{path} must be {{place: count or [tokens]}}")
    for place, tokens in data.items():
        try:
            _add_tokens(marking, place, tokens)
        except Error as error:
            raise without_place(error.code, f"{path}: {error}") from None
    return marking


def _add_tokens(marking, place, tokens):
    """Adds what JSON says about a place: a count, or a list of tokens."""
    if isinstance(tokens, int) and not isinstance(tokens, bool):
        return marking.add(place, count=tokens)
    if not isinstance(tokens, list):
        raise mistake("E-input", f"'{place}' must be a count or a list of tokens")
    for number, token in enumerate(tokens):
        if not isinstance(token, (dict, list)):
            raise mistake(
                "E-input",
                f"token {number} of '{place}' must be {{property: value}} or the values in a "
                f"list, got {_kind(token)}",
            )
    dated = [isinstance(token, dict) and "at" in token for token in tokens]
    if not any(dated) or "at" in marking.net[place]._type.fields:
        return marking.add_rows(place, tokens)
    if not all(dated):
        raise mistake(
            "E-input", f"token {dated.index(False)} of '{place}' has no \"at\", as others have"
        )
    times = [token.pop("at") for token in tokens]
    return marking.add_rows(place, tokens, at=times)


def _kind(value):
    """What a JSON value is, for messages: it may be long."""
    kinds = {
        str: "text",
        bool: "true or false",
        type(None): "null",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "a number")


def _module(name, path):
    import importlib.machinery
    import importlib.util
    import sys

    class Source(importlib.machinery.SourceFileLoader):
        """Reads the source each time: Python's own cache takes a file of the same length that was
        written in the same second for the old one, and an author may be as fast.
        """

        def path_stats(self, path):
            raise OSError

    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, path, loader=Source(name, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def load(spec: str | os.PathLike[str]) -> Model:
    """A Model from a bundled name ("jpeg"), "file.py[:function]", a .lpn file, or a .toml file that
    says `model = "NAME"`: a bundled model, whose module's configured(path) is in the module's place.
    """
    spec = os.fspath(spec)
    if spec.endswith(".toml"):
        return _configured(spec)
    if spec.endswith(".lpn"):
        try:
            with open(spec, encoding="utf-8", newline="") as file:  # the bytes that lpn-run reads
                text = file.read()
        except OSError as error:
            raise mistake("E-model", f"cannot read {spec}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise mistake("E-text", f"{spec} is not a text file") from None
        try:
            parsed = Net.parse(text)
        except Error as error:
            raise without_place(error.code, f"{spec}: {error}") from None
        return Model(os.path.splitext(os.path.basename(spec))[0], parsed)
    path, function = spec, None
    if ".py:" in spec:
        path, function = spec.rsplit(":", 1)
    if path.endswith(".py"):
        if not os.path.isfile(path):
            raise mistake("E-model", f"there is no file {path}")
        name = os.path.splitext(os.path.basename(path))[0]
        module = _module(f"lpn_model_{name}", path)
    else:
        known = bundled()
        if path not in known:
            raise mistake(
                "E-model",
                f"there is no model '{spec}'; bundled: {listed(known)}; or give a file.py or a "
                ".lpn file",
            )
        name, module = path, _bundled_module(path, known[path])
    make = getattr(module, function or "net", None)
    if make is None or not (callable(make) or isinstance(make, Net)):
        found = [
            n
            for n, v in vars(module).items()
            if isinstance(v, Net)
            or getattr(v, "__module__", None) == module.__name__
            and callable(v)
            and not isinstance(v, type)
        ]
        raise mistake(
            "E-model",
            f"{path} has no function '{function or 'net'}' that makes a net; it has: "
            f"{listed(found)}; write {path}:FUNCTION",
        )
    return Model(name, make, module)


def _configured(path):
    """The Model of a .toml file."""
    name = read_toml(path, "E-model").get("model")
    known = bundled()
    if not isinstance(name, str) or name not in known:
        raise mistake(
            "E-model",
            f'{path} does not say which model it configures; write model = "system" in its first '
            "line; an input of a model goes behind the model's name: lpn sim pcie FILE.toml",
        )
    configured = getattr(_bundled_module(name, known[name]), "configured", None)
    if configured is None:
        raise mistake(
            "E-model",
            f"{path}: model '{name}' takes no configuration; if this is an input of it, write "
            f"lpn sim {name} {path}",
        )
    module = configured(path)
    return Model(os.path.splitext(os.path.basename(path))[0], module.net, module)


def _bundled_module(name, path, part="model"):
    """models.NAME.PART of this tree, in the package `models`, so that it can import neighbours.

    The package may be shared with folders of that name elsewhere on sys.path: of another tree, whose
    models ours go before, or of the user, whose modules stay what they are.
    """
    import importlib
    import sys

    root, module = os.path.dirname(_MODELS), f"models.{name}.{part}"
    if _place(module) != os.path.realpath(path):
        package = sys.modules.get("models")
        if isinstance(getattr(package, "__path__", None), list):  # with an __init__.py
            if _MODELS not in package.__path__:
                package.__path__.append(_MODELS)
        else:
            sys.path.insert(0 if _place(module) else len(sys.path), root)
        importlib.invalidate_caches()
        _forget_other_models()
        found = _place(module)
        if found != os.path.realpath(path):
            raise mistake(
                "E-model",
                f"model '{name}' is hidden by {found or 'another package models'}, which Python finds "
                "first: give that one another name, or take its folder off PYTHONPATH",
            )
    return importlib.import_module(module)


def _place(module):
    """The file that `import module` would read; None where there is none."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return os.path.realpath(spec.origin) if spec is not None and spec.has_location else None


def _forget_other_models():
    """Modules of the same names as ours that were imported from elsewhere."""
    import sys

    ours = set(os.listdir(_MODELS))
    for key, module in list(sys.modules.items()):
        parts, file = key.split("."), getattr(module, "__file__", None)
        if parts[0] != "models" or len(parts) < 3 or parts[1] not in ours or file is None:
            continue
        if not os.path.realpath(file).startswith(_MODELS + os.sep):
            del sys.modules[key]
            parent = sys.modules.get(".".join(parts[:-1]))
            if getattr(parent, parts[-1], None) is module:
                delattr(parent, parts[-1])
