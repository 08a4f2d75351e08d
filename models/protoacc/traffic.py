"""Which lines of a memory the serialiser's strings and its output touch, in which order."""

import array

from .outside import strings_of
from .parts import FIRST_HANDLER
from .space import handlers_of
from .tokens import Kind, WORD_BYTES, string_words

__all__ = ["lines_of", "streams"]


def streams(net):
    """(port, id) of the accesses of a net with ports whose lines traffic() tells: strings, by handler,
    and the output. What is not told, objects, tables and pointers, is few lines.
    """
    clients = FIRST_HANDLER + handlers_of(net)
    strings = (strings_of(client, clients) for client in range(FIRST_HANDLER, clients))
    return [*(("reads", id) for id in strings), ("writes", 0)]


def lines_of(lowered, net, line):
    """model.traffic() of a Lowered."""
    output = len(lowered.items)  # the stream of the writes
    strings, end = ({**net.params, **net.bound}[name] for name in ("strings", "output"))
    if end % WORD_BYTES:
        raise ValueError(f"output is {end}, not a multiple of {WORD_BYTES}")
    last = [None] * (output + 1)  # line of each
    position = end
    whose, lines = (array.array("q") for _ in range(2))
    for handler, items, places in lowered.fields:
        for (kind, _, _, bytes, skew, key), at in zip(items, places):
            read = range(0)
            if kind == Kind.STRING:
                top = strings + at + WORD_BYTES * (string_words(bytes, skew) - 1)
                read = range(top // line, (strings + at) // line - 1, -1)
                read, last[handler] = read[read[0] == last[handler] :], read[-1]
            top, position = position - 1, position - bytes - key
            write = range(top // line, position // line - 1, -1)
            if bytes + key > 0:
                write, last[output] = write[write[0] == last[output] :], write[-1]
            else:
                write = range(0)
            _interleave(read, write, handler, output, whose, lines)
    if position < 0:
        raise ValueError(
            f"output is {end}, from which {end - position} bytes are written downwards: below address 0"
        )
    return whose, lines


def _interleave(read, write, handler, output, whose, lines):
    """A string's lines and those of its output, each as soon as what it is made of is there."""
    done, many = 0, max(1, len(read))
    for k in range(many):
        if k < len(read):
            whose.append(handler)
            lines.append(read[k])
        upto = len(write) * (k + 1) // many
        whose.extend([output] * (upto - done))
        lines.extend(write[done:upto])
        done = upto
