"""Plain Python functions into expressions, by running them.

The function gets symbolic arguments. Whenever Python asks for the truth of one (`if`, `and`,
`max`, a chained comparison, an index), the tracer answers True and notes the question; then it
runs the function again with the last answer flipped, until all paths are seen, and folds the paths
into `select`. Python itself executes the function, so every construct means what it means in
Python; source text is read for messages only.
"""

from .. import source
from ..errors import Error, listed, mistake, placed
from ..words import shortened
from .expr import Expr, Ratio, _constant, as_index, check_visible, text_of, tracers
from .unseen import check_seen

__all__ = ["Over", "call_names", "check_names", "trace", "trace_body"]

MAX_QUESTIONS = 64
MAX_PATHS = 256
MAX_REPEATS = 100_000  # answers already known, per path: a loop that never ends


class _Failed:
    """The result of a path that ended in a failed assert."""

    def __init__(self, text):
        self.text = text


class _Signature:
    """The parameters of a function that are to receive something."""

    def __init__(self, positional, keyword, defaults):
        self.positional = positional
        self.keyword = keyword
        self.defaults = defaults
        self.names = positional + keyword


class Over:
    """A function of arcs whose names are computed, for library elements over many places."""

    def __init__(self, names, function):
        self.names = list(names)
        self.function = function

    def __call__(self, *arcs):
        return self.function(*arcs)


def _described(function):
    name = getattr(function, "__name__", None) or type(function).__name__
    return "the lambda" if name == "<lambda>" else f"'{name}'"


def signature(function):
    """What to call `function` with. Raises Error "E-function" for *args and **kwargs."""
    if isinstance(function, Over):
        return _Signature(function.names, [], [])
    code = getattr(function, "__code__", None)
    if code is not None and not code.co_flags & 0x0C:
        bound = getattr(function, "__func__", None) is not None
        names = code.co_varnames[int(bound) : code.co_argcount]
        with_default = len(function.__defaults__ or ())
        required = names[: len(names) - with_default]
        keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        keyword_defaults = function.__kwdefaults__ or {}
        return _Signature(
            list(required),
            [k for k in keyword if k not in keyword_defaults],
            list(names[len(required) :]) + list(keyword_defaults),
        )
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise mistake(
            "E-function",
            f"cannot see the parameters of {_described(function)}; wrap it in "
            "a lambda that names its arcs",
        ) from None
    positional, keyword, defaults = [], [], []
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            star = "*" if p.kind == p.VAR_POSITIONAL else "**"
            raise mistake(
                "E-function",
                f"{_described(function)} takes {star}{p.name}; a function receives the arcs "
                "that its parameters name, so name them",
                source.of_function(function),
            )
        if p.default is not p.empty:
            defaults.append(p.name)
        elif p.kind == p.KEYWORD_ONLY:
            keyword.append(p.name)
        else:
            positional.append(p.name)
    return _Signature(positional, keyword, defaults)


def call_names(function):
    """The names of the parameters that have no default: the arcs the function wants."""
    return signature(function).names


