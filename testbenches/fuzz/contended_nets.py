"""Random nets in which much is shared, over spaces whose inputs are all run: bounds by reachable
states against the extremes.

    contended_nets.py --seed 1 --cases 200

The nets of random_net.cc have a little of everything and mostly small ranges; here several jobs with
wide ranges of delays compete for servers, buses, credits and turns, and may come at times of their
own.
"""

import argparse
import random
import sys
import time

import _lpn
import lpn


class Job(lpn.Token):
    kind: lpn.Int[0, 3]
    work: lpn.Int[0, 63]
    more: lpn.Int[0, 63]
    born: lpn.Birth


def delay_of(r, name):
    a, b = r.randint(0, 3), r.randint(0, 9)
    kind = r.randrange(6)
    if kind == 0:
        return b
    if kind == 1:
        return lambda t: t.work * a + b
    if kind == 2:
        return lambda t: lpn.select(t.kind > 1, t.work, b + 3)
    if kind == 3:
        return lambda t: t.more // 2 + a
    if kind == 4:
        return lambda t: lpn.max(t.work, t.more)
    return lambda t: t.work


def random_net(r):
    net = lpn.Net("contended")
    typed = r.random() < 0.7
    done = net.place("done", Job, done=True) if typed else net.place("done", done=True)
    sources = [net.place(f"in{k}", Job, start=True) for k in range(r.randint(1, 3))]
    shared = [net.place(f"s{k}", init=r.randint(1, 2)) for k in range(r.randint(1, 2))]
    stages = list(sources)
    for level in range(r.randint(1, 3)):
        following = []
        for k in range(r.randint(1, 2)):
            kw = {"capacity": r.randint(1, 3)} if r.random() < 0.4 else {"drain": True}
            following.append(net.place(f"q{level}{k}", Job, **kw))
        for n, place in enumerate(stages):
            outs = r.sample(following, r.randint(1, len(following)))
            split = r.randint(0, 3)
            for m, out in enumerate(outs):
                guard = None
                if len(outs) > 1:
                    guard = (
                        (lambda t, s=split: t.kind <= s)
                        if m == 0
                        else (lambda t, s=split: t.kind > s)
                    )
                take = {"t": place.take(guard=guard) if guard else place}
                put = [out.forward("t")]
                for j, resource in enumerate(shared):
                    if r.random() < 0.5:
                        take[f"r{j}"] = resource
                        put.append(resource)
                if r.random() < 0.15:
                    other = r.choice(stages)
                    if other is not place:
                        take["no"] = other.empty()
                options = {}
                if r.random() < 0.4:
                    options["servers"] = r.randint(1, 2)
                if r.random() < 0.3:
                    options["interval"] = r.randint(1, 5)
                    options["ordered"] = True
                elif r.random() < 0.2:
                    options["ordered"] = True
                if r.random() < 0.15:
                    options["clock"] = (r.randint(2, 7), r.randint(0, 3))
                if r.random() < 0.15:
                    seen = r.choice(stages)
                    if seen is not place:
                        take["w"] = seen.watch()
                        options["guard"] = watching(list(take))
                net.transition(
                    f"t{level}{n}{m}", take=take, put=put, delay=delay_of(r, "t"), **options
                )
        stages = following
    for n, place in enumerate(stages):
        take, put = {"t": place}, [done.forward("t") if typed else done]
        if r.random() < 0.5:
            take["r"] = shared[0]
            put.append(shared[0])
        net.transition(
            f"end{n}",
            take=take,
            put=put,
            delay=delay_of(r, "t"),
            **({"servers": 1} if r.random() < 0.5 else {}),
        )
    return net, sources


def watching(names):
    """A guard with the arguments that its transition's arcs have."""
    return eval(f"lambda {', '.join(names)}: w.free < 2")


