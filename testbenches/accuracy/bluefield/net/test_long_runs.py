"""What is called steady is: answers against runs 20 times as long. A sample; 1,000 with LPN_SLOW=1."""

import json
import os

import long_runs

SCENARIOS = 1000 if os.environ.get("LPN_SLOW") else 50


def test_no_rate_is_off_without_a_warning():
    found = long_runs.compare(long_runs.drawn(1, SCENARIOS), threads=1)
    silent = [c for c in found if c.off > long_runs.OFF and not c.told]
    assert not silent, "\n".join(f"{c.off:.2%}: {json.dumps(c.given)}" for c in silent)
    assert len(found) == SCENARIOS
    # Warnings are for few, else they say nothing.
    assert sum(c.told for c in found) <= 0.3 * SCENARIOS


def test_an_answer_that_is_off_is_seen(monkeypatch):
    """The comparison itself: with every answer 2 % too high it finds them all."""
    from models.bluefield.net import steady

    plain = steady.throughputs

    def wrong(*given, **options):
        found = plain(*given, **options)
        for outcome in found:
            for result in outcome.results:
                result.throughput_kpps *= 1.02
        return found

    monkeypatch.setattr(steady, "throughputs", wrong)
    found = long_runs.compare(long_runs.drawn(1, 5), threads=1)
    assert all(c.off > long_runs.OFF for c in found)
