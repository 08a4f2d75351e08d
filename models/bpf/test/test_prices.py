"""Cost tables: prices by hand, what has none, and the written interface against the machine."""

import json
import random
import re

import pytest
from assemble import EXIT, hash_map, mov, program
from test_interface import run

from models.bpf import check, interface, prices
from models.bpf.errors import Error
from models.bpf.machine import Machine, Table, World

TABLE = """
about = "numbers that tell everything apart"
packet = 1000
[instructions]
alu64 = 3
alu32 = 5
mul = 7
div = 11
swap = 13
lddw = 17
jump = {taken = 19, not_taken = 23}
goto = 29
call = 31
exit = 37
[memory]
ctx = {load = 41}
pkt = {load = 43, store = 47}
stack = {load = 53, store = 59}
map = {load = 61, store = 67, atomic = 71}
[helpers]
map_lookup_elem = {HASH = 100, LRU_HASH = 101, ARRAY = 102, PERCPU_ARRAY = 103}
map_update_elem = 300
redirect_map = {DEVMAP = 400, DEVMAP_HASH = 401}
ktime_get_ns = 500
"""


@pytest.fixture
def table(tmp_path):
    def write(text=TABLE, name="table.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def cycles(costs, *instructions, **objects):
    made = program(*instructions, **objects)
    world = World(bytes(64), {}, {m.name: Table(m) for m in objects.get("maps", ())}, {}, {})
    return Machine(made, made.functions[0], None, prices.read([costs])).run(world).cycles


def test_every_kind_has_its_price(table):
    costs = table()
    assert cycles(costs, mov(0, 2), EXIT) == 1000 + 3 + 37
    assert cycles(costs, (0xB4, 0, 0, 0, 2), EXIT) == 1000 + 5 + 37
    assert cycles(costs, mov(0, 2), (0x27, 0, 0, 0, 3), (0x34, 0, 0, 0, 3), EXIT) == 1058
    assert cycles(costs, mov(0, 2), (0xDC, 0, 0, 0, 16), EXIT) == 1000 + 3 + 13 + 37
    assert cycles(costs, (0x18, 0, 0, 0, 2), (0, 0, 0, 0, 0), EXIT) == 1000 + 17 + 37
    equal, other = (0x15, 0, 0, 0, 2), (0x55, 0, 0, 0, 2)
    assert cycles(costs, mov(0, 2), equal, EXIT) == 1000 + 3 + 19 + 37
    assert cycles(costs, mov(0, 2), other, EXIT) == 1000 + 3 + 23 + 37
    assert cycles(costs, (0x05, 0, 0, 0, 0), mov(0, 2), EXIT) == 1000 + 29 + 3 + 37
    stack = (0x62, 10, 0, -4, 5), (0x61, 0, 10, -4, 0)
    assert cycles(costs, *stack, EXIT) == 1000 + 59 + 53 + 37


def test_helpers_by_type_of_map(table):
    one = hash_map("flows")
    lookup = [
        (0x62, 10, 0, -4, 5), (0x18, 1, 1, 0, 0), (0, 0, 0, 0, 0), (0xBF, 2, 10, 0, 0),
        (0x07, 2, 0, 0, -4), (0x85, 0, 0, 0, 1), mov(0, 2), EXIT,
    ]  # fmt: skip
    found = cycles(table(), *lookup, maps=(one,), targets={1: ("map", "flows")})
    assert found == 1000 + 59 + 17 + 3 + 3 + 100 + 3 + 37


@pytest.mark.parametrize("name", ["port_filter", "port_filter_v2", "bridge", "vlan_walk"])
@pytest.mark.parametrize("paths", [1000, 0])
def test_the_interface_prices_every_packet(demo, table, name, paths):
    found = interface.extract(demo(name), paths=paths, prices=prices.read([table()]))
    assert all(c.bounds["cycles"][0] > 1000 for c in found.classes)
    assert check.differences(found, 120, metric="cycles") == []
    assert check.differences(found, 30) == []


CHAINS = """
[helpers]
map_lookup_elem = {HASH = {base = 90, chain = 12}, LRU_HASH = {base = 95, chain = 13, evicted = 40}}
"""


@pytest.mark.parametrize("name", ["port_filter", "port_filter_v2", "bridge"])
@pytest.mark.parametrize("paths", [1000, 0])
def test_costs_are_formulas_in_variables(demo, table, name, paths):
    found = interface.extract(
        demo(name), paths=paths, prices=prices.read([table(), table(CHAINS, "chains.toml")])
    )
    module = check.module_of(check.write(found, "cycles"))
    machine = Machine(found.program, found.function, None, found.prices)
    drawn = random.Random(3)
    assert module["VARIABLES"]
    for _ in range(80):
        seed = drawn.choice([one.witness for one in found.classes])
        world = check.mutated(drawn, seed, found.program)
        pcv = {name: drawn.randrange(9) for name in module["VARIABLES"]}
        inputs = world.packet, world.context, check.tables_of(world), world.environment, world.data
        said = module["perf"](*inputs, pcv)
        run = machine.run(world)
        assert said == run.cycles + sum(pcv[n] * each for n, each in run.variables.items())
    with pytest.raises(KeyError, match="no variable 'chain'"):
        module["perf"](bytes(64), pcv={"chain": 1})


def test_variables_of_merged_classes_keep_the_larger_coefficient(demo, table):
    mine = prices.read([table(), table(CHAINS, "chains.toml")])
    found = interface.extract(demo("port_filter"), prices=mine)
    whole = interface.merged(found, "cycles", "half")[-1][1]
    assert whole.terms == {"blocked_ports.chain": 12}


def test_classes_are_told_apart_by_their_price(demo, table):
    """vlan_walk's loop costs the same each round, whatever is counted."""
    found = interface.extract(demo("vlan_walk"), prices=prices.read([table()]))
    walked = {c.bounds["insns"][0]: c.bounds["cycles"][0] for c in found.classes}
    assert walked[15] - walked[7] != walked[29] - walked[15]
    assert walked[43] - walked[29] == walked[57] - walked[43]


def test_a_later_table_comes_before_an_earlier_one(table):
    mine = table("packet = 5\n[instructions]\njump = {taken = 1}\nalu32 = 2\n", "mine.toml")
    both = prices.read([table(), mine])
    assert (both.packet, both.instructions["jump"]) == (5, {"taken": 1, "not_taken": 23})
    assert (both.instructions["alu64"], both.instructions["alu32"]) == (3, 2)
    assert both.name == "table.toml and mine.toml"


def test_the_shipped_table_prices_all_but_maps(demo, tmp_path, monkeypatch):
    (tmp_path / "nfp").mkdir()  # no file
    monkeypatch.chdir(tmp_path)
    nfp = prices.read(["nfp"])
    found = interface.extract(demo("vlan_walk"), prices=nfp)
    assert all(c.bounds["cycles"][0] > nfp.packet for c in found.classes)
    text = re.escape(
        "nfp has no price '[helpers] map_lookup_elem', which instruction xdp:23 needs; add it"
        " there, or in a further --costs FILE"
    )
    with pytest.raises(Error, match=text):
        interface.extract(demo("port_filter"), prices=nfp)


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("packet = 1.5", "packet must be a whole number, 0 to 100000, got 1.5"),
        ("packet = true", "packet must be a whole number, 0 to 100000, got True"),
        ("packet = -1", "packet must be a whole number, 0 to 100000, got -1"),
        ("pakcet = 1", "there is no pakcet; write about, packet, instructions, memory, helpers"),
        (
            "[instructions]\njmp = 1",
            "there is no instructions.jmp; write alu, mul, div, alu64, alu32, mul64, mul32, div64,"
            " div32, swap, lddw, goto, call, exit, jump",
        ),
        (
            "[instructions]\njump = {yes = 1}",
            "there is no instructions.jump.yes; write taken, not_taken",
        ),
        (
            "[instructions]\nalu = {x = 1}",
            "instructions.alu must be a whole number, 0 to 100000, got {'x': 1}",
        ),
        ("[memory]\nheap = {load = 1}", "there is no memory.heap; write ctx, pkt, stack, map"),
        (
            "[memory]\npkt = {read = 1}",
            "there is no memory.pkt.read; write load, store, atomic",
        ),
        ("[memory]\npkt = 3", "memory.pkt must be a table, got 3"),
        ("memory = 3", "memory must be a table, got 3"),
        (
            "[helpers]\nmap_lookup_elem = {HASH = 100001}",
            "helpers.map_lookup_elem.HASH must be a whole number, 0 to 100000, got 100001",
        ),
    ],
)
def test_tables_that_are_none(table, text, wrong):
    path = table(text)
    with pytest.raises(Error, match="^" + re.escape(f"'{path}': {wrong}") + "$"):
        prices.read([path])


