"""Cycles that a net with a memory and commands of its own gets from the system around it."""

import lpn

__all__ = ["KINDS", "cycles_of", "wrong"]

KINDS = ("read", "write", "command")


def wrong(system, text):
    """The error of a file that does not fit its accelerator."""
    return lpn.Error("E-system-file", f"{system.name}: {text}")


def cycles_of(system, kind):
    """Cycles of the accelerator: "read", "write": from a request to its answer, when nothing else is on the
    way. "command": from one command of the driver to the next, its own work and the register writes, which
    go on while the device works.
    """
    memory, link, host = system.memory, system.link, system.host
    if link.packets:
        key = "topology" if link.topology else "generation"
        raise wrong(
            system,
            "accelerator.round_trips needs a link of messages: packets of PCI Express wait for each "
            f"other; leave out link.{key}",
        )
    if kind == "command":
        ps = host.command + system.device.registers * (host.request + host.answer)
        return max(1, -(-ps // system.accelerator.period))
    where = memory.input if kind == "read" else memory.output
    more = (
        memory.behind if where == "behind" else memory.levels()[2 if memory.page == "open" else 3]
    )
    return -(-(2 * link.latency + memory.hit + more) // system.accelerator.period)
