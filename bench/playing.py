"""What every player of a bench does, whichever way they play."""

import sys
import time
from collections.abc import Callable


def play_when_told(play: Callable[[], None], sit_down: Callable[[], None] = lambda: None, units: int = 1) -> None:
    """Say that we are ready; for every line, which is a number of seconds, sit down, play so long and say how many
    rounds a second it were, each counted as so many *units*; end with the input.
    """
    print("ready", flush=True)
    for line in sys.stdin:
        seconds = float(line)
        sit_down()
        rounds = 0
        begun = time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds:
            play()
            rounds += 1
        print(units * rounds / elapsed, flush=True)
