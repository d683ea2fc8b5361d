"""Machines of a house disappear, and play goes on: the short drill. `python -m tests.hosts` holds a longer one."""

import re
import subprocess
import sys

from tests.start.support import PROJECT

SECONDS = 600.0  # that a busy machine may take
RECOVERED = (
    r"lobby and report come from the replica, [\d.]+ s behind; [234] machines read it",
    r"replica gone: lobby shown by the primary, all of it after [\d.]+ s, .* 0 clicks lost;",
    r"the replica shows the lobby again",
    r"web1 gone: all clicks answered and all streams back after [\d.]+ s",
    r"web1 is back after",
    r"worker\d gone \(power\): beat of worker\d took over after [\d.]+ s, the table moved after [\d.]+ s",
    r"all went on$",
)


def test_play_goes_on_when_the_replica_a_machine_with_web_and_one_with_worker_and_beat_disappear():
    held = subprocess.run(
        [sys.executable, "-m", "tests.hosts", "--short"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert held.returncode == 0, held.stdout + held.stderr
    for each in RECOVERED:
        assert re.search(each, held.stdout, re.MULTILINE), held.stdout
