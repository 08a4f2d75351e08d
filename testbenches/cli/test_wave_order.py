"""lpn wave compare and lpn fit where firings overtake one another, and where instants are given."""

import re

import pytest

MODEL = """
import lpn


class Job(lpn.Token):
    tag: lpn.Int[0, 63]
    words: lpn.Int[1, 64]


def net(*, extra=4):
    net = lpn.Net("pool")
    jobs = net.place("jobs", Job, start=True)
    ready = net.place("ready", Job)
    done = net.place("done", Job, done=True)
    extra = net.param("extra", extra)
    net.transition("issue", take={"job": jobs}, put=[ready.forward("job")], servers=1, delay=0)
    net.transition("work", take={"job": ready}, put=[done.forward("job")], servers=3,
                   delay=WORK)
    return net
"""
MAP = """clock = "tb.clk"
origin = "5 ns"
[channels.in]
valid = "tb.in_valid"
payload = { tag = "tb.in_tag", words = "tb.in_words" }
[channels.out]
valid = "tb.out_valid"
payload = { tag = "tb.out_tag" }
[transitions.work]
channel = "out"
"""
PAYLOAD = 'payload = { tag = "job.tag" }\n'
WORDS = [(37 * k * k + 11 * k) % 64 + 1 for k in range(48)]


def write(path, incoming, outgoing):
    """A dump of `incoming` {cycle: (tag, words)} and `outgoing` {cycle: tag}; cycle 0 is at 5 ns."""
    lines = ["$timescale 1 ns $end", "$scope module tb $end"]
    for code, width, name in (
        *(("!", 1, "clk"), ("a", 1, "in_valid"), ("b", 6, "in_tag"), ("c", 7, "in_words")),
        *(("d", 1, "out_valid"), ("e", 6, "out_tag")),
    ):
        lines.append(f"$var wire {width} {code} {name} $end")
    lines += ["$upscope $end", "$enddefinitions $end"]
    for cycle in range(max([*incoming, *outgoing]) + 4):
        tag, words = incoming.get(cycle, (0, 0))
        lines.append(f"#{10 * cycle} 0! {int(cycle in incoming)}a b{tag:b} b b{words:b} c")
        lines.append(f"{int(cycle in outgoing)}d b{outgoing.get(cycle, 0):b} e")
        lines.append(f"#{10 * cycle + 5} 1!")
    path.write_text("\n".join(lines) + "\n")


def pool(words, delay, servers=3):
    """(start, commit) of each job that waits from cycle 0 on, on the server that is free first."""
    free, found = [0] * servers, []
    for n in words:
        k = min(range(servers), key=lambda k: free[k])
        found.append((free[k], free[k] + delay(n)))
        free[k] += delay(n)
    return found


@pytest.fixture
def folder(tmp_path):
    """A recording of the pool in which no two jobs are done in one cycle, and a model of it."""
    words = list(WORDS)
    while len({c for _, c in pool(words, lambda n: n + 4)}) < len(words):
        commits = [c for _, c in pool(words, lambda n: n + 4)]
        k = next(k for k, c in enumerate(commits) if c in commits[:k])
        words[k] = words[k] % 64 + 1
    fired = pool(words, lambda n: n + 4)
    assert [c for _, c in fired] != sorted(c for _, c in fired)  # they overtake one another
    write(
        tmp_path / "pool.vcd",
        {k: (k, n) for k, n in enumerate(words)},
        {c: k for k, (_, c) in enumerate(fired)},
    )
    tmp_path.joinpath("pool.py").write_text(MODEL.replace("WORK", "lambda job: job.words + extra"))
    tmp_path.joinpath("skeleton.py").write_text(MODEL.replace("WORK", "lpn.unknown()"))
    tmp_path.joinpath("blind.toml").write_text(MAP)
    tmp_path.joinpath("map.toml").write_text(MAP + PAYLOAD)
    rows = [list(row) for row in enumerate(words)]
    tmp_path.joinpath("jobs.json").write_text(f'{{"jobs": {rows}}}')
    tmp_path.joinpath("words.txt").write_text(" ".join(map(str, words)))
    return tmp_path


def compare(lpn, folder, *more, map="map.toml", model="pool.py", vcd="pool.vcd"):
    words = (folder / model, folder / "jobs.json", folder / vcd, "--map", folder / map)
    return lpn("wave", "compare", *words, *more, "--json")


