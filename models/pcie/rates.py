"""What a PCI Express link carries: gigatransfers, line code, and what acknowledgements, credits and
clock compensation take of it.

Source: PCI Express Base Specification, revision 5.0: section 4.2 (line codes, SKP ordered sets),
tables 2-46 to 2-48 and 3-7 to 3-9 (how often credits are updated and packets acknowledged). The
tables are not kept: their note gives the rule that makes them, which is here.
"""

from fractions import Fraction

__all__ = ["GENERATIONS", "LANES", "PAYLOADS", "byte_fs", "raw_gbps", "tlp_gbps"]

# Gigatransfers per second and lane. 6 and 7 send fixed-size flits, which is another protocol.
_TRANSFERS = {1: Fraction(5, 2), 2: Fraction(5), 3: Fraction(8), 4: Fraction(16), 5: Fraction(32)}
GENERATIONS = tuple(_TRANSFERS)
LANES = (1, 2, 4, 8, 16, 32)
PAYLOADS = (128, 256, 512, 1024, 2048, 4096)  # bytes, Max_Payload_Size

# A data link packet: 2 bytes of framing, 4 of content, 2 of check sum.
_DLLP = 8
# Bytes of a TLP's overhead as the specification counts them for its limits.
_TLP_OVERHEAD = 28
# Symbol times between a packet's arrival and what answers it, within the receiver.
_INTERNAL = {1: 19, 2: 70, 3: 115, 4: 115, 5: 115}
# How many of the largest packets may go by before an acknowledgement, by lanes.
_FACTOR = {
    128: {1: 1.4, 2: 1.4, 4: 1.4, 8: 2.5, 16: 3, 32: 3},
    256: {1: 1.4, 2: 1.4, 4: 1.4, 8: 2.5, 16: 3, 32: 3},
}
_FACTOR_FROM_512 = {1: 1, 2: 1, 4: 1, 8: 1, 16: 2, 32: 2}
# An ordered set of 4 symbols at the latest after 1538 symbol times.
_SKIP = Fraction(4, 1538)


def raw_gbps(generation: int, lanes: int) -> Fraction:
    """Gbit/s of one direction behind the line code: 8b/10b up to generation 2, then 128b/130b."""
    code = Fraction(8, 10) if generation <= 2 else Fraction(128, 130)
    return _TRANSFERS[generation] * code * lanes


def _limit(generation, lanes, payload):
    """Symbol times between two acknowledgements, and between two updates of credits."""
    factor = Fraction(str(_FACTOR.get(payload, _FACTOR_FROM_512)[lanes]))
    return int((payload + _TLP_OVERHEAD) * factor / lanes) + _INTERNAL[generation]


def tlp_gbps(generation: int, lanes: int, payload: int) -> Fraction:
    """Gbit/s that are left for packets of the transaction layer, header and framing included.

    `payload`: Max_Payload_Size in bytes. Each of the two kinds of data link packets is sent as
    often as the specification recommends, which is what both directions do under load.
    """
    share = 2 * Fraction(_DLLP, _limit(generation, lanes, payload)) + _SKIP
    return raw_gbps(generation, lanes) * (1 - share)


def byte_fs(generation: int, lanes: int, payload: int) -> int:
    """Femtoseconds per byte of a transaction layer packet, to the nearest."""
    return round(8_000_000 / tlp_gbps(generation, lanes, payload))
