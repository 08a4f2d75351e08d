"""A cache with miss status holding registers (MSHRs)."""

from ..authoring.expr import select
from ..authoring.token import Int
from ..authoring.trace import Over
from ..errors import mistake
from ._ports import Access, HIGHEST, MOST_ID, a_port, amount, record, whole

__all__ = ["cache"]

MOST_SETS, MOST_WAYS, MOST_MSHRS = 256, 16, 16


def cache(net, name, above, below, *, sets, ways, line, hit=1, mshrs=4, merges=4, write_back=True):
    """A set-associative cache between two MemoryPorts, non-blocking, least recently used out first.

    One access per cycle, in order. It hits: answered `hit` cycles after it began, the line is the
    most recent of its set. It misses and an MSHR waits for its line: it joins, up to `merges` in one.
    It misses otherwise: with one of `mshrs` free a read of the line goes below after a cycle. Where
    neither can be, it waits, and all behind it. A line that comes goes into its set in place of the
    least recent, and then those that wait for it are answered, one per cycle in their order. Lines come
    before accesses of the same instant.

    Writes allocate. `write_back`: a written line that leaves is written below; False: every write is
    written below as it is when it is answered, and is not waited for. sets, line (bytes): powers of
    two; sets to 256, ways and mshrs to 16, ints. An access must lie in one line: else E-assume in
    the run. hit: cycles >= 1, int or parameter.

    Raises Error "E-operand".
    """
    for what, port in (("above", above), ("below", below)):
        a_port(f"cache '{name}'", what, port)
    if above.requests is below.requests:
        raise mistake("E-operand", f"cache '{name}': above and below must be two ports")
    sets, line = whole(name, "sets", sets, 1, MOST_SETS), whole(name, "line", line, 1, 4096)
    for what, value in (("sets", sets), ("line", line)):
        if value & (value - 1):
            raise mistake(
                "E-operand", f"cache '{name}': {what} must be a power of two, got {value}"
            )
    ways = whole(name, "ways", ways, 1, MOST_WAYS)
    mshrs = whole(name, "mshrs", mshrs, 1, MOST_MSHRS)
    merges = whole(name, "merges", merges, 1, 2**20)
    hit = amount(name, "hit", hit, 1)
    if write_back not in (False, True):
        raise mistake(
            "E-operand", f"cache '{name}': write_back must be True or False, got {write_back!r}"
        )
    _Cache(net, name, above, below, sets, ways, line, hit, mshrs, merges, write_back).build()