class _Tracer:
    def __init__(self, scope, function, call, what):
        self.scope = scope
        self.function = function
        self.call = call
        self.what = what
        self.name = _described(function)
        self.at = source.of_function(function)
        self.script = []  # (expression, answer) of this path, to be repeated
        self.position = 0
        self.known = {}  # expression -> answer on this path
        self.repeats = 0

    # Called by bool() of an expression.

    def answer(self, expr):
        check_visible(self.scope, expr)
        core = self.scope.core
        number = expr._id
        if number in self.known:
            self.repeats += 1
            if self.repeats > MAX_REPEATS:
                raise mistake(
                    "E-endless",
                    f"{self.name} asks {expr._text()} for ever: a loop that changes "
                    "nothing the condition depends on?",
                )
            return self.known[number]
        lo, hi = expr._bounds()
        if lo == hi:
            return bool(lo)
        if self.position < len(self.script):
            expected, answer = self.script[self.position]
            if expected != number:
                raise self.nondeterministic(
                    f"branch {self.position} tested {self.text(expected)} first and {expr._text()} "
                    "on replay"
                )
        else:
            if len(self.script) >= MAX_QUESTIONS:
                raise mistake(
                    "E-questions",
                    f"{self.name} tests token values {MAX_QUESTIONS} times on one path, last "
                    f"{shortened(expr._text())}: a loop bound that differs per token?\n"
                    "  Use lpn.select, lpn.max, lpn.min or lpn.lookup, which ask nothing.",
                )
            answer = True
            self.script.append((number, True))
        self.position += 1
        self.known[number] = answer
        self.known[core.logical_not(number)] = not answer
        return answer

    def text(self, number):
        return self.scope.core.text(self.scope.transition, number)

    def nondeterministic(self, what):
        return mistake(
            "E-impure",
            f"{self.name} is not deterministic: {what}; a formula may depend on its "
            "arguments and on constants only",
            self.at,
        )

    def when(self):
        """The conditions of the path just run, for messages."""
        if not self.script:
            return ""
        parts = []
        for number, answer in self.script[: self.position]:
            text = self.text(number)
            parts.append(text if answer else f"not ({text})")
        shown = " and ".join(parts[:4]) + (" and ..." if len(parts) > 4 else "")
        return f" when {shown}"

    # One path.

    def run(self):
        self.position = 0
        self.known = {}
        self.repeats = 0
        tracers.append(self)
        try:
            result = self.call()
        except AssertionError as failure:
            result = _Failed(_assertion(failure))
        except Error as error:
            raise placed(error) from None
        except RecursionError:
            raise mistake(
                "E-raised",
                f"{self.name} never returns: it calls itself without end{self.when()}",
                self.at,
            ) from None
        except Exception as error:
            raise mistake(
                "E-raised",
                f"{self.name} raised {type(error).__name__}: {error}{self.when()}; a formula must "
                "give a value for every token",
                _innermost(error) or self.at,
            ) from error
        finally:
            tracers.pop()
        if self.position < len(self.script):
            raise self.nondeterministic(
                f"it tested {self.text(self.script[self.position][0])} first and ended before that "
                "on replay"
            )
        return result

    def explore(self, convert):
        """Runs every path; returns the folded result, as `convert` makes it from each path's."""
        root = []  # a node: [] to be filled with [leaf] or [question, true child, false child]
        paths = 0
        while True:
            leaf = self.run()
            paths += 1
            if not isinstance(leaf, _Failed):
                leaf = convert(self, leaf)
            if paths == 1 and not self.script:
                again = self.run()
                if self.script or not _same(
                    leaf, again if isinstance(again, _Failed) else convert(self, again)
                ):
                    raise self.nondeterministic("two runs gave different results")
            self._insert(root, leaf)
            while self.script and not self.script[-1][1]:
                self.script.pop()
            if not self.script:
                break
            if paths >= MAX_PATHS:
                raise mistake(
                    "E-paths",
                    f"{self.name} has more than {MAX_PATHS} paths through its branches\n"
                    "  Use lpn.select, lpn.max, lpn.min or lpn.lookup, which do not branch.",
                    self.at,
                )
            number, _ = self.script[-1]
            self.script[-1] = (number, False)
        result = self._fold(root)
        if isinstance(result, _Failed):
            raise mistake(
                "E-assert", f"{self.name} fails its assert for every token: {result.text}", self.at
            )
        return result

    def _insert(self, node, leaf):
        for number, answer in self.script[: self.position]:
            if not node:
                node.extend([number, [], []])
            node = node[1] if answer else node[2]
        node.append(leaf)

    def _fold(self, node):
        if len(node) == 1:
            return node[0]
        core = self.scope.core
        question, then, otherwise = node[0], self._fold(node[1]), self._fold(node[2])
        if isinstance(then, _Failed):
            if isinstance(otherwise, _Failed):
                return then
            return core.assume(core.logical_not(question), otherwise, then.text)
        if isinstance(otherwise, _Failed):
            return core.assume(question, then, otherwise.text)
        return core.select(question, then, otherwise)


def _same(a, b):
    return isinstance(a, _Failed) == isinstance(b, _Failed) and (isinstance(a, _Failed) or a == b)


def _assertion(failure):
    """What a failed assert says: its message, else its source line."""
    if failure.args and isinstance(failure.args[0], str) and failure.args[0]:
        return failure.args[0].splitlines()[0]
    at = _innermost(failure)
    text = source.line_text(at) if at else ""
    if text.startswith("assert "):
        return text[len("assert ") :].split("#")[0].strip()
    return f"assert at {source.shown(at[0])}:{at[1]}" if at else "assert"


def _innermost(error):
    """The author's innermost place in an exception's traceback."""
    at = None
    trace = error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if not source.is_ours(filename):
            at = (filename, trace.tb_lineno)
        trace = trace.tb_next
    return at


