"""What the parts of lpn.lib do, written again from their docstrings as plain loops over cycles.

Nothing here knows of nets. Requests come as lists sorted by arrival; answers are instants.
"""

import heapq


def edges_after(clock, t, number):
    """The `number`-th edge of a clock (period, phase) after tick t."""
    period, phase = clock
    first = phase % period
    k = max(0, (t - first) // period + 1)
    return first + (k + number - 1) * period


def clock_crossing(arrivals, depth, write, read, stages):
    """The tick at which each word leaves."""
    left, returned, out = list(arrivals), [], []
    visible, slots, t = [], depth, 0
    while len(out) < len(arrivals):
        while returned and returned[0] <= t:
            returned.pop(0)
            slots += 1
        if (t - write[1]) % write[0] == 0 and left and left[0] <= t and slots:
            left.pop(0)
            slots -= 1
            visible.append(edges_after(read, t, stages))
        if (t - read[1]) % read[0] == 0 and visible and visible[0] <= t:
            visible.pop(0)
            out.append(t)
            returned.append(edges_after(write, t, stages))
        t += 1
    return out


def reorder_buffer(requests, entries):
    """requests: [(arrival, cycles until the answer)]; the cycle at which each answer leaves."""
    start, out = [], []
    for k, (arrival, cycles) in enumerate(requests):
        begin = max(arrival, start[-1] + 1 if start else 0, out[k - entries] if k >= entries else 0)
        start.append(begin)
        leaves = max(begin + 1 + cycles, out[-1] if out else 0)
        out.append(leaves + 1)
    return out


class Memory:
    """A memory of fixed latency, in order."""

    def __init__(self, latency, bytes_per_cycle, outstanding):
        self.latency, self.bytes_per_cycle, self.outstanding = latency, bytes_per_cycle, outstanding
        self.start, self.end = [], []

    def request(self, t, size, address=None):
        """The cycle of the answer to a request of cycle t, which is not before the last one's."""
        begin = max(t, self.start[-1] + 1 if self.start else 0)
        if len(self.end) >= self.outstanding:
            begin = max(begin, self.end[-self.outstanding])
        self.start.append(begin)
        first = max(begin + self.latency, self.end[-1] if self.end else 0)
        self.end.append(first + -(-size // self.bytes_per_cycle))
        return self.end[-1]


class Banks:
    """A memory of banks of 64 bytes, each with a latency of its own: answers overtake each other."""

    def __init__(self, latencies):
        self.latencies = latencies

    def request(self, t, size, address):
        """The cycle of the answer to a request of cycle t."""
        return t + self.latencies[address // 64 % len(self.latencies)]


def in_order(requests, banks):
    """requests: [(arrival, address)]; the cycle in which each answer has been taken, one per cycle."""
    out = []
    for arrival, address in requests:
        answer = banks.request(arrival, 1, address)
        out.append(max(answer, out[-1] if out else 0) + 1)
    return out


def pieces(address, size, most, boundary):
    """(address, bytes, last) of each burst of a transfer."""
    while size:
        now = min(size, most, boundary - address % boundary)
        yield address, now, now == size
        address, size = address + now, size - now


def dma(moves, read, write, *, burst, boundary, reads, writes, buffer):
    """moves: [(source, destination, bytes)] at cycle 0; read, write: Memories or Banks. The cycle at
    which each move is done.
    """
    jobs = {
        side: [p for move in moves for p in pieces(move[at], move[2], burst, boundary)]
        for at, side in enumerate(("read", "write"))
    }
    credits = {"read": reads, "write": writes}
    room, filled, written, t, done = buffer, 0, 0, 0, []
    cutting = {"read": None, "write": None}
    memory = {"read": read, "write": write}
    answers, number, sizes, come = [], 0, {}, set()
    under_way = {"read": [], "write": []}
    due = []
    for _, _, size in moves:
        due.append(size + (due[-1] if due else 0))
    while len(done) < len(moves):
        for side in ("read", "write"):
            if cutting[side] is not None:  # cut in the last cycle: it goes out now
                address, size = cutting[side]
                cutting[side] = None
                if side == "write":
                    room += size
                under_way[side].append(number)
                heapq.heappush(answers, (memory[side].request(t, size, address), number, side))
                sizes[number] = size
                number += 1
        while answers and answers[0][0] <= t:
            come.add(heapq.heappop(answers)[1])
        for side, asked in under_way.items():
            while asked and asked[0] in come:
                size = sizes[asked.pop(0)]
                credits[side] += 1
                if side == "read":
                    filled += size
                else:
                    written += size
        while len(done) < len(moves) and written >= due[len(done)]:
            done.append(t)
        for side in ("read", "write"):
            has = room if side == "read" else filled
            if jobs[side] and credits[side] and has >= jobs[side][0][1]:
                address, size, _ = jobs[side].pop(0)
                cutting[side] = address, size
                credits[side] -= 1
                if side == "read":
                    room -= size
                else:
                    filled -= size
        t += 1
    return done


def bursts(transfers, most, boundary, *, serve, credits, returns, room):
    """transfers: [(arrival, address, bytes)]. A burst is served in serve(bytes) cycles, any number at
    once; then its credit is on its way back, one per cycle, and its bytes are room again. [(cycle,
    bytes)] of the bursts served.
    """
    t, out, back, space = 0, [], [], []  # cycles from which a credit, and bytes, are there again
    returned = -1
    ends = []  # bursts in service
    for arrival, address, size in transfers:
        t = max(t, arrival)
        for _, n, _ in pieces(address, size, most, boundary):
            while True:
                while ends and min(ends)[0] <= t:
                    at, length = min(ends)
                    ends.remove((at, length))
                    space.append(length)
                    if returns:
                        at = returned = max(at, returned + 1)
                    back.append(at + returns)
                lent = len(out) - sum(at <= t for at in back)
                held = sum(length for _, length in out) - sum(space)
                if (credits is None or lent < credits) and (room is None or held + n <= room):
                    break
                t += 1
            t += 1  # the cycle of the cut
            out.append((t + serve(n), n))
            ends.append(out[-1])
    return out


def path(arrivals, *, stages, depth, latency, fork, left, right, work, servers, join):
    """A pipeline of `stages`, a FIFO, a fork to a left branch that works and an empty right one (of so
    many entries; None: any number), and a join of both. The cycles in which tokens come out.
    """
    n, moved, written, forked, worked, joined = len(arrivals), [], [], [], [], []
    for i in range(n):
        moves, ready = [], arrivals[i]
        for k, delay in enumerate(stages):
            behind = moved[i - 1][k + 1] if i else 0  # the one before has left this register
            moves.append(max(ready, behind))
            ready = moves[-1] + delay
        moved.append([*moves, ready])
        freed = forked[i - depth] if i >= depth else 0
        written.append(max(ready, written[-1] + 1 if i else 0, freed))
        start = max(written[i] + latency, forked[-1] if i else 0)
        if left is not None and i >= left:
            start = max(start, worked[i - left])
        if right is not None and i >= right:
            start = max(start, joined[i - right])
        forked.append(start + fork)
        begin = max(forked[i], worked[i - servers] if i >= servers else 0)
        worked.append(begin + work)
        joined.append(max(worked[i], forked[i], joined[-1] if i else 0) + join)
    return joined


class Arbiter:
    """Who is next, and until when the arbiter is busy."""

    def __init__(self, n, fair, bursts=False):
        self.n, self.fair, self.bursts = n, fair, bursts
        self.turn, self.held, self.free_at = 0, None, 0

    def pick(self, t, ready):
        """The input that is granted at t among `ready`, or None."""
        if t < self.free_at or not ready:
            return None
        if self.held is not None:
            return self.held if self.held in ready else None
        first = self.turn if self.fair else 0
        return min(ready, key=lambda k: (k - first) % self.n)

    def grant(self, t, k, delay, last=True):
        """Input k is granted; the cycle in which its token is through."""
        self.free_at = t + delay
        self.held = k if self.bursts and not last else None
        self.turn = (k + 1) % self.n
        return self.free_at


def arbiter(queues, fair, *, credits, returns=0, bursts=False, waits=False):
    """queues: per input [(arrival, delay, last, fits)]; a head that does not fit takes no part, and
    somebody else takes it when no other can be granted. credits: per input a list of one number, which
    inputs may share, or None; each is back `returns` cycles after its token is through, one per cycle.
    waits: for the input whose turn it is. [(cycle, input)] of what comes out.
    """
    a = Arbiter(len(queues), fair, bursts)
    queues, out, t = [list(q) for q in queues], [], 0
    back, returned = [], {}  # (cycle, credits)
    stuck = 0
    while any(queues) and stuck < 500:
        for at, owner in [each for each in back if each[0] <= t]:
            back.remove((at, owner))
            owner[0] += 1
        there = [k for k, q in enumerate(queues) if q and q[0][0] <= t]
        able = [k for k in there if queues[k][0][3] and (credits[k] is None or credits[k][0])]
        if waits:
            able = [k for k in able if k == (a.turn if a.held is None else a.held)]
        k = a.pick(t, able)
        others = [i for i in there if not queues[i][0][3]]
        if k is not None:
            _, delay, last, _ = queues[k].pop(0)
            end = a.grant(t, k, delay, last)
            out.append((end, k))
            if credits[k] is not None:
                credits[k][0] -= 1
                key = id(credits[k])
                returned[key] = max(end, returned.get(key, -1) + 1)
                back.append((returned[key] + returns, credits[k]))
            for q in queues:  # the arbiter is busy
                while q and q[0][0] <= t and not q[0][3]:
                    q.pop(0)
            stuck = 0
        elif others:
            queues[others[0]].pop(0)
        else:
            stuck += 1
            t += 1
    return out


def crossbar(inputs, outputs, fair, late=False, *, credits=None, returns=0, bursts=False):
    """inputs: per input [(arrival, output, delay, last)]. [(cycle, input, output)] of what comes out.
    `late`: one that arrives in this cycle is seen after those that waited. credits: how many each output
    has, which are back `returns` cycles after their token is through; bursts: outputs stay with an
    input until `last`.
    """
    inputs = [list(q) for q in inputs]
    n = len(inputs)
    arbiters = [Arbiter(n, fair, bursts) for _ in range(outputs)]
    lent = [[] for _ in range(outputs)]  # when credits of an output come back
    free_at, out, t = [0] * n, [], 0
    while any(inputs):
        for before in (t - 1, t) if late else (t,):
            for o, a in enumerate(arbiters):
                if credits is not None and sum(back > t for back in lent[o]) >= credits:
                    continue
                there = [i for i in range(n) if inputs[i] and inputs[i][0][0] <= before]
                k = a.pick(t, [i for i in there if free_at[i] <= t and inputs[i][0][1] == o])
                if k is not None:
                    _, _, delay, last = inputs[k].pop(0)
                    free_at[k] = a.grant(t, k, delay, last)
                    out.append((free_at[k], k, o))
                    lent[o].append(free_at[k] + returns)
        t += 1
    return sorted(out)


def queued_crossbar(inputs, outputs, fair, queue, *, credits=None, returns=0, bursts=False):
    """As crossbar(), with `queue` tokens of an input for each output, the one under way among them; an
    input sends to several outputs at once, and holds up those behind a token that finds its queue full.
    """
    inputs = [list(q) for q in inputs]
    n = len(inputs)
    arbiters = [Arbiter(n, fair, bursts) for _ in range(outputs)]
    lent = [[] for _ in range(outputs)]
    waiting = [[[] for _ in range(n)] for _ in range(outputs)]
    under_way = []  # (end, output, input)
    out, t = [], 0
    while any(inputs) or any(any(q) for w in waiting for q in w):
        under_way = [each for each in under_way if each[0] > t]
        for step in range(2):  # those that wait first, then those that came
            for o, a in enumerate(arbiters):
                if credits is not None and sum(back > t for back in lent[o]) >= credits:
                    continue
                k = a.pick(t, [i for i in range(n) if waiting[o][i]])
                if k is not None:
                    _, _, delay, last = waiting[o][k].pop(0)
                    end = a.grant(t, k, delay, last)
                    out.append((end, k, o))
                    under_way.append((end, o, k))
                    lent[o].append(end + returns)
            for i, source in enumerate(inputs if step == 0 else []):
                while source and source[0][0] <= t:
                    o = source[0][1]
                    if len(waiting[o][i]) + under_way_of(under_way, o, i) >= queue:
                        break
                    waiting[o][i].append(source.pop(0))
        t += 1
    return sorted(out)


def under_way_of(under_way, o, i):
    """Tokens of an input that an output receives."""
    return sum(each[1:] == (o, i) for each in under_way)


def interconnect(masters, memories, delay, fair):
    """masters: per master [(arrival, slave, bytes)]. [(cycle, master)] of the answers."""
    queues = [[(t, s, delay, True) for t, s, _ in m] for m in masters]
    sizes = [[size for _, _, size in m] for m in masters]
    answers = [[] for _ in memories]
    for t, m, s in crossbar(queues, len(memories), fair, late=True):
        answers[s].append((memories[s].request(t, sizes[m].pop(0)), m, delay, True))
    return [(t, m) for t, _, m in crossbar(answers, len(masters), fair, late=True)]


class Cache:
    """accesses: [(arrival, address, bytes, write)]; `run` gives the cycle of each answer."""

    def __init__(self, memory, *, sets, ways, line, hit, mshrs, merges, write_back):
        self.memory, self.sets, self.ways, self.line = memory, sets, ways, line
        self.hit, self.mshrs, self.merges, self.back = hit, mshrs, merges, write_back

    def run(self, accesses):
        """The cycle of each answer, and how many accesses hit."""
        lines = [[] for _ in range(self.sets)]  # [line, written], most recent first
        waiting = {}  # line -> accesses
        answers, fills, filled_at, hits = {}, [], 0, 0
        left, t, number = list(enumerate(accesses)), 0, 0
        below = []  # (cycle, order within it, line or None, bytes)
        while len(answers) < len(accesses):
            # What was decided a cycle ago goes below first, then lines that leave now.
            below.sort(key=lambda r: r[:2])
            while below and below[0][0] <= t:
                at, _, wanted, size = below.pop(0)
                end = self.memory.request(at, size)
                if wanted is not None:
                    heapq.heappush(fills, (end, number, wanted))
                    number += 1
            while fills and fills[0][0] <= t:
                _, _, wanted = heapq.heappop(fills)
                there = lines[wanted % self.sets]
                targets = waiting.pop(wanted)
                dirty = self.back and any(accesses[k][3] for k in targets)
                if len(there) == self.ways and there.pop()[1]:
                    self.memory.request(t, self.line)
                there.insert(0, [wanted, dirty])
                for k in targets:
                    filled_at = max(filled_at, t) + 1
                    answers[k] = filled_at
                    if accesses[k][3] and not self.back:
                        below.append((filled_at, 2, None, accesses[k][2]))
            if left and left[0][1][0] <= t:
                k, (_, address, size, write) = left[0]
                wanted = address // self.line
                there = lines[wanted % self.sets]
                found = [entry for entry in there if entry[0] == wanted]
                if found:
                    there.remove(found[0])
                    there.insert(0, [wanted, found[0][1] or (write and self.back)])
                    answers[k] = t + self.hit
                    hits += 1
                    if write and not self.back:
                        below.append((t + self.hit, 1 if self.hit > 1 else 3, None, size))
                    left.pop(0)
                elif wanted in waiting:
                    if len(waiting[wanted]) < self.merges:
                        waiting[wanted].append(k)
                        left.pop(0)
                elif len(waiting) < self.mshrs:
                    waiting[wanted] = [k]
                    below.append((t + 1, 0, wanted, self.line))
                    left.pop(0)
            t += 1
        return [answers[k] for k in range(len(accesses))], hits
