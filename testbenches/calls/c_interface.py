"""The C interface of a compiled net (lpn2sim/runtime/lpnrt/abi.h) by ctypes, for sequences of calls.

What C cannot check is kept right here: buffers are as long as the interface asks, and a handle that
was destroyed is not used. Numbers and the order of calls are anybody's.
"""

import ctypes as c

_I32, _I64, _U32, _U64, _P = c.c_int32, c.c_int64, c.c_uint32, c.c_uint64, c.c_void_p
_STATUS = c.POINTER(_I32)


class _Budget(c.Structure):
    _fields_ = [(n, _U64) for n in ("memory", "nanoseconds", "groups", "firings", "tokens")] + [
        ("poll", _P),
        ("user", _P),
    ]


# Member of lpn_sim_api -> None for data, else (result, arguments...).
_MEMBERS = {
    "abi": _U32, "variant": _U32, "params": _U32, "places": _U32, "transitions": _U32,
    "names": _P, "place_fields": c.POINTER(_U32), "param_defaults": _P, "place_flags": _P,
    "range_lo": _P, "range_hi": _P, "param_lo": _P, "param_hi": _P, "frequency": _I64,
    "create": (_P, _P, _STATUS),
    "destroy": (None, _P),
    "load": (_I32, _P, _U32, _U64, _P),
    "set_done": (_I32, _P, _I64),
    "set_observer": (_I32, _P, _P, _P),
    "set_mode": (_I32, _P, _I32),
    "set_poll": (_I32, _P, _P, _P),
    "run": (_I32, _P, _I64, _P),
    "run_batch": (None, _P, _U64, _U32, _P, _P, _P),
    "push": (_I32, _P, _U32, _P, _I64),
    "now": (_I64, _P),
    "tokens": (_U64, _P, _U32, _P),
    "fault": (None, _P, _P),
    "stats": (_I32, _P, _P, _P, _P),
    "next": (_I64, _P),
    "room": (_I64, _P, _U32),
    "hold": (_I32, _P, _U32, _U64),
    "release": (_I32, _P, _U32, _U64, _I64),
    "collect": (_I32, _P, _U32),
    "take": (_I32, _P, _U32, _U64, _P, _P, _P),
    "enter": (_I32, _P, _I64),
    "commit": (_I32, _P),
    "start": (_I32, _P, _STATUS),
    "halve": (_I32, _P, _U32),
    "set_path_budget": (_I32, _P, _U64),
    "path": (_I32, _P, _P, _P, _P, _P),
    "create_within": (_P, _P, _P, _STATUS, _STATUS),
    "feed": (_I32, _P, _U32, _U64, _P, _P),
    "occupancy": (_U64, _P, _U32),
}  # fmt: skip


class _Api(c.Structure):
    _fields_ = [
        (name, c.CFUNCTYPE(*kind) if isinstance(kind, tuple) else kind)
        for name, kind in _MEMBERS.items()
    ]


def open_library(path):
    """lpn_sim_api of a shared library."""
    library = c.CDLL(path)
    library.lpn_sim_entry.restype = c.POINTER(_Api)
    return library.lpn_sim_entry().contents


def _row(values, wanted):
    """A buffer of exactly `wanted` numbers."""
    values = [int(v) for v in values] or [0]
    return (_I64 * max(1, wanted))(
        *(_I64(values[k % len(values)]).value for k in range(max(1, wanted)))
    )


