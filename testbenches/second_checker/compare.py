"""Both checkers on certificates of random nets, and on changed ones: they must agree.

    compare.py --build BUILD --seed 1 --certificates 10000 [--mutants 3] [--arrivals] [--state FILE]

Nets are those of lpn_fuzz (`--export`), spaces and questions are drawn around their inputs. A difference is printed
with the number that makes it again (--only N); the file is kept in --found. Stopped, it goes on from --state.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzz")]

import certificate_fuzz  # noqa: E402
import check as second  # noqa: E402
import runs  # noqa: E402
from formula import Fault  # noqa: E402
import lpn  # noqa: E402
from lpn.authoring.net import Net  # noqa: E402
from lpn.proofs.certificate import check, data_of  # noqa: E402
from lpn.proofs.contained import contained  # noqa: E402

MOST_INPUTS = 24
CHUNK = 40  # nets made and looked at by one process
LIMIT = 30  # seconds of one net
MEMORY = 2 << 30  # bytes
PROFILES = ["usual", "ties", "counts", "usual", "bits", "errors", "clocks"]


def cases(build, seed, number):
    """(net, inputs) of a chunk of nets, one case each."""
    profile = PROFILES[number % len(PROFILES)]
    program = os.path.join(build, "testbenches/fuzz/lpn_fuzz")
    command = [program, "--seed", str(seed), "--export", str(number * CHUNK)]
    command += ["--nets", str((number + 1) * CHUNK), "--profile", profile]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen = set()
    for block in text.split("\ngo\n"):
        head, _, rest = block.strip().partition("\nnet\n")
        name = head.split()[1] if rest else None
        if name is None or name in seen:
            continue
        seen.add(name)
        net, _, inputs = rest.partition("\ninputs\n")
        yield int(name), net + "\n", inputs


def limited(net, place):
    return net.core.places[net[place]._number].capacity is not None


def space_of(net, inputs, r, arrivals):
    """An input space around the inputs of a case; with `arrivals` some tokens come later than 0."""
    space, left, made = lpn.InputSpace(net), MOST_INPUTS, []

    def around(value, allowed, chance):
        nonlocal left
        width = r.randint(1, 3)
        lo = value - r.randint(0, width)
        hi = lo + width
        if allowed:
            lo, hi = max(lo, allowed[0]), min(hi, allowed[1])
        if r.random() > chance or hi <= lo or hi - lo + 1 > left:
            return value
        left //= hi - lo + 1
        made.append(space.integer(f"x{len(made)}", lo, hi))
        return made[-1]

    for line in inputs.splitlines():
        word, *rest = line.split() or [""]
        if word == "param":
            space.param(rest[0], around(int(rest[1]), None, 0.15))
        elif word == "tokens":
            count, values = min(int(rest[1]), 5), [int(v) for v in rest[2:]]
            place = net[rest[0]]
            fields = list(place.fields)
            ranges = list(place.fields.values()) if hasattr(place.fields, "values") else []
            columns = {}
            for f, name in enumerate(fields):
                allowed = ranges[f] if f < len(ranges) else None
                columns[name] = [
                    around(values[n * len(fields) + f], allowed, 0.4) for n in range(count)
                ]
            most = count
            if arrivals and count and not limited(net, rest[0]) and r.random() < 0.6:
                columns["at"] = [around(r.randint(0, 9), (0, 20), 0.5) for _ in range(count)]
            elif count > 1 and left >= 2 and r.random() < 0.3:
                count, left = (r.randint(0, most - 1), most), left // 2
                space.tokens(rest[0], most, count=count, **columns)
            else:
                space.tokens(rest[0], most, **columns)
        elif word in ("done", "push"):
            return None
    if len(made) > 1 and r.random() < 0.4:
        a, b = r.sample(made, 2)
        space.require(r.choice([a <= b, a + b <= r.randint(0, 12), a != b, a == b]))
    if len(made) > 1 and r.random() < 0.2:
        space.require(lpn.total(made) <= r.randint(0, 6 * len(made)))
    return space


def ends(space):
    """Whether the first input's run is over soon, by the second interpreter."""
    net = second.parse(space.net.text())
    other = second.Space(space.to_json(), net)
    given = next((k for k in map(other.contains, other.assignments()) if k is not None), None)
    if given is None:
        return False
    try:
        run = runs.Recorded(net, *other.input(given))
        run.firings_left = 120
        run.run()
    except (Fault, second.RefusedNet):
        return True
    except (second.Refused, second.Unknown):
        return False
    return True


