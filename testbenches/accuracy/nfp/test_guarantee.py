"""Bounds, slowest paths and costs against the paper's prototype; estimates against the real NIC."""

import collections

import nfp_truth
import pytest

lpn = pytest.importorskip("lpn")

DRAM = 2e-3  # cycles: figures are printed with six digits


@pytest.fixture(scope="session")
def found(truth):
    from models.nfp.guarantee import guarantee

    return {
        (row["program"], row["mode"]): (
            row,
            guarantee(
                truth.listing(row["program"]),
                truth.metric(row),
                unroll=row["unroll_limit_U"] or None,
            ),
        )
        for row in truth.programs()
    }


def test_naive_bounds(found):
    assert len(found) > 30
    for key, (row, ours) in found.items():
        assert ours.naive["cycles"] == int(row["naive_max_cycles"]), key
        assert ours.naive["dram_cycles"] == pytest.approx(
            float(row["naive_dram_cycles"]), abs=DRAM
        ), key
        if row["mode"] == "bitrate":
            assert ours.naive["packet_size"] == int(row["naive_mps_cycles_byte"]), key
            assert ours.naive["dram_packet_size"] == int(row["naive_mps_dram_byte"]), key
        assert ours.naive["packet_rate"] == pytest.approx(
            float(row["naive_pkt_rate_pps_50c"]), rel=2e-6
        ), key
        assert ours.naive["bit_rate"] == pytest.approx(
            float(row["naive_bit_rate_bps_50c"]), rel=2e-6
        ), key


def test_slowest_paths(found):
    for key, (row, ours) in found.items():
        assert ours.verdict == "exact", key
        slow = ours.slowest[0]
        assert slow.replayed, key
        if not row["ssp_path"]:
            continue
        assert slow.path == row["ssp_path"], key
        assert slow.cycles == int(row["ssp_cycles"]), key
        assert slow.max_cycles == int(row["ssp_max_cycles"]), key
        assert slow.dram_cycles == pytest.approx(float(row["ssp_dram_cycles"]), abs=DRAM), key
        assert slow.packet_size == int(row["ssp_mps_byte"]), key
        assert slow.packet_rate == pytest.approx(float(row["ssp_pkt_rate_pps_50c"]), rel=2e-6), key
        assert slow.bit_rate == pytest.approx(float(row["ssp_bit_rate_bps_50c"]), rel=2e-6), key


def test_a_guarantee_is_no_more_than_the_slowest_path_has(found):
    for key, (row, ours) in found.items():
        slow = ours.slowest[0]
        rate = slow.bit_rate if row["mode"] == "bitrate" else slow.packet_rate
        assert ours.rate <= rate * (1 + 1e-9), key


def test_path_explosion_is_solved(truth):
    from models.nfp.guarantee import guarantee

    program = truth.listing("xdp-path-explosion")
    ours = guarantee(program)
    assert ours.verdict == "exact"
    assert ours.unsat_before > 1e9  # each impossible


def test_costs_of_all_paths_given_their_blocks(truth):
    from models.nfp.program import load

    loaded, count = {}, 0
    for row in truth.paths():
        name = row["program"]
        if name not in loaded:
            loaded[name] = load(truth.listing(name), unroll=truth.unroll(name))
        cost = loaded[name].path_cost(row["path"])
        assert cost["cycles"] == int(row["est_cycles"]), (name, row["rank"])
        assert cost["max_cycles"] == int(row["est_max_cycles"]), (name, row["rank"])
        assert cost["dram_cycles"] == pytest.approx(float(row["est_dram_cycles"]), abs=DRAM), (
            name,
            row["rank"],
        )
        count += 1
    assert count > 1500


def test_all_satisfiable_paths_of_small_programs_are_found(truth):
    from models.nfp.guarantee import guarantee

    wanted = collections.defaultdict(dict)
    for row in truth.paths():
        wanted[row["program"]][row["path"]] = int(row["mps_byte"])
    for name in ("xdp-cloudflare", "xdp-quic-lb", "xdp-count-min.5", "xdp-count-min.20"):
        ours = guarantee(truth.listing(name), paths=1000)
        assert ours.verdict == "exact", name
        assert all(slow.replayed for slow in ours.slowest), name
        sizes = {slow.path: slow.packet_size for slow in ours.slowest}
        assert {path: sizes.get(path) for path in wanted[name]} == wanted[name], name


def test_loop_limits_are_found(truth):
    from models.nfp.program import load

    with_limit = [row for row in truth.programs() if row["unroll_limit_U"]]
    assert with_limit
    for row in with_limit:
        assert load(truth.listing(row["program"])).rounds == int(row["unroll_limit_U"]), row[
            "program"
        ]


def test_estimates_against_hardware(truth):
    rows = truth.paths()
    seen = nfp_truth.against_hardware(rows)
    assert seen["paths"] == 982
    # What the specified costs give; a change here is a change of the cost model.
    assert seen["over"] <= 0.0235
    assert seen["worst_over"] <= 0.0155
    assert seen["worst_under"]["cores"] <= 0.0865
    assert seen["worst_under"]["dram"] <= 0.1485
