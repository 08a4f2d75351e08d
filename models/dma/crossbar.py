"""verilog-axi's axi_crossbar.v: axi_crossbar_rd.v, axi_crossbar_wr.v, axi_crossbar_addr.v.

Reads and writes are separate machines. Per port and direction a decoder with admission control; per
target an arbiter over the ports for addresses; per port an arbiter over the targets for responses.
"""

import inspect

import lpn

from .channels import (
    ID,
    NONE,
    SIMPLE,
    SKID,
    Beat,
    Burst,
    Channel,
    Port,
    Response,
    has,
    misuse,
    register,
    registered,
    whole,
)

__all__ = ["MOST_THREADS", "REGISTERS", "axi_crossbar"]

MOST_PORTS = 16
MOST_THREADS = 16  # the thread table is a token of three properties per thread
REGISTERS = {  # the parameters S_AW_REG_TYPE ... of axi_crossbar.v
    "s_aw": NONE,
    "s_w": NONE,
    "s_b": SIMPLE,
    "s_ar": NONE,
    "s_r": SKID,
    "m_aw": SIMPLE,
    "m_w": SKID,
    "m_b": NONE,
    "m_ar": SIMPLE,
    "m_r": NONE,
}
BEHIND_A_MUX = ("s_b", "s_r", "m_aw", "m_w", "m_ar")  # never NONE here


def axi_crossbar(
    net,
    name,
    ports,
    targets,
    *,
    region_bits=16,
    id_bits=4,
    threads=2,
    accept=16,
    issue=4,
    registers=None,
):
    """Joins the Ports `ports`, which masters drive, to so many `targets`; returns their Ports. A port
    may have one direction only.

    Target k has the addresses k * 2**region_bits to (k + 1) * 2**region_bits - 1; a burst to none of
    them ends the run with an error: DECERR is not here. `id_bits`: of the IDs at the ports; at a
    target the number of the port stands above them. `threads`, `accept`, `issue`: S_THREADS,
    S_ACCEPT and M_ISSUE, the same for all; `threads`, at most `accept`, and `issue` are ints, `accept`
    may be a parameter. `registers`: {"s_aw": NONE, SIMPLE or SKID, ...} where they are not the
    defaults of axi_crossbar_rd.v and axi_crossbar_wr.v.

    Raises Error "E-operand" for what is not modelled.
    """
    types = {**REGISTERS, **(registers or {})}
    for key in types:
        if key not in REGISTERS or types[key] not in (NONE, SIMPLE, SKID):
            raise misuse(
                f"{name}: there is no register '{key}' of type {types[key]!r}; there are "
                f"{', '.join(REGISTERS)} of type 0, 1 or 2"
            )
    for key in BEHIND_A_MUX:
        if types[key] == NONE:
            raise misuse(f"{name}: '{key}' without a register is not here")
    ports = list(ports)
    for port in ports:
        has(name, port, reads=False, writes=False)
    whole(name, "the number of ports", len(ports), 1, MOST_PORTS)
    whole(name, "targets", targets, 1, MOST_PORTS)
    whole(name, "threads", threads, 1, MOST_THREADS)
    whole(name, "issue", issue, 1, 2**15)
    if isinstance(accept, int):
        whole(name, f"accept, for {threads} threads,", accept, threads, 2**15)
    limits = {"threads": threads, "accept": accept, "issue": issue}
    bits = {"region_bits": region_bits, "id_bits": id_bits}
    out = [Port(net, f"{name}.t{n}", read=False, write=False) for n in range(targets)]
    for kind in ("read", "write"):
        machine = _Direction(net, name, kind, types, limits, bits)
        if any(getattr(port, machine.address) for port in ports):
            machine.join(ports, out)
    return out


