"""The constants of the net: nic.json beside this file, and costs.json of the analysis."""

import json
import os

from . import costs

__all__ = ["TICKS", "load", "ticks"]

TICKS = 20  # per core cycle of 1.25 ns

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nic.json")


def load():
    """{name: value} of costs.json, with nic.json in front of it where both name a constant."""
    with open(_FILE, encoding="utf-8") as file:
        own = {name: entry["value"] for name, entry in json.load(file).items() if name != "about"}
    return {**costs.load(), **own}


def ticks(cycles):
    """A time in cycles as whole ticks."""
    return round(cycles * TICKS)