class Instance:
    """One lpn_sim; methods as in abi.h, which say (status, what came back)."""

    def __init__(self, path, params=None, memory=1 << 26, seconds=1.0):
        self._api = open_library(path)
        status, why = _I32(-1), _I32(0)
        # No sequence needs more, and a net without end comes to one.
        budget = _Budget(memory, int(seconds * 1e9), 0, 0, 100_000)
        given = None if params is None else _row(params, self._api.params)
        self._sim = self._api.create_within(given, c.byref(budget), c.byref(status), c.byref(why))
        if not self._sim:
            raise ValueError(f"create: status {status.value}")
        self._sink = c.CFUNCTYPE(None, _P, _P)(lambda user, commit: None)
        self._stop = c.CFUNCTYPE(_I32, _P, _I64, _U64)(lambda user, time, commits: 1)

    def _handle(self):
        if not self._sim:
            raise ValueError("destroyed")
        return self._sim

    def destroy(self):
        handle, self._sim = self._handle(), None
        self._api.destroy(handle)

    def _width(self, place):
        place %= 1 << 32  # as C takes it
        return self._api.place_fields[place] if place < self._api.places else 1

    def load(self, place, count, values=(0,)):
        # A count that no buffer could have is the caller's to get right.
        count %= 1 << 12
        return self._api.load(
            self._handle(), place, count, _row(values, count * self._width(place))
        )

    def set_done(self, count):
        return self._api.set_done(self._handle(), count)

    def set_observer(self, on=True):
        return self._api.set_observer(self._handle(), c.cast(self._sink, _P) if on else None, None)

    def set_mode(self, mode):
        return self._api.set_mode(self._handle(), mode)

    def set_poll(self, on=True):
        return self._api.set_poll(self._handle(), c.cast(self._stop, _P) if on else None, None)

    def run(self, limit):
        return self._api.run(self._handle(), limit, (c.c_char * 256)())

    def run_batch(self, others=(), threads=1):
        """With other instances of the same library; one twice is the caller's to avoid."""
        sims = [self._handle()]
        for other in others:
            if isinstance(other, Instance) and c.addressof(other._api) == c.addressof(self._api):
                sims.append(other._handle())
        sims = list(dict.fromkeys(sims))
        results, statuses = (c.c_char * (256 * len(sims)))(), (_I32 * len(sims))()
        self._api.run_batch(
            (_P * len(sims))(*sims), len(sims), threads % 4, results, statuses, None
        )
        return list(statuses)

    def push(self, place, values=(0,), time=0):
        return self._api.push(self._handle(), place, _row(values, self._width(place)), time)

    def feed(self, place, times=(0,), values=(0,)):
        count = len(times)
        return self._api.feed(
            self._handle(),
            place,
            count,
            _row(values, count * self._width(place)),
            _row(times, count),
        )

    def now(self):
        return self._api.now(self._handle())

    def next(self):
        return self._api.next(self._handle())

    def tokens(self, place):
        count = self._api.tokens(self._handle(), place, None)
        if count > 1 << 20:
            return count
        into = (_I64 * max(1, count * self._width(place)))()
        self._api.tokens(self._handle(), place, into)
        return list(into)

    def occupancy(self, place):
        return self._api.occupancy(self._handle(), place)

    def fault(self):
        self._api.fault(self._handle(), (c.c_char * 128)())

    def stats(self):
        per_transition = (c.c_char * (96 * self._api.transitions + 1))()
        per_place = (c.c_char * (32 * self._api.places + 1))()
        return self._api.stats(self._handle(), per_transition, per_place, (_I64 * 1)())

    def room(self, place):
        return self._api.room(self._handle(), place)

    def hold(self, place, count):
        return self._api.hold(self._handle(), place, count)

    def release(self, place, count, time):
        return self._api.release(self._handle(), place, count, time)

    def collect(self, place):
        return self._api.collect(self._handle(), place)

    def take(self, place, most):
        room = min(most % (1 << 64), 256)
        values = (_I64 * max(1, room * self._width(place)))()
        when = (c.c_char * (16 * max(1, room)))()
        taken = _U64()
        status = self._api.take(self._handle(), place, room, values, when, c.byref(taken))
        return status, taken.value

    def enter(self, time):
        return self._api.enter(self._handle(), time)

    def commit(self):
        return self._api.commit(self._handle())

    def start(self):
        more = _I32()
        return self._api.start(self._handle(), c.byref(more)), more.value

    def halve(self, transition):
        return self._api.halve(self._handle(), transition)

    def set_path_budget(self, size):
        return self._api.set_path_budget(self._handle(), size)

    def path(self, rows, steps):
        room = (_U64 * 2)(rows % 64, steps % 64)
        return self._api.path(
            self._handle(),
            (c.c_char * (32 * 64))(),
            c.byref(room, 0),
            (c.c_char * (40 * 64))(),
            c.byref(room, 8),
        )
