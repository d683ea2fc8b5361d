"""Failures at the same moment, in real threads: every one of them is on record, and the lock they bring about once."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.test import Client

from tests.builders import a_player
from tests.people import PASSWORD, a_visitor, events, log_in
from tests.start.support import wait_until
from tests.wallet.test_at_once import at_once

WAITING = "SELECT count(*) FROM pg_locks WHERE relation = 'players_user'::regclass AND NOT granted"


def fail_at_once(owner, attempts) -> None:
    """Let all attempts be counted before the first of them finds that it has failed: they wait to be looked up."""
    with ThreadPoolExecutor(1) as pool:
        with owner.transaction():
            owner.execute("LOCK TABLE players_user")
            done = pool.submit(at_once, attempts)
            wait_until(lambda: owner.execute(WAITING).fetchone() == (len(attempts),), "not every attempt was looked up")
        assert {answer.status_code for answer in done.result(timeout=60)} == {200}


def test_of_one_name_lock_it_once(cloned_db, owner):
    player = a_player(password=PASSWORD)
    fail_at_once(owner, [partial(log_in, a_visitor(), player.user, "wrong") for _ in range(5)])
    assert len(events("login.failed", on=str(player))) == 5
    assert len(events("login.locked", on=str(player))) == 1


def test_from_one_address_lock_it_once(cloned_db, owner):
    players, visitor = [a_player(password=PASSWORD) for _ in range(20)], a_visitor()
    for player in players[:12]:
        log_in(visitor, player.user, "wrong")
    assert not events("login.locked")
    address = visitor.defaults["REMOTE_ADDR"]
    fail_at_once(owner, [partial(log_in, Client(REMOTE_ADDR=address), each.user, "wrong") for each in players[12:]])
    assert len(events("login.failed")) == 20
    assert len(events("login.locked")) == 1
