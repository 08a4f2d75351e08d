"""Forged and damaged certificates: none may end the checker, keep it busy or prove what is false.

    certificate_fuzz.py --seed 1 --mutations 4000 [--state FILE] [--only N --print]

Mutations of real certificates, as data and as text. A mutant that is accepted is judged by running
the inputs of the space that it names: all of them where they are few, else some. A crash, more than
--slowest seconds for one, an error other than E-certificate, or an input beyond what was accepted
is a finding, with the number that makes it again.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, at) for at in ("..", "../second", "../second_checker")]

import lpn  # noqa: E402
import runs  # noqa: E402
import space as second  # noqa: E402
from lpn.authoring.net import Net  # noqa: E402
from lpn.proofs.certificate import check, data_of  # noqa: E402
from lpn.proofs.contained import contained  # noqa: E402
from lpn.proofs.property import claims, largest, whole  # noqa: E402
from lpn.spaces.space import InputSpace  # noqa: E402
from _round_robin import by_free_counts  # noqa: E402
from text import parse  # noqa: E402

INTS = [0, 1, -1, 2, 3, 5, 100, 2**20, 2**31, 2**32 - 1, 2**43, 2**53, 2**61, 2**62]
INTS += [
    2**63 - 1,
    2**63,
    2**64,
    -(2**31),
    -(2**62),
    -(2**63),
    -(2**63) - 1,
    10**30,
    10**39,
]
OTHERS = [None, True, False, "", "x", "5", "5/1", "1e999999999", "v\0a", "v\0b", [], {}, [[]]]
OTHERS += [1.5, float("inf"), float("nan"), "9" * 5000, "a" * 100_000, [0] * 1000]
CLAIMS = ["latency", "busy(work)", "commits(work)", "completion(1)", "stall(work, q)", "E"]
ENOUGH = 300  # inputs that are run to judge a mutant


class Job(lpn.Token):
    size: lpn.Int[0, 6]
    kind: lpn.Int[0, 1]


def two_stages():
    net = lpn.Net("two")
    jobs = net.place("jobs", Job, start=True)
    q = net.place("q", Job, capacity=2)
    done = net.place("done", done=True)
    net.transition(
        "read", take={"j": jobs}, put=[q.forward("j")], delay=lambda j: 3 + j.size, servers=1
    )
    net.transition(
        "work",
        take={"j": q},
        put=[done],
        delay=lambda j: 9 if j.kind == 1 else 2 * j.size + 1,
        servers=2,
    )
    space = lpn.InputSpace(net)
    made = space.tokens("jobs", 3, size=(0, 3), kind=(0, 1))
    space.require(lpn.total(j.size for j in made) <= 6)
    return space


def counted():
    net = lpn.Net("counted")
    jobs = net.place("jobs", Job, start=True)
    q = net.place("q", Job)
    done = net.place("done", done=True)
    net.transition(
        "read", take={"j": jobs}, put=[q.forward("j")], delay=lambda j: 1 + j.size, servers=1
    )
    net.transition(
        "work", take={"j": q}, put=[done], delay=lambda j: 4, servers=1, guard=lambda j: j.kind == 0
    )
    net.transition("drop", take={"j": q}, delay=1, servers=1, guard=lambda j: j.kind == 1)
    space = lpn.InputSpace(net)
    space.tokens("jobs", 2, count=(1, 2), size=(0, 6), kind=(0, 1))
    return space


def relation():
    net = lpn.Net("relation")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True)
    net.transition(
        "work", take={"j": jobs}, put=[done], delay=lambda j: j.size * 3 + j.kind, clock=(4, 1)
    )
    space = lpn.InputSpace(net)
    made = space.tokens("jobs", 2, size=(0, 6), kind=(0, 1))
    space.require(made[0].size + 2 * made[1].size <= 9, made[0].size != made[1].size)
    return space


def contended():
    net = lpn.Net("contended")
    done = net.place("done", done=True)
    waiting = [net.place(f"m{k}", Job, start=True) for k in range(2)]
    out = net.place("out", Job, drain=True)
    by_free_counts(net, "bus", waiting, out, delay=lambda t: t.size + 2)
    net.transition("end", take={"j": out}, put=[done], delay=1)
    space = lpn.InputSpace(net)
    for k in range(2):
        space.tokens(f"m{k}", 1, size=(0, 4))
    return space


def originals():
    """Certificates of all kinds of claims, each checked."""
    one, two, three, four = two_stages(), counted(), relation(), contended()

    def rows(input):
        return sum(3 + j.size for j in input.jobs) + 9

    answers = [
        lpn.maximize(one, "latency"),
        lpn.minimize(one, "latency"),
        lpn.maximize(one, "stall(work, q)"),
        lpn.maximize(one, "busy(work)"),
        lpn.minimize(one, "busy(work) - latency"),
        lpn.prove(one, "latency <= 40 and busy(work) >= 2"),
        lpn.maximize(one, "abs(E - latency)", interface=rows),
        lpn.maximize(two, "latency"),
        lpn.minimize(two, "commits(work)"),
        lpn.prove(two, "busy(read) <= latency + 14"),
        lpn.prove(two, "busy(work) + busy(drop) <= 9"),
        lpn.maximize(three, "latency"),
        lpn.minimize(three, "2*latency"),
        lpn.maximize(four, "latency"),
    ]
    found = []
    for answer in answers:
        assert answer.certificate is not None, answer
        data = json.loads(json.dumps(answer.certificate))
        checked = check(data)
        assert checked.holds or checked.unknown and checked.why is None, answer
        found.append(data)
    return found


# ---- mutations --------------------------------------------------------------------------------


def places(value, path=()):
    """The paths of all parts of JSON data."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in range(len(value)):
            yield from places(value[k], (*path, k))


