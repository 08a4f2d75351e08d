"""lpn debug: goes through a run, an instant at a time."""

import cmd
import sys

import click

from ..command import (
    ANSWERED,
    UNKNOWN,
    counted,
    grouped,
    json_option,
    model_argument,
    need_input,
    params_option,
    print_json,
)
from ..errors import Error, near, without_place
from ..runs import load, prepare
from ..runs.stepping import Stepping

_MOST_ROWS = 20  # tokens, events and places that are shown without `all`

# Command -> (how it is written, what it does).
_HELP = {
    "step": ("step [N]", "on to the next instant at which something happens, or N of them"),
    "run": ("run [CYCLE]", "on to a break or the end; or through that cycle"),
    "break": (
        "break NAME",
        "stops where a transition starts or commits, or a place changes; or where a condition "
        "comes to hold: break PLACE.count > 4",
    ),
    "delete": ("delete NAME", "takes a break away"),
    "tokens": ("tokens PLACE [all]", "its free tokens, oldest first"),
    "places": ("places [all]", "how many tokens are where; without all, where there are any"),
    "flying": ("flying", "firings that have started and not committed"),
    "why": ("why [TRANSITION]", "why it does not start now; of all that have a token"),
    "log": ("log FILE", "every event from here on into a file; log off ends it"),
    "back": ("back [N]", "to the instant before, or N before, by running anew"),
    "restart": ("restart", "to before the first instant; breaks stay"),
    "where": ("where", "the cycle, what happens next, and the breaks"),
    "help": ("help", "this list; an empty line does step or run once more"),
    "quit": ("quit", "ends"),
}
_LETTERS = ("step", "run", "break", "tokens", "places", "flying", "why", "quit")
_SHORT = {name[0]: name for name in _LETTERS}


@click.command()
@model_argument
@click.argument("input", required=False)
@params_option
@click.option(
    "-c",
    "--command",
    "commands",
    multiple=True,
    metavar="COMMAND",
    help="Does this in place of asking; may be given several times, or with ; between.",
)
@json_option
def debug(model, input, params, commands, as_json):
    """Goes through the run of MODEL on INPUT: step, run to a cycle or a break, tokens, why not.

    Commands come from -c, or from the input of the program, a line each; `help` lists them. The run is
    the interpreter's. Ctrl-C stops a run where it is.

    Exit status: 0 answered; 2 something is wrong, a command that is not typed included; 3 Ctrl-C.
    """
    loaded = load(model)
    need_input(loaded, input)
    session = _Session(Stepping(prepare(loaded, input, params, "interp")), as_json)
    lines = [part for text in commands for part in text.split(";")]
    try:
        if commands or not sys.stdin.isatty():
            answers = []
            status = ANSWERED
            for line in lines if commands else sys.stdin:
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                if not as_json:
                    click.echo(f"> {line.strip()}")
                answer = session.do(line)
                if answer is None:
                    break
                answers.append(answer)
                if answer.get("stopped") == "interrupted":
                    status = UNKNOWN
                    break
            if as_json:
                print_json({"model": loaded.name, "input": input, "answers": answers})
            return status
        _Prompt(session).ask()
        return ANSWERED
    finally:
        session.close()


