"""When each packet of a stream comes and leaves, and the stream's throughput."""

import dataclasses

from lpn.runs import prepare

from . import streams


@dataclasses.dataclass(frozen=True)
class Departure:
    """A data packet: its number in the stream, and clocks, the first beat in being 0."""

    packet: int
    bytes: int
    first_in: int
    first_out: int
    last_out: int

    @property
    def latency(self) -> int:
        """Clocks from its first beat in to its last beat out."""
        return self.last_out - self.first_in


def departures(input_path, params=None, engine="interp") -> tuple[list[Departure], int]:
    """The data packets of an input, and the clock in MHz.

    Raises Error: E-input for an input that cannot be read, E-assume where the RTL loses beats.
    """
    ready = prepare("menshen", input_path, params, engine)
    ready.read()
    run = ready.run(collect=["begun", "sent"])
    first, last = (
        dict(zip(values, times)) for values, times in (run.collected[p] for p in ("begun", "sent"))
    )
    clock_mhz = ready.parameters["clock_mhz"]
    stream = streams.read(input_path, clock_mhz)
    found, link = [], 0
    for number, (length, idle) in enumerate(zip(stream.lengths, stream.idle)):
        begin = link + (idle if number else 0)
        link = begin - (-length // streams.BEAT_BYTES)
        if number in last:
            found.append(Departure(number, length, begin, first[number], last[number]))
    return found, clock_mhz


def summary(found: list[Departure], clock_mhz: int) -> dict:
    """Latencies in clocks, and the rate from the first beat in to the last beat out."""
    clocks = 1 + max(packet.last_out for packet in found)
    latencies = sorted(packet.latency for packet in found)
    return {
        "packets": len(found),
        "clocks": clocks,
        "latency": {
            "least": latencies[0],
            "mean": sum(latencies) / len(latencies),
            "p99": latencies[-(-99 * len(latencies) // 100) - 1],
            "most": latencies[-1],
        },
        "packets_per_second": len(found) * clock_mhz * 10**6 / clocks,
        "bits_per_second": 8 * sum(p.bytes for p in found) * clock_mhz * 10**6 / clocks,
    }
