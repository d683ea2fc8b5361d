"""The house in a process whose source of chance is replaced: the next rounds are dealt from seeds the test has chosen.

The product takes no seed from outside. This replaces, in the test's own server process, the operating system's
generator that `games.seeds` draws from: the environment variable ``CHOSEN_SEEDS`` holds seeds in hex, spent in turn by
the places that are committed to; when they are spent, chance is real again.
"""

import os
import secrets
from threading import Lock
from types import SimpleNamespace

from casino.asgi import application
from games import seeds

__all__ = ["application"]

_chosen = [bytes.fromhex(seed) for seed in os.environ["CHOSEN_SEEDS"].split(",")]
_lock = Lock()


def token_bytes(size: int) -> bytes:
    """Return the next chosen seed; nonces and what comes after the last seed stay random."""
    with _lock:
        if size == seeds.SEED_BYTES and _chosen:
            return _chosen.pop(0)
    return secrets.token_bytes(size)


vars(seeds)["secrets"] = SimpleNamespace(token_bytes=token_bytes)
