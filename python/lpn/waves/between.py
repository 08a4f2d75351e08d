"""Two recordings of one design, transfer by transfer: where they part first, and how."""

from __future__ import annotations

from typing import Any

from ..errors import listed, without_place
from .recording import Recording

__all__ = ["Comparison"]

LOOK = 16  # transfers behind a different payload in which the same ones are looked for


class Comparison:
    """Reads two recordings side by side; what both have done so far is compared and forgotten, so
    that memory does not grow with their length. Both are made with `keep`.

    Raises Error "E-wave-map" where they do not have the same channels.
    """

    def __init__(self, one: Recording, two: Recording) -> None:
        self.recordings = (one, two)
        names = [[c.name for c in r.channels] for r in self.recordings]
        for has, lacks, k in ((0, 1, 1), (1, 0, 0)):
            missing = [n for n in names[has] if n not in names[lacks]]
            if missing:
                raise without_place(
                    "E-wave-map",
                    f"{one.map.file}: {self.recordings[k].path} has no channel {listed(missing)}",
                )
        for k, channel in enumerate(one.channels):
            other = names[1].index(channel.name)
            if one.columns(k) != two.columns(other):
                raise without_place(
                    "E-wave-map",
                    f"{one.map.file}: channels.{channel.name}: a payload field is wider in one "
                    "recording than in the other; name the bits to compare, as 'tb.bus[63:0]'",
                )
        self._channels = [_Channel(k, self.recordings) for k in range(len(one.channels))]

    def step(self) -> bool:
        """Reads on in the recording that is behind; False when there is no more to compare."""
        open_ones = [k for k in (0, 1) if not self.recordings[k].finished]
        if not open_ones:
            return False
        if len(open_ones) == 1:
            other = self.recordings[1 - open_ones[0]]
            # Behind the end of one that was cut off nothing can be compared.
            if other.damage is not None and self._reached(open_ones[0]) > self._reached(
                1 - open_ones[0]
            ):
                return False
        turn = min(open_ones, key=self._reached)
        self.recordings[turn].step()
        for channel in self._channels:
            channel.take(turn)
            channel.compare()
        return True

    def _reached(self, k):
        """Cycles of the first channel's clock so far, from cycle 0 on."""
        edges, origin, _, _ = self.recordings[k].clock_totals(0)
        return edges - (origin or 0)

    def result(self, whole: bool = True) -> dict[str, Any]:
        """Fields as in docs/cli.md. `whole`: both were read to their ends."""
        whole = whole and all(r.finished and r.damage is None for r in self.recordings)
        rows = []
        for channel in self._channels:
            channel.compare(last=True)
            channel.end(whole)
            rows.append(channel.row())
        first = min(
            (row["first_divergence"] for row in rows if row["first_divergence"]),
            key=lambda d: d["cycle"],
            default=None,
        )
        return {
            "files": [r.path for r in self.recordings],
            "equal": first is None,
            "whole": whole,
            "first_divergence": first,
            "channels": rows,
            "damage": [r.damage for r in self.recordings],
            "cycles": [self._reached(0), self._reached(1)],
        }


