"""Work on what a stranger made, in a process of its own that ends in time and within its memory."""

import os
import resource
import signal
import sys
import time

__all__ = ["contained"]

_CTRL_C_SECONDS = 5


def contained(work, seconds, memory):
    """Runs work() in a child process; (its status, None), or (None, why there is none).

    The child is ended after `seconds`, and cannot have more than `memory` bytes on top of what the
    program has already, where work() meets MemoryError. What it writes goes where ours goes.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _work(work, memory)
    try:
        done = _wait(child, seconds)
    except KeyboardInterrupt:  # which the child has got as well
        done = _wait(child, _CTRL_C_SECONDS)
        if done is None:
            _end(child)
            raise
    if done is None:
        _end(child)
        return None, f"the limit of {seconds:g} s was reached"
    if os.WIFSIGNALED(done):
        name = signal.Signals(os.WTERMSIG(done)).name
        return None, f"the checker was ended by {name}, which is our bug: please report it"
    return os.WEXITSTATUS(done), None


def _work(work, memory):
    status = 2
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm", encoding="ascii") as file:
            have = int(file.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = have + memory
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _wait(child, seconds):
    """The child's wait status, None when it is still at work after so long."""
    end, pause = time.monotonic() + seconds, 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    return None


def _end(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