@pytest.mark.parametrize(
    "price, wrong",
    [
        ("{chain = 3}", "helpers.map_lookup_elem.HASH has no base; write base = 0"),
        ("{base = 1, 'a b' = 3}", "helpers.map_lookup_elem.HASH: 'a b' cannot name a variable"),
        (
            "{base = 1, chain = 1.5}",
            "helpers.map_lookup_elem.HASH.chain must be a whole number, 0 to 100000, got 1.5",
        ),
    ],
)
def test_variables_that_are_none(table, price, wrong):
    path = table(f"[helpers.map_lookup_elem]\nHASH = {price}")
    with pytest.raises(Error, match="^" + re.escape(f"'{path}': {wrong}") + "$"):
        prices.read([path])


def test_helpers_that_do_not_exist(table):
    path = table("[helpers]\nmap_lookup = 3")
    with pytest.raises(Error, match=re.escape(f"'{path}': there is no helpers.map_lookup; write ")):
        prices.read([path])
    path = table("[helpers]\nmap_lookup_elem = {LRUHASH = 3}")
    text = f"'{path}': there is no helpers.map_lookup_elem.LRUHASH; write UNSPEC, HASH, ARRAY, "
    with pytest.raises(Error, match=re.escape(text)):
        prices.read([path])


def test_no_toml(table, tmp_path):
    with pytest.raises(Error, match="is no TOML"):
        prices.read([table("packet = ")])
    with pytest.raises(Error, match="cannot read .*; shipped tables: nfp"):
        prices.read([str(tmp_path / "nothing")])


def test_commands(demo, table):
    costs = ["--costs", table()]
    data = json.loads(run("interface", demo("port_filter"), *costs, "--json").stdout)
    assert data["metric"] == "cycles" and data["cost_table"]["name"] == "table.toml"
    assert data["max_cycles"] == max(c["cycles"] for c in data["classes"])
    text = run("interface", demo("port_filter"), *costs, "--text").stdout
    assert "# metric: cycles by the cost table table.toml" in text
    assert "# cost table: numbers that tell everything apart" in text
    assert run("interface", demo("port_filter"), *costs).stdout.splitlines()[3].split()[:3] == [
        "class", "cycles", "insns",
    ]  # fmt: skip
    change = run("diff", demo("port_filter"), demo("port_filter_v2"), *costs, "--json", status=0)
    assert json.loads(change.stdout)["metric"] == "cycles"
    merged = run("interface", demo("vlan_walk"), *costs, "--resolution", "300", "--json")
    assert json.loads(merged.stdout)["resolution"] == 300
    assert (
        "needs --costs TABLE"
        in run("interface", demo("bridge"), "--metric", "cycles", status=2).stderr
    )
