"""What the net of a controller has a place for: it schedules ACT, PRE, accesses and REF by some of the rules
that a description may have, and a rule that it would pass over is refused.
"""

import itertools

from .tables import wrong

__all__ = ["check"]


def check(s, data):
    """Raises Error "E-dram-part" for a Standard, of the tables `data`, that a controller cannot have."""
    _check_shape(s, data)
    _check_rules(s)
    if len(s.banks) > 62:
        raise wrong(f"{s.part}: a controller has at most 62 banks in a channel, got {len(s.banks)}")
    if s.controller.get("dual_command") and len(s.units) > 1:
        raise wrong(f"{s.part}: a controller with dual_command has one rank, got {len(s.units)}")
    slots = sum(slots for _, slots, _, _ in s.windows)
    if not 1 <= slots <= 64:
        raise wrong(
            f"{s.part}: a controller's windows of activations have 1 to 64 slots, got {slots}"
        )
    if s.row_bits > 25:
        raise wrong(f"{s.part}: a controller's row has at most 25 bits, got {s.row_bits}")
    columns = dict(s.controller["address"])["column"]
    if columns > 13:
        raise wrong(f"{s.part}: a controller's column has at most 13 bits, got {columns}")
    between = s.between()
    accesses = ("RDA", "WRA") if s.controller["page"] == "closed" else ("RD", "WR")
    for first, second in (*(("ACT", access) for access in accesses), ("PRE", "ACT")):
        if between(first, "same", second) < 2:
            raise wrong(
                f"{s.part}: {second} must wait at least 2 cycles after {first}; a controller's "
                "bank changes in the cycle between"
            )
    for access in accesses:
        if between("ACT", "same", "PRE") < between("ACT", "same", access):
            raise wrong(
                f"{s.part}: PRE may follow ACT sooner than {access} (tRAS, tRCD); a controller's "
                "row stays open until it can be accessed"
            )
    interval, busy = s.cycles("tREFI"), between("REF", "unit", "REF")
    if interval <= busy or interval < len(s.units):
        raise wrong(
            f"{s.part}: refreshes are due every {interval} cycles (tREFI) and take {busy} (tRFC); a "
            "controller would do nothing else"
        )
    for first, second in itertools.product(accesses, repeat=2):
        if between(first, "same", second) > between(first, "group", second):
            raise wrong(
                f"{s.part}: {second} after {first} waits longer in the same bank than in its "
                "group; a controller's accesses wait for those of the group"
            )


def _check_shape(s, data):
    """Tables and levels."""
    if len(s.levels) > 3:
        raise wrong(
            f"{s.part}: a controller's coordinate has at most three levels, got {', '.join(s.levels)}; "
            'several channels are "channels" of [controller]'
        )
    if len(s.units) < s.sizes[s.levels[0]]:
        raise wrong(
            f"{s.part}: refresh is 'device', and there are {s.sizes[s.levels[0]]} of {s.levels[0]}; a "
            f'controller refreshes each by itself: write refresh = "{s.levels[0]}"'
        )
    for table, instead in (
        ("buses", "commands share one bus, or two with dual_command of [controller]"),
        ("round", "it refreshes all banks of a rank at once, by REF"),
    ):
        if table in data:
            raise wrong(f"{s.part}: a controller does not read [{table}]: {instead}")
    for name, _, _, lost in s.windows:
        if lost:
            raise wrong(f"{s.part}: window {name} loses slots, which a controller's does not")


def _check_rules(s):
    """That each rule between commands that are scheduled is one that the net keeps, or follows from those."""
    read, write = ("RDA", "WRA") if s.controller["page"] == "closed" else ("RD", "WR")
    scheduled, widest, between = {"ACT", "PRE", read, write, "REF"}, s.levels[0], s.between()

    def same(*commands):
        return sum(between(a, "same", b) for a, b in itertools.pairwise(commands))

    def kept(scope, first, second):
        """The cycles that the net keeps between two commands that a rule of the scope is about."""
        if "REF" in (first, second):
            wide = scope == widest or scope == "any"
            if second == "REF" and (scope.startswith("other_") or scope == "any"):
                return float("inf") if len(s.units) == 1 else 0
            return float("inf") if wide or second != "REF" and scope.startswith("other_") else 0
        if scope == "pair":
            return 0
        if scope != "same" or {first, second} <= {read, write}:
            return float("inf")  # accesses: below
        if first == "ACT" or (first, second) == ("PRE", "ACT"):
            return float("inf")
        if first == "PRE":  # the row in between
            return same("PRE", "ACT", second)
        if s.controller["page"] == "closed":
            return float("inf") if second == "ACT" else same(first, "ACT", second)
        return float("inf") if second == "PRE" else same(first, "PRE", "ACT")

    for (scope, first), row in s.distances().items():
        for second, cycles in row.items():
            if not {first, second} <= scheduled or cycles <= kept(scope, first, second):
                continue
            if scope == "any" and cycles <= 1:
                continue
            raise wrong(
                f"{s.part}: a controller does not keep {cycles} cycles from {first} to {second} by a rule of "
                f"'{scope}'; it keeps those of {widest}, of what lies in between and of other_{widest}, REF's of "
                f"{widest} alone, and of one bank those from ACT, from PRE to ACT and from accesses to what "
                "closes the row"
            )
