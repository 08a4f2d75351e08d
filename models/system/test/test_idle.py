"""Every key of a system file has an effect, or is refused where nothing reads it."""

from dataclasses import fields

import re

import lpn
import pytest
from conftest import ROOT, UNIT

lpn.load("system")

from models.system import tables  # noqa: E402

DMA = """
model = "system"
[accelerator]
model = "unit.py"
clock_mhz = 500
inputs = {blocks = "bytes"}
outputs = {out = 64}
finished = {out = "blocks"}
[host]
wait = "interrupt"
interrupt_ns = 7
[memory]
hit_ns = 5
behind_ns = 11
"""
OWN = """
model = "system"
[accelerator]
model = "unit.py"
clock_mhz = 500
inputs = {blocks = 0}
finished = {out = "blocks"}
round_trips = {wait = "read"}
[memory]
hit_ns = 5
behind_ns = 11
"""
NONE = OWN.replace('round_trips = {wait = "read"}\n', "").split("[memory]")[0]
JPEG = 'model = "system"\n[accelerator]\nmodel = "jpeg"\n[writes]\nbytes = 4\n'
DRAM = DMA.replace("[memory]\n", '[memory]\nmodel = "dram"\nclock_mhz = 1600\n')


def write(folder, text):
    unit = UNIT.replace("blocks = net.place", 'wait = net.param("wait", 3)\n    blocks = net.place')
    (folder / "unit.py").write_text(unit.replace("delay=10", "delay=10 + wait"))
    (folder / "sizes").write_text("64 4000 0 200 " * 3)
    (folder / "board.toml").write_text(text)
    return lpn.load(str(folder / "board.toml"))


def said(text, table, line):
    """The file with one more line in a table."""
    head = f"[{table}]\n"
    return text.replace(head, head + line + "\n", 1) if head in text else text + head + line + "\n"


def refusal(folder, text, **settings):
    with pytest.raises(lpn.Error) as refused:
        write(folder, text).net(**settings)
    assert refused.value.code in ("E-system-file", "E-param")
    return str(refused.value)


READS = "is of DMA reads, and accelerator.inputs has 0 bytes of each place: leave it out"
WRITES = "is of DMA writes, and there are no accelerator.outputs: leave it out"


@pytest.mark.parametrize("text", [OWN, NONE])
def test_a_net_without_dma_has_no_keys_of_it(tmp_path, text):
    """They had no effect, without a word."""
    for table, kind, why in (("reads", tables.Reads, READS), ("writes", tables.Writes, WRITES)):
        for field in fields(kind):
            key = tables.name_of(field)
            value = 4096 if key == "buffer" else 64 if key == "bytes" else 1
            assert f"{table}.{key} {why}" in refusal(
                tmp_path, said(text, table, f"{key} = {value}")
            )
    for settings in (dict(outstanding_reads=16), dict(read_bytes=64)):
        assert READS in refusal(tmp_path, text, **settings)
    for settings in (dict(outstanding_writes=16), dict(write_bytes=64)):
        assert WRITES in refusal(tmp_path, text, **settings)
    assert WRITES in refusal(tmp_path, said(text, "device", 'done = "accepted"'))


