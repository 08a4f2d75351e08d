"""Accelerators with ports to their memory: what each access waits for, and what is refused."""

import random
from array import array
from collections import OrderedDict

import lpn
import pytest
from conftest import ROOT
from lpn.runs import prepare

dram = lpn.load("dram").module

from models.dram.trace import Trace  # noqa: E402

UNIT = '''"""An accelerator that reads and writes what a file says: R or W, an id and an address a line."""
import array
import lpn
from lpn import lib

PORTS = {"R": "loads", "W": "stores"}


def net():
    net = lpn.Net("unit")
    go, running = net.place("go", start=True), net.place("running")
    done = net.place("done", done=True, sink=True)
    net.transition("begin", take={"t": go}, put=[running])
    for name in PORTS.values():
        port, asks = lib.memory_port(net, name), net.place(f"asks_{name}", lib.Access, start=True)
        net.transition(
            f"ask_{name}", take={"go": running.peek(), "t": asks}, put=[port.requests.forward("t")],
            delay=1, servers=1,
        )
        net.transition(f"end_{name}", take={"t": port.responses}, put=[done])
    return net


def rows(input):
    for line in open(input):
        what, id, address = line.split()
        yield PORTS[what], int(id), int(address)


def workload(input, net):
    marking = lpn.Marking(net)
    marking.add("go", count=1)
    for port, id, address in rows(input):
        marking.add(f"asks_{port}", address=address, bytes=16, write=port == "stores", id=id)
    return marking


def streams(net):
    return [("loads", 0), ("loads", 1), ("stores", 0)]


def traffic(input, net, line):
    whose, lines = array.array("q"), array.array("q")
    last = {}
    for port, id, address in rows(input):
        if (port, id) in streams(net) and last.get((port, id)) != address // line:
            last[port, id] = address // line
            whose.append(streams(net).index((port, id)))
            lines.append(address // line + WRONG)
    return whose, lines
'''
FILE = """
model = "system"
[accelerator]
model = "unit.py"
clock_mhz = 2000
inputs = {go = 0}
finished = {done = COUNT}
ports = {loads = "read", stores = "write"}
[link]
latency_ns = 4
[host]
wait = "interrupt"
[memory]
model = "dram"
part = "ddr4"
clock_mhz = 1600
packet_ns = 2
read_packet_ns = 1
hit_ns = 9
behind_ns = 11
behind_bytes = 512
behind_ways = 2
controller_ns = 30
"""
TICKS = 16  # of 31.25 ps in a cycle of the accelerator
LINK, HIT, BEHIND, FRONT, PASS = 4, 9, 11, 30, {"loads": 1, "stores": 2}


def system(folder, accesses=(), text=FILE, wrong=0, **changed):
    (folder / "unit.py").write_text(UNIT.replace("WRONG", str(wrong)))
    (folder / "accesses.txt").write_text("".join(f"{w} {i} {a}\n" for w, i, a in accesses))
    text = text.replace("COUNT", str(len(accesses) or 1))
    for old, new in changed.items():
        text = text.replace(f"{old} = ", f"{old} = {new} # ")
    (folder / "board.toml").write_text(text)
    return lpn.load(str(folder / "board.toml"))


def simulated(folder, accesses, engine="interp", settings=None, **changed):
    """Commits of each transition, in ns from the accelerator's first request."""
    model = system(folder, accesses, **changed)
    net = model.net(**(settings or {}))
    marking = model.workload(str(folder / "accesses.txt"), net)
    run = lpn.simulate(net, marking, engine=engine, trace=True)
    assert run.ending == "done", run.blocked
    names, found = list(net.transitions), {}
    for commit in run.trace:
        found.setdefault(names[commit.transition], []).append(
            float(commit.time * net.system[0].tick / 1000)
        )
    asked = [found.get(f"accelerator.ask_{k}", [1e9])[0] for k in PASS]
    return {name: [t - min(asked) for t in times] for name, times in found.items()}


@pytest.mark.parametrize("what, port", [("R", "loads"), ("W", "stores")])
def test_lines_behind_the_edge_cost_so_much_and_the_line_that_a_stream_is_in_less(
    tmp_path, what, port
):
    """The second and third word are of the first one's line, and later by a cycle each, or by what an
    access takes at the edge."""
    step = max(0.5, PASS[port])
    accesses = [(what, 0, 4096 + 16 * k) for k in (3, 2, 1)] + [(what, 0, 4096 - 16)]
    found = simulated(tmp_path, accesses, settings={"earlier": 1})
    first = 2 * LINK + HIT + BEHIND
    assert "memory.written_back" not in found and f"memory.{port}.fetch" not in found
    assert found[f"memory.{port}.back"] == [first] * 3 + [first + 3 * step]


def test_what_no_stream_tells_is_behind_the_edge(tmp_path):
    found = simulated(tmp_path, [("R", 7, 0)])
    assert found["memory.loads.back"] == [2 * LINK + HIT + BEHIND]