def get(data, path):
    for key in path:
        data = data[key]
    return data


def odd_value(r, data, old):
    kind = r.randrange(6)
    if kind == 0 or isinstance(old, int) and kind < 4:
        if isinstance(old, int) and r.random() < 0.6:
            return old + r.choice([-1, 1, -2, 2, -7, 10, 1 << 20])
        return r.choice(INTS)
    if kind == 1:
        return r.choice(OTHERS)
    if kind == 2:
        return get(data, r.choice(list(places(data))))
    if kind == 3:
        deep = r.choice(INTS[:5])
        for _ in range(r.choice([3, 200, 900])):
            deep = [deep]
        return deep
    if isinstance(old, str) and old:
        return odd_text(r, old)
    return r.choice(INTS)


def odd_text(r, text):
    kind, k = r.randrange(5), r.randrange(len(text))
    if kind == 0:
        return text[:k] + text[k + r.randrange(1, 4) :]
    if kind == 1:
        return text[:k] + r.choice("0123456789 \0\n#(){}:.,-*/abcxyz'\"\u00e9") + text[k:]
    numbers = list(re.finditer(r"\d+", text))
    if kind == 2 and numbers:
        one = r.choice(numbers)
        return text[: one.start()] + str(abs(r.choice(INTS))) + text[one.end() :]
    words = list(re.finditer(r"\w+", text))
    if kind == 3 and len(words) > 1:
        one, other = r.choice(words), r.choice(words)
        return text[: one.start()] + other.group() + text[one.end() :]
    return text[:k] + text[r.randrange(len(text)) :]


def change(r, data):
    """One change somewhere."""
    path = r.choice(list(places(data))[1:])
    owner, key = get(data, path[:-1]), path[-1]
    kind = r.randrange(8)
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, json.loads(json.dumps(owner[key])))
    elif kind == 2 and isinstance(owner, list) and len(owner) > 1:
        other = r.randrange(len(owner))
        owner[key], owner[other] = owner[other], owner[key]
    elif kind == 3 and isinstance(owner, dict):
        owner[r.choice(["x", "path", "budget", "behind", "terms", "\0"])] = odd_value(r, data, 0)
    else:
        owner[key] = odd_value(r, data, owner[key])