class _Direction:
    """The machine of one direction."""

    def __init__(self, net, name, kind, types, limits, bits):
        self.net = net
        self.name = f"{name}.{kind}"
        self.kind = kind
        self.limits = limits
        self.region_bits, self.id_bits = bits["region_bits"], bits["id_bits"]
        address = "ar" if kind == "read" else "aw"
        response = "r" if kind == "read" else "b"
        self.address, self.response = address, response
        self.types = types

    def join(self, ports, out):
        """Adds the machine between `ports` and the Ports `out`, which get their channels here."""
        net = self.net
        self.count = len(ports)  # the arbiters' turns go over all of them
        ports = {m: port for m, port in enumerate(ports) if getattr(port, self.address)}
        self.numbers = list(ports)
        for n, target in enumerate(out):
            setattr(target, self.address, Channel(net, f"{target.name}.{self.address}", Burst))
            token = Beat if self.kind == "read" else Response
            setattr(target, self.response, Channel(net, f"{target.name}.{self.response}", token))
        targets = [_Target(self, n, port) for n, port in enumerate(out)]
        inlets = {m: _Inlet(self, m, port, targets) for m, port in ports.items()}
        for target in targets:
            target.grants(inlets)
        if self.kind == "write":
            self._data(ports, out, inlets, targets)
        for inlet in inlets.values():
            inlet.answers(targets)

    def _data(self, ports, out, inlets, targets):
        """W: from the port that has the target's grant to the target of the port's command."""
        net = self.net
        ready, source = {}, {}
        for n, target in enumerate(out):
            target.w = Channel(net, f"{target.name}.w", Beat)
            ready[n], source[n] = register(net, f"{self.name}.t{n}.w", self.types["m_w"], target.w)
        for m, port in ports.items():
            inlet = inlets[m]
            channel = registered(net, f"{self.name}.p{m}.w", self.types["s_w"], port.w)
            more = lambda w: 0 if w.last else 1
            last = lambda w: 1 if w.last else 0
            for n, target in enumerate(targets):
                net.transition(
                    f"{self.name}.p{m}.w{n}",
                    take={
                        "w": channel.offer,
                        "to": inlet.data_to[n],
                        "open": target.data_of[m],
                        "ready": ready[n],
                    },
                    put=[
                        source[n].forward("w"),
                        *channel.accept("w"),
                        inlet.data_to[n].emit(count=more),
                        target.data_of[m].emit(count=more),
                        target.data_path.emit(count=last),
                        inlet.data_ended.emit(count=last),
                    ],
                )


class _Target:
    """The target's side of one direction: its arbiter of addresses and its count of transactions."""

    def __init__(self, machine, number, port):
        net, name = machine.net, f"{machine.name}.t{number}"
        self.machine, self.number, self.name = machine, number, name
        address = getattr(port, machine.address)
        self.ready, self.source = register(
            net, f"{name}.a", machine.types[f"m_{machine.address}"], address
        )
        self.requests = {m: net.place(f"{name}.request{m}", Burst) for m in machine.numbers}
        self.turn = net.place(f"{name}.turn", _turn(machine.count), init=[{"next": 0}])
        self.flying = net.place(f"{name}.flying")  # trans_count_reg
        # trans_complete: a token for the clock in which it is high.
        self.complete = net.place(f"{name}.complete")
        net.transition(
            f"{name}.uncount", take={"c": self.complete, "f": self.flying}, delay=1, interval=1
        )
        response = getattr(port, machine.response)
        key = f"m_{machine.response}"
        self.response = registered(net, f"{name}.{machine.response}", machine.types[key], response)
        self.fresh = net.place(f"{name}.fresh", init=1)  # the head is a burst nobody has seen
        if machine.kind == "write":
            self.data_path = net.place(f"{name}.data_path", init=1)
            self.data_of = {m: net.place(f"{name}.data_of{m}") for m in machine.numbers}

    def grants(self, inlets):
        """A port's request is granted a clock later, and held until the address is in the register."""
        machine, net, name = self.machine, self.machine.net, self.name
        # A request is let through while the one before it is still being counted, so that there may
        # be one too many; trans_count_reg then wraps where M_ISSUE + 1 is a power of two.
        issue = machine.limits["issue"]
        wraps = 1 << issue.bit_length()
        started = net.place(f"{name}.started")
        net.transition(f"{name}.count", take={"s": started}, put=[self.flying], delay=1, interval=1)
        for m, inlet in inlets.items():
            granted = net.place(f"{name}.granted{m}", Burst)
            put, more = [granted.forward("t")], {}
            if machine.kind == "write":
                # The target's W path is this port's from the clock after the grant on.
                more = {"path": self.data_path}
                selected = net.place(f"{name}.selected{m}")
                put.append(selected)
                net.transition(
                    f"{name}.select{m}",
                    take={"s": selected},
                    put=[self.data_of[m]],
                    delay=1,
                    interval=1,
                )
            limit = lambda flying, complete: (flying.count % wraps < issue) | (complete.count > 0)
            net.transition(
                f"{name}.grant{m}",
                take={
                    "t": self.requests[m],
                    "turn": self.turn,
                    **more,
                    "flying": self.flying.watch(),
                    "complete": self.complete.watch(guard=limit),
                    **_before(self.requests, m, machine.count),
                },
                put=put,
                delay=1,
                servers=1,
            )
            net.transition(
                f"{name}.pass{m}",
                take={"t": granted, "ready": self.ready},
                put=[
                    self.source.forward("t", id=lambda t, m=m: t.id + (m << machine.id_bits)),
                    self.turn.emit(next=(m + 1) % machine.count),
                    started,
                    inlet.passed,
                ],
            )


