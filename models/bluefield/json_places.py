"""Values of a JSON file with their places in it, so that errors ("E-scenario") name them."""

import json
import math

import lpn

__all__ = ["At", "load", "shown"]


def load(path):
    """The data of a JSON file, in which objects remember keys given twice. Raises Error."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise lpn.Error(
            "E-scenario", f"{path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        return json.loads(text, object_pairs_hook=_Object)
    except RecursionError:
        why = "lists and objects are nested too deeply"
    except ValueError as error:
        why = error
    raise lpn.Error("E-scenario", f"{path} is not JSON: {why}")


class _Object(dict):
    """A JSON object that remembers a key given twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        seen = set()
        twice = (name for name, _ in pairs if name in seen or seen.add(name))
        self.twice = next(twice, None) if len(self) < len(pairs) else None


class At:
    """A value and its place in the file, e.g. functions[1].traffic.flows."""

    def __init__(self, path, where, value):
        self.path, self.where, self.value = path, where, value

    def wrong(self, what):
        where = self.where or "the file"
        return lpn.Error("E-scenario", f"{self.path}: {where}: {what}")

    def object(self, allowed, required=()):
        """{key: At}; refuses other keys, missing and doubled ones."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"must be an object of {', '.join(allowed)}; got {shown(self.value)}")
        twice = getattr(self.value, "twice", None)
        if twice is not None:
            raise self.wrong(f"'{twice}' is given twice")
        for key in self.value:
            if key not in allowed:
                raise self.wrong(f"there is no '{key}'; allowed: {', '.join(allowed)}")
        for key in required:
            if key not in self.value:
                raise self.wrong(f"'{key}' is missing; allowed: {', '.join(allowed)}")
        return {key: self.at(key, value) for key, value in self.value.items()}

    def at(self, key, value):
        return At(self.path, f"{self.where}.{key}" if self.where else key, value)

    def list(self, least, most, of):
        if not isinstance(self.value, list) or not least <= len(self.value) <= most:
            got = (
                f"{len(self.value)} of them" if isinstance(self.value, list) else shown(self.value)
            )
            raise self.wrong(f"must be a list of {least} to {most} {of}; got {got}")
        return [At(self.path, f"{self.where}[{k}]", value) for k, value in enumerate(self.value)]

    def number(self, low, high, unit=""):
        value = self.value
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not low <= value <= high
        ):
            raise self.wrong(
                f"must be a number {_range(low, high)}{unit and ' ' + unit}; " f"got {shown(value)}"
            )
        return float(value)

    def whole(self, low, high, unit=""):
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(
                f"must be a whole number {_range(low, high)}{unit and ' ' + unit}; "
                f"got {shown(value)}"
            )
        return value

    def name(self):
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(f"must be a name; got {shown(self.value)}")
        return self.value

    def choice(self, allowed):
        if self.value not in allowed or not isinstance(self.value, str):
            raise self.wrong(f"must be {' or '.join(allowed)}; got {shown(self.value)}")
        return self.value


def _range(low, high):
    return f"of {low:g} or more" if high == math.inf else f"from {low:g} to {high:g}"


def shown(value):
    """A value as messages show it."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