class _Channel:
    """What both recordings did on one channel and has not been compared, and what was found."""

    def __init__(self, k, recordings):
        self.name = recordings[0].channels[k].name
        self._recordings = recordings
        # A channel has the same fields in both, but not always the same number.
        names = [c.name for c in recordings[1].channels]
        self._k = (k, names.index(self.name))
        self._rows = [None, None]
        self._compared = 0
        self._different = 0
        self._first = None
        self._late = []  # of the first difference on: runs of one lateness, [cycles, transfers]
        self._payloads = 0  # that differ
        self._look = ([], [])  # payloads from the first different one on
        self._counts = [0, 0]

    def take(self, side):
        rows = self._recordings[side].take(self._k[side])
        self._counts[side] += len(rows.edges)
        kept = self._rows[side]
        if kept is None:
            self._rows[side] = rows
        else:
            for name in ("edges", "stalled", "values", "unknowns"):
                getattr(kept, name).extend(getattr(rows, name))

    def _origins(self):
        return [self._recordings[s].clock_totals(self._k[s])[1] for s in (0, 1)]

    def compare(self, last=False):
        """All transfers that both have; with `last`, also where no cycle 0 was found."""
        one, two = self._rows
        if one is None or two is None:
            return
        origins = self._origins()
        if None in origins and not last:
            return
        origins = [o or 0 for o in origins]
        count = min(len(one.edges), len(two.edges))
        if count == 0:
            return
        same = 0
        if self._first is None:
            same = self._same(one, two, origins, count)
        for k in range(same, count):
            self._difference(one, two, origins, k)
        self._compared += count
        for rows in (one, two):
            del rows.edges[:count], rows.stalled[:count]
            del rows.values[: count * rows.columns], rows.unknowns[: count * rows.columns]

    def _same(self, one, two, origins, count):
        """How many of the next `count` transfers are equal, before the first one that is not."""
        columns = one.columns * count
        shift = origins[1] - origins[0]
        edges = two.edges[:count]
        if shift:
            edges = type(edges)("q", [e - shift for e in edges])
        if (
            one.edges[:count] == edges
            and one.values[:columns] == two.values[:columns]
            and one.unknowns[:columns] == two.unknowns[:columns]
        ):
            return count
        for k in range(count):
            if one.edges[k] != edges[k] or not _equal_payload(one, two, k):
                return k
        return count

    def _difference(self, one, two, origins, k):
        cycles = [one.edges[k] - origins[0], two.edges[k] - origins[1]]
        late, payload = cycles[1] - cycles[0], not _equal_payload(one, two, k)
        if self._first is None and (late or payload):
            self._first = self._divergence(
                self._compared + k, cycles, [one.stalled[k], two.stalled[k]], [one, two], k
            )
        if self._first is None:
            return
        self._different += bool(late or payload)
        self._payloads += payload
        if self._late and self._late[-1][0] == late:
            self._late[-1][1] += 1
        elif len(self._late) < 1000:
            self._late.append([late, 1])
        if (self._payloads or payload) and len(self._look[0]) < LOOK:
            for side, rows in enumerate((one, two)):
                at = slice(k * rows.columns, (k + 1) * rows.columns)
                self._look[side].append((tuple(rows.values[at]), tuple(rows.unknowns[at])))

    def _divergence(self, transfer, cycles, stalled, rows, k):
        payload = [
            None if r is None else self._recordings[s].payload(self._k[s], r, k)
            for s, r in enumerate(rows)
        ]
        return {
            "transfer": transfer,
            "cycle": min(c for c in cycles if c is not None),
            "cycles": cycles,
            "stalled": stalled,
            "payload": payload,
        }

    def end(self, whole):
        """What one recording has and the other one has not."""
        left = [0 if rows is None else len(rows.edges) for rows in self._rows]
        if not any(left):
            return
        side = 0 if left[0] else 1
        rows, origins = self._rows[side], self._origins()
        other = self._recordings[1 - side]
        edges, origin, _, _ = other.clock_totals(self._k[1 - side])
        reached = edges - (origin or 0)
        cycle = rows.edges[0] - (origins[side] or 0)
        count = left[side]
        if not whole:
            # Of a recording that was cut off nothing is known behind its end.
            count = sum(e - (origins[side] or 0) < reached for e in rows.edges)
        if count == 0:
            return
        self._different += count
        if self._first is None:
            cycles: list[int | None] = [None, None]
            stalled: list[int | None] = [None, None]
            both: list[Any] = [None, None]
            cycles[side], stalled[side], both[side] = cycle, rows.stalled[0], rows
            self._first = self._divergence(self._compared, cycles, stalled, both, 0)
            self._first["end"] = reached

    def row(self):
        """Fields as in docs/cli.md."""
        first = self._first
        row = {
            "channel": self.name,
            "transfers": self._counts,
            "compared": self._compared,
            "different": self._different,
            "first_divergence": None,
        }
        if first is None:
            return row
        row["first_divergence"] = {
            "cycle": first["cycle"],
            "channel": self.name,
            "transfer": first["transfer"],
        }
        return row | {
            "cycles": first["cycles"],
            "stalled": first["stalled"],
            "payload": first["payload"],
            "late": {
                "least": min((late for late, _ in self._late), default=None),
                "most": max((late for late, _ in self._late), default=None),
                "constant": len(self._late) == 1,
            },
            "cause": self._cause(),
        }

    def _cause(self):
        """The first difference in words, of the second recording against the first one."""
        first, names = self._first, ("the first", "the second")
        if None in first["cycles"]:
            has = 0 if first["cycles"][1] is None else 1
            return f"{names[has]} recording alone has it; {names[1 - has]} ends at cycle {first['end']}"
        late = first["cycles"][1] - first["cycles"][0]
        if not late:
            one, two = self._look
            if one != two and sorted(one) == sorted(two):
                return f"the order differs: the next {len(one)} payloads are the same ones"
            later = self._payloads - 1
            if not later:
                return "the payload differs, in this transfer alone"
            return f"the payload differs, and so does that of {later} later {'one' if later == 1 else 'ones'}"
        words = f"{abs(late)} {'cycle' if abs(late) == 1 else 'cycles'} {'later' if late > 0 else 'earlier'}"
        one, two = first["stalled"]
        if late > 0 and two > one:
            why = f"held back for {two} cycles by a missing ready, against {one}"
        elif late < 0 and two < one:
            why = f"held back for {two} cycles by a missing ready, against {one}"
        elif late > 0:
            why = "offered later, not held back"
        else:
            why = "offered earlier"
        if len(self._late) == 1:
            rest = "; so are all that follow" if self._late[0][1] > 1 else ""
        else:
            least, most = min(d for d, _ in self._late), max(d for d, _ in self._late)
            rest = f"; {least} to {most} cycles late from here on"
        return f"{words}, {why}{rest}"


def _equal_payload(one, two, k):
    at = slice(k * one.columns, (k + 1) * one.columns)
    return one.values[at] == two.values[at] and one.unknowns[at] == two.unknowns[at]
