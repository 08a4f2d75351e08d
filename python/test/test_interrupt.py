"""interrupt: Ctrl-C as a wish."""

import os
import signal
import threading

import pytest
from lpn.interrupt import Interrupt


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_a_wish_and_the_second_an_exception():
    with Interrupt() as stop:
        assert not stop.asked
        ctrl_c()
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_immediately():
    with Interrupt() as stop:
        with pytest.raises(KeyboardInterrupt), stop.immediately():
            ctrl_c()
        assert stop.asked


def test_a_handler_of_the_program_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with Interrupt() as stop:
            ctrl_c()
            assert not stop.asked and seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_it_does_nothing():
    found = []

    def work():
        with Interrupt() as stop:
            found.append(stop.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]