def by_states(space, net, r):
    """An answer to a question that classes have not, by trying or by reachable states."""
    t, p = r.choice(list(net.transitions)), r.choice(list(net.places))
    asked = ["latency", f"busy('{t}')", f"commits('{t}')", "completion(1)", f"backlog('{p}')"]
    ask = r.choice([lpn.maximize, lpn.maximize, lpn.minimize])
    quantity = r.choice(asked)
    if r.random() < 0.2:
        quantity += " + " + r.choice(asked[:4])
    return ask(space, quantity, seconds=4, tries=r.choice([0, 10**6]))


def question(space, net, r):
    """An answer with a certificate, or None."""
    names = list(net.transitions)
    t, p = r.choice(names), r.choice(list(net.places))
    quantity = r.choice(
        [
            "latency",
            "latency",
            f"busy('{t}')",
            f"commits('{t}')",
            "completion(1)",
            f"stall('{t}', '{p}')",
        ]
    )
    if r.random() < 0.2:
        quantity += r.choice([" - latency", " + 2*latency", f" - 3*busy('{r.choice(names)}')"])
    ask = r.choice([lpn.maximize, lpn.minimize])
    answer = ask(space, quantity, seconds=3)
    if answer.certificate is not None and r.random() < 0.25 and isinstance(answer.upper, int):
        one = lpn.prove(
            space, f"abs({quantity}) <= {abs(answer.upper) + r.randint(0, 2)}", seconds=3
        )
        return one if one.certificate is not None else answer
    return answer


def ours(path):
    """(proved, refused or unknown; why) of lpn smt --check."""
    try:
        found = check(data_of(path), lambda smtlib: None, seconds=8)
    except lpn.Error as error:
        return ("refused" if error.code == "E-certificate" else "broken"), str(error)
    if found.holds:
        return "proved", ""
    return ("unknown", "") if found.unknown and found.why is None else ("refused", found.why)


def both(path):
    """(ours, the second's) verdicts, and how they differ: None, or what to say."""
    (a, why_a), (b, why_b, seen) = ours(path), second.verdict(path, 5000, 15)
    if seen is not None and "partition" not in seen.data:
        c, why_c, _ = second.verdict(path, 0, 15, 0)  # all inputs at once
        if c not in (b, "unknown"):
            return a, b, f"second by runs {b} {why_b[:160]!r}, by states {c} {why_c[:160]!r}"
    if (a, b) == ("refused", "proved") and re.search(certificate_fuzz.LETTER, why_a):
        return "refused by the letter", b, None
    if a == b or "unknown" in (a, b):
        return a, b, None
    return a, b, f"ours {a} {why_a[:160]!r}, second {b} {why_b[:160]!r}"


def changed(r, data):
    """Text of a mutant."""
    made, text = certificate_fuzz.mutant(r, [certificate_fuzz.Original(data)])
    return certificate_fuzz.text_of(made) if text is None else text


def one(number, net, inputs, options, tally, found):
    """Looks at a net's certificate and its mutants."""
    r = random.Random(f"{options.seed}.{number}")
    try:
        net = Net.parse(net)
        space = space_of(net, inputs, r, options.arrivals)
        if space is None or not net.transitions:
            return
        if len(net.transitions) > 9 or not ends(space):
            tally["no input, or one of more than 120 firings"] += 1
            return
        answer = (by_states if options.arrivals else question)(space, net, r)
    except lpn.Error as error:
        if error.code == "E-bug":
            raise
        tally[f"no question: {error.code}"] += 1
        return
    if answer.certificate is None:
        tally["no certificate"] += 1
        return
    data = json.loads(json.dumps(answer.certificate))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "proof.json")
        for k in range(1 + options.mutants):
            text = json.dumps(data) if k == 0 else changed(r, data)
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
            a, b, different = both(path)
            what = "certificates" if k == 0 else "mutants"
            tally[what] += 1
            tally[f"{what}: ours {a}, second {b}"] += 1
            if k == 0:
                tally["by states"] += "states" in data
            if k == 0 and (a, b) != ("proved", "proved"):
                tally[f"{'tried' if 'tried' in data else 'bounds'}: {a}, {b}"] += 1
            if different:
                tally["differences"] += 1
                name = f"{number}.{k}"
                found.append(f"{name}: {different}")
                if options.found:
                    os.makedirs(options.found, exist_ok=True)
                    with open(f"{options.found}/{name}.json", "w", errors="surrogatepass") as file:
                        file.write(text)


