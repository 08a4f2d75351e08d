"""The serialiser with ports: as with latencies, cycle for cycle, and where its accesses go."""

import random

import lpn
import pytest
from conftest import DEMO
from lpn.runs import prepare

STRINGS, OUTPUT = 2**20, 2**24
TREES = [
    [
        ["string", 40, 0, [200], 5],
        ["bytes", 39, 1, [16, 3, 33], 0],
        ["message", 7, [["uint64", 2, 1, 3, [1, 10, 5]], ["string", 1, 0, [1], 15]]],
        ["fixed64", 3, 0, 1, [8]],
    ],
    [["string", 2, 0, [3000], 0], ["string", 1, 0, [1000], 0]],
    [],
]


def random_tree(draw, depth=1):
    """A message of up to eight fields, with messages in it."""
    fields = []
    for number in sorted(draw.sample(range(1, 41), draw.randint(0, 8)), reverse=True):
        many = draw.choice((1, 1, draw.randint(1, 5)))
        what = draw.random()
        if what < 0.2 and depth < 4:
            fields.append(["message", number, random_tree(draw, depth + 1)])
        elif what < 0.6:
            sizes = [draw.choice((draw.randint(1, 60), draw.randint(1, 900))) for _ in range(many)]
            fields.append(["string", number, int(many > 1), sizes, draw.choice((0, 0, 5, 15))])
        else:
            sizes = [draw.randint(1, 10) for _ in range(many)]
            fields.append(["int64", number, int(many > 1), many, sizes])
    return fields


def random_batches(module):
    draw = random.Random(5)
    for _ in range(12):
        trees = [random_tree(draw) for _ in range(draw.randint(1, 3))]
        yield module.Batch("random", module.messages_of(trees))


def around(model, latency, write=0, output=OUTPUT):
    """The serialiser in a net that answers its reads after so many cycles, and its writes."""
    inner = model.net(ports=1)
    net = lpn.Net("around")
    asked, connect = {}, {}
    for name, delay in (("reads", latency), ("writes", write)):
        port = lpn.lib.memory_port(net, name)
        asked[name] = net.place(f"asked.{name}", lpn.lib.Access, sink=True)
        connect |= {f"{name}.requests": port.requests, f"{name}.responses": port.responses}
        net.transition(
            f"{name}.answer",
            take={"t": port.requests},
            put=[port.responses.forward("t"), asked[name].forward("t")],
            delay=delay,
        )
    completed = net.place("completed", done=True, sink=True)
    given = {"strings": STRINGS, "output": output}
    net.instance(inner, "own", {**connect, "completed": completed}, given)
    return inner, net


def tokens(inner, net, input, model):
    """The serialiser's tokens in the net around it."""
    own, marking = model.workload(input, inner), lpn.Marking(net)
    for place in inner.places:
        if own.rows(place):
            marking.add_rows(f"own.{place}", own.rows(place))
    return marking


def inputs(model):
    module = model.module
    return [
        *random_batches(module),
        module.Batch("trees", module.messages_of(TREES)),
        str(DEMO / "two_items.json"),
        module.several(str(DEMO / "two_items.json"), 3),
    ]


@pytest.mark.parametrize("latency, acknowledge", [(2, 1), (3, 2), (10, 1), (20, 20), (57, 3)])
def test_ports_and_latencies_agree_in_every_cycle(model, latency, acknowledge):
    """An answer takes a clock on its way out and one back; writes are not waited for."""
    inner, net = around(model, latency - 2)
    bare = model.net()
    for input in inputs(model):
        plain = lpn.simulate(
            bare,
            model.workload(input, bare),
            params={"read_latency": latency, "write_ack_latency": acknowledge},
            engine="interp",
            trace=True,
        )
        params = {"own.write_ack_latency": acknowledge}
        run = lpn.simulate(
            net, tokens(inner, net, input, model), params=params, engine="interp", trace=True
        )
        assert not run.stalled and run.latency == plain.latency
        for unit in ("write16", "write1", "complete", "beat", "write_key0", "take_word1"):
            assert times(net, run, f"own.{unit}") == times(bare, plain, unit)


def times(net, run, name):
    names = list(net.transitions)
    return [commit.time for commit in run.trace if names[commit.transition] == name]


