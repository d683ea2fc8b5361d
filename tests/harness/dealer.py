"""The real dealer on a real socket in a thread of the tests, once in each of their processes."""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from audit import key_folder
from games import deals
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.server import serve
from games.models import Shoe

_running: list[Dealer] = []


def the_dealer() -> Dealer:
    """Return the dealer of this process."""
    return _running[-1]


def seed_of(shoe: Shoe) -> bytes:
    """Return the seed of a shoe, which the dealer alone has until it is published."""
    return the_dealer().shoes.of(deals.shoe_binding(shoe)).seed


@contextmanager
def seeds_drawn(draw: Callable[[int], bytes]) -> Iterator[None]:
    """Replace the random source of this process's dealer inside the block."""
    dealer = the_dealer()
    before, dealer.draw = dealer.draw, draw
    try:
        yield
    finally:
        dealer.draw = before


def first(*seeds: str) -> Callable[[int], bytes]:
    """Return a random source that gives these seeds, in hex, one after another, and is random again after that."""
    remaining = [bytes.fromhex(seed) for seed in seeds]
    return lambda size: remaining.pop(0) if remaining else secrets.token_bytes(size)


@contextmanager
def dealing(dealer: Dealer, at: Path) -> Iterator[Dealer]:
    """Serve *dealer* on the socket *at*."""
    listening = key_folder.listen(at)
    ours, its = socket.socketpair()
    thread = threading.Thread(target=serve, args=(listening, dealer, its), daemon=True)
    thread.start()
    try:
        yield dealer
    finally:
        ours.send(b"end")
        thread.join()
        for each in (listening, ours, its):
            each.close()


@pytest.fixture(scope="session")
def dealer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dealer]:
    """The dealer of this process, and of the servers that its tests start."""
    with serving(tmp_path_factory.mktemp("dealer")) as running:
        yield running


@contextmanager
def serving(folder: Path) -> Iterator[Dealer]:
    """Serve a dealer with the keys of the run in *folder*, and tell settings and environment where it is."""
    at = folder / "socket"
    keys = Keys.opened(settings.VAR_DIR / "dealer")
    with dealing(Dealer(keys, at.parent / "shoes"), at) as running:
        shown = {"DEALER": str(at), "DEALER_KEYS": keys.public, "DEALER_PROOF_KEY": keys.proof_text}
        os.environ.update(shown)
        settings.DEALER, settings.DEALER_KEYS, settings.DEALER_DIR = str(at), [keys.public], None
        settings.DEALER_PROOF_KEY = keys.proof_text
        _running.append(running)
        yield running
