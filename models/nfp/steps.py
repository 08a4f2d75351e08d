"""A program path as the words that a packet of the net carries.

A step is a run of so many core cycles and what ends it; three steps make a word, and equal words in
a row are written once with how often they come. The fields of a step, from the lowest bit:

    12 run     core cycles up to and with the accessing instruction
     3 kind    SRAM, READ, POST, WAIT, END or FENCE, never 0
     2 bank    of DRAM, for READ, POST, WAIT and FENCE
     3 adds    posted: with POST 1..7, with WAIT and FENCE 0..7

A thread keeps the core when it posts, so all cycles of a segment stand in its first step and what
follows a POST has run 0. A packet that has posted ends only when the banks have taken its adds:
WAIT passes through a bank's queue, and FENCE, the last, is a WAIT that ends the program as END
does.
"""

__all__ = ["encode", "segments_of"]

SRAM, READ, POST, END, FENCE, WAIT = 1, 2, 3, 4, 5, 6
RUN, KIND, BANK, ADDS = 0, 12, 15, 17  # lowest bits
STEP = 20  # bits
PER_WORD = 3
WORD = 1 << (STEP * PER_WORD)  # above it: how often more the word is repeated, 0..7
MOST_RUN = (1 << 12) - 1
MOST_ADDS = 7
MOST_ROUNDS = 7

_BLOCKING = {"sram": SRAM, "dram_read": READ}


def segments_of(steps):
    """(core cycles without the overhead, {access: number}) of segments [(cycles, access, bank)]."""
    counts = {}
    for _, access, _ in steps:
        if access != "none":
            counts[access] = counts.get(access, 0) + 1
    return sum(cycles for cycles, _, _ in steps), counts


def encode(segments, overhead):
    """The words of a path: segments [(cycles, access, bank)] behind `overhead` cycles of firmware.

    access: "sram", "dram_read" (both wait), "dram_add" (posted), "none" (the end, the last one).
    Raises Error E-nfp-steps for a segment that does not fit.
    """
    steps = []
    run, posted, used = overhead, [], set()
    for k, (cycles, access, bank) in enumerate(segments):
        run += cycles
        if access == "dram_add":
            posted.append(bank)
            used.add(bank)
            continue
        if access != "none" and access not in _BLOCKING:
            raise _error(f"access '{access}' is not known; write sram, dram_read, dram_add or none")
        if (access == "none") != (k == len(segments) - 1):
            raise _error("'none' is the end of a path: its last segment, and only that")
        if run > MOST_RUN:
            raise _error(
                f"a thread runs {run} core cycles without waiting for memory, a packet of the net carries at "
                f"most {MOST_RUN} per run"
            )
        ends = access == "none"
        for b in sorted(used if ends else set(posted)):
            number = posted.count(b)
            while number > (MOST_ADDS if ends else 0):
                steps.append((run, POST, b, min(MOST_ADDS, number)))
                number -= steps[-1][3]
                run = 0
            if ends:
                steps.append((run, FENCE if b == max(used) else WAIT, b, number))
                run = 0
        if not ends:
            steps.append((run, _BLOCKING[access], bank if access == "dram_read" else 0, 0))
        elif not used:
            steps.append((run, END, 0, 0))
        run, posted = 0, []
    return _pack(steps)


def _pack(steps):
    """Words of steps. Of all ways to break the path into words of one to three steps, the one with
    fewest words.
    """
    codes = [r | k << KIND | b << BANK | a << ADDS for r, k, b, a in steps]

    def word(first, count):
        return sum(code << (STEP * j) for j, code in enumerate(codes[first : first + count]))

    # best[i]: fewest words for the first i steps; a word of `size` steps may come up to 8 times in
    # a row.
    n = len(codes)
    best = [(0, None)] + [(n + 1, None)] * n
    for i in range(n):
        for size in (3, 2, 1):
            times = 0
            while (
                times <= MOST_ROUNDS
                and i + size * (times + 1) <= n
                and (
                    times == 0
                    or codes[i + size * times : i + size * (times + 1)] == codes[i : i + size]
                )
            ):
                times += 1
                end = i + size * times
                if best[i][0] + 1 < best[end][0]:
                    best[end] = (best[i][0] + 1, (i, size, times))
    words, at = [], n
    while at:
        first, size, times = best[at][1]
        words.append(word(first, size) | (times - 1) << (STEP * PER_WORD))
        at = first
    return words[::-1]


def decode(words):
    """The steps (run, kind, bank, adds) that encode made."""
    out = []
    for word in words:
        rounds, rest = (word >> (STEP * PER_WORD)) + 1, word & (WORD - 1)
        steps = []
        while rest:
            steps.append((rest & MOST_RUN, rest >> KIND & 7, rest >> BANK & 3, rest >> ADDS & 7))
            rest >>= STEP
        out += steps * rounds
    return out


def _error(message):
    from lpn import Error

    return Error("E-nfp-steps", f"a path cannot be simulated: {message}")