def better(r, data):
    """Claims more than holds, consistently; whether the steps bear it out is to be seen."""
    less = r.choice([1, 1, 2, 5, 50, 1000, 2**40])
    claim = data["claim"]
    sign = -1 if "least" in claim else 1
    if "proved" in claim and type(claim["proved"]) is int:
        claim["proved"] -= sign * less
    elif "property" in claim and isinstance(claim["property"], str):
        claim["property"] = re.sub(
            r"\d+$", lambda n: str(int(n[0]) - sign * less), claim["property"]
        )
    for bound in data["bounds"]:
        bound["most"] -= less
        for each in bound["certificates"]:
            each["bound"] -= -less if bound.get("maximum") is False else less
    for _ in range(r.randrange(6)):
        steps = r.choice(r.choice(data["bounds"])["certificates"])["steps"]
        if not steps:
            return
        step = r.choice(steps)
        kind = r.randrange(9)
        many = r.randrange(0, 6)
        if kind == 0:
            step["multipliers"] = [r.choice(INTS[:15]) for _ in range(many)]
        elif kind == 1:
            step["denominator"] = r.choice(INTS[1:16])
        elif kind == 2:
            step["budget"], step["quantum"] = r.randrange(3), r.choice(INTS[1:16])
        elif kind == 3:
            step["kind"] = r.choice(["no input", "relaxation", "point", "solver", "split"])
        elif kind == 4:
            step["chains"] = [
                [r.choice(INTS[:15]), [r.randrange(6) for _ in range(r.randrange(8))]]
                for _ in range(many)
            ]
        elif kind == 5:
            step["parts"] = [
                {"instant": r.randrange(30), "weight": r.choice(INTS[:15])} for _ in range(many)
            ]
        elif kind == 6:
            step["unit"], step["tuple"] = r.randrange(8), r.randrange(20)
            step["kind"] = "split"
            steps.append({"kind": "no input", "multipliers": []})
        elif kind == 7:
            data["space"]["constraints"] = []
        elif step.get("parts"):
            part = r.choice(step["parts"])
            part[r.choice(["weight", "instant", "behind", "quantum", "budget"])] = r.choice(INTS)


def mutant(r, originals):
    """Text of a mutant."""
    data = json.loads(json.dumps(r.choice(originals)))
    kind = r.random()
    if kind < 0.04:  # a part of another certificate
        part, other = r.choice(sorted(data)), r.choice(originals)
        if part in other:
            data[part] = json.loads(json.dumps(other[part]))
    if kind < 0.45:
        try:
            better(r, data)
            if r.random() < 0.3:
                change(r, data)
        except (TypeError, KeyError, AttributeError, IndexError, RecursionError):
            pass
    else:
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            try:
                change(r, data)
            except (TypeError, KeyError, IndexError, RecursionError):
                break
    try:
        text = json.dumps(data)
    except (RecursionError, ValueError):
        text = "[" * 100_000
    if kind > 0.93:
        k = r.randrange(len(text))
        how = r.randrange(6)
        if how == 0:
            text = text[:k]
        elif how == 1:
            text = text[:k] + "[" * r.choice([900, 100_000]) + text[k:]
        elif how == 2:
            text = text.replace('"bounds"', '"bounds": [], "bounds"', 1)
        elif how == 3:
            text = text[:k] + "\0" + text[k:]
        elif how == 4:
            text = text.replace("1", "9" * r.choice([30, 4000, 100_000]), 1)
        else:
            text = odd_text(r, text)
    return text


# ---- judging ----------------------------------------------------------------------------------


def inputs_of(space, r):
    """All inputs of a space where they are few, else some."""
    if space.core.assignments(20 * ENOUGH) is not None:
        some = list(space.inputs(20 * ENOUGH))
        return some if len(some) <= ENOUGH else r.sample(some, ENOUGH)
    found = []
    for _ in range(4 * ENOUGH):
        one = {v.name: r.randint(v.lo, v.hi) for v in space.variables}
        if space.contains(one):
            found.append(one)
    return found


def stall(atom, data, values):
    """By the definition, from a run of the second interpreter."""
    net = parse(data["net"])
    space = second.Space(data["space"], net)
    known = space.contains(tuple(values[name] for name, _, _ in space.variables))
    return runs.Observed(net, *space.input(known)).atom(atom, None)


def quantity(atom, space, run, values):
    """By the interpreter's own measures; None for what a run does not have."""
    if atom[0] == "latency":
        return run.latency
    if atom[0] == "busy":
        return run.stats["transitions"][atom[1]]["busy"]
    if atom[0] == "commits":
        return run.stats["transitions"][atom[1]]["commits"]
    if atom[0] == "E":
        return space.core.value(space._read_terms["E"], space._ordered(values))
    if atom[0] == "completion":
        times = []
        net = space.net._core
        for commit in run.trace:
            for n, o in zip(commit.produced, net.transitions[commit.transition].outputs):
                times += [commit.time] * (n if net.places[o.place].done else 0)
        return times[atom[1] - 1] if len(times) >= atom[1] else None
    return None


