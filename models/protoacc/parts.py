"""What the parts of the serialiser's net share: queues between them, and the step of a clock."""

from .tokens import Entry, Word

FIRST_HANDLER = 2  # of the read port's clients, behind the scan and the descriptors


class Parts:
    """The net, and the places that its parts share."""

    def __init__(self, net, handlers, outside):
        self.net, self.outside = net, outside
        clients = range(FIRST_HANDLER + handlers)
        # l1shim_interface.scala: queues of 160, which only a string's words can fill.
        self.requests = [net.place(f"requests{k}", outside.Read, drain=True) for k in clients]
        self.responses = [net.place(f"responses{k}", capacity=160) for k in clients]
        self.loader = net.place("loader", drain=True)  # s_hasBitsLoader_IsSubmessageLoad
        self.entries = net.place("entries", Entry, drain=True)  # descr_request_Q
        self.entry_room = net.place("entry_room", init=4)
        # multi_fieldhandler.scala, FieldDispatchRouter; the last is taken out when it is done.
        self.fields = [net.place(f"fields{k}", capacity=4) for k in range(handlers)]
        self.words = [net.place(f"words{k}", Word, capacity=4) for k in range(handlers)]

    def read(self, client, count=1, *, beats):
        """The emission of reads of a client."""
        return self.requests[client].emit(count, **self.outside.read(client, beats))

    def step(self, name, take, put, delay=1):
        """What a unit does, usually in a cycle."""
        self.net.transition(name, take=take, put=put, delay=delay, servers=1)
