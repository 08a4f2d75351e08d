"""What the speed nets share: tokens with a scattered value, and stages whose delay reads it."""

import lpn


class Item(lpn.Token):
    value: lpn.Int[0, 2**31 - 1]


def scatter(i):
    """A value in 0..2^31-1 for number `i`: Knuth's multiplicative hash, folded once."""
    x = i * 2654435761 & 0xFFFFFFFF
    return (x ^ x >> 15) & 0x7FFFFFFF


def stage(net, name, base, shift, mask, take, put):
    """A transition with one firing in flight; it takes `base` cycles plus some bits of its item.

    `take`: places, the item's first; `put`: places. A place of items gets a copy of the item,
    any other a plain token.
    """
    arcs = {"item": take[0]} | {f"and_{k}": place for k, place in enumerate(take[1:])}
    net.transition(
        name,
        take=arcs,
        put=[place.forward("item") if place.fields else place for place in put],
        delay=lambda item: base + (item.value >> shift & mask),
        servers=1,
    )


def items(marking, place, numbers):
    """Puts one item per number into a place."""
    from array import array

    marking.add_columns(place, value=array("q", map(scatter, numbers)))