def test_firings_that_overtake_one_another_are_compared_with_their_own(lpn, folder):
    same = compare(lpn, folder)
    assert same.status == 0 and same.json["transitions"][0]["exact"] == len(WORDS)
    slow = compare(lpn, folder, "-p", "extra=6").json["transitions"][0]
    assert slow["exact"] < len(WORDS) and slow["cause"].startswith("2 cycles early")
    # Two jobs that end 1 cycle apart, the other way round in the recording.
    text = (folder / "pool.vcd").read_text()
    outs = re.findall(r"^1d b(\d+) e$", text, re.MULTILINE)
    at = {int(t, 2): k for k, t in enumerate(outs)}
    one, two = f"1d b{outs[4]} e\n", f"1d b{outs[5]} e\n"
    text = text.replace(one, "FIRST").replace(two, one).replace("FIRST", two)
    (folder / "swapped.vcd").write_text(text)
    answer = compare(lpn, folder, vcd="swapped.vcd")
    row = answer.json["transitions"][0]
    assert answer.status == 1 and row["first_divergence"]["firing"] == 4
    first, second = int(outs[4], 2), int(outs[5], 2)
    assert at[first] == 4
    assert row["cause"].startswith(
        f"the order differs: {second} recorded, {first} in the model; the firing with {second} comes "
        "1 place sooner than in the model; "
    )
    assert row["exact"] == len(WORDS) - 2  # all others are exact against their own firing


def test_instants_that_are_given_are_taken_as_they_are(lpn, folder):
    """The model does not know why the jobs come as they do: their starts are given."""
    words, jobs, done, free = read_words(folder), {}, {}, [0, 0, 0]
    at = 3
    for tag, n in enumerate(words):
        jobs[at] = (tag, n)
        k = free.index(min(free))
        free[k] = max(at, free[k]) + n + 4
        while free[k] in done:  # one word a cycle
            free[k] += 1
        done[free[k]] = tag
        at += 2 + n // 3
    write(folder / "later.vcd", jobs, done)
    entry = '[transitions.issue]\nchannel = "in"\nevent = "start"\n'
    (folder / "asked.toml").write_text(MAP + PAYLOAD + entry)
    (folder / "given.toml").write_text(MAP + PAYLOAD + entry + "given = true\n")
    asked = compare(lpn, folder, map="asked.toml", vcd="later.vcd")
    assert asked.status == 1 and not asked.json["transitions"][1]["given"]
    given = compare(lpn, folder, map="given.toml", vcd="later.vcd")
    assert given.status == 0, given.out
    work, issue = given.json["transitions"]
    assert issue["given"] and work["exact"] == issue["exact"] == len(WORDS)
    late = entry + "given = true\noffset = 50\n"
    (folder / "late.toml").write_text(MAP + PAYLOAD + late)
    said = compare(lpn, folder, map="late.toml", vcd="later.vcd").refused("E-wave-map")
    assert "transitions.issue: the first start of 'issue' would be at cycle -47; its offset" in said


def read_words(folder):
    return [int(n) for n in (folder / "words.txt").read_text().split()]


def test_given_commits_that_overtake_one_another(lpn, folder):
    """The instants belong to the firings whose tags they carry, not to those in their place."""
    (folder / "given.toml").write_text(MAP + PAYLOAD + "given = true\n")
    answer = compare(lpn, folder, map="given.toml", model="pool.py")
    assert answer.status == 0 and answer.json["transitions"][0]["exact"] == len(WORDS)
    # A model that is faster is held to them as well.
    fast = compare(lpn, folder, "-p", "extra=0", map="given.toml")
    assert fast.status == 0, fast.json["transitions"]
    # Of one that is slower it is told that it cannot follow.
    slow = compare(lpn, folder, "-p", "extra=5", map="given.toml").json["transitions"][0]
    assert (
        slow["cause"]
        == "1 cycle before the model can: it is given, and the model's firing is held to it"
    )


def fit(lpn, folder, map, *more):
    return lpn(
        *("fit", folder / "skeleton.py", folder / "pool.vcd", "--map", folder / map),
        *("--input", folder / "jobs.json", "--json", *more),
    )


def test_fit_of_firings_that_overtake_one_another(lpn, folder):
    """Told apart by what their tokens carry."""
    answer = fit(lpn, folder, "map.toml")
    assert answer.status == 0, answer.out
    (row,) = answer.json["unknowns"]
    assert row["formula"] == "job.words + 4" and not row["few"] and not row["overtaking"]


def test_tokens_that_come_twice(lpn, folder):
    places = '[places.jobs]\nchannel = "in"\nproperties = { tag = "tag", words = "words" }\n'
    (folder / "both.toml").write_text(MAP + PAYLOAD + places)
    said = fit(lpn, folder, "both.toml").refused("E-wave-map")
    assert (
        "places.jobs: the input brings tokens into 'jobs' as well, and each would come twice; leave out "
        "--input, or the place"
    ) in said


def test_a_payload_that_is_of_no_token(lpn, folder):
    text = (folder / "map.toml").read_text().replace("job.tag", "job.words")
    (folder / "wrong.toml").write_text(text)
    said = fit(lpn, folder, "wrong.toml").refused("E-wave-map")
    assert "what the commits of 'work' carry is not what its tokens do: recorded " in said


