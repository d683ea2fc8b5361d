"""Machines of a house disappear, and play continues: the short drill. `python -m tests.hosts` runs a longer one."""

import re
import subprocess
import sys

import pytest

from deploy.hosts.network import NoNamespaces, demand_namespaces, may_make_namespaces
from tests.start.support import PROJECT

SECONDS = 600.0  # that a busy machine may take
RECOVERED = (
    r"lobby and report come from the replica, [\d.]+ s behind; [234] machines read it",
    r"replica gone: lobby shown by the primary, all of it after [\d.]+ s, .* 0 clicks lost;",
    r"the replica shows the lobby again",
    r"web1 gone: all clicks answered and all streams back after [\d.]+ s, [1-4] of them opened again,",
    r"web1 is back after",
    r"worker\d gone \(power\): beat of worker\d took over after [\d.]+ s, the table moved after [\d.]+ s",
    r"sealer gone \(power\) for [\d.]+ s: people played on, \d+ events waited, sealed and signed [\d.]+ s after",
    r"all went on$",
)


@pytest.mark.sweep
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
    kind = "Namespaces" if may_make_namespaces() else "Loopback"
    assert f"machines are {kind}" in held.stdout


def test_a_user_without_the_tool_for_namespaces_learns_what_to_install(tmp_path):
    with pytest.raises(NoNamespaces, match=r"apt-get install iproute2 util-linux$"):
        demand_namespaces(str(tmp_path))


def test_a_namespace_that_the_kernel_refuses_is_no_reason_to_do_without_cables(tmp_path):
    for name in ("ip", "setpriv"):
        (tmp_path / name).symlink_to("/bin/true")
    refusing = tmp_path / "unshare"
    refusing.write_text("#!/bin/sh\necho 'Operation not permitted' >&2; exit 1\n")
    refusing.chmod(0o755)
    with pytest.raises(NoNamespaces, match=r"No cable can be pulled here: Operation not permitted"):
        demand_namespaces(str(tmp_path))