@pytest.mark.parametrize(
    "text, table, line, why",
    [
        (DMA, "link", "lanes = 4", "link.lanes is of packets of PCI Express, and there is no link.gen"),
        (DMA, "link", "max_payload = 128", "link.max_payload is of packets of PCI Express"),
        (DMA, "host", "pause_ns = 4", 'host.pause_ns is of host.wait = "poll", and it is "interrupt"'),
        (DMA, "host", "polls = 4", 'host.polls is of host.wait = "poll", and it is "interrupt": lea'),
        (OWN, "host", "interrupt_ns = 4", 'host.interrupt_ns is of host.wait = "interrupt", and it is'),
        (DMA, "memory", 'part = "hbm2"', 'memory.part is of memory.model = "dram", which is not there'),
        (DMA, "memory", "clock_mhz = 800", 'memory.clock_mhz is of memory.model = "dram", which is n'),
        (DMA, "memory", "outstanding = 8", 'memory.outstanding is of memory.model = "dram", which is'),
        (DMA, "memory", "cache_lines = 4", "memory.cache_lines is of jpeg, whose writes are no streams"),
        (DMA, "memory", "banks = 4", "memory.banks is of jpeg, whose writes are no streams"),
        (DMA, "memory", "line = 64", "memory.line is of jpeg and of accelerator.ports: leave it out"),
        (DRAM, "memory", 'input = "dram"', 'memory.input is of memory.model = "latency"; with "dram"'),
        (DRAM, "memory", 'output = "behind"', 'memory.output is of memory.model = "latency"; with "dr'),
        (DRAM, "memory", "banks = 16", 'memory.banks is of memory.model = "latency"; with "dram" the'),
        (OWN, "memory", "packet_ns = 4", "memory.packet_ns is of DMA and of accelerator.ports, and th"),
        (OWN, "memory", "row_bytes = 64", "memory.row_bytes is of rows that streams of DMA go through"),
        (OWN, "memory", "precharge_ns = 64", "memory.precharge_ns is of rows that streams of DMA go t"),
        (OWN, "memory", 'output = "dram"', "memory.output is of what is written, and nothing is: ther"),
        (NONE, "memory", "access_ns = 64", "memory.access_ns is of a memory that nothing reads or wr"),
        (JPEG, "accelerator", "ahead = 3", "accelerator.ahead is of nets that are not known; jpeg ho"),
        (JPEG, "memory", 'output = "dram"', "memory.output is of nets that are not known; jpeg's lines"),
        (JPEG, "accelerator", 'round_trips = {writable_tables = "read"}', "jpeg is known: leave out acc"),
        (JPEG, "writes", "outstanding = 5", "writes.outstanding must be a multiple of 4, got"),
        (DMA, "writes", "bytes = 8\nbuffer = 16", "writes.buffer has 16 bytes, less than a token of acc"),
        (OWN, "accelerator", "parameters = {wait = 4}", "accelerator.parameters and round_trips both say"),
    ],
)  # fmt: skip
def test_what_nothing_reads_is_refused(tmp_path, text, table, line, why):
    assert why in refusal(tmp_path, said(text, table, line))


def test_in_dram_is_of_what_is_read_or_written(tmp_path):
    message = refusal(tmp_path, NONE, in_dram=1)
    assert (
        "in_dram sets what nothing would read: memory.input is of a memory that nothing" in message
    )
    assert write(tmp_path, OWN).net(in_dram=1).system[0].memory.input == "dram"
    jpeg = write(tmp_path, JPEG)
    assert jpeg.net(in_dram=0).system[0].memory.input == "behind"


