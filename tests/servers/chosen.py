"""The house in a process whose source of chance is replaced: the next rounds are dealt from seeds the test has chosen.

The product takes no seed from outside. This process has a dealer of its own, in a thread, whose random source it
replaces, and so it does with that of `games.seeds` for shoes: the environment variable ``CHOSEN_SEEDS`` holds seeds in
hex, spent in turn by what is committed to; when they are spent, chance is real again.
"""

import os
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from types import SimpleNamespace

from django.conf import settings

from audit import key_folder
from casino.asgi import application
from games import seeds
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.server import serve

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
_folder = TemporaryDirectory(prefix="sabot-dealer-")
_at = Path(_folder.name) / "socket"
_dealer = Dealer(Keys.opened(settings.VAR_DIR / "dealer"), draw=token_bytes)
Thread(target=serve, args=(key_folder.listen(_at), _dealer), daemon=True).start()
settings.DEALER = str(_at)
