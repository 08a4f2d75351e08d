"""Interfaces of the demo objects and of small programs: classes, refusals, joined paths."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from assemble import EXIT, hash_map, mov, program

from models.bpf import check, coarse, explore, interface, machine, objects, report
from models.bpf import terms as t
from models.bpf.errors import Error
from models.bpf.interface import Interface

REPO = Path(__file__).resolve().parents[3]
LPN = Path(os.environ.get("LPN_BUILD", REPO / "build")) / "bin" / "lpn"


def interface_of(made, **options):
    """The interface of an Object that no file has."""
    function = made.functions[0]
    explored = explore.explore(made, function, **options)
    classes = []
    tree = None
    if explored.root is not None:
        tree = interface._with_classes(explored.root, [], classes)
    else:
        for leaf in explored.leaves:
            facts = [(c, True) for c in leaf.conditions]
            classes.append(interface._class(leaf, facts, len(classes)))
    found = Interface(made, function, explored, classes, tree, "", {})
    solver, runner = explored.executor.solver, machine.Machine(made, function)
    for one in classes:
        interface._bound(one, solver)
        interface._witness(one, found, solver, runner)
    found.partition = interface._partition(classes, solver)
    return found


def costs(found):
    return sorted((c.bounds["insns"], c.verdict) for c in found.classes)


@pytest.mark.parametrize(
    "name, classes, least, most",
    [
        ("port_filter", 8, 7, 28),
        ("port_filter_v2", 9, 8, 45),
        ("ip_counter", 4, 7, 87),
        ("bridge", 11, 9, 74),
        ("vlan_walk", 15, 7, 69),
    ],
)
def test_classes_of_the_demo(demo, name, classes, least, most):
    found = interface.extract(demo(name))
    assert len(found.classes) == classes
    assert found.partition == "checked by the solver"
    bounds = [c.bounds["insns"] for c in found.classes]
    assert (min(b[0] for b in bounds), max(b[1] for b in bounds)) == (least, most)
    assert all(c.run.verdict == c.verdict for c in found.classes)
    assert check.differences(found, 150) == []


@pytest.mark.parametrize("name", ["bridge", "ip_counter", "port_filter_v2"])
def test_joined_paths_cost_the_same(demo, name):
    found = interface.extract(demo(name), paths=0)
    assert found.explored.joined and found.partition == "checked by the solver"
    whole = interface.extract(demo(name))
    for metric in ("insns", "mem"):
        for pick, at in ((min, 0), (max, 1)):
            assert pick(c.bounds[metric][at] for c in found.classes) == pick(
                c.bounds[metric][at] for c in whole.classes
            )


@pytest.mark.parametrize("metric", ["insns", "mem"])
def test_joined_paths_at_a_resolution(demo, metric):
    """No packet is off by more than was asked, and conditions become fewer."""
    found = interface.extract(demo("bridge"), paths=0)
    before = sum(coarse.terms(one.cost) for one in found.classes)
    for resolution in (2, 5, 20, 1000):
        one = coarse.coarser(found, metric, resolution)
        assert all(c.off <= resolution for c in one.classes)
        assert check.differences(one, 100, metric=metric) == []
        left = sum(coarse.terms(c.cost) for c in one.classes)
        assert left <= before
        before = left
    assert before == 0


def test_joined_paths_at_a_resolution_as_a_command(demo):
    common = ["interface", demo("bridge"), "--paths", "0", "--resolution", "8"]
    data = json.loads(run(*common, "--json").stdout)
    assert all(c["off"] <= 8 and c["least"] <= c["most"] for c in data["interface"]["classes"])
    assert "no packet is off by more than 8" in run(*common, "--text").stdout
    assert (
        run(*common).stdout.splitlines()[0].split()
        == "class cost conditions off by verdict".split()
    )
    assert (
        "one --resolution R is answered" in run(*common[:4], "--all-resolutions", status=2).stderr
    )


def test_joined_paths_answer_every_packet(demo):
    found = interface.extract(demo("bridge"), paths=0)
    assert check.differences(found, 150) == []


# Maps. r1: the map, r2: the key on the stack.
def lookup_at(slot, key_register=None, table="m"):
    return [
        (0xBF, 2, 10, 0, 0),
        (0x07, 2, 0, 0, -4),
        (0x18, 1, 0, 0, 0),
        (0, 0, 0, 0, 0),
        (0x85, 0, 0, 0, 1),
    ]


def key(number):
    return [(0x62, 10, 0, -4, number)]


def test_equal_keys_have_equal_answers():
    """Two lookups of one key; the second must hit where the first did."""
    body = [
        *key(7),
        *lookup_at(0),
        (0xBF, 6, 0, 0, 0),
        *lookup_at(0),
        (0x15, 6, 0, 2, 0),  # if r6 == 0 goto +2
        (0x55, 0, 0, 1, 0),  # if r0 != 0 goto +1
        mov(6, 1),  # never with r6 != 0
        mov(0, 2),
        EXIT,
    ]
    made = program(*body, maps=[hash_map("m")], targets={3: ("map", "m"), 9: ("map", "m")})
    # missing: both branches are known after one decision; no third class
    assert (
        costs(interface_of(made)) == [((15, 15), "XDP_PASS"), ((15, 15), "XDP_PASS")]
        or len(costs(interface_of(made))) <= 2
    )


def test_an_update_is_seen_by_a_later_lookup_and_a_full_map_refuses_it():
    body = [
        *key(7),
        (0x7A, 10, 0, -16, 5),  # the value
        (0xBF, 2, 10, 0, 0),
        (0x07, 2, 0, 0, -4),
        (0xBF, 3, 10, 0, 0),
        (0x07, 3, 0, 0, -16),
        (0x18, 1, 0, 0, 0),
        (0, 0, 0, 0, 0),
        mov(4, 0),
        (0x85, 0, 0, 0, 2),
        *lookup_at(10),
        (0x15, 0, 0, 2, 0),
        mov(0, 2),
        EXIT,
        mov(0, 1),
        EXIT,
    ]
    made = program(*body, maps=[hash_map("m")], targets={6: ("map", "m"), 12: ("map", "m")})
    found = interface_of(made)
    dropped = [c for c in found.classes if c.verdict == "XDP_DROP"]
    assert len(dropped) == 1
    texts = interface.when(found, dropped[0])
    assert "m.free" in " ".join(texts) and "contains" in " ".join(texts)
    assert dropped[0].witness.maps["m"].free == 0


def test_an_array_misses_only_out_of_range():
    for index, verdict in ((3, "XDP_PASS"), (16, "XDP_DROP")):
        body = [*key(index), *lookup_at(0), mov(6, 2), (0x55, 0, 0, 1, 0), mov(6, 1)]
        body += [(0xBF, 0, 6, 0, 0), EXIT]
        made = program(*body, maps=[hash_map("m", kind="ARRAY")], targets={3: ("map", "m")})
        found = interface_of(made)
        assert [c.verdict for c in found.classes] == [verdict]


@pytest.mark.parametrize(
    "instructions, code",
    [
        ([(0x85, 0, 0, 0, 69), mov(0, 2), EXIT], "E-bpf-helper"),  # fib_lookup
        ([(0x85, 0, 2, 0, 5), mov(0, 2), EXIT], "E-bpf-helper"),  # a kernel function
        ([(0x61, 2, 1, 0, 0), (0x71, 0, 2, 0, 0), EXIT], "E-bpf-access"),  # not tested
        ([(0x79, 0, 10, -8, 0), EXIT], "E-bpf-access"),  # nothing was written
        ([mov(0, 2)], "E-bpf-access"),  # runs out of its end
        ([(0xBF, 0, 1, 0, 0), EXIT], "E-bpf-access"),  # returns a pointer
        ([(0x05, 0, 0, -1, 0)], "E-bpf-limit"),  # for ever
    ],
)
def test_what_is_not_modelled_is_refused(instructions, code):
    with pytest.raises(Error) as error:
        interface_of(program(*instructions))
    assert error.value.code == code


def test_an_unknown_helper_is_named():
    with pytest.raises(Error, match="fib_lookup"):
        interface_of(program((0x85, 0, 0, 0, 69), EXIT))


def test_calls_within_the_object():
    """r6 survives a call, r1 does not; the callee has a stack of its own."""
    body = [mov(6, 2), (0x85, 0, 1, 0, 2), (0xBF, 0, 6, 0, 0), EXIT]
    callee = [(0x7A, 10, 0, -8, 1), mov(6, 9), mov(0, 0), EXIT]
    made = program(*body, *callee, targets={1: 4})
    assert costs(interface_of(made)) == [((8, 8), "XDP_PASS")]


def branches(number, more=0):
    """`number` decisions in a row, each on a byte of the packet, each with its own cost, and `more`
    instructions on both sides of each.
    """
    body = [
        (0x61, 2, 1, 0, 0),
        (0x61, 3, 1, 4, 0),
        (0xBF, 4, 2, 0, 0),
        (0x07, 4, 0, 0, number),
        mov(0, 1),
        (0x2D, 4, 3, number * (4 + 2 * more) + 1, 0),
    ]
    for k in range(number):
        body += [(0x71, 5, 2, k, 0), (0x55, 5, 0, 2 + more, k)]
        body += [(0x07, 6, 0, 0, k)] * (2 + more) + [(0x0F, 6, 5, 0, 0)] * more
    body = [mov(6, 0), *body, mov(0, 2), EXIT]
    return program(*body)


@pytest.mark.skipif(not os.environ.get("LPN_SLOW"), reason="some ten seconds")
def test_two_thousand_instructions_within_a_minute():
    began = time.monotonic()
    found = interface_of(branches(40, 23))
    assert time.monotonic() - began < 60
    rest = max(found.classes, key=lambda c: c.bounds["insns"])
    assert rest.bounds["insns"] == (9 + 25 * 40, 9 + 50 * 40)


def test_billions_of_paths_are_joined():
    found = interface_of(branches(40), seconds=(0.2, 400.0))
    assert found.explored.joined and found.explored.complete
    short, rest = sorted(found.classes, key=lambda c: c.bounds["insns"])
    assert short.bounds["insns"] == (8, 8)
    assert rest.bounds["insns"] == (9 + 2 * 40, 9 + 4 * 40)
    assert rest.run.insns == 9 + 4 * 40  # the witness is the dearest packet
    assert list(rest.witness.packet[:40]) == list(range(40))
    assert check.differences(found, 30) == []


def test_time_is_over_within_one_path_too():
    """A loop of 300,000 rounds that decides nothing."""
    loop = (0x07, 0, 0, 0, 1), (0xA5, 0, 0, -2, 300_000)
    made = program(mov(0, 0), *loop, mov(0, 2), EXIT)
    began = time.monotonic()
    found = interface_of(made, seconds=(0.2, 0.5))
    assert time.monotonic() - began < 100 and not found.explored.complete
    low, high = found.classes[0].bounds["insns"]
    assert low <= 600_003 <= high


def test_time_that_is_over_is_a_sound_interval():
    found = interface_of(branches(40), paths=0, seconds=(0.01, 0.0))
    assert not found.explored.complete
    assert max(c.bounds["insns"][1] for c in found.classes) >= 9 + 4 * 40
    assert any(c.verdict == "any" for c in found.classes)
    assert check.differences(found, 30) == []


def test_the_command(demo, tmp_path):
    done = run("interface", demo("port_filter"), "--json", "-o", tmp_path / "perf.py")
    data = json.loads(done.stdout)
    assert data["max_insns"] == 28 and len(data["classes"]) == 8
    blocked = next(c for c in data["classes"] if c["insns"] == 28)
    assert blocked["when"][-1] == "blocked_ports.contains(pkt.l4.dst_port)"
    assert blocked["witness"]["maps"][0]["map"] == "blocked_ports"
    module = {}
    exec((tmp_path / "perf.py").read_text(), module)
    packet = bytes.fromhex(blocked["witness"]["packet"])
    assert module["perf"](packet, maps={"blocked_ports": {packet[36:38]: bytes(4)}}) == 28
    assert module["perf"](packet) == 27


@pytest.mark.parametrize(
    "content, code", [(b"", "E-bpf-object"), (b"\x7fELF" + bytes(60), "E-bpf-object")]
)
def test_what_is_no_object(content, code, tmp_path):
    (tmp_path / "x.o").write_bytes(content)
    done = run("interface", tmp_path / "x.o", status=2)
    assert code in done.stderr and "Traceback" not in done.stderr


def test_a_damaged_object_is_no_crash(demo, tmp_path):
    import random

    raw = Path(demo("bridge")).read_bytes()
    generator = random.Random(3)
    for _ in range(40):
        bad = bytearray(raw)
        for _ in range(generator.choice([1, 4, 40])):
            bad[generator.randrange(len(bad))] = generator.randrange(256)
        path = tmp_path / "bad.o"
        path.write_bytes(bad[: generator.randrange(64, len(bad))])
        try:
            objects.load(str(path))
        except Error as error:
            assert error.code.startswith("E-bpf-")


def test_an_object_whose_names_are_nowhere_is_refused(demo, tmp_path):
    """A section of names at byte 2**64 - 1 was an OverflowError of the command."""
    raw = bytearray(Path(demo("bridge")).read_bytes())
    sections, names = int.from_bytes(raw[40:48], "little"), int.from_bytes(raw[62:64], "little")
    at = sections + 64 * names + 24  # sh_offset of an Elf64_Shdr
    raw[at : at + 8] = b"\xff" * 8
    path = tmp_path / "bad.o"
    path.write_bytes(raw)
    done = run("interface", path, status=2)
    assert "is a damaged eBPF object" in done.stderr and "[E-bpf-object]" in done.stderr


def damaged(demo, tmp_path, change):
    """The words about a demo object that `change(content, section headers)` has changed."""
    raw = bytearray(Path(demo("port_filter")).read_bytes())
    first, count = int.from_bytes(raw[40:48], "little"), int.from_bytes(raw[60:62], "little")
    change(raw, [first + 64 * k for k in range(count)])
    (tmp_path / "bad.o").write_bytes(raw)
    with pytest.raises(Error) as wrong:
        objects.load(str(tmp_path / "bad.o"))
    return str(wrong.value)


def test_symbols_that_are_named_by_themselves(demo, tmp_path):
    def change(raw, headers):
        for number, at in enumerate(headers):
            if raw[at + 4] == 2:  # symbols; their names are in the section `sh_link`
                raw[at + 40] = number

    assert "is a damaged eBPF object" in damaged(demo, tmp_path, change)


def test_two_sections_of_a_name_are_refused(demo, tmp_path):
    """The second one's place would be taken for the first one's."""

    def change(raw, headers):
        code = next(at for at in headers if raw[at + 8] & 4 and raw[at + 32])
        later = next(at for at in headers if at > code and raw[at + 4] == 1)
        raw[later : later + 4] = raw[code : code + 4]
        raw[later + 8] |= 4

    text = damaged(demo, tmp_path, change)
    assert "has two sections of code 'xdp'; give each program a section of its own" in text


def test_a_trie_needs_a_prefix(demo, tmp_path):
    """An LPM_TRIE whose keys are too short for the length of a prefix."""

    def change(raw, headers):
        of_one = re.search(rb"\0{7}\x03\0{4}.{8}\x01\0{3}", raw, re.DOTALL)  # int[1], HASH
        raw[of_one.end() - 4] = 11

    text = damaged(demo, tmp_path, change)
    assert "map 'blocked_ports' is an LPM_TRIE with keys of 2 bytes" in text


def test_a_loop_from_the_first_instruction_on():
    """States meet at an entry that is jumped to: what never ends is an interval, no depth of Python."""
    draw, again = (0x85, 0, 0, 0, 7), (0x55, 0, 0, -2, 5)  # while (random() != 5)
    found = interface_of(program(draw, again, mov(0, 2), EXIT), paths=0, seconds=(0.01, 4.0))
    assert not found.explored.complete


def test_rounds_of_long_traces():
    """As many steps as a trace has, not their square."""
    body = [0, 1, 2, 3]
    began = time.process_time()
    rounds = report._rounds(body * 100_000 + [4])
    assert rounds == {(0, 3): [4] * 99_999}
    assert report._rounds([0, 1, 2, 1, 2, 0, 1, 3]) == {(1, 2): [2], (0, 2): [5]}
    assert time.process_time() - began < 5


def run(*arguments, status=0):
    """Runs `lpn bpf`."""
    done = subprocess.run(
        [str(LPN), "bpf", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def test_terms_are_one_however_they_are_loaded():
    low, high = t.pkt(t.const(12)), t.pkt(t.const(13))
    by_halves = t.or_(t.shl(t.zext(high, 64), t.const(8)), t.zext(low, 64))
    assert by_halves is t.zext(t.cat(high, low), 64)
    assert t.swapped(t.cat(low, high)) is t.cat(high, low)
