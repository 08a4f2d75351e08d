"""Deparsers and output arbiter of Menshen's net."""

from .fifo import BEAT, QUEUES, Beat, Fifo, Sending, Turn, given, one_if, step
import lpn


def copy(net, q, packets):
    """depar_wait_segs.v: beats of queue q into FIFOs of first, second and further beats; those, and
    the place of the packets' VLANs.
    """
    copied = net.place(f"copied{q}", Beat, drain=True)
    writing = net.place(f"writing{q}", Beat, drain=True)
    written = net.place(f"vlan_written{q}", drain=True)
    vlan = net.place(f"vlan{q}", drain=True)
    fifos = [
        Fifo(net, f"{name}{q}", depth, Beat)
        for name, depth in (("first", 16), ("second", 16), ("rest", 32))
    ]
    looks = {name: f.inner.watch() for name, f in zip(("first", "second", "rest"), fifos)}

    def may_copy(b, first, second, rest):
        if b.nth == 0:
            return first.count < 15 and (not b.last or second.count < 15)
        return second.count < 15 if b.nth == 1 else rest.count < 31

    step(
        net,
        f"copy{q}",
        {"b": packets.out, **looks},
        [copied.forward("b"), packets.free.emit()],
        guard=may_copy,
    )
    step(net, f"copy_register{q}", {"b": copied}, [writing.forward("b")])

    def write_clocks(b, first, second, rest):
        # small_fifo.v: a full one takes a word in the clock in which it is read, whose word is locked.
        if b.nth == 0:
            assert first.free < 16, "the FIFO of first beats is full: the RTL overwrites one"
        if b.nth == 1 or (b.nth == 0 and b.last):
            assert second.free < 16, "the FIFO of second beats is full: the RTL overwrites one"
        if b.nth == 2:
            assert rest.free < 32, "the FIFO of further beats is full: the RTL overwrites one"
        return 1

    step(
        net,
        f"copy_write{q}",
        {"b": writing, **looks},
        [
            given(fifos[0].inner, BEAT, "b", lambda b: b.nth == 0),
            # A packet of one beat fills both.
            given(fifos[1].inner, BEAT, "b", lambda b: b.nth == 1 or (b.nth == 0 and b.last)),
            given(fifos[2].inner, BEAT, "b", lambda b: b.nth == 2),
            written.emit(count=one_if(lambda b: b.nth == 0)),
        ],
        delay=write_clocks,
    )
    # The VLAN's FIFO is twice as deep as that of the first beats, so that it never fills.
    step(net, f"vlan_fall{q}", {"v": written}, [vlan.emit()])
    return fifos, vlan


def deparse(net, q, headers, halves, output):
    """depar_do_deparsing.v of queue q, and the registers in front of the output FIFO."""
    (first, second, rest), vlan = halves
    idle = net.place(f"idle{q}", init=1, sink=True)
    awake = net.place(f"awake{q}", drain=True)
    parts = [net.place(f"{name}_half{q}", Beat, drain=True) for name in ("first", "second")]
    flush_second = net.place(f"flush_second{q}", Beat, drain=True)
    flush_rest = net.place(f"flush_rest{q}", drain=True)
    leaving = net.place(f"leaving{q}", Beat, drain=True)
    delayed = net.place(f"delayed{q}", Beat, drain=True)
    # IDLE, WAIT_1CYCLE_RAM
    step(net, f"wake{q}", {"v": vlan, "idle": idle}, [awake.emit()], delay=2)
    # START_SUB_DEPARSE, EMPTY_2, FINISH_SUB_DEPARSER_0 to 2
    step(
        net,
        f"deparse{q}",
        {"awake": awake, "b": first.out, "s": second.out, "h": headers.out},
        [parts[0].forward("b"), parts[1].forward("s")],
        delay=5,
    )

    def first_clocks(out):
        assert out.count < 15, "an output FIFO is full: the RTL drops beats"
        return 1

    ends = idle.emit(count=one_if(lambda b: b.last))
    goes_on = flush_rest.emit(count=one_if(lambda b: not b.last))
    look = output.inner.watch
    room = lambda out: out.count < 15
    # FLUSH_PKT_0 takes the packet from its FIFOs.
    other_half = flush_second.emit(
        count=one_if(lambda b: not b.last),
        **{name: (lambda s, name=name: getattr(s, name)) for name in BEAT},
    )
    frees = [fifo.free.emit() for fifo in (first, second, headers)]
    step(
        net,
        f"flush_first{q}",
        {"b": parts[0], "s": parts[1], "out": look()},
        [leaving.forward("b"), other_half, *frees, ends],
        delay=first_clocks,
    )
    take = {"b": flush_second, "out": look()}
    step(net, f"flush_second{q}", take, [leaving.forward("b"), ends, goes_on], guard=room)
    take = {"b": rest.out, "rest": flush_rest, "out": look()}
    put = [leaving.forward("b"), rest.free.emit(), ends, goes_on]
    step(net, f"flush_rest{q}", take, put, guard=room)
    step(net, f"output_register{q}", {"b": leaving}, [delayed.forward("b")])
    # output_arbiter.v: the FIFO is not written while nearly full, whatever comes.
    take = {"b": delayed, "out": look()}
    step(net, f"output_write{q}", take, [output.inner.forward("b")], delay=first_clocks)


def arbitrate(net, outputs, arb_phase, begun, sent):
    """output_arbiter.v: in turn, a packet each; while idle the pointer moves in every clock."""
    first = lpn.tokens(lpn.min(arb_phase + 1, 1), k=lpn.max(arb_phase, 0))
    turn = net.place("turn", Turn, init=first, sink=True)  # else the workload's
    sending = [net.place(f"sending{q}", Sending, drain=True) for q in range(QUEUES)]
    before = lambda s: (s.k + 3) % 4
    for q, output in enumerate(outputs):
        for k in range(4):
            net.transition(
                f"grant{q}_{k}",
                take={
                    "turn": turn.take(guard=lambda turn, k=k: turn.k == k),
                    "b": output.out.peek(1),
                },
                put=[sending[q].emit(k=k, idle=1, stale=0)],
                delay=0,
                servers=1,
                clock=(4, (q - k - 1) % 4),
            )

        def idle_next(s, b):
            return 1 if b.last and not s.idle else 0

        step(
            net,
            f"send{q}",
            {"s": sending[q], "b": output.out},
            [
                output.free.emit(),
                begun.emit(count=one_if(lambda b: b.nth == 0), id=lambda b: b.id),
                sent.emit(count=one_if(lambda b: b.last), id=lambda b: b.id),
                turn.emit(count=idle_next, k=lambda s: s.k),
                sending[q].emit(
                    count=lambda s, b: 1 - idle_next(s, b),
                    k=before,
                    idle=0,
                    stale=lambda b: b.last,
                ),
            ],
        )
        # WR_PKT with an empty FIFO: it ends if the last word there was a last beat.
        step(
            net,
            f"starve{q}",
            {"s": sending[q], "none": output.out.empty()},
            [
                turn.emit(count=lambda s: 1 if s.stale else 0, k=lambda s: s.k),
                sending[q].emit(count=lambda s: 0 if s.stale else 1, k=before, idle=0, stale=0),
            ],
        )