BASE = {
    "accelerator": {
        "model": '"unit.py"',
        "clock_mhz": 500,
        "inputs": '{blocks = "bytes"}',
        "outputs": "{out = 64}",
        "finished": '{out = "blocks"}',
    },
    "device": {"registers": 2},
    "link": {"latency_ns": 100},
    "host": {"request_ns": 30, "answer_ns": 20, "wait": '"interrupt"'},
    "memory": {"access_ns": 90, "precharge_ns": 40},
}
# What a file must say besides, for a key to be read, and two values that it is given.
POLL, CLOSED, PCIE, ONE = (
    {"host.wait": '"poll"'},
    {"memory.page": '"closed"'},
    {"link.generation": 3},
    {"writes.outstanding": 1},
)
EFFECTS = [
    ("accelerator.clock_mhz", (250, 125), {}),
    ("accelerator.parameters", ("{wait = 4}", "{wait = 40}"), {}),
    ("accelerator.ahead", (1, 500), {"sizes": "4000 " + "0 " * 400 + "4000 4000"}),
    ("device.registers", (1, 3), {}),
    ("device.register_cycles", (0, 9), {}),
    ("device.done", ('"accepted"', '"acknowledged"'), {}),
    ("reads.bytes", (32, 128), {}),
    ("reads.outstanding", (1, 16), {}),
    ("reads.buffer", (4096, 16384), {}),
    ("reads.start", (0, 4096), {}),
    ("reads.interval_cycles", (1, 50), {}),
    ("reads.bytes_per_cycle", (1, 64), {}),
    ("reads.gap_cycles", (0, 30), {}),
    ("writes.bytes", (32, 64), ONE),
    ("writes.outstanding", (1, 16), {}),
    (
        "writes.buffer",
        (64, 4096),
        {
            **ONE,
            "writes.bytes": 4,
            "accelerator.ahead": 1,
            "reads.interval_cycles": 300,
            "sizes": "4000 " + "0 " * 20 + "4000 4000",
        },
    ),
    ("writes.cycles", (1, 300), {}),
    ("writes.latency_ns", (0, 40), {}),
    ("link.latency_ns", (0, 40), {}),
    ("link.generation", (1, 5), {}),
    ("link.lanes", (1, 16), PCIE),
    ("link.max_payload", (128, 1024), PCIE),
    ("host.request_ns", (0, 9), {}),
    ("host.answer_ns", (0, 9), {}),
    ("host.interrupt_ns", (0, 9), {}),
    ("host.pause_ns", (0, 7777), POLL),
    ("host.polls", (1, 4_000_000), POLL),
    ("host.setup_ns", (0, 9), {}),
    ("host.command_ns", (0, 9), {}),
    ("memory.packet_ns", (0, 90), {}),
    ("memory.hit_ns", (0, 90), {}),
    ("memory.behind_ns", (0, 90), {}),
    ("memory.controller_ns", (0, 90), {}),
    ("memory.access_ns", (0, 90), {}),
    ("memory.activate_ns", (0, 90), {}),
    ("memory.activate_ns", (0, 90), CLOSED),
    ("memory.precharge_ns", (0, 90), {}),
    ("memory.page", ('"open"', '"closed"'), {}),
    ("memory.row_bytes", (64, 8192), {}),
    ("memory.input", ('"behind"', '"dram"'), {}),
    ("memory.output", ('"behind"', '"dram"'), {}),
]


def file_of(tables):
    return 'model = "system"\n' + "".join(
        f"[{table}]\n" + "".join(f"{name} = {said}\n" for name, said in keys.items())
        for table, keys in tables.items()
    )


@pytest.mark.parametrize("key, values, besides", EFFECTS, ids=lambda v: v if type(v) is str else "")
def test_a_key_that_is_taken_has_an_effect(tmp_path, key, values, besides):
    times = set()
    for value in values:
        file = {table: dict(keys) for table, keys in BASE.items()}
        more = {**besides, key: value}
        sizes = more.pop("sizes", None)
        for name, said in more.items():
            table, _, name = name.partition(".")
            file.setdefault(table, {})[name] = said
        model = write(tmp_path, file_of(file))
        if sizes:
            (tmp_path / "sizes").write_text(sizes)
        net = model.net()
        run = lpn.simulate(net, model.workload(tmp_path / "sizes", net), engine="interp")
        answer = model.module.answer_of_run(run)
        times.add(answer and answer["ns"])
    assert len(times) == 2


def test_a_poll_waits_for_the_register_write_before_it(tmp_path):
    """Where a register takes longer than an access comes there, the device still looked idle: 2 ns."""
    text = NONE + "[device]\nregister_cycles = 20\n[host]\nrequest_ns = 8\n"
    model = write(tmp_path, text)
    net = model.net()
    run = lpn.simulate(net, model.workload(tmp_path / "sizes", net), engine="interp")
    assert model.module.answer_of_run(run)["ns"] > 12 * 13 * 2