def test_fit_of_requests_that_say_when_they_were_born(lpn, folder):
    """A birth that the map leaves out is when the token comes; here the delay tells what it was."""
    model = MODEL.replace("words: lpn.Int[1, 64]", "words: lpn.Int[1, 64]\n    born: lpn.Birth")
    model = model.replace("WORK", "lambda job: job.words + job.born % 4 + lpn.unknown('setup')")
    (folder / "skeleton.py").write_text(model)
    jobs = {71 * k: (k, n) for k, n in enumerate(WORDS)}
    write(folder / "pool.vcd", jobs, {at + n + at % 4 + 4: k for at, (k, n) in jobs.items()})
    place = '[places.jobs]\nchannel = "in"\nproperties = { tag = "tag", words = "words"BORN }\n'
    (folder / "born.toml").write_text(MAP + PAYLOAD + place.replace("BORN", ""))
    words = ("fit", folder / "skeleton.py", folder / "pool.vcd", "--map")
    answer = lpn(*words, folder / "born.toml", "--json")
    assert answer.status == 0 and answer.json["exact"], answer.out
    assert [u["formula"] for u in answer.json["unknowns"]] == ["setup = 4"]
    # It may still be given, and whatever else is left out is named.
    (folder / "given.toml").write_text(MAP + PAYLOAD + place.replace("BORN", ", born = 0"))
    assert not lpn(*words, folder / "given.toml", "--json").json["exact"]
    (folder / "less.toml").write_text(MAP + PAYLOAD + place.replace(', words = "words"BORN', ""))
    said = lpn(*words, folder / "less.toml", "--json").refused("E-wave-map")
    assert "places.jobs.properties are tag; the place's tokens have tag, words, born" in said


def test_fit_without_their_names_says_so(lpn, folder):
    """Commits are taken in the order of starts: no exact formula, and the report says why."""
    answer = fit(lpn, folder, "blind.toml")
    (row,) = answer.json["unknowns"]
    assert answer.status == 1 and row["overtaking"] and row["residuals"]
    said = lpn(
        *("fit", folder / "skeleton.py", folder / "pool.vcd", "--map", folder / "blind.toml"),
        *("--input", folder / "jobs.json"),
    ).out
    assert (
        "work.delay: firings may overtake one another, and the map does not say which commit is whose: "
        "each is taken for that of the firing in its place; a payload in [transitions.work] would tell\n"
    ) in said


def test_our_own_traces(lpn, folder):
    """A run as lpn viz writes it, several commits a cycle: every one in its cycle, as the model has it."""
    jobs = ", ".join(f"[{k}, 2]" for k in range(48))
    (folder / "own.json").write_text(f'{{"jobs": [{jobs}]}}')
    words = (folder / "pool.py", folder / "own.json", "-p", "extra=2")
    assert lpn("viz", *words, "-o", folder / "own.vcd").status == 0
    (folder / "own.toml").write_text(
        'clock = "1 ns"\n[channels.out]\ncount = "work_commits"\n[channels.busy]\n'
        'busy = "work_in_flight[0]"\n[transitions.work]\nchannel = "out"\n'
    )
    files = (folder / "own.vcd", "--map", folder / "own.toml")
    out, busy = lpn("wave", "stalls", *files, "--json").json["channels"]
    assert out["kind"] == "count" and out["transfers"] == 48
    assert out["cycles"] - out["idle"] == 16  # three at once
    same = lpn("wave", "compare", *words[:2], *files, *words[2:], "--json")
    assert same.status == 0 and same.json["transitions"][0]["exact"] == 48
    other = lpn("wave", "compare", *words[:2], *files, "-p", "extra=3", "--json")
    assert other.status == 1
    assert other.json["transitions"][0]["cause"].startswith("1 cycle early")
    for text, said in (
        ('clock = "10 ps"', "is no multiple of the time scale of"),
        ('clock = "1 ns"\nedge = "falling"', "which has no edge; leave edge out"),
        ('clock = "1 ns"\n[channels.x]\ncount = ["a", "b"]', "is one signal of at most 64 bits"),
    ):
        map = (folder / "own.toml").read_text().replace('clock = "1 ns"', text)
        (folder / "bad.toml").write_text(map)
        assert said in lpn("wave", "stalls", files[0], "--map", folder / "bad.toml").refused(
            "E-wave-map"
        )
    # What goes down again is no count, and a time that leaps is no run of edges.
    map = (folder / "own.toml").read_text().replace("work_commits", "work_in_flight")
    (folder / "down.toml").write_text(map)
    down = lpn("wave", "stalls", files[0], "--map", folder / "down.toml", "--json")
    assert down.status == 3
    assert "the count of channel 1 goes from 3 to 0 at time " in down.json["damage"]
    with open(folder / "own.vcd", "a") as file:
        file.write("#9223372036854775000\nb1 !\n")
    (folder / "op.toml").write_text(
        'clock = "1 ns"\n[channels.op]\nstart = "work_in_flight[0]"\ndone = "work_in_flight[1]"\n'
    )
    leap = lpn("wave", "stalls", files[0], "--map", folder / "op.toml", "--json")
    assert leap.status == 3 and "which are 9223372036854" in leap.json["damage"]