def random_times(r, space, count, left):
    """(when so many tokens arrive, how many inputs there may still be)."""
    kind = r.randrange(8)
    late = r.choice((1, 2, 5))
    if kind == 0 and left >= (late + 1) ** count:
        left //= (late + 1) ** count
        return space.periodic(r.randint(1, 20), jitter=late, offset=r.choice((0, 0, 7))), left
    if kind == 1 and left >= late + 1:
        return space.periodic(r.randint(1, 20), offset=(3, 3 + late)), left // (late + 1)
    if kind == 2 and left >= (2 * late + 1) ** count:
        left //= (2 * late + 1) ** count
        return space.periodic(r.randint(1, 9), jitter=late, offset=(0, late)), left
    until = r.choice((4, 7))
    if kind == 3 and left >= (until + 1) ** count:
        period = r.randint(1, until // count + 1)
        if max(count - 1, 0) * period <= until:
            left //= (until + 1) ** count
            return space.bucket(r.randint(1, count), period, until=until), left
    if kind == 4:
        return sorted(r.randint(0, 30) for _ in range(count)), left
    if kind == 5 and left >= 9:
        return [(3, 11)] + [r.randint(9, 12)] * (count - 1), left // 9
    return None, left


def random_space(r, net, sources):
    space = lpn.InputSpace(net)
    left, all_ = 2000, []
    for place in sources:
        count = r.randint(1, 3)
        columns = {}
        for field, top in (("kind", 3), ("work", 63), ("more", 63)):
            column = []
            for _ in range(count):
                width = min(r.choice((2, 3, 6, 20)), top + 1)
                if r.random() < 0.5 and left >= width:
                    left //= width
                    lo = r.randint(0, top - width + 1)
                    column.append((lo, lo + width - 1))
                else:
                    column.append(r.randint(0, min(top, 12)))
            columns[field] = column
        at, left = random_times(r, space, count, left)
        all_ += space.tokens(place.name, count, at=at, **columns)
    if r.random() < 0.3:
        space.require(lpn.total(t.work for t in all_) <= 12 * len(all_))
    return space


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    compared = wrong = exact = bounds = inputs = none = skipped = 0
    ways = {}
    k = -1
    while compared < options.cases:
        k += 1
        if options.only is not None:
            if k > options.only:
                break
            if k < options.only:
                continue
        r = random.Random(options.seed * 1_000_003 + k)
        try:
            net, sources = random_net(r)
            space = random_space(r, net, sources)
            core = space.core
        except lpn.Error as error:
            skipped += 1
            if skipped > 20 * options.cases + 100:
                sys.exit(f"too many are refused: {error}")
            continue
        transition = r.randrange(len(net.transitions))
        asked = [("latency", 0), ("completion", r.randint(1, 3)), ("commits", transition)]
        asked.append(("busy", transition))
        asked.append(("backlog", r.randrange(len(net.places))))
        if net["done"].fields:
            asked.append(("response", net["done"]._number))
        forms = [[((what, index), sign)] for what, index in asked for sign in (1, -1)]
        found, _ = _lpn.every_input(net._core, core, forms, threads=1, max_commits=5000)
        if not found["inputs"] or found["endless"] is not None:
            continue
        compared += 1
        inputs += found["inputs"]
        if options.only is not None:
            print(net.text(), space.describe(), found)
        for number, (what, index) in enumerate(asked):
            for sign in (1, -1):
                best = found["largest"][2 * number + (sign < 0)]
                truth = None if best is None else sign * best[0]
                for zones, values in ((1, 1), (1, 2), (4, 2), (0, 32)):
                    end = time.monotonic() + 5
                    states, enough = 4000 if k % 3 else 40, None
                    if truth is not None and r.random() < 0.5:
                        enough = truth + r.randint(-3, 3)
                    got, _ = _lpn.bound_by_states(
                        net._core,
                        core,
                        what,
                        index,
                        maximum=sign > 0,
                        zones=zones,
                        values=values,
                        states=states,
                        enough=enough,
                        progress=lambda *_: time.monotonic() > end,
                    )
                    bound = got["bound"]
                    where = f"--seed {options.seed} --only {k}: {what}({index}) sign {sign} zones {zones} values {values}"
                    if found["stalled"] is not None and not got["may_stall"]:
                        wrong += 1
                        print(where, "an input stalls, and none is held to")
                    if found["failed"] is not None and not got["may_fail"]:
                        wrong += 1
                        print(where, "an input fails, and none is held to")
                    if bound is None:
                        none += 1
                        if got["complete"] and truth is not None:
                            wrong += 1
                            print(where, "no bound, an input has", truth)
                        continue
                    bounds += 1
                    if truth is None:
                        continue
                    if sign * bound < sign * truth:
                        wrong += 1
                        print(where, "bound", bound, "an input has", truth, got)
                    elif bound == truth:
                        exact += 1
                        ways[zones, values] = ways.get((zones, values), 0) + 1
    print(
        f"{compared} nets, {inputs} inputs, {bounds} bounds, {exact} of them exact, {none} without: {wrong} wrong"
    )
    print("exact, by way of joining:", ", ".join(f"{w}: {n}" for w, n in sorted(ways.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
