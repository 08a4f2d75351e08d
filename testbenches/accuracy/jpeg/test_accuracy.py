"""Cycles of the net against the RTL's, image by image and block by block."""

from functools import cache

import pytest
from conftest import DEMO, TRUTH, read_cycles, read_json_lines

lpn = pytest.importorskip("lpn")

# What the project asks for; the model is exact on all of these.
MEAN_ERROR = 0.002
WORST_ERROR = 0.01


@cache
def model():
    return lpn.load("jpeg")


@cache
def build(writable_tables):
    return model().net(writable_tables=writable_tables)


def simulate(path, writable_tables, **options):
    net = build(writable_tables)
    return lpn.simulate(net, model().workload(path, net), **options)


def relative_errors(rows, folder):
    errors = {}
    for row in rows:
        name, parameters, cycles = model().module.truth(row)
        run = simulate(folder / name, **parameters)
        assert not run.stalled, name
        errors[row["file"], row["dht"]] = (run.latency - cycles) / cycles
    return errors


def check_errors(errors):
    sizes = [abs(error) for error in errors.values()]
    assert sum(sizes) / len(sizes) <= MEAN_ERROR
    assert max(sizes) <= WORST_ERROR
    # Exact so far; whoever changes that should do so knowingly.
    assert {key: error for key, error in errors.items() if error} == {}


def test_demo_images(jpeg):
    check_errors(relative_errors(read_cycles(DEMO / "cycles.csv"), DEMO))


@pytest.mark.parametrize("writable_tables", [0, 1])
def test_all_measured_images(jpeg, truth, writable_tables):
    rows = read_cycles(truth / "cycles.csv")
    chosen = [row for row in rows if int(row["dht"]) == writable_tables]
    assert len(chosen) > 40
    check_errors(relative_errors(chosen, truth / "own"))


def starts(run, transition):
    number = run.net.transitions.index(transition)
    return [commit.start for commit in run.trace if commit.transition == number]


TRACES = sorted(path.name for path in (TRUTH / "traces").glob("dht*.jsonl.gz"))


@pytest.mark.parametrize("trace", TRACES)
def test_every_block_starts_when_the_rtl_starts_it(jpeg, truth, trace):
    head, *rows = read_json_lines(truth / "traces" / trace)
    run = simulate(truth / "own" / head["file"], int(trace[3]), engine="interp", trace=True)
    column = {name: k for k, name in enumerate(head["cols"])}
    # The model's start is the first fetch, one clock after the idle state is left.
    assert starts(run, "huffman") == [row[column["dec_start"]] + 1 for row in rows]
    assert starts(run, "idct_rows") == [row[column["idct_start"]] for row in rows]
    # The RTL's trace goes on past the last expected pixel.
    active = starts(run, "output")
    assert active == head["out_active"][: len(active)]


def test_block_traces_need_the_measured_ones(truth):
    """Shows as skipped, with the reason, where the figures are absent."""


def test_first_commits_of_every_stage_by_hand(jpeg):
    """The stages' first commits, by hand, for 16x16 4:2:0 with Annex K tables: 623 bytes of header,
    five clocks for the first word, one to leave the idle state; 8 symbols of 3 clocks and 5.
    """
    run = simulate(DEMO / "grad_16x16_q90_420.jpg", 0, engine="interp", trace=True)
    assert starts(run, "parse") == [0]
    assert starts(run, "huffman")[:2] == [629, 629 + 8 * 3 + 5]
    assert starts(run, "idct_rows")[:2] == [658, 658 + 66]
    last = starts(run, "idct_rows")[5]
    assert starts(run, "output") == [last + 154 + 65 * k for k in range(4)]
    assert run.latency == last + 154 + 4 * 65 == 1402


def test_optimised_tables(jpeg):
    path = DEMO / "text_256x192_q75_444_opt.jpg"
    assert simulate(path, 1).latency == 172366
    with pytest.raises(ValueError, match="writable_tables=1"):
        simulate(path, 0)


def test_a_missing_file_is_an_os_error(jpeg, tmp_path):
    with pytest.raises(OSError):
        simulate(tmp_path / "none.jpg", 0)


def test_firings_per_block_stay_few(jpeg):
    """The speed of simulation depends on it."""
    run = simulate(DEMO / "plasma12_512x384_q50_420.jpg", 0)
    assert run.commits == 1 + 3 * 4608
