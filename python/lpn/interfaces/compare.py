"""Two interfaces side by side: where each is the faster one."""

from ..errors import mistake

__all__ = ["compare"]

_STEPS = 200
_UNITS = (1, 10, 100, 1000)  # of streams that are compared


def compare(first, second):
    """[{class, along, from, to, faster, first_ns, second_ns}]: from and to are inclusive sums or
    values of the property `along`, the others being least; times are at `to`.

    Raises Error "E-pi-file" when the interfaces share no class.
    """
    for each in (first, second):
        if hasattr(each, "STEPS"):
            raise mistake(
                "E-pi-file",
                f"{each.path} is an interface by steps, which has no sums to go along; compare what "
                "--evaluate says of both",
            )
    regions = []
    for about, along, lo, hi, x_of in _ways(first, second):

        def times(value):
            try:
                return tuple(
                    float(i.latency(x_of(value, i))) * i.CLOCK_PERIOD for i in (first, second)
                )
            except (NotImplementedError, KeyError):
                return None  # one of them does not cover it

        begin, winner, last = None, None, None
        for value in _grid(lo, hi):
            known = times(value)
            now = None if known is None else _faster(known)
            if now != winner:
                if winner is not None:
                    edge = _edge(times, last, value, winner)
                    regions.append(_region(about, along, begin, edge, winner, times(edge)))
                    begin = edge + 1
                else:
                    begin = value
                winner = now
            last = value
        if winner is not None:
            regions.append(_region(about, along, begin, last, winner, times(last)))
    if not regions:
        raise mistake(
            "E-pi-file", "the two interfaces have no inputs in common: other classes or ranges"
        )
    return regions


def _faster(times):
    return "equal" if times[0] == times[1] else "first" if times[0] < times[1] else "second"


def _region(about, along, begin, end, faster, times):
    return {
        "class": about,
        "along": along,
        "from": begin,
        "to": end,
        "faster": faster,
        "first_ns": times[0],
        "second_ns": times[1],
    }


def _grid(lo, hi):
    """Whole numbers from lo to hi, closer together where they are small."""
    if hi - lo <= _STEPS:
        return list(range(lo, hi + 1))
    ratio = (hi - lo) ** (1 / _STEPS)
    return sorted({lo, hi, *(lo + round(ratio**k) for k in range(_STEPS + 1))})


def _edge(times, inside, outside, winner):
    """The last value at which `winner` still wins."""
    while outside - inside > 1:
        middle = (inside + outside) // 2
        known = times(middle)
        if known is not None and _faster(known) == winner:
            inside = middle
        else:
            outside = middle
    return inside


def _ways(first, second):
    """(class, property, least, most, x of a value) for what both interfaces read."""
    if first.STREAM != second.STREAM:
        return
    singles = {}
    for interface in (first, second):
        for place, names in interface.SINGLES.items():
            for name, (lo, hi) in names.items():
                known = singles.setdefault(place, {}).setdefault(name, (lo, hi))
                singles[place][name] = max(lo, known[0]), min(hi, known[1])
    base = {
        place: {
            **{n: r[0] for n, r in first.SINGLES.get(place, {}).items()},
            **{n: r[0] for n, r in second.SINGLES.get(place, {}).items()},
        }
        for place in {*first.SINGLES, *second.SINGLES}
    }
    if first.STREAM:
        yield from _streams(first, second, base)
        return
    for shape in first.SHAPES:
        if shape in second.SHAPES:
            yield from _lists(first, second, base, singles, shape)


def _class(about):
    return ", ".join(f"{key}: {value}" for key, value in about.items()) or "the only one"


def _lists(first, second, base, singles, shape):
    # The two read sums over phases of their own; what both know is the total over all tokens.
    totals = {}  # property -> interface, which may be one file twice -> [least, most]
    for interface in (first, second):
        for key, (least, most) in interface.SUMS.items():
            known = totals.setdefault(key.partition(" of ")[0], {}).setdefault(
                id(interface), [0, 0]
            )
            known[0] += least
            known[1] += most

    def x_of(total, interface, along=None):
        x = {**{place: dict(names) for place, names in base.items()}, "shape": shape}
        for key, (least, most) in interface.SUMS.items():
            name = key.partition(" of ")[0]
            lo, hi = totals[name][id(interface)]
            share = (total - lo) / (hi - lo) if name == along and hi > lo else 0
            x[key] = least + (most - least) * min(1, max(0, share))
        return x

    for along, known in totals.items():
        lo, hi = max(r[0] for r in known.values()), min(r[1] for r in known.values())
        if len(known) == 2:
            yield _class(shape), f"{along} in total", lo, hi, lambda v, i, along=along: x_of(
                v, i, along
            )
    for place, names in singles.items():
        for name, (lo, hi) in names.items():

            def of_single(value, interface, place=place, name=name):
                x = x_of(0, interface)
                x[place][name] = value
                return x

            yield _class(shape), f"{place}.{name}", lo, hi, of_single


def _streams(first, second, base):
    for unit in first.UNITS:
        if unit not in second.UNITS:
            continue
        places = [first.UNITS.index(unit), second.UNITS.index(unit)]
        keys = sorted({*first.SUMS, *second.SUMS})
        limits = {
            key: [i.SUMS[key][k] for i, k in zip((first, second), places) if key in i.SUMS]
            for key in keys
        }
        for along in keys:
            lo, hi = max(r[0] for r in limits[along]), min(r[1] for r in limits[along])
            for units in _UNITS:

                def x_of(value, interface, along=along, units=units):
                    phase = {key: max(r[0] for r in limits[key]) * units for key in keys}
                    phase["count"], phase[along] = units, value * units
                    x = {**base, "unit": unit, "borders": {}}
                    pace, ends, _ = interface.classify(x)
                    x["first"] = max(pace(phase), key=lambda k: pace(phase)[k] + ends(phase)[k])
                    x["phases"] = {x["first"]: phase}
                    return x

                yield f"{_class(unit)}; {units} units", f"{along} per unit", lo, hi, x_of