def test_who_comes_to_the_edge_first_goes_first(tmp_path):
    """Reads went first: the first write, which came before the second read, after all that came meanwhile."""
    accesses = [("R", 7, 0), ("W", 7, 0), ("R", 7, 64), ("W", 7, 64)]
    found = simulated(tmp_path, accesses)
    assert found["memory.loads.pass"] == [LINK + 1, LINK + 1 + 2 + 1]
    assert found["memory.stores.pass"] == [LINK + 1 + 2, LINK + 1 + 2 + 1 + 2]


def lines_apart(number):
    """Reads of one line of a row of its own each, of one stream."""
    return [("R", 0, 2**20 * k) for k in range(number)]


def test_what_is_in_dram_is_answered_as_the_controller_answers_a_trace(tmp_path):
    """A quarter of a cycle is 156.25 ps."""
    accesses = lines_apart(40)
    model = system(tmp_path, accesses)
    net = model.net()
    marking = model.workload(str(tmp_path / "accesses.txt"), net)
    run = lpn.simulate(net, marking, engine="interp", trace=True)
    names = list(net.transitions)
    commits = {
        kind: [c.time for c in run.trace if names[c.transition] == f"memory.loads.{kind}"]
        for kind in ("fetch", "filled", "back")
    }
    quarter = 5
    asked = [-(-t // quarter) // 4 for t in commits["fetch"]]
    trace = Trace("reads", "ddr4", asked, [2**14 * k for k in range(40)], [False] * 40)
    made = dram.net_of(trace)
    _, _, done = trace.times(prepare(made, trace.marking(made), engine="interp"))
    assert [t // (4 * quarter) for t in commits["filled"]] == sorted(done)
    assert len(set(commits["filled"])) == 40
    # In order, each a link after its line has come.
    link = int(LINK * 1000 / 31.25)
    assert commits["back"] == sorted(commits["back"])
    latest = [max(commits["filled"][: k + 1]) + link for k in range(40)]
    assert commits["back"] == latest


def test_an_access_waits_for_those_of_its_port_before_it(tmp_path):
    found = simulated(tmp_path, [("R", 0, 0), ("R", 7, 64), ("W", 7, 64)])
    miss, near = found["memory.loads.back"]
    assert miss == near > 2 * LINK + HIT + BEHIND + FRONT
    assert found["memory.stores.back"][0] < 2 * LINK + HIT + BEHIND + 3


def test_a_dirty_line_that_a_miss_throws_out_is_written_back(tmp_path):
    """Two ways, 4 sets: the third line of a set throws out the first; only written lines are dirty."""
    lines = [("W", 0, 0), ("W", 0, 256), ("W", 0, 512), ("W", 0, 768)]
    assert len(simulated(tmp_path, lines)["memory.written_back"]) == 2
    lines = [("R", 0, at) for _, _, at in lines]
    assert "memory.written_back" not in simulated(tmp_path, lines)
    lines = [("W", 0, 64 * k) for k in range(8)]  # a cache full
    assert "memory.written_back" not in simulated(tmp_path, lines)


def test_the_engines_agree(tmp_path):
    draw = random.Random(3)
    accesses = [
        (draw.choice("RW"), draw.choice((0, 0, 0, 7)), 16 * draw.randrange(2**16))
        for _ in range(300)
    ]
    commits = [simulated(tmp_path, accesses, engine) for engine in ("interp", "compiled")]
    assert commits[0] == commits[1] and len(commits[0]["memory.written_back"]) > 50


def test_a_model_that_tells_other_lines_than_it_touches_ends_the_run(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        simulated(tmp_path, [("R", 0, 4096)], wrong=1)
    assert refused.value.code == "E-assume"
    assert "traffic() tells another line than the accelerator touches" in str(refused.value)


def expected(whose, lines, writes, sets, ways, passes):
    """What each access finds, by a dictionary per set: the oldest line first."""
    cache, found = [OrderedDict() for _ in range(sets)], []
    for _ in range(passes):
        found = []
        for stream, line in zip(whose, lines):
            here = cache[line % sets]
            result, dirty = -2, here.pop(line, None)
            if dirty is None:
                result = -1
                if len(here) == ways:
                    old, was = here.popitem(last=False)
                    result = old if was else -1
            here[line] = bool(dirty) or writes[stream]
            found.append(result)
    return found


@pytest.mark.parametrize("sets, ways, earlier", [(1, 1, 0), (4, 2, 0), (4, 3, 1), (16, 9, 1)])
def test_the_cache_behind_the_edge(sets, ways, earlier):
    from lpn_models_native import _system

    draw, writes = random.Random(sets * ways), [False, True, False]
    lines = [draw.randrange(5 * sets * ways) if draw.random() < 0.6 else 3 for _ in range(2000)]
    whose = [draw.randrange(3) for _ in lines]
    told = _system.cached(
        array("q", whose), array("q", lines), writes, sets=sets, ways=ways, earlier=earlier
    )
    found = expected(whose, lines, writes, sets, ways, 1 + earlier)
    for stream, (touched, finds) in enumerate(told):
        mine = [k for k, number in enumerate(whose) if number == stream]
        assert list(memoryview(touched)) == [lines[k] for k in mine]
        assert list(memoryview(finds)) == [found[k] for k in mine]
    assert len({*found} & {-1, -2}) == 2 and max(found) >= 0


def test_a_stream_without_accesses_is_a_column_of_no_tokens(tmp_path):
    """An empty buffer that has no address."""
    model = system(tmp_path, [("R", 0, 4096)])
    net = model.net()
    marking = model.workload(str(tmp_path / "accesses.txt"), net)
    streams = [("loads", 0), ("loads", 1), ("stores", 0)]
    assert [marking.count(f"memory.{p}.stream{k}.found") for p, k in streams] == [1, 0, 0]


@pytest.mark.parametrize(
    "bad", [{"sets": 3}, {"ways": 0}, {"earlier": -1}, {"whose": [7]}, {"lines": [-1]}]
)
def test_what_the_pass_refuses(bad):
    from lpn_models_native import _system

    given = {"whose": [0], "lines": [0], "sets": 1, "ways": 1, "earlier": 0, **bad}
    whose, lines = (array("q", given.pop(name)) for name in ("whose", "lines"))
    with pytest.raises(ValueError, match="cached: "):
        _system.cached(whose, lines, [True], **given)


PORTS = 'ports = {loads = "read", stores = "write"}'


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"read"', '"rd"', "accelerator.ports.loads must be one of read, write, got 'rd'"),
        ('model = "dram"', "", 'accesses with addresses: memory.model must be "dram"'),
        ("latency_ns = 4", "generation = 3", "ports needs a link of messages; leave out link.gen"),
        (
            "behind_bytes = 512",
            "",
            "memory.behind_bytes is 0: with accelerator.ports it is behind_way",
        ),
        ("behind_bytes = 512", "behind_bytes = 384", "s, 2, times line, 64, times a power of two"),
        (PORTS, "", "memory.behind_bytes is of accelerator.ports, which are not there"),
        ("{go = 0}", "{go = 8}", "are all that the net reads and writes: no outputs, and 0 bytes"),
        (PORTS, PORTS + '\nround_trips = {x = "read"}', "round_trips.x is 'read', a fixed latency"),
        ("hit_ns = 9", "hit_ns = 1", "memory.hit_ns has packet_ns and read_packet_ns in it"),
        (
            "controller_ns",
            'input = "behind"\ncontroller_ns',
            "memory.input is of DMA, which a net with",
        ),
        ("[link]", "[writes]\nbytes = 16\n[link]", "writes.bytes is of DMA, which a net with acc"),
        ("stores =", "memory =", "'unit.py' has no memory port 'memory' with its parameters"),
        ('"unit.py"', '"protoacc"', "'protoacc' has no memory port 'loads' with its parameters"),
        (
            '"unit.py"',
            '"vta"',
            "'vta' does not say which lines it touches: its module has no functi",
        ),
    ],
)
def test_what_is_refused(tmp_path, old, new, said):
    assert old in FILE
    text = FILE.replace(old, new)
    if "protoacc" in new or "vta" in new:
        end = {"protoacc": "completed", "vta": "done"}[new.strip('"')]
        start = {"protoacc": "messages", "vta": "load_bursts"}[new.strip('"')]
        text = text.replace("{go = 0}", f"{{{start} = 0}}").replace("{done =", "{%s =" % end)
    with pytest.raises(lpn.Error) as refused:
        system(tmp_path, text=text).net()
    assert refused.value.code == "E-system-file" and said in str(refused.value)


def test_dma_cannot_be_set_where_there_is_none(tmp_path):
    with pytest.raises(lpn.Error) as refused:
        system(tmp_path).net(outstanding_reads=4)
    assert "reads.outstanding is of DMA, which a net with accelerator.ports has not" in str(
        refused.value
    )


def test_where_data_is_cannot_be_said_of_ports(tmp_path):
    for value in (0, 1):
        with pytest.raises(lpn.Error) as refused:
            system(tmp_path).net(in_dram=value)
        assert refused.value.code == "E-param"
        assert "in_dram is of DMA and of round_trips; accelerator.ports" in str(refused.value)


def test_protoacc_with_an_empty_cache_and_after_a_run():
    """Ten times two small messages: what is read and written is 1.5 kB."""
    model = lpn.load(str(ROOT / "models" / "system" / "demo" / "protoacc.toml"))
    items = str(ROOT / "models" / "protoacc" / "demo" / "two_items.json")
    found = {}
    for earlier in (0, 1):
        run = prepare(model, items, {"setup_ns": 0, "earlier": earlier}, "interp").run(stats=True)
        fetched = sum(
            run.stats["transitions"][f"memory.{port}.fetch"]["commits"]
            for port in ("reads", "writes")
        )
        found[earlier] = fetched, model.module.answer_of_run(run)["ns"]
    assert found[1][0] == 0 < found[0][0] and found[1][1] <= found[0][1]
