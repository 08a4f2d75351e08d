"""Golden nets: inputs as testbenches/nets/README.md has them, and what the law does with them as a trace."""

from law import Fault, Run
from text import Refused


class Inputs:
    """A `.marking` file: parameters, tokens, done count, and what is done from outside."""

    def __init__(self, net, text=""):
        self.params, self.tokens, self.done, self.actions = {}, {}, None, []
        self.groups = (
            None  # the limit of groups at one instant, where it is not that of golden nets
        )
        fields = {place.name: len(place.type.fields) for place in net.places}
        for line in text.splitlines():
            word, *rest = line.split("#")[0].split() or [""]
            if word == "param":
                self.params[rest[0]] = int(rest[1])
            elif word == "tokens":
                count, values = int(rest[1]), [int(value) for value in rest[2:]]
                n = fields.get(rest[0], 0)
                rows = [tuple(values[i * n : i * n + n]) for i in range(count)]
                if len(values) != n * count:
                    rows = [tuple(values) + (0,) * n]  # of no token's width
                self.tokens[rest[0]] = self.tokens.get(rest[0], []) + rows
            elif word == "done":
                self.done = int(rest[0])
            elif word == "groups":
                self.groups = int(rest[0])
            elif word == "push":
                values = tuple(int(value) for value in rest[2:])
                self.actions.append(("push", int(rest[0]), rest[1], values))
            elif word == "run":
                self.actions.append(("run", int(rest[0]) if rest else None))
            elif word:
                raise ValueError(f"a line of inputs that begins with {word!r}")
        if not any(action[0] == "run" for action in self.actions):
            self.actions.append(("run", None))


def trace(net, inputs, metered=False):
    """The lines of a golden trace; `metered`: with statistics and `now`."""
    lines = []
    try:
        run = Run(net, inputs.params, inputs.tokens, inputs.done, inputs.groups or 8)
    except Refused as refused:
        return [f"error {refused.code}"]
    for action, *arguments in inputs.actions:
        if action == "push":
            try:
                run.push(*arguments)
                lines.append("pushed")
            except Refused as refused:
                lines.append(f"error {refused.code}")
            lines += [f"now {run.now}"] if metered else []
            continue
        seen = len(run.commits)
        try:
            result = run.run(*arguments)
        except Fault as fault:
            lines += [commit_line(net, commit) for commit in run.commits[seen:]]
            return lines + [fault_line(net, fault)]
        lines += [commit_line(net, commit) for commit in run.commits[seen:]]
        lines += result_lines(result) + left_lines(run)
        if metered:
            lines += [f"now {run.now}"] + statistics_lines(run, result.ending, *arguments)
    return lines


def commit_line(net, commit):
    t = net.transitions[commit.transition]
    parts = [f"{commit.time}.{commit.group} {t.name}#{commit.firing} from {commit.start}"]
    for arc, origins in zip(t.takes, commit.taken):
        if origins:
            parts.append(f"{arc.name}={names(origins)}")
    parts.append("->")
    for put, count in zip(t.puts, commit.produced):
        if count:
            parts.append(net.places[put.place].name + (f"*{count}" if count > 1 else ""))
    return " ".join(parts)


def names(origins):
    """Tokens by their origin, runs of neighbours as [first..last]."""
    runs = []
    for *maker, index in origins:
        if runs and runs[-1][0] == maker and runs[-1][2] == index - 1:
            runs[-1][2] = index
        else:
            runs.append([maker, index, index])
    texts = []
    for maker, first, last in runs:
        owner = maker[0] if len(maker) == 1 else f"{maker[0]}#{maker[1]}/{maker[2]}"
        texts.append(f"{owner}[{first}]" if first == last else f"{owner}[{first}..{last}]")
    return ",".join(texts)


def result_lines(result):
    latency = "none" if result.latency is None else result.latency
    lines = [
        f"{result.ending}, latency {latency}, last {result.last}, commits {result.commits}, done {result.done}"
    ]
    if result.stalled:
        lines.append(" ".join(["stalled", *result.undrained]))
    for transition, reason, name in result.blocked:
        lines.append(f"blocked {transition}: {reason}" + (f" {name}" if name else ""))
    return lines


def left_lines(run):
    lines = []
    for place in run.places:
        if place.free:
            rows = [f"({','.join(map(str, token.values))})" for token in place.free if token.values]
            lines.append(" ".join(["left", place.spec.name, str(len(place.free)), *rows]))
    return lines


def statistics_lines(run, ending, limit):
    end, transitions, places = run.statistics(ending, limit)
    lines = [f"over [0, {end}]"]
    for t, (commits, busy, waited) in zip(run.transitions, transitions):
        reasons = [f"{reason} {ticks}" for reason, ticks in waited.items() if ticks]
        lines.append(", ".join([f"waits {t.spec.name} commits {commits} busy {busy}", *reasons]))
    for place, (mean, peak) in zip(run.places, places):
        lines.append(f"holds {place.spec.name} mean {mean} peak {peak}")
    return lines


def fault_line(net, fault):
    name = net.transitions[fault.transition].name
    site = fault.site[0] + (" " + ".".join(map(str, fault.site[1:])) if fault.site[1:] else "")
    return f"fault {fault.code} at {fault.time}.{fault.group} in {name} {site}, value {fault.value}"
