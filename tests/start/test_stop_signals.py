"""A house stops when it is asked to, in any state."""

import os
import signal

import pytest

from ops.fork_server import ForkServer
from ops.launcher import stop_signals


class Destroyed:
    """Receives a stop signal while it is destroyed, where Python drops exceptions."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


class OpenedHouse(ForkServer):
    """A fork server with nothing to open, which is asked to stop at the wrong moment."""

    def __init__(self) -> None:
        self._children = []

    def _open(self) -> None:
        Destroyed()

    def _supervise(self) -> None:
        raise AssertionError("the house goes on")

    def _close(self) -> None:
        self.is_closed = True


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_in_a_destructor_closes_the_house() -> None:
    house = OpenedHouse()
    house.run()
    assert house.is_closed


def test_a_signal_at_any_other_moment_leaves_the_block_at_once() -> None:
    goes_on = False
    with stop_signals() as asked:
        os.kill(os.getpid(), signal.SIGTERM)
        goes_on = True
    assert (asked.is_set(), goes_on) == (True, False)