class _Session:
    """What the commands do. do() answers each as a dict, and shows it unless `quiet`."""

    def __init__(self, stepping, quiet):
        self.stepping = stepping
        self._quiet = quiet
        self._log = None

    def close(self):
        if self._log is not None:
            self._log.close()
            self._log = None

    def do(self, line):
        """The answer to a line; None: quit. Raises Error."""
        name, *words = line.split()
        name = _SHORT.get(name, name)
        if name not in _HELP:
            raise without_place(
                "E-debug", f"there is no command '{name}'{near(name, _HELP)}; help lists them"
            )
        if name == "quit":
            return None
        data, lines = getattr(self, f"_do_{name}")(*self._checked(name, words))
        if not self._quiet:
            click.echo("\n".join(lines))
        return {"command": " ".join([name, *words]), **data}

    def _checked(self, name, words):
        """Arguments as the command wants them."""
        usage, _ = _HELP[name]
        if name in ("break", "delete") and words:
            words = [" ".join(words)]  # a condition has spaces
        shape = usage.split()[1:]
        least = sum(not word.startswith("[") for word in shape)
        if not least <= len(words) <= len(shape):
            raise without_place("E-debug", f"write: {usage}")
        for k, word in enumerate(shape[: len(words)]):
            if word in ("[N]", "[CYCLE]"):
                words = [*words[:k], self._whole(words[k]), *words[k + 1 :]]
            elif word == "[all]" and words[k] != "all":
                raise without_place("E-debug", f"write: {usage}")
        return words

    @staticmethod
    def _whole(word):
        if not (word.isascii() and word.isdigit() and len(word) <= 18):
            raise without_place("E-debug", f"'{word}' is no whole number of at most 18 digits")
        return int(word)

    # Each command: (what programs are told, lines for people).

    def _do_step(self, number=1):
        return self._gone(self.stepping.go(steps=number, log=self._logger()))

    def _do_run(self, until=None):
        now = self.stepping.now
        if until is not None and until < now:
            text = f"cycle {grouped(until)} is past, this is {grouped(now)}; back or restart first"
            return {"stopped": "limit", **self._state(), "events": []}, [text]
        return self._gone(self.stepping.go(until=until, log=self._logger()))

    def _logger(self):
        return None if self._log is None else self._note

    def _note(self):
        self._log.writelines(_line(event) + "\n" for event in self.stepping.events)

    def _gone(self, why):
        run = self.stepping
        data = {"stopped": why, **self._state(), "events": run.events}
        shown = run.events if why != "limit" else []
        lines = [_line(event) for event in shown[:_MOST_ROWS]]
        if len(shown) > _MOST_ROWS:
            lines.append(f"... and {len(shown) - _MOST_ROWS} more events in this cycle")
        if why == "interrupted":
            lines.append(f"stopped by Ctrl-C in cycle {grouped(run.now)}")
        elif why == "break":
            met = ", ".join([*self._met(), *self.stepping.met])
            lines.append(f"break in cycle {grouped(run.now)}: {met}")
        elif why == "limit":
            lines.append(f"nothing more happens up to there; last in cycle {grouped(run.now)}")
        elif why in ("quiet", "done"):
            lines.append(self._ending(why))
        return data, lines

    def _met(self):
        """The breaks that the last events are about."""
        for name in self.stepping.breaks:
            if any(
                name in (event.get("transition"), event.get("place"), *event.get("tokens", ()))
                for event in self.stepping.events
            ):
                yield name

    def _ending(self, why):
        result = self.stepping.result
        if result.stalled:
            waits = [row["text"] for row in self.stepping.waiting()]
            return "the run is over and has stalled" + "".join(f"\n  {text}" for text in waits)
        ending = "all done tokens are there" if why == "done" else "nothing can happen any more"
        return f"the run is over, {ending}: latency {grouped(result.latency)}"

    def _state(self):
        run = self.stepping
        return {
            "cycle": run.now,
            "next": run.next,
            "instants": run.instants,
            "firings": run.commits,
        }

    def _do_where(self):
        run, state = self.stepping, self._state()
        if not run.instants:
            lines = ["before the first cycle"]
        else:
            lines = [
                f"cycle {grouped(run.now)}: {counted(run.instants, 'instant')} and "
                f"{counted(run.commits, 'firing')} so far"
            ]
        upcoming = "nothing can happen" if run.next is None else f"next: cycle {grouped(run.next)}"
        lines += [upcoming, f"breaks: {', '.join(run.breaks) or 'none'}"]
        return {**state, "breaks": list(run.breaks)}, lines

    def _do_break(self, name):
        self.stepping.stop_at(name)
        where = f"when {name}"
        if not self.stepping.is_condition(name):
            where = f"at {self.stepping.kind_of(name)} {name}"
        return {"breaks": list(self.stepping.breaks)}, [f"stops {where}"]

    def _do_delete(self, name):
        self.stepping.pass_by(name)
        return {"breaks": list(self.stepping.breaks)}, [f"no longer stops at {name}"]

    def _do_tokens(self, place, every=None):
        rows = self.stepping.tokens(place)
        shown = rows if every else rows[:_MOST_ROWS]
        lines = [f"{place}: {counted(len(rows), 'free token')}"]
        lines += ["  " + " ".join(f"{k}={v}" for k, v in row.items()) for row in shown if row]
        if len(rows) > len(shown) and rows[0]:
            lines.append(f"  ... and {len(rows) - len(shown)} more; tokens {place} all")
        return {"place": place, "tokens": rows}, lines

    def _do_places(self, every=None):
        rows = {k: v for k, v in self.stepping.places().items() if v or every}
        width = max(map(len, rows), default=0)
        lines = [f"{name:{width}}  {grouped(count)}" for name, count in rows.items()]
        return {"places": rows}, lines or ["no place has a token"]

    def _do_flying(self):
        rows = self.stepping.flying
        lines = [
            f"{row['transition']} #{row['firing']}: since {grouped(row['start'])}, due "
            f"{grouped(row['due'])}"
            for row in rows
        ]
        return {"flying": rows}, lines or ["nothing is in flight"]

    def _do_why(self, transition=None):
        run = self.stepping
        rows = run.waiting() if transition is None else [run.why(transition)]
        return {"waiting": rows}, [row["text"] for row in rows] or ["nothing waits with a token"]

    def _do_log(self, file):
        self.close()
        if file != "off":
            try:
                self._log = open(file, "w", encoding="utf-8")
            except OSError as error:
                raise without_place("E-input", f"cannot write {file}: {error.strerror}") from None
        text = "no log" if self._log is None else f"events from here on go into {file}"
        return {"log": None if self._log is None else file}, [text]

    def _do_back(self, number=1):
        self.stepping.back(number)
        return self._again()

    def _do_restart(self):
        self.stepping.restart()
        return self._again()

    def _again(self):
        data, lines = self._do_where()
        return data, lines[:1] + [_line(event) for event in self.stepping.events[:_MOST_ROWS]]

    def _do_help(self):
        lines = [f"{usage:20}{what}" for usage, what in _HELP.values()]
        return {"commands": dict(_HELP.values())}, [
            *lines,
            f"one letter is enough: {', '.join(_SHORT)}",
        ]