def test_tokens_that_are_not_finished_end_no_job(tmp_path):
    """A token in another done place counted as the end: the answer came too soon."""
    write(tmp_path, NONE + '[host]\nwait = "interrupt"\n')
    unit = (tmp_path / "unit.py").read_text()
    unit = unit.replace(
        "    net.transition(",
        '    seen = net.place("seen", done=True, sink=True)\n    net.transition(',
    )
    early = unit.replace(
        "    return net", '    net.transition("see", take={"b": first}, put=[seen])\n    return net'
    )
    early = early.replace("put=[out]", "put=[out, first]").replace(
        "    seen =", '    first = net.place("first")\n    seen ='
    )
    times = []
    for source, outs in ((UNIT.replace("delay=10", "delay=13"), ""), (early, "")):
        (tmp_path / "unit.py").write_text(source)
        model = lpn.load(str(tmp_path / "board.toml"))
        net = model.net()
        run = lpn.simulate(net, model.workload(tmp_path / "sizes", net), engine="interp")
        times.append(model.module.answer_of_run(run)["ns"])
    assert times[0] == times[1] >= 12 * 13 * 2


def test_an_output_that_is_not_finished_is_refused(tmp_path):
    write(tmp_path, DMA)
    unit = (tmp_path / "unit.py").read_text()
    (tmp_path / "unit.py").write_text(
        unit.replace("    net.transition(", '    log = net.place("log", done=True, sink=True)\n    net.transition(')
        .replace("put=[out]", "put=[out, log]")
    )  # fmt: skip
    (tmp_path / "board.toml").write_text(DMA.replace("{out = 64}", "{out = 64, log = 64}"))
    with pytest.raises(lpn.Error) as refused:
        lpn.load(str(tmp_path / "board.toml")).net()
    assert "accelerator.outputs.log is not in accelerator.finished" in str(refused.value)


MESSAGES = DMA.replace("[host]", "[link]\nlatency_ns = 100\n[host]")
PROTOACC = (ROOT / "models/system/demo/protoacc.toml").read_text()
PROTOACC = PROTOACC.replace('"gem5_ddr4.toml"', '"ddr4"')


@pytest.mark.parametrize("text", [MESSAGES, DRAM, OWN, NONE, JPEG, PROTOACC])
def test_each_parameter_of_the_net_is_read(tmp_path, text):
    """memory.hit of a net with round_trips, memory.packet of one with ports were set without a word."""
    net = write(tmp_path, text).net()
    for name in net.params:
        assert len(re.findall(rf"(?<![\w.]){re.escape(name)}(?![\w.])", net.text())) > 1


@pytest.mark.parametrize("kind, name", [("read", "link.latency"), ("command", "host.request")])
def test_a_time_that_a_round_trip_counts_is_not_set_by_half(tmp_path, kind, name):
    """-p link.latency set that of the register writes, and not that of the accesses."""
    text = OWN if kind == "read" else OWN.replace('"read"', '"command"').split("[memory]")[0]
    model = write(tmp_path, text)
    with pytest.raises(lpn.Error, match=f"has no parameter '{name}'"):
        model.net(**{name: 5})
    params = model.net().params
    assert "host.setup" in params and not [n for n in params if n.startswith(("memory.", "reads."))]


@pytest.mark.parametrize("page", ["open", "closed"])
@pytest.mark.parametrize("name", ["hit", "packet", *tables.BEYOND_HIT])
def test_a_parameter_of_the_memory_is_what_its_file_says(tmp_path, name, page):
    """-p memory.behind was of what lies in the cache alone, and not of what goes on to DRAM behind it."""

    def ns(file, **params):
        model = write(tmp_path, file_of(file))
        net = model.net(**params)
        run = lpn.simulate(net, model.workload(tmp_path / "sizes", net), engine="interp")
        return model.module.answer_of_run(run)["ns"]

    memory = {**BASE["memory"], "page": f'"{page}"', "input": '"dram"', "output": '"behind"'}
    file = {**BASE, "memory": {**memory, f"{name}_ns": 10}}
    ticks = {f"memory.{name}": 160_000 // write(tmp_path, file_of(file)).module.system.tick}
    file["memory"][f"{name}_ns"] = 160
    assert ns(file) == ns({**BASE, "memory": {**memory, f"{name}_ns": 10}}, **ticks)


def test_all_ways_of_an_accelerator_with_ports_have_one_latency(tmp_path):
    """-p link.latency set that of the register writes alone."""
    text = write(tmp_path, PROTOACC).net().text()
    assert len(re.findall(r"delay.*\blink\.latency\b", text)) > 4
