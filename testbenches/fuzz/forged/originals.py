"""Certificates of all kinds of claims, to be damaged."""

import json
import marshal

import lpn
from lpn.proofs.certificate import check
from _round_robin import by_free_counts


class Original:
    """A certificate's data, and the paths of all parts of it."""

    def __init__(self, data):
        self.data = data
        self.bytes = marshal.dumps(data)
        self.places = list(places(data))[1:]

    def copy(self):
        return marshal.loads(self.bytes)


def places(value, path=()):
    """The paths of all parts of JSON data."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in range(len(value)):
            yield from places(value[k], (*path, k))


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


class Request(lpn.Token):
    words: lpn.Int[1, 4]
    born: lpn.Birth


def requests():
    """Two masters that ask now and then."""
    net = lpn.Net("requests")
    waiting = [net.place(f"m{k}", Request, start=True) for k in range(2)]
    out = net.place("out", Request, done=True)
    by_free_counts(net, "bus", waiting, out, delay=lambda t: t.words + 2)
    space = lpn.InputSpace(net)
    space.tokens("m0", 2, at=space.periodic(5, jitter=1), words=(1, 2))
    space.tokens("m1", 1, at=(0, 3), words=(2, 4))
    return space


def until_done():
    """A timer that never stops beside the work."""
    net = lpn.Net("until_done")
    jobs = net.place("jobs", Job, start=True)
    bus = net.place("bus", init=1)
    done = net.place("done", done=True)
    net.transition("refresh", take={"b": bus}, put=[bus], delay=2, interval=7)
    net.transition(
        "work", take={"j": jobs, "b": bus}, put=[done, bus], delay=lambda j: j.size + 1, servers=1
    )
    net.done_count = 2
    space = lpn.InputSpace(net)
    space.tokens("jobs", 2, size=(0, 4), kind=0)
    return space


def originals():
    """Certificates of all kinds of claims, each checked."""
    one, two, three, four = two_stages(), counted(), relation(), contended()
    five, six = requests(), until_done()

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
        lpn.maximize(five, "response(out)"),
        lpn.maximize(six, "latency"),
        lpn.maximize(four, "latency", tries=0, seconds=20),
        lpn.maximize(five, "response(out)", tries=0, seconds=20),
        lpn.maximize(five, "backlog(m0)", tries=0, seconds=20),
        lpn.prove(six, "latency <= 40 and commits(work) >= 2", tries=0, seconds=20),
        lpn.maximize(six, "2*latency - commits(work)", tries=0, seconds=20),
    ]
    found = []
    for answer in answers:
        assert answer.certificate is not None, answer
        data = json.loads(json.dumps(answer.certificate))
        checked = check(data)
        assert checked.holds or checked.unknown and checked.why is None, answer
        found.append(data)
    return found