def _line(event):
    """'    12 send #3 starts, due 20: takes 1 of queue'."""
    cycle = f"{event['cycle']:>8}"
    if event["event"] == "arrival":
        return f"{cycle} a token arrives in {event['place']}"
    moved = ", ".join(f"{count} {name}" for name, count in event["tokens"].items())
    who = f"{cycle} {event['transition']} #{event['firing']}"
    if event["event"] == "start":
        return f"{who} starts, due {event['due']}" + (f"; takes {moved}" if moved else "")
    return f"{who} commits" + (f"; puts {moved}" if moved else "")


class _Prompt(cmd.Cmd):
    """Asks in a terminal. Errors are shown, and one goes on."""

    def __init__(self, session):
        super().__init__()
        self._session = session
        self._last = ""

    def ask(self):
        click.echo("help lists the commands")
        while True:
            try:
                self.cmdloop()
                return
            except KeyboardInterrupt:
                click.echo()

    @property
    def prompt(self):
        cycle = self._session.stepping.now
        return f"(cycle {cycle}) " if cycle >= 0 else "(start) "

    def onecmd(self, line):
        if line == "EOF":
            click.echo()
            return True
        if not line.strip():
            line = self._last
            if not line:
                return False
        try:
            answer = self._session.do(line)
        except Error as error:
            click.echo(f"error: {error}", err=True)
            return False
        self._last = line if line.split()[0] in ("s", "step", "r", "run") else ""
        return answer is None

    def completenames(self, text, *ignored):
        return [name for name in _HELP if name.startswith(text)]

    def completedefault(self, text, *ignored):
        run = self._session.stepping
        names = [*run.places(), *(t.name for t in run.net.core.transitions)]
        return [name for name in names if name.startswith(text)]