class _Cache:
    def __init__(self, net, name, above, below, sets, ways, line, hit, mshrs, merges, back):
        self.net, self.name, self.above, self.below = net, name, above, below
        self.sets, self.ways, self.line, self.hit = sets, ways, line, hit
        self.mshrs, self.merges, self.back = mshrs, merges, back

    # A way holds line * 2 + whether it was written, most recent first; -1: nothing.
    def line_of(self, t):
        return t.address // self.line

    def found(self, s, wanted):
        """The way that holds a line; `ways` for none."""
        found = self.ways
        for w in reversed(range(self.ways)):
            found = select(getattr(s, f"way{w}") // 2 == wanted, w, found)
        return found

    def waiting(self, table, wanted):
        """The MSHR that waits for a line; `mshrs` for none."""
        found = self.mshrs
        for m in range(self.mshrs):
            found = select(getattr(table, f"line{m}") == wanted, m, found)
        return found

    def free(self, table):
        found = self.mshrs
        for m in reversed(range(self.mshrs)):
            found = select(getattr(table, f"line{m}") < 0, m, found)
        return found

    def joined(self, table, m):
        found = 0
        for k in range(self.mshrs):
            found = select(m == k, getattr(table, f"joined{k}"), found)
        return found

    def written(self, table, m):
        found = 0
        for k in range(self.mshrs):
            found = select(m == k, getattr(table, f"dirty{k}"), found)
        return found

    def begins(self, table, t, s):
        """Whether an access can begin: it hits, joins or finds a free MSHR."""
        m = self.waiting(table, self.line_of(t))
        merges = select(self.joined(table, m) < self.merges, 1, 0)
        misses = select(m < self.mshrs, merges, select(self.free(table) < self.mshrs, 1, 0))
        return select(self.found(s, self.line_of(t)) < self.ways, 1, misses)

    def build(self):
        net, name = self.net, self.name
        lines = HIGHEST // self.line
        way = Int[-1, 2 * lines + 1]
        # Caches of other sizes may stand in the same net.
        ways = {f"way{w}": way for w in range(self.ways)}
        a_set = record(f"Set{self.ways}of{self.line}", "A set.", **ways)
        fields = {f"line{m}": Int[-1, lines] for m in range(self.mshrs)}
        fields |= {f"joined{m}": Int[0, self.merges] for m in range(self.mshrs)}
        fields |= {f"dirty{m}": Int[0, 1] for m in range(self.mshrs)}
        empty = {k: -1 if k.startswith("line") else 0 for k in fields}
        kind = f"Mshrs{self.mshrs}x{self.merges}of{self.line}"
        self.table = net.place(f"{name}.table", record(kind, "The MSHRs.", **fields), init=[empty])
        init = [{f"way{w}": -1 for w in range(self.ways)}]
        self.set = [net.place(f"{name}.set{k}", a_set, init=init) for k in range(self.sets)]
        self.targets = [
            net.place(f"{name}.targets{m}", Access, drain=True) for m in range(self.mshrs)
        ]
        self.installed = net.place(
            f"{name}.installed",
            record("Installed", "A line has come.", mshr=Int[0, MOST_ID - 1]),
        )
        self.hits = net.place(f"{name}.hits", Access, drain=True)
        self.filled = net.place(f"{name}.filled", Access, drain=True)
        for m in range(self.mshrs):
            self.release(m)
        for k in range(self.sets):
            self.install(k)
        for k in range(self.sets):
            self.access(k)
        written = [] if self.back else [self.write_through()]
        net.transition(
            f"{name}.answer_hit",
            take={"t": self.hits},
            put=[self.above.responses.forward("t"), *written],
            delay=self.hit - 1,
            interval=1,
            ordered=True,
        )
        net.transition(
            f"{name}.answer_miss",
            take={"t": self.filled},
            put=[self.above.responses.forward("t"), *written],
            delay=1,
            servers=1,
        )
        net.transition(
            f"{name}.written",
            take={"t": self.below.responses.take(guard=lambda t: t.write)},
            put=[],
        )

    def write_through(self):
        return self.below.requests.emit(
            count=lambda t: 1 if t.write else 0,
            address=lambda t: t.address,
            bytes=lambda t: t.bytes,
            write=True,
            id=0,
        )

    def access(self, k):
        """An access to set k."""
        line, ways, mshrs = self.line, self.ways, self.mshrs

        def mine(t):
            assert t.address % line + t.bytes <= line, "an access lies in one line"
            return self.line_of(t) % self.sets == k

        def hits(t, s):
            return select(self.found(s, self.line_of(t)) < ways, 1, 0)

        def begins_miss(table, t, s):
            new = select(self.waiting(table, self.line_of(t)) < mshrs, 0, 1)
            return select(hits(t, s) == 1, 0, new)

        def mshr(table, t):
            m = self.waiting(table, self.line_of(t))
            return select(m < mshrs, m, self.free(table))

        def way(w):
            def value(t, s):
                at = self.found(s, self.line_of(t))
                dirty = select(t.write, 1, 0) if self.back else 0
                held = getattr(s, "way0")
                for v in range(1, ways):
                    held = select(at == v, getattr(s, f"way{v}"), held)
                front = select(held % 2 + dirty > 0, 1, 0) + held // 2 * 2
                old = getattr(s, f"way{w}")
                moved = front if w == 0 else select(w <= at, getattr(s, f"way{w - 1}"), old)
                return select(at < ways, moved, old)

            return value

        def entry(m):
            def line_of(table, t, s):
                taken = select(begins_miss(table, t, s) == 1, self.free(table), mshrs)
                return select(taken == m, self.line_of(t), getattr(table, f"line{m}"))

            return line_of

        def joined(m):
            def count(table, t, s):
                more = select(hits(t, s) == 1, mshrs, mshr(table, t))
                return getattr(table, f"joined{m}") + select(more == m, 1, 0)

            return count

        def dirty(m):
            def value(table, t, s):
                more = select(hits(t, s) == 1, mshrs, mshr(table, t))
                written = select(t.write, 1, 0) if self.back else 0
                return select(more == m, written, 0) | getattr(table, f"dirty{m}")

            return value

        self.net.transition(
            f"{self.name}.access{k}",
            take={
                "table": self.table,
                "t": self.above.requests.take(guard=mine),
                "s": self.set[k].take(guard=lambda table, t, s: self.begins(table, t, s) == 1),
            },
            put=[
                self.table.emit(
                    **{f"line{m}": entry(m) for m in range(mshrs)},
                    **{f"joined{m}": joined(m) for m in range(mshrs)},
                    **{f"dirty{m}": dirty(m) for m in range(mshrs)},
                ),
                self.set[k].emit(**{f"way{w}": way(w) for w in range(ways)}),
                self.hits.emit(count=hits, **_copied("t")),
                *[
                    place.emit(
                        count=lambda table, t, s, m=m: select(
                            hits(t, s) == 1, 0, select(mshr(table, t) == m, 1, 0)
                        ),
                        **_copied("t"),
                    )
                    for m, place in enumerate(self.targets)
                ],
                self.below.requests.emit(
                    count=begins_miss,
                    address=lambda t: self.line_of(t) * line,
                    bytes=line,
                    write=False,
                    id=lambda table: self.free(table),
                ),
            ],
            delay=1,
        )

    def install(self, k):
        """A line comes into set k, in the place of the least recent."""
        line, ways, mshrs = self.line, self.ways, self.mshrs
        oldest = f"way{ways - 1}"

        def way(w):
            if w:
                return lambda s: getattr(s, f"way{w - 1}")
            return lambda table, t: self.line_of(t) * 2 + self.written(table, t.id)

        victim = []
        if self.back:
            victim = [
                self.below.requests.emit(
                    count=lambda s: select(getattr(s, oldest) < 0, 0, getattr(s, oldest) % 2),
                    address=lambda s: select(getattr(s, oldest) < 0, 0, getattr(s, oldest))
                    // 2
                    * line,
                    bytes=line,
                    write=True,
                    id=mshrs,
                )
            ]
        self.net.transition(
            f"{self.name}.install{k}",
            take={
                "t": self.below.responses.take(
                    guard=lambda t: not t.write and self.line_of(t) % self.sets == k
                ),
                "table": self.table,
                "s": self.set[k],
            },
            put=[
                self.table.forward("table"),
                self.set[k].emit(**{f"way{w}": way(w) for w in range(ways)}),
                self.installed.emit(mshr=lambda t: t.id),
                *victim,
            ],
        )

    def release(self, m):
        """Those that wait at MSHR m are answered. A write among them leaves its line written."""
        net, name = self.net, self.name
        zeros = {f"line{m}": -1, f"joined{m}": 0, f"dirty{m}": 0}
        net.transition(
            f"{name}.release{m}",
            take={
                "which": self.installed.take(guard=lambda which: which.mshr == m),
                "table": self.table,
                "t": self.targets[m].take(lambda table: getattr(table, f"joined{m}")),
            },
            put=[
                self.table.forward("table", **zeros),
                self.filled.emit(
                    count=lambda t: t.taken,
                    **{
                        field: (lambda t, i, field=field: getattr(t[i], field))
                        for field in Access.__annotations__
                    },
                ),
            ],
        )


def _copied(arc):
    """The properties of an Access, of the arc."""
    return {k: Over([arc], lambda t, k=k: getattr(t, k)) for k in Access.__annotations__}