class TooLong(BaseException):
    """A net took more than LIMIT seconds."""


def too_long(*_):
    raise TooLong


def settled(net, number):
    """A net most of whose runs end without a stall, which leaves nothing to be proved."""
    if number % 5 == 0:
        return net
    lines = []
    for line in net.splitlines():
        if line.startswith("done "):
            continue
        if line.startswith("place ") and " done" not in line:
            line = re.sub(r" (start|drain|sink)\b", "", line)
            line = re.sub(r"( : [\w.']+(?: \(\))?)", r"\1 sink", line, count=1)
        lines.append(line)
    return "\n".join(lines) + "\n"


def chunk(number, options, report):
    """All of one chunk, in a process of its own."""
    signal.signal(signal.SIGALRM, too_long)
    tally, found = collections.Counter(), []
    for n, net, inputs in cases(options.build, options.seed, number):
        if options.only is not None and n != options.only:
            continue
        report.seek(0)
        report.truncate()
        json.dump({"at": n, "tally": tally, "found": found}, report)
        report.flush()
        signal.alarm(LIMIT)
        try:
            one(n, settled(net, n), inputs, options, tally, found)
        except (TooLong, MemoryError) as error:
            tally[f"given up: {type(error).__name__}"] += 1
        except Exception as error:
            found.append(f"{n}: {type(error).__name__}: {error}")
            tally["exceptions"] += 1
    report.seek(0)
    report.truncate()
    json.dump({"at": None, "tally": tally, "found": found}, report)
    report.flush()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(HERE.parents[1] / "build"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--certificates", type=int, default=100)
    parser.add_argument("--mutants", type=int, default=3)
    parser.add_argument("--arrivals", action="store_true")
    parser.add_argument("--only", type=int)
    parser.add_argument("--state")
    parser.add_argument("--found")
    options = parser.parse_args()
    state = {"chunk": 0, "seconds": 0.0, "tally": {}}
    if options.state and os.path.exists(options.state):
        with open(options.state, encoding="utf-8") as file:
            state = json.load(file)
    if options.only is not None:
        state["chunk"] = options.only // CHUNK
    total, began = collections.Counter(state["tally"]), time.monotonic() - state["seconds"]
    while total["certificates"] < options.certificates:
        with tempfile.NamedTemporaryFile("w+") as report:
            status, why = contained(
                lambda: chunk(state["chunk"], options, report), 10 * LIMIT, MEMORY
            )
            report.seek(0)
            seen = json.loads(report.read() or "{}")
        total.update(seen.get("tally", {}))
        for line in seen.get("found", []):
            print(f"--seed {options.seed} --only {line}", flush=True)
        if seen.get("at") is not None or status != 0:
            print(f"--seed {options.seed} --only {seen.get('at')}: {why or status}", flush=True)
            total["ended in the middle"] += 1
        state = {
            "chunk": state["chunk"] + 1,
            "seconds": time.monotonic() - began,
            "tally": dict(total),
        }
        if options.state:
            with open(options.state + ".new", "w", encoding="utf-8") as file:
                json.dump(state, file, indent=1)
            os.replace(options.state + ".new", options.state)
        if options.only is not None:
            break
    for name, n in sorted(total.items()):
        print(f"{n:>8}  {name}")
    print(f"{state['seconds']:.0f} s")
    return 1 if total["differences"] or total["exceptions"] or total["ended in the middle"] else 0


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    sys.exit(main())
