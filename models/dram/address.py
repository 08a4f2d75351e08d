"""Where a block of a controller's memory lies: the fields of its number's bits, and hashes of them.

[controller] `address` cuts the number into fields from its lowest bit on. An entry [field, source, k]
of `hash` is that the field is the exclusive or of its own bits and as many of the source's, from
bit k on: banks of rows that follow one another differ (permutation-based interleaving: Zhang, Zhu
and Zhang, MICRO-33, 2000).
"""

from .tables import wrong

__all__ = ["check", "fields", "located"]


def fields(controller, block):
    """{field: value} of a block, a number or a formula; "channel" is 0 where there is one."""
    found = {"channel": 0}
    for field, bits in controller["address"]:
        found[field] = block & ((1 << bits) - 1)
        block = block >> bits
    sizes = dict(controller["address"])
    for field, source, first in controller.get("hash", ()):  # no source is hashed itself
        found[field] = found[field] ^ ((found[source] >> first) & ((1 << sizes[field]) - 1))
    return found


def located(standard, block):
    """(channel, number of the bank, row, column) of a block: a number, numbers of numpy, or a formula."""
    found = fields(standard.controller, block)
    number = 0
    for level in standard.levels:
        number = number * standard.sizes[level] + found[level]
    return found["channel"], number, found["row"], found["column"]


def check(part, controller, levels, sizes):
    """Raises Error "E-dram-part" for `address` or `hash` of a [controller]. `levels`: those of the
    coordinate; `sizes`: how many units each of them has.
    """
    channels = controller.get("channels", 1)
    if channels > 1:
        levels, sizes = [*levels, "channel"], {**sizes, "channel": channels}
    address = controller.get("address")
    good = isinstance(address, list) and all(
        isinstance(f, list) and len(f) == 2 and type(f[1]) is int and 0 <= f[1] <= 40
        for f in address
    )
    names = [f[0] for f in address] if good else []
    if sorted(map(str, names)) != sorted({*levels, "column", "row"}):
        raise wrong(
            f"{part}: address of controller must have the bits of column, {', '.join(levels)} and row, "
            'as [["column", 7], ...]'
        )
    bits = dict(address)
    for level, size in sizes.items():
        if 2 ** bits.get(level, 0) != size:
            raise wrong(f"{part}: {bits.get(level)} bits of address are not {size} of {level}")
    _check_hash(f"{part}: hash of controller", controller.get("hash", []), levels, bits)


def _check_hash(about, entries, levels, bits):
    good = isinstance(entries, list) and all(
        isinstance(e, list)
        and len(e) == 3
        and e[0] in levels
        and e[1] in list(bits)
        and type(e[2]) is int
        for e in entries
    )
    if not good:
        raise wrong(
            f"{about} must have entries of a field ({', '.join(levels)}), another one and "
            'its first bit that counts, as [["bank", "row", 0]]'
        )
    hashed = {field for field, _, _ in entries}
    for field, source, first in entries:
        if source in hashed:
            raise wrong(f"{about}: the source {source} is hashed itself; take row or column")
        if not (0 <= first and first + bits[field] <= bits[source]):
            raise wrong(
                f"{about}: {field} has {bits[field]} bits, and {source} has "
                f"{bits[source]}, not as many from bit {first} on"
            )
