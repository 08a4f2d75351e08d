"""Masters that share a slave by round robin, a transition per turn: many ways through one net."""

import lpn


class Read(lpn.Token):
    beats: lpn.Int[1, 16]


class Flight(lpn.Token):
    master: lpn.Int[0, 3]
    beats: lpn.Int[1, 16]


class Turn(lpn.Token):
    next: lpn.Int[0, 3]


def net(masters=4):
    net = lpn.Net("crossbar")
    done = net.place("done", Flight, done=True, sink=True)
    turn = net.place("turn", Turn, init=[{"next": 0}])
    credit, bus = net.place("credit", init=4), net.place("bus", init=1)
    accepted, answered = net.place("accepted", Flight), net.place("answered", Flight)
    queues = [net.place(f"queue{m}", Read, start=True) for m in range(masters)]
    slots = [net.place(f"slot{m}", init=1) for m in range(masters)]
    requests = [net.place(f"request{m}", Flight) for m in range(masters)]
    for m in range(masters):
        net.transition(
            f"decode{m}",
            take={"rd": queues[m], "slot": slots[m]},
            put=[requests[m].emit(master=m, beats=lambda rd: rd.beats)],
            delay=1,
        )
        for first in range(masters):
            take = {
                "turn": turn.take(guard=lambda turn, first=first: turn.next == first),
                "rq": requests[m],
                "credit": credit,
            }
            before = [(first + d) % masters for d in range((m - first) % masters)]
            take.update({f"o{j}": requests[j].empty() for j in before})
            net.transition(
                f"grant{m}_{first}",
                take=take,
                put=[accepted.forward("rq"), turn.emit(next=(m + 1) % masters), slots[m]],
                delay=1,
            )
    net.transition(
        "access",
        take={"rq": accepted},
        put=[answered.forward("rq")],
        delay=10,
        interval=1,
        ordered=True,
    )
    net.transition(
        "answer",
        take={"rs": answered, "bus": bus},
        put=[done.forward("rs"), bus, credit],
        delay=lambda rs: rs.beats,
    )
    return net


def space(net, each=2):
    """`each` reads of every master, of any length."""
    space = lpn.InputSpace(net)
    for place in net.places:
        if place.startswith("queue"):
            space.tokens(place, each, beats=(1, 16))
    return space
