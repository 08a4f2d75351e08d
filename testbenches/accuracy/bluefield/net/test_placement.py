"""Placement of arriving functions, the net as truth; the exact optimum against a search of another
kind.
"""

from pathlib import Path

import lpn
import pytest
from models.bluefield import scenario as scenarios
from models.bluefield.net import placement

CATALOGUE = Path(scenarios.__file__).parent / "catalogue.json"


@pytest.fixture(scope="module")
def catalogue():
    made = placement.Catalogue(*scenarios.read_catalogue(CATALOGUE))
    made.prepare(made.sets())
    return made


def test_policies_on_20_sequences_of_500(catalogue):
    nics, broken = dict.fromkeys(placement.POLICIES, 0), dict.fromkeys(placement.POLICIES, 0)
    for seed in range(20):
        arrivals = placement.draw(catalogue, 500, seed)
        for policy in placement.POLICIES:
            placed = placement.place(catalogue, arrivals, policy)
            assert sorted(k for nic in placed.nics for k in nic) == list(range(500))
            assert all(catalogue.fits([arrivals[k].function for k in nic]) for nic in placed.nics)
            nics[policy] += len(placed.nics)
            broken[policy] += len(placed.broken)
    print(nics, broken)
    assert nics["monopolisation"] == 20 * 500 and broken["monopolisation"] == broken["oracle"] == 0
    sharing = ("greedy", "memory-only", "both-resources")
    assert min(sharing, key=broken.get) == "both-resources"
    assert broken["both-resources"] < 0.02 * 20 * 500  # the paper's is 1.9 %
    assert broken["both-resources"] < 0.2 * min(broken["greedy"], broken["memory-only"])
    assert nics["both-resources"] == pytest.approx(nics["oracle"], rel=0.02)


def test_policies_with_measured_noise():
    """Every measured rate varies as those of the real NIC: the order of policies stays, and some promises
    are broken by chance, as a rate that is measured once decides."""
    noisy = placement.Catalogue(
        *scenarios.read_catalogue(CATALOGUE), noise=placement.MEASURED_NOISE, seed=1
    )
    noisy.prepare(noisy.sets())
    nics, broken = dict.fromkeys(placement.POLICIES, 0), dict.fromkeys(placement.POLICIES, 0)
    for seed in range(3):
        arrivals = placement.draw(noisy, 500, seed)
        for policy in placement.POLICIES:
            placed = placement.place(noisy, arrivals, policy)
            nics[policy] += len(placed.nics)
            broken[policy] += len(placed.broken)
    print(nics, broken)
    assert broken["oracle"] == broken["monopolisation"] == 0
    assert 0 < broken["both-resources"] < 0.08 * 3 * 500
    assert broken["both-resources"] < 0.3 * min(broken["greedy"], broken["memory-only"])
    assert nics["both-resources"] == pytest.approx(nics["oracle"], rel=0.03)


@pytest.mark.parametrize("noise", [-0.01, 0.31, float("nan")])
def test_a_noise_that_is_none(noise):
    with pytest.raises(lpn.Error, match="write a fraction of 0 to 0.3 of a rate") as refused:
        placement.Catalogue(*scenarios.read_catalogue(CATALOGUE), noise=noise)
    assert refused.value.code == "E-noise"


def fewest_by_search(catalogue, arrivals):
    """Arrival by arrival into every NIC or a new one, cut where a promise breaks."""
    best = len(arrivals)

    def kept(nic):
        together = tuple(sorted(arrivals[k].function for k in nic))
        drops = {}
        for f, drop in zip(together, catalogue.drops(together)):
            drops[f] = max(drop, drops.get(f, drop))
        return all(
            drops[arrivals[k].function] <= arrivals[k].promised + placement.TOLERANCE for k in nic
        )

    def visit(k, nics):
        nonlocal best
        if len(nics) >= best:
            return
        if k == len(arrivals):
            if all(map(kept, nics)):
                best = len(nics)
            return
        for n, nic in enumerate(nics):
            grown = nic + [k]
            if catalogue.fits([arrivals[i].function for i in grown]) and (
                len(grown) > 2 or kept(grown)
            ):
                visit(k + 1, [*nics[:n], grown, *nics[n + 1 :]])
        visit(k + 1, [*nics, [k]])

    visit(0, [])
    return best


@pytest.mark.parametrize("seed", range(12))
def test_exact_optimum(catalogue, seed):
    arrivals = placement.draw(catalogue, 5 + seed % 8, 100 + seed)
    best = placement.optimum(catalogue, arrivals)
    assert len(best.nics) == fewest_by_search(catalogue, arrivals)
    assert sorted(k for nic in best.nics for k in nic) == list(range(len(arrivals)))
    assert placement._broken(catalogue, arrivals, best.nics) == []
    assert len(best.nics) <= len(placement.place(catalogue, arrivals, "oracle").nics)


def test_optimum_refuses_many_and_impossible(catalogue):
    with pytest.raises(lpn.Error, match="at most 12") as refused:
        placement.optimum(catalogue, placement.draw(catalogue, 13, 0))
    assert refused.value.code == "E-optimum"
    with pytest.raises(lpn.Error, match="no policy 'best'"):
        placement.place(catalogue, placement.draw(catalogue, 3, 0), "best")


def test_two_functions_of_one_engine_break_promises_that_memory_alone_keeps(catalogue):
    number = {f.name: k for k, f in enumerate(catalogue.functions)}
    pair = [
        placement.Arrival(number["FlowMonitor"], 0.2),
        placement.Arrival(number["PacketFilter"], 0.2),
    ]
    assert len(placement.place(catalogue, pair, "memory-only").broken) == 2
    both = placement.place(catalogue, pair, "both-resources")
    assert len(both.nics) == 2 and not both.broken


def test_predictors_of_run_to_completion_functions():
    """Their own drops are predicted; as rivals they are overrated, which costs NICs, not promises."""
    memory = {"wss_MB": 2, "accesses_per_packet": 60, "us_per_MB": 0.03, "us_per_MB_1e8": 0.02}
    stages = [
        {"resource": "memory", "service_us": 2.0},
        {"resource": "regex", "service_us": "l7-filter"},
    ]
    parsed = scenarios.parse(
        {
            "nic": {"cores": 8},
            "functions": [
                {
                    "name": "rtc",
                    "pattern": "run-to-completion",
                    "cores": 1,
                    "stages": stages,
                    "memory": memory,
                },
                {"name": "pipe", "stages": stages, "memory": memory},
                {"name": "plain", "stages": stages[:1], "memory": memory},
            ],
        }
    )
    catalogue = placement.Catalogue(parsed.functions, parsed.nic)
    for together in ((0, 1), (0, 2), (0, 1, 2), (1, 2, 2)):
        truth, predicted = catalogue.drops(together), catalogue.predicted_drops(
            together, engines=True
        )
        assert all(p > t - 0.03 for t, p in zip(truth, predicted)), (together, truth, predicted)
    # Against a rival that is always backlogged, and against the memory alone.
    for together in ((0, 1), (0, 2), (2, 2)):
        predicted = catalogue.predicted_drops(together, engines=True)[0]
        assert predicted == pytest.approx(catalogue.drops(together)[0], abs=0.04)
