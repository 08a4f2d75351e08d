"""Random pipelines with known formulas, and what recordings of them would say."""

import random

import lpn
from lpn.fitting.history import Observed, run


class Job(lpn.Token):
    words: lpn.Int[1, 64]
    kind: lpn.Int[0, 3]


def formula(rng):
    """A random formula of the grammar over arc `job`, as Python text."""
    c = rng.randrange(0, 30)
    a = rng.choice([1, 2, 3, 5])
    return rng.choice(
        [
            f"{c + 1}",
            f"{c + 1}",
            f"job.words + {c}",
            f"{a} * job.words + {c}",
            f"{a} * job.words + {rng.randrange(1, 9)} * job.kind + {c}",
            f"job.words // {rng.choice([2, 4, 8, 3])} + {c + 1}",
            f"{a} * lpn.ceil_div(job.words, {rng.choice([2, 4, 8, 16])}) + {c}",
            f"lpn.max(job.words, {rng.randrange(8, 40)})",
            f"lpn.lookup({[rng.randrange(1, 60) for _ in range(4)]}, job.kind)",
        ]
    )


def spec(seed):
    """Stages of a pipeline: delay, servers, interval, the room of the place behind it."""
    rng = random.Random(seed)
    stages = []
    for k in range(rng.randrange(1, 5)):
        text = formula(rng)
        stages.append(
            {
                "delay": text,
                "servers": rng.choice([1, 1, 1, 2, 3]),
                "ordered": True,
                "interval": rng.choice([None, None, None, rng.randrange(1, 20)]),
                "capacity": rng.choice([None, rng.randrange(1, 6)]),
                "seen": rng.choice(["commit", "commit", "start", "both"]),
            }
        )
    stages[-1]["capacity"] = None
    return stages


def build(stages, unknown):
    """The net of the stages; with `unknown` all their numbers are lpn.unknown()."""
    net = lpn.Net("pipeline")
    ask = lpn.unknown

    def value(x):
        return None if x is None else ask() if unknown else x

    place = net.place("queue", Job, start=True)
    for k, stage in enumerate(stages):
        behind = net.place(
            f"p{k}", Job, capacity=value(stage["capacity"]), done=k == len(stages) - 1
        )
        delay = ask() if unknown else eval(f"lambda job: {stage['delay']}", {"lpn": lpn})
        net.transition(
            f"t{k}",
            take={"job": place},
            put=[behind.forward("job")],
            delay=delay,
            servers=value(stage["servers"]),
            interval=value(stage["interval"]),
            ordered=stage["ordered"],
        )
        place = behind
    return net


def jobs(seed, count):
    rng = random.Random(seed)
    few = rng.random() < 0.5
    return [(rng.randrange(1, 65), rng.randrange(4)) for _ in range(count)], few


def marking(net, tokens):
    m = lpn.Marking(net)
    m.add_rows("queue", tokens)
    return m


def recorded(stages, tokens, skeleton, noise=0.0, seed=0):
    """What a recording of the net with these stages says about the skeleton."""
    net = build(stages, False).done()
    history = run(Observed("run", net, marking(net, tokens), {}), {}, guided=False)
    rng = random.Random(seed)
    starts, commits = {}, {}
    for k, stage in enumerate(stages):
        own = [history.firings[n] for n in history.of[k].values()]
        for event, into in (("start", starts), ("commit", commits)):
            if stage["seen"] in (event, "both"):
                times = sorted(getattr(f, event) for f in own)
                into[f"t{k}"] = [
                    t + (rng.choice((-1, 1)) if t and rng.random() < noise else 0) for t in times
                ]
    return Observed("run", skeleton, marking(skeleton, tokens), {}, starts, commits)


def routed(delays, slots, unknown):
    """A stage, then a unit for each kind of job, with credits for jobs of its kind: who waits for one holds up
    those behind it. delays: of the stage and the units, as text."""
    net = lpn.Net("routed")
    queue, mixed = net.place("queue", Job, start=True), net.place("mixed", Job)
    done = net.place("done", Job, done=True)

    def delay(text):
        return lpn.unknown() if unknown else eval(f"lambda job: {text}", {"lpn": lpn})

    net.transition(
        "stage", take={"job": queue}, put=[mixed.forward("job")], delay=delay(delays[0]), servers=1
    )
    for k, text in enumerate(delays[1:]):
        credits, own = net.place(f"credits{k}", init=slots), net.place(f"own{k}", Job)
        head = mixed.take(guard=lambda job, k=k: job.kind == k)
        net.transition(f"route{k}", take={"job": head, "c": credits}, put=[own.forward("job")])
        net.transition(
            f"unit{k}",
            take={"job": own},
            put=[done.forward("job"), credits],
            delay=delay(text),
            servers=1,
        )
    return net


def seen(net, skeleton, tokens, names):
    """What a recording of the commits of `names` says about the skeleton of a net."""
    history = run(Observed("run", net.done(), marking(net, tokens), {}), {}, guided=False)
    commits = {name: [] for name in names}
    for firing in history.firings:
        name = list(net.transitions)[firing.transition]
        if name in commits:
            commits[name].append(firing.commit)
    return Observed(
        "run",
        skeleton,
        marking(skeleton, tokens),
        {},
        {},
        {n: sorted(t) for n, t in commits.items()},
    )