def collected(model, input):
    """The serialiser's net, and [(address, bytes, write, id)] of all that it asks of each port."""
    inner, net = around(model, 20)
    ready = prepare(net, tokens(inner, net, input, model), engine="interp")
    run = ready.run(collect=["asked.reads", "asked.writes"])
    assert not run.stalled
    values = {port: run.collected[f"asked.{port}"][0] for port in ("reads", "writes")}
    return inner, {port: list(zip(*[iter(row_major)] * 4)) for port, row_major in values.items()}


def test_strings_are_read_from_their_last_word_and_the_output_goes_down(model):
    module = model.module
    batch = module.Batch("one", module.messages_of([[["string", 1, 0, [35], 3]]]))
    _, asked = collected(model, batch)
    words = [row[:2] for row in asked["reads"] if row[3] >= 8]
    assert words == [(STRINGS + 32, 16), (STRINGS + 16, 16), (STRINGS, 16)]
    # 35 bytes, then the length and the key before them: 37 in aligned pieces, and the pointer.
    pieces = [row[:2] for row in asked["writes"] if row[3] == 0]
    assert sum(size for _, size in pieces) == 37
    assert [at for at, _ in pieces] == [
        OUTPUT - sum(s for _, s in pieces[: k + 1]) for k in range(len(pieces))
    ]
    assert [row for row in asked["writes"] if row[3] == 1] == [(0, 8, 1, 1)]
    objects = {row[0] for row in asked["reads"] if row[3] < 8}
    assert objects == {0}


@pytest.mark.parametrize("line", [16, 64, 256])
def test_the_lines_that_are_told_are_those_that_are_touched(model, line):
    for input in inputs(model):
        inner, asked = collected(model, input)
        inner.bound = {"strings": STRINGS, "output": OUTPUT}
        streams = model.module.streams(inner)
        whose, lines = model.module.traffic(input, inner, line)
        for number, (port, id) in enumerate(streams):
            told = [at for stream, at in zip(whose, lines) if stream == number]
            touched = [row[0] // line for row in asked[port] if row[3] == id]
            entered = [at for k, at in enumerate(touched) if k == 0 or touched[k - 1] != at]
            assert told == entered
        assert set(whose) >= {len(streams) - 1}


def test_a_window_of_writes_is_what_a_slow_memory_is_waited_for(model):
    module = model.module
    batch = module.Batch("one", module.messages_of([[["string", 1, 0, [4000], 0]]]))
    spans = {}
    for slow in (0, 1000):
        inner, net = around(model, 20, slow)
        run = lpn.simulate(net, tokens(inner, net, batch, model), engine="interp", trace=True)
        spans[slow] = times(net, run, "own.transfer")
    sent = spans[1000]
    assert sent[:16] == spans[0][:16] and len(sent) == len(spans[0])
    # The answer, a cycle until it is seen, address and two beats.
    assert sent[16] == sent[0] + 1000 + 1 + 3


def test_ports_are_yes_or_no(model):
    with pytest.raises(lpn.Error) as refused:
        model.net(ports=2)
    assert refused.value.code == "E-param" and "ports must be 0 or 1, got 2" in str(refused.value)


def test_an_output_that_no_word_begins_at_is_refused(model):
    net = model.net(ports=1)
    net.bound = {"output": 1000}
    with pytest.raises(ValueError, match="output is 1000, not a multiple of 16"):
        model.module.traffic(str(DEMO / "two_items.json"), net, 64)


def test_an_output_that_goes_below_address_0_is_refused(model):
    net = model.net(ports=1)
    net.bound = {"output": 16}
    with pytest.raises(ValueError, match="output is 16, from which .* bytes are written downwards"):
        model.module.traffic(str(DEMO / "two_items.json"), net, 64)


def test_the_net_with_open_ports_is_checked_without_a_warning(model):
    """`lpn check` said that the ports are never filled, and that the output may go below address 0."""
    assert list(model.net(ports=1)._core.lint()) == []


@pytest.mark.parametrize(
    "output, id, said",
    [
        (16, 0, "the output goes below address 0"),
        (OUTPUT, 16, "the memory answers whom nobody asked for"),
    ],
)
def test_what_no_memory_does_ends_the_run(model, output, id, said):
    inner, net = around(model, 10, output=output)
    marking = tokens(inner, net, str(DEMO / "two_items.json"), model)
    if id:
        marking.add("reads.responses", address=0, bytes=8, write=False, id=id)
    with pytest.raises(lpn.Error, match=said):
        lpn.simulate(net, marking, engine="interp")
