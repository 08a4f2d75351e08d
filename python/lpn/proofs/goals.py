"""Quantities of inputs as instants of their paths, which is what the search bounds.

A goal is what one path contributes to a linear form of quantities: an instant, or a sum of instants
and a constant.
"""

import _lpn

from ..errors import mistake
from .answer import form_text
from .cases import cases
from .property import text_of, timed

__all__ = ["Goals"]


class Goals:
    """The goals of linear forms over the paths of a partition.

    `ending`: [(class, path)] that end. `interface`: the term of E, None when there is none.
    """

    def __init__(self, net, core, ending, interface):
        self._net = net
        self._core = core
        self._ending = ending
        self._interface = interface
        self._measured = {}

    def of(self, form):
        """(goals, maximum, value of a goal -> value of the form, and back) of a linear form.

        A form of one time is turned into an instant: all times as often as the form has its
        quantity, and an instant behind that by whatever else it has, plus enough not to be
        negative. Anything else is a sum of instants.
        """
        self._measured = {}
        times = timed(form)
        try:
            return self._of(form, times)
        except _lpn.Error as error:
            if error.code != "E-measure":
                raise
            raise mistake("E-property", f"{form_text(form)}: {error}") from None

    def _of(self, form, times):
        if ("E",) in form and len(times) == 1 and times[0][0] in ("latency", "completion"):
            return self._against(form, times[0])
        if len(times) > 1 or any(
            t[0] == "stall" or t[0] == "busy" and not self._one_server(t[1]) for t in times
        ):
            return self._sums(form)
        return self._instants(form, times[0] if times else None)

    def _with_time(self, form):
        """(class, path, the path's data, term of E) of the inputs that have all quantities of a
        form.

        A path is taken once for each case of the interface, under the case's conditions.
        """
        paths = [(c, p) for c, p in self._ending if p.outcome != "none" or ("latency",) not in form]
        if ("E",) not in form:
            return [(c, p, p._core, None) for c, p in paths]
        core = self._core
        return [
            (c, p, _lpn.restricted(core, p._core, conditions), term)
            for c, p in paths
            for conditions, term in cases(core.variables, self._interface)
        ]

    def _instants(self, form, time):
        coefficient = form.get(time, 0) if time else 0
        maximum = coefficient >= 0
        sign = 1 if maximum else -1
        core, terms = self._core, self._core.variables
        paths = []
        for each, path, data, interface in self._with_time(form):
            extra = terms.constant(sign * self._constant(form, each) - sign * form.get((), 0))
            if interface is not None:
                extra = terms.add(extra, terms.mul(terms.constant(sign * form["E",]), interface))
            if not terms.total(extra):
                raise mistake(
                    "E-property",
                    f"{form_text(form)}: for some values of the variables the interface may fail, "
                    "or leave 64 bits; give one that has a value for all of them, and smaller "
                    "factors",
                )
            paths.append((path, data, extra))
        shift = -min((terms.bounds(None, extra)[0] for _, _, extra in paths), default=0)
        plain = shift == 0 and all(terms.value(extra) == 0 for _, _, extra in paths)
        goals = []
        for path, changed, extra in paths:
            if time is not None and time[0] == "busy" or abs(coefficient) > 1 or not plain:
                changed = _lpn.scaled(core, changed, max(abs(coefficient), 1))
            instant = self._instant(time, path, changed)
            if not plain:
                instant = _lpn.later(
                    core, changed, instant, terms.add(extra, terms.constant(shift))
                )
            goals.append((changed, instant))
        constant = form.get((), 0)

        def value(time):
            return sign * (time - shift) + constant

        def back(value):
            return sign * (value - constant) + shift

        return goals, maximum, value, back

    def _against(self, form, time):
        """A time and the interface, each as often as the form has it: a difference of two
        instants.
        """
        core, terms = self._core, self._core.variables
        weight, goals = form[time], []
        for each, path, data, interface in self._with_time(form):
            measured = _lpn.MeasuredPath(
                core, self._net._core, _lpn.scaled(core, data, abs(weight))
            )
            predicted = terms.mul(terms.constant(abs(form["E",])), interface)
            shift = -terms.bounds(None, predicted)[0]
            instants = [
                (1 if weight > 0 else -1, self._instant(time, path, data)),
                (
                    1 if form["E",] > 0 else -1,
                    measured.at(terms.add(predicted, terms.constant(shift))),
                ),
            ]
            goals.append((measured, instants, self._constant(form, each) - instants[1][0] * shift))
        return goals, True, lambda value: value, lambda value: value

    def _constant(self, form, each):
        """What a form has in all inputs of a class."""
        return sum(
            c * (1 if not atom else each.commits[atom[1]])
            for atom, c in form.items()
            if not atom or atom[0] == "commits"
        )

    def _sums(self, form):
        goals = []
        for each, _, data, interface in self._with_time(form):
            measured = _lpn.MeasuredPath(self._core, self._net._core, data)
            instants, constant = {}, self._constant(form, each)
            for atom, c in form.items():
                if not atom or atom[0] == "commits":
                    continue
                found, more = self.sum(atom, measured, interface)
                constant += c * more
                for weight, instant in found:
                    instants[instant] = instants.get(instant, 0) + c * weight
            goals.append(
                (measured, [(w, instant) for instant, w in instants.items() if w], constant)
            )
        return goals, True, lambda value: value, lambda value: value

    def sum(self, atom, measured, interface=None):
        """([(weight, instant)], constant) of a quantity."""
        number = self._net._transitions
        try:
            if atom[0] == "latency":
                return measured.latency()
            if atom[0] == "completion":
                return measured.completion(atom[1])
            if atom[0] == "busy":
                return measured.busy(number[atom[1]])
            if atom[0] == "stall":
                return measured.stall(number[atom[1]], self._net[atom[2]]._number)
        except _lpn.Error as error:
            # What a class does not tell, states or a run of every input may.
            if error.code == "E-measure" and atom[0] == "completion" and self._somewhere(atom[1]):
                raise mistake("E-partition", f"some inputs have no {text_of(atom)}") from None
            code = error.code if error.code == "E-partition" else "E-property"
            raise mistake(code, f"{text_of(atom)}: {error}") from None
        terms, shift = (
            self._core.variables,
            -self._core.variables.bounds(None, interface)[0],
        )
        instant = measured.at(terms.add(interface, terms.constant(shift)))
        return [(1, instant)], -shift

    def _somewhere(self, k):
        """Whether inputs of some path have the k-th done token."""
        for _, path in self._ending:
            try:
                self._measure(path).completion(k)
            except _lpn.Error as error:
                if error.code != "E-partition":
                    continue
            return True
        return False

    def _measure(self, path):
        if path not in self._measured:
            self._measured[path] = _lpn.MeasuredPath(self._core, self._net._core, path._core)
        return self._measured[path]

    def _instant(self, time, path, changed):
        if time is None:
            return 0
        if time[0] == "latency":
            return path._core.latency
        if time[0] == "completion":
            [(_, instant)], _ = self.sum(time, self._measure(path))
            return instant
        # One firing at a time: its delays one after the other. `ordered` adds a second way to a
        # commit, from the one before it, which is never the later one.
        number, instant = self._net._transitions[time[1]], 0
        for firing in path._core.firings:
            if firing.transition != number:
                continue
            kind, after, _, _ = changed.instant(firing.commit)
            if kind != "max" or after[0][0] != firing.start:
                raise mistake(
                    "E-property",
                    f"{text_of(time)} is not covered: its firings do not end a delay after "
                    "their start",
                )
            instant = _lpn.later(self._core, changed, instant, after[0][1])
        return instant

    def _one_server(self, name):
        servers = self._net._core.transitions[self._net._transitions[name]].servers
        return servers is not None and self._net._core.value(servers[0]) == 1