def refuted(data, r):
    """An input beyond what a certificate claims, with how; else None."""
    net = Net.parse(data["net"])
    space = InputSpace.from_json(net, data["space"])
    claim = data["claim"]
    interface = "E" in space._read_terms
    if "property" in claim:
        forms = [(form, 1, Fraction(0)) for form in claims(claim["property"], net, interface)]
    else:
        sign = 1 if "largest" in claim else -1
        text = claim["largest" if sign > 0 else "least"]
        forms = [
            (*whole(form), sign * Fraction(claim["proved"]))
            for form in largest(text, net, interface, sign)
        ]
    for values in inputs_of(space, r):
        try:
            run = lpn.simulate(
                net,
                space.marking(values),
                params=space.parameters(values),
                engine="interp",
                trace=True,
                stats=True,
            )
        except lpn.RunError:
            continue  # a claim is about inputs that end
        if run.stalled:
            continue
        for form, denominator, most in forms:
            seen = Fraction(0)
            for atom, c in form.items():
                if atom and atom[0] == "stall":
                    each = stall(atom, data, values)
                else:
                    each = 1 if not atom else quantity(atom, space, run, values)
                if each is None:
                    break
                if atom == ("E",):
                    each = Fraction(each, data["interface denominator"])
                seen += c * each
            else:
                if seen / denominator > most:
                    return values, f"{seen / denominator} > {most}"
    return None


def look(text, path, r, slowest):
    """What is wrong with the checker's answer; and whether it accepted."""
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)
    began, data = time.process_time(), None
    try:
        data = data_of(path)
        holds = check(data).holds
    except lpn.Error as error:
        holds = False
        if error.code != "E-certificate":
            return f"an error of another kind: {error.code}: {error}", False
    took = time.process_time() - began
    if took > slowest:
        return f"it took {took:.1f} s", holds
    if not holds:
        return None, False
    beyond = refuted(data, r)
    return beyond and f"a false claim holds: {data['claim']}, but {beyond}", True


def batch(seed, numbers, originals, slowest, report):
    """Looks at some mutants; each number is in `report` before it begins, so that a crash has
    one.
    """
    accepted = findings = 0
    with tempfile.TemporaryDirectory() as folder:
        for n in numbers:
            report.seek(0)
            report.write(f"{n:>12} {accepted:>9} {findings:>6}")
            report.flush()
            r = random.Random(f"{seed}.{n}")
            text = mutant(r, originals)
            try:
                wrong, held = look(text, os.path.join(folder, "proof.json"), r, slowest)
            except MemoryError:
                wrong, held = None, False  # said as such by `lpn smt --check`
            except Exception as error:
                wrong, held = f"{type(error).__name__}: {error}", False
            accepted += held
            if wrong:
                findings += 1
                print(f"--seed {seed} --only {n}: {wrong}", flush=True)
        report.seek(0)
        report.write(f"{-1:>12} {accepted:>9} {findings:>6}")
        report.flush()
    return min(findings, 1)


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--mutations", type=int, default=4000)
    parse.add_argument("--from", dest="first", type=int, default=0)
    parse.add_argument("--only", type=int)
    parse.add_argument("--print", action="store_true")
    parse.add_argument("--slowest", type=float, default=10)
    parse.add_argument("--state", help="where it stops and goes on from: numbers looked at so far")
    given = parse.parse_args()
    known = originals()
    if given.only is not None and given.print:
        print(mutant(random.Random(f"{given.seed}.{given.only}"), known))
    numbers = range(given.first, given.first + given.mutations)
    if given.only is not None:
        numbers = range(given.only, given.only + 1)
    began, accepted, findings, done = time.monotonic(), 0, 0, 0
    if given.state and os.path.exists(given.state):
        with open(given.state, encoding="utf-8") as file:
            done, accepted, findings, seconds = json.load(file)
        numbers, began = numbers[done:], began - seconds
    while numbers:
        part, rest = numbers[:500], numbers[500:]
        with tempfile.NamedTemporaryFile("w+") as report:
            status, why = contained(
                lambda: batch(given.seed, part, known, given.slowest, report), 600, 4 << 30
            )
            report.seek(0)
            at, held, wrong = map(int, report.read().split())
        accepted, findings = accepted + held, findings + wrong
        if at >= 0:  # it ended in the middle
            print(f"--seed {given.seed} --only {at}: {why or f'status {status}'}")
            findings += 1
            rest = numbers[numbers.index(at) + 1 :]
        done += len(numbers) - len(rest)
        numbers = rest
        if given.state:
            with open(given.state + ".new", "w", encoding="utf-8") as file:
                json.dump([done, accepted, findings, time.monotonic() - began], file)
            os.replace(given.state + ".new", given.state)
    print(
        f"{given.mutations} mutations, {accepted} accepted and found true, {findings} findings, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
