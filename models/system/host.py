"""The driver: register writes, the last of which starts the device; then polls, or an interrupt."""

from .parts import Job

__all__ = ["driver", "interrupt"]


def driver(b):
    """Adds the driver and the device's registers to the builder `b` and gives it the places
    todo, started, ending, busy, raised (None with polls).
    """
    net, host, device = b.net, b.system.host, b.system.device
    request, answer = b.time("host.request", host.request), b.time("host.answer", host.answer)
    job = net.place("host.job", Job, start=True)
    rung, doorbell = net.place("host.rung", Job), net.place("device.doorbell", Job)
    waiting = net.place("host.waiting", drain=True)
    # Polls wait for the write's answer.
    polls = host.wait == "poll"
    written = net.place("host.written") if polls else waiting
    net.transition(
        "host.write_registers",
        take={"job": job},
        put=[rung.forward("job"), written],
        # A posted write is answered where the link begins; the next access waits for that.
        delay=b.time("host.setup", host.setup + host.command)
        + (device.registers - 1) * (request + answer)
        + request,
        servers=1,
    )
    b.down.carry("doorbell", rung, doorbell, kind="posted", payload=4, type=Job, servers=1)
    # One access to the registers at a time: a poll waits for the write before it.
    b.registers = net.place("device.registers", init=1)
    b.busy, b.todo = net.place("device.busy"), net.place("reads.todo")
    b.started, b.ending = net.place("device.started", Job), net.place(
        "device.ending", Job, drain=True
    )
    net.transition(
        "device.start",
        take={"job": doorbell, "registers": b.registers},
        put=[
            b.started.forward("job"),
            b.ending.forward("job"),
            b.todo.emit(lambda job: job.reads),
            b.busy,
            b.registers,
        ],
        delay=device.register_cycles * b.cycle,
        servers=1,
    )
    done = net.place("host.done", done=True, sink=True)
    b.raised = None
    if polls:
        net.transition("host.written", take={"t": written}, put=[waiting], delay=answer, servers=1)
        _poll(b, waiting, done, request, answer)
    else:
        _interrupt(b, waiting, done)


def _poll(b, waiting, done, request, answer):
    """The driver reads the register until it says that the device is idle."""
    net = b.net
    asked, arrived = net.place("host.asked"), net.place("device.asked")
    # A device that never ends is a run that stalls, and says why, instead of polls for ever.
    patience = net.place("host.patience", init=b.number("host.polls", b.system.host.polls, 2**31))
    net.transition(
        "host.poll", take={"t": waiting, "p": patience}, put=[asked], delay=request, servers=1
    )
    b.down.carry("poll", asked, arrived, kind="nonposted", payload=0, servers=1)
    busy = {"busy": (b.busy.peek(), b.time("host.pause", b.system.host.pause), waiting)}
    for says, (arc, pause, then) in {**busy, "idle": (b.busy.empty(), 0, done)}.items():
        read, told = net.place(f"device.says_{says}"), net.place(f"host.told_{says}")
        net.transition(
            f"device.read_{says}",
            take={"t": arrived, "busy": arc, "registers": b.registers},
            put=[read, b.registers],
            delay=b.system.device.register_cycles * b.cycle,
            servers=1,
        )
        b.up.carry(says, read, told, kind="completion", payload=4, servers=1)
        net.transition(
            f"host.sees_{says}", take={"t": told}, put=[then], delay=answer + pause, servers=1
        )


def _interrupt(b, waiting, done):
    b.raised, b.told = b.net.place("device.raised"), b.net.place("host.told")
    b.net.transition(
        "host.interrupted",
        take={"t": b.told, "w": waiting},
        put=[done],
        delay=b.time("host.interrupt", b.system.host.interrupt),
        servers=1,
    )


def interrupt(b):
    """The way of the interrupt, if there is one: behind the writes that were joined to the link before, which
    it must not pass.
    """
    if b.raised is not None:
        b.up.carry("interrupt", b.raised, b.told, kind="posted", payload=4, servers=1)