class _Inlet:
    """The port's side of one direction: its decoder and its arbiter of responses."""

    def __init__(self, machine, number, port, targets):
        net, name = machine.net, f"{machine.name}.p{number}"
        self.machine, self.number, self.name = machine, number, name
        self.port = port
        channel = getattr(port, machine.address)
        key = f"s_{machine.address}"
        self.channel = registered(net, f"{name}.a", machine.types[key], channel)
        self.passed = net.place(f"{name}.passed")
        self.accept = net.place(f"{name}.accept", init=machine.limits["accept"])
        self.completed = net.place(f"{name}.completed", Response)
        if machine.kind == "write":
            self.data_to = [net.place(f"{name}.data_to{n}") for n in range(len(targets))]
            self.data_ended = net.place(f"{name}.data_ended")
        self._decoder(targets)

    def _decoder(self, targets):
        """STATE_IDLE and STATE_DECODE of axi_crossbar_addr.v."""
        machine, net, name = self.machine, self.machine.net, self.name
        table_type, admitted, start, end = _thread_table(machine.limits["threads"], len(targets))
        table = net.place(f"{name}.threads", table_type, init=[{f: 0 for f in _fields(table_type)}])
        idle = net.place(f"{name}.idle", init=1)
        bits = machine.region_bits
        done = net.place(f"{name}.done", Response)
        net.transition(
            f"{name}.complete",
            take={"c": self.completed},
            put=[done.forward("c")],
            delay=1,
            interval=1,
        )
        net.transition(f"{name}.retire", take={"c": done, "table": table}, put=[table.emit(**end)])
        to_target = [
            target.requests[self.number].emit(
                count=lambda t, n=n: 1 if t.addr >> bits == n else 0,
                addr=lambda t: t.addr,
                beats=lambda t: t.beats,
                id=lambda t: t.id,
            )
            for n, target in enumerate(targets)
        ]

        def decode(t):
            assert t.addr >> bits < len(
                targets
            ), "every address belongs to a target of the crossbar"
            return 1

        wait = {"passed": net.place(f"{name}.address_ready")}
        net.transition(
            f"{name}.release", take={"p": self.passed}, put=[wait["passed"]], delay=1, interval=1
        )
        if machine.kind == "write":
            to_target += self._write_command(targets, wait)
        net.transition(
            f"{name}.decode",
            take={
                "t": self.channel.offer.peek(),
                "idle": idle,
                "accept": self.accept,
                "table": table.take(guard=lambda t, table: admitted(t.id, t.addr >> bits, table)),
            },
            put=[table.emit(**start(lambda t: t.id, lambda t: t.addr >> bits)), *to_target],
            delay=decode,
            interval=1,
        )
        closing = net.place(f"{name}.closing")
        net.transition(
            f"{name}.address",
            take={"t": self.channel.offer, **wait},
            put=[closing, *self.channel.accept("t")],
        )
        net.transition(f"{name}.close", take={"c": closing}, put=[idle], delay=1, interval=1)

    def _write_command(self, targets, wait):
        """w_select_reg: the port remembers the target of one burst at a time; the decoder waits
        until it has this one.
        """
        machine, net, name = self.machine, self.machine.net, self.name
        bits = machine.region_bits
        free = net.place(f"{name}.data_free", init=1)
        wait["command"] = net.place(f"{name}.command_ready")
        commands = []
        for n in range(len(targets)):
            command = net.place(f"{name}.command{n}")
            net.transition(
                f"{name}.command_taken{n}",
                take={"c": command, "free": free},
                put=[self.data_to[n], wait["command"]],
                delay=1,
                interval=1,
            )
            commands.append(command.emit(count=lambda t, n=n: 1 if t.addr >> bits == n else 0))
        net.transition(
            f"{name}.data_end", take={"e": self.data_ended}, put=[free], delay=1, interval=1
        )
        return commands

    def answers(self, targets):
        """The response mux: a target is granted a clock later, and held to the end of its burst."""
        machine, net, name = self.machine, self.machine.net, self.name
        bits, m = machine.id_bits, self.number
        reads = machine.kind == "read"
        turn = net.place(f"{name}.turn", _turn(len(targets)), init=[{"next": 0}])
        ready, source = register(
            net,
            f"{name}.{machine.response}",
            machine.types[f"s_{machine.response}"],
            getattr(self.port, machine.response),
        )
        wanted = {n: net.place(f"{name}.wanted{n}") for n in range(len(targets))}
        last = (lambda t: 1 if t.last else 0) if reads else 1
        more = (lambda t: 0 if t.last else 1) if reads else 0
        mine = lambda t: t.id >> bits == m
        for n, target in enumerate(targets):
            granted = net.place(f"{name}.granted{n}")
            net.transition(
                f"{name}.want{n}",
                take={"t": target.response.offer.peek(guard=mine), "fresh": target.fresh},
                put=[wanted[n]],
            )
            net.transition(
                f"{name}.grant{n}",
                take={"want": wanted[n], "turn": turn, **_before(wanted, n, len(targets))},
                put=[granted],
                delay=1,
                servers=1,
            )
            net.transition(
                f"{name}.answer{n}",
                take={
                    "t": target.response.offer.take(guard=mine),
                    "grant": granted,
                    "ready": ready,
                },
                put=[
                    source.forward("t", id=lambda t: t.id % (1 << bits)),
                    *target.response.accept("t"),
                    *([granted.emit(count=more)] if reads else []),
                    turn.emit(count=last, next=(n + 1) % len(targets)),
                    target.fresh.emit(count=last),
                    target.complete.emit(count=last),
                    self.accept.emit(count=last),
                    self.completed.emit(count=last, id=lambda t: t.id % (1 << bits)),
                ],
            )