def _to_int(tracer, value):
    scope = tracer.scope
    if isinstance(value, Expr):
        check_visible(scope, value)
        if value._id in tracer.known:
            return scope.core.constant(int(tracer.known[value._id]))
        return value._int()._id
    if isinstance(value, int):
        return _constant(scope, value)._id
    name, what, at = tracer.name, tracer.what, tracer.at
    if value is None:
        raise mistake(
            "E-result", f"{name} returns nothing{tracer.when()}; every path must return a value", at
        )
    if isinstance(value, (Ratio, float)) or type(value).__name__ == "Fraction":
        kind = "float" if isinstance(value, float) else "ratio"
        raise mistake(
            "E-result",
            f"{name} must return int, got {kind} {text_of(value)}; use // or "
            f"math.ceil to make a whole number of {what}",
            at,
        )
    if getattr(value, "_arc_name", None):
        raise mistake(
            "E-result",
            f"{name} returns {value!r} itself; name a property, as in {value._written()}."
            f"{next(iter(value._names()), 'x')}, or {value._arc_name}.count for the tokens in "
            "its place",
            at,
        )
    index = as_index(value)
    if index is not None:
        return _constant(scope, index)._id
    raise mistake("E-result", f"{name} must return int, got {text_of(value)}", at)


def _is_bool_of_numpy(value):
    kind = type(value)
    return kind.__module__ == "numpy" and kind.__name__.startswith("bool")


def _to_bool(tracer, value):
    scope = tracer.scope
    if isinstance(value, bool) or _is_bool_of_numpy(value):
        return scope.core.boolean(bool(value))
    if isinstance(value, Expr):
        check_visible(scope, value)
        if value._id in tracer.known:
            return scope.core.boolean(tracer.known[value._id])
        if value._is_bool():
            return value._id
        lo, hi = value._bounds()
        if lo >= 0 and hi <= 1:
            return value._bool()._id
    if value is None:
        raise mistake(
            "E-result",
            f"{tracer.name} returns nothing{tracer.when()}; every path must return a " "value",
            tracer.at,
        )
    kind = (
        "int" if isinstance(value, (Expr, int)) else "ratio" if isinstance(value, Ratio) else None
    )
    shown = f"{kind} {text_of(value)}" if kind else text_of(value)
    raise mistake(
        "E-result",
        f"{tracer.name} must return a condition, got {shown}; compare it with " "something: x > 0",
        tracer.at,
    )


def trace(scope, function, arguments, kind, what="cycles"):
    """The expression that `function` computes.

    `arguments`: name -> proxy, for the parameters without default. `kind`: "int" or "bool".
    `what`: what an int result counts, for messages. Returns the expression's number.
    """
    names = signature(function)
    check_seen(function, names.names)

    def call():
        return function(
            *[arguments[n] for n in names.positional], **{n: arguments[n] for n in names.keyword}
        )

    tracer = _Tracer(scope, function, call, what)
    return tracer.explore(_to_int if kind == "int" else _to_bool)


def trace_body(scope, function, argument, what):
    """The expression of an aggregate's body: a function of one token."""
    check_seen(function, signature(function).names)

    def call():
        return function(argument)

    tracer = _Tracer(scope, function, call, what)
    return tracer.explore(_to_int)


def check_names(function, known, reserved_index, owner, later=()):
    """Raises Error "E-arc-name" unless every parameter without default is a known arc.

    `known`: the names that may be used here, in order; `later`: those of arcs that come after;
    `owner`: "transition 'huffman'".
    """
    names = signature(function)
    at = source.of_function(function)
    for name in names.defaults:
        if name in known:
            raise mistake(
                "E-arc-name",
                f"{owner}: parameter '{name}' of {_described(function)} has a default and "
                "is also the name of an arc; rename one of them",
                at,
            )
    for name in names.names:
        if name in known or (reserved_index and name == "i"):
            continue
        arguments = ", ".join(names.names)
        described = _described(function)
        call = (
            f"'lambda {arguments}: ...'"
            if described == "the lambda"
            else f"{described[1:-1]}({arguments})"
        )
        if name in later:
            raise mistake(
                "E-arc-name",
                f"{owner}: {call} names '{name}', an arc that comes later; a weight or guard of an "
                f"arc sees the arcs up to its own, so put '{name}' before it",
                at,
            )
        hint = ""
        if name == "i":
            hint = "; only the properties of an emission have an index i"
        raise mistake(
            "E-arc-name",
            f"{owner}: {call} names '{name}', but its arcs are: " f"{listed(known)}{hint}",
            at,
        )
    return names.names
