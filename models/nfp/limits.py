"""What the NIC around a program lets through: its MAC and ports, the MAC's fault, and how far below
the cost model a guarantee stays.
"""

import dataclasses
import math

from lpn import Error

from . import mac_fault

__all__ = ["Margins", "check_cores", "guaranteed", "mac_fault_band", "margins_of", "of_nic"]

_BITS = 8  # of a byte


@dataclasses.dataclass(frozen=True)
class Margins:
    """Percent by which a guarantee stays below the cost model: of cores and memory engine, and of
    the MAC.
    """

    program: float
    mac: float


def margins_of(costs, margin=None):
    """The Margins of a cost table, or `margin` percent for both. Raises Error E-nfp-margin."""
    if margin is None:
        return Margins(costs["margin_program"], costs["margin_mac"])
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 <= margin < 100:
        raise Error(
            "E-nfp-margin",
            f"a margin of {margin!r} % is none; write a number from 0 to below 100",
        )
    return Margins(margin, margin)


def check_cores(cores, costs):
    """How many cores run the program, by default all. Raises Error E-nfp-cores when the NIC of the
    cost table has less.
    """
    most = costs["islands"] * costs["cores_per_island"]
    if cores is None:
        return most
    if isinstance(cores, bool) or not math.isfinite(cores) or not 0 < cores <= most:
        raise Error(
            "E-nfp-cores",
            f"{cores} cores: the NIC has {most}, {costs['islands']} islands of "
            f"{costs['cores_per_island']}; for another one give a cost table with its 'islands' and "
            "'cores_per_island'",
        )
    return cores


def of_nic(costs, per_byte):
    """{"MAC", "ports"}: what each lets through, whatever the program, of the packets of which it
    lets least through: the smallest. In packets/s or, `per_byte`, bit/s.
    """
    size = costs["min_packet"]
    unit = _BITS * size if per_byte else 1
    wire = costs["ports"] * costs["port_rate"] / (_BITS * (size + costs["frame_overhead"]))
    return {"MAC": costs["mac_rate"] * unit, "ports": wire * unit}


def guaranteed(program, bottleneck, margins, nic):
    """(rate, what decides it): the least of the rate `program`, which `bottleneck` decides, and those
    of the NIC as of `of_nic`, each less its margin; ports have none.
    """
    least = {
        bottleneck: program * (1 - margins.program / 100),
        "MAC": nic["MAC"] * (1 - margins.mac / 100),
        "ports": nic["ports"],
    }
    decides = min(least, key=least.get)
    return least[decides], decides


def mac_fault_band(costs, per_byte, rate, capacity):
    """None, or {"from", "to", "falls_to"} in packets/s: the band of capacities in which the MAC,
    when more arrives, may let less through than the guaranteed `rate`.

    capacity: packets/s that cores and memory engine do of any packets, or less.
    """
    if costs["mac_fault_rate"] >= costs["mac_rate"] or capacity > costs["mac_fault_to"]:
        return None
    falls_to = mac_fault.fallen(costs, max(capacity, costs["mac_fault_from"]))
    if rate <= falls_to * (_BITS * costs["min_packet"] if per_byte else 1):
        return None
    return {"from": costs["mac_fault_from"], "to": costs["mac_fault_to"], "falls_to": falls_to}