def _over(names, function):
    """`function` of the arcs with these names, which are computed."""

    def of(*arcs):
        return function(*arcs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    of.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return of


def _turn(count):
    """The token of an arbiter over `count` requesters: who is first now."""
    return _token(f"Turn{count}", {"next": lpn.Int[0, count - 1]})


_tokens = {}


def _token(name, fields):
    if name not in _tokens:
        _tokens[name] = type(
            name, (lpn.Token,), {"__annotations__": fields, "__module__": __name__}
        )
    return _tokens[name]


def _fields(token):
    return list(token.__annotations__)


def _before(requests, k, n):
    """Arcs that hold when no other of the places `requests` {number: place} comes before number k in
    this turn over n: the round robin of arbiter.v, first who is `next` or above, then from 0.
    """

    def place_in_turn(turn, j):
        return lpn.select(turn.next <= j, j - turn.next, j - turn.next + n)

    def condition(j):
        return lambda turn, other: (other.free == 0) | (
            place_in_turn(turn, k) < place_in_turn(turn, j)
        )

    return {
        f"other{j}": requests[j].watch(guard=_over(["turn", f"other{j}"], condition(j)))
        for j in requests
        if j != k
    }


def _thread_table(threads, targets):
    """The threads of a port: (token type, admitted(id, to, table), start(id, to), end).

    A thread is an ID with so many transactions in flight, all to one target. `start` and `end` are
    the properties of the table after a transaction has begun, or is complete.
    """
    fields = {}
    for k in range(threads):
        fields[f"id{k}"] = ID
        fields[f"to{k}"] = lpn.Int[0, targets - 1]
        fields[f"count{k}"] = lpn.Int[0, 2**16]
    token = _token(f"Threads{threads}to{targets}", fields)

    def idle(table, k):
        return getattr(table, f"count{k}") == 0

    def matches(table, k, id_):
        return (getattr(table, f"count{k}") > 0) & (getattr(table, f"id{k}") == id_)

    def is_new(table, id_):
        found = idle(table, 0) | (table.id0 != id_)
        for k in range(1, threads):
            found = found & (idle(table, k) | (getattr(table, f"id{k}") != id_))
        return found

    def any_of(conditions):
        result = conditions[0]
        for condition in conditions[1:]:
            result = result | condition
        return result

    def admitted(id_, to, table):
        same = any_of(
            [matches(table, k, id_) & (getattr(table, f"to{k}") == to) for k in range(threads)]
        )
        return same | (is_new(table, id_) & any_of([idle(table, k) for k in range(threads)]))

    def chosen(table, k, id_):
        """Whether thread k takes a transaction of `id_` that is admitted."""
        first = idle(table, k)
        for j in range(k):
            first = first & (getattr(table, f"count{j}") > 0)
        return matches(table, k, id_) | (is_new(table, id_) & first)

    def start(id_, to):
        values = {}
        for k in range(threads):
            pick = lambda t, table, k=k: chosen(table, k, id_(t))
            old = lambda table, what, k=k: getattr(table, f"{what}{k}")
            values[f"id{k}"] = lambda t, table, pick=pick, old=old: lpn.select(
                pick(t, table), id_(t), old(table, "id")
            )
            values[f"to{k}"] = lambda t, table, pick=pick, old=old: lpn.select(
                pick(t, table), to(t), old(table, "to")
            )
            values[f"count{k}"] = lambda t, table, pick=pick, old=old: old(
                table, "count"
            ) + lpn.select(pick(t, table), 1, 0)
        return values

    end = {}
    for k in range(threads):
        for what in ("id", "to"):
            end[f"{what}{k}"] = lambda table, f=f"{what}{k}": getattr(table, f)
        end[f"count{k}"] = lambda c, table, k=k: getattr(table, f"count{k}") - lpn.select(
            matches(table, k, c.id), 1, 0
        )
    return token, admitted, start, end
