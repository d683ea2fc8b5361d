"""All functions, and the triggers of a busy table, are applied again during play.

Money moves, is reversed and held, and events are written and read, over connections with prepared
statements. The players represent the previous release: its program is not here, but its database
calls are, and the releases share only the database.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import astuple
from io import StringIO
from itertools import cycle
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.core.management import call_command

from audit import log
from ops import privileges
from ops.management.commands import migrate
from tests.builders import a_player, a_table
from tests.harness.databases import Database
from tests.start.support import SECONDS, wait_until
from tests.wallet import wholeness

MONEY = 1_000_000
BEFORE = 5  # actions of each kind, so that each connection has prepared its statements
ACCOUNT = "SELECT id FROM wallet_account WHERE owner_id = %s AND kind = 'cash' AND mode = 'R'"
OF_THE_HOUSE = "SELECT id FROM wallet_account WHERE owner_id IS NULL AND kind = %s AND currency = %s AND mode = 'R'"
POST = "SELECT journal FROM tests.write(%s::jsonb)"
REVERSE = "SELECT posted FROM wallet_reverse(%s::bigint[], %s::uuid[], 'void')"
HOLD = "SELECT tests.hold(%s::uuid, %s::bigint, %s::bigint)"
SETTLE = "SELECT account FROM tests.settle_holds(%s::uuid, %s::uuid, %s::uuid, %s::bigint[], %s::bigint[])"
# A reversal takes the void of its round, which only functions of the games store.
VOID = """
INSERT INTO games_round (id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at)
VALUES ('{round}', left('{round}', 14), 1, 'R', md5('{round}') || md5('{round}'), '', '', '', '', now());
INSERT INTO games_incident (kind, table_id, round_id, findings, done)
SELECT 'not_reproduced', min(id), '{round}', '[]', '[]' FROM games_table;
INSERT INTO games_void (round_id, reason, by) VALUES ('{round}', 'not_reproduced', 'system')
"""
RECORD = "SELECT audit_record(%s, %s, %s, %s, %s::jsonb)"
STATEMENT = """
SELECT j.kind, j.at, e.amount, e.balance_after FROM wallet_entry AS e JOIN wallet_journal AS j ON j.id = e.journal_id
WHERE e.account_id = %s ORDER BY e.version
"""
EVENTS = 'SELECT id FROM audit_event WHERE "on" = %s'
PLAYED = "tests.played"
COLUMNS = re.compile(r"\(([^)]*)\)")  # of updatable columns


class Seat:
    """A player of the previous release with one database connection, and the results they got."""

    def __init__(self, database: Database) -> None:
        player = a_player(real=MONEY)
        self.line = psycopg.connect(database.web_url, autocommit=True)
        self.line.prepare_threshold = 3  # as in casino.settings
        self.player, self.currency = player.pk, player.currency
        self.cash = self.ask(ACCOUNT, player.pk)
        self.escrow, self.bank = (self.ask(OF_THE_HOUSE, kind, player.currency) for kind in ("escrow", "house"))
        self.keys: list[UUID] = []
        self.reversed: list[int] = []
        self.events: list[int] = []

    def ask(self, question: str, *values: object) -> int:
        """Return the first value of the answer."""
        row = self.line.execute(question, values).fetchone()
        assert row
        return int(row[0])

    def play(self) -> None:
        """A round at a solo table: stake and payout in one call, with its event."""
        key, settled, number = uuid4(), uuid4(), uuid4()
        with self.line.transaction():
            self._post(self._journal(key, "stake", number, -100), self._journal(settled, "settle", number, 100))
            event = self._record(number)
        self.keys += [key, settled]
        self.events.append(event)

    def take_back(self) -> None:
        """A stake, and its reversal in a separate transaction."""
        key, back, number = uuid4(), uuid4(), uuid4()
        with self.line.transaction():
            journal = self._post(self._journal(key, "stake", number, -300))
        self.keys.append(key)
        with self.line.transaction():
            self.ask("SELECT tests.as_owner(%s)", VOID.format(round=number))
            self.ask(REVERSE, [journal], [back])
            event = self._record(number)
        self.keys.append(back)
        self.reversed.append(journal)
        self.events.append(event)

    def bet_with_others(self) -> None:
        """A round at a shared table: held, then staked and settled as a set."""
        number, staked, settled = uuid4(), uuid4(), uuid4()
        self.ask(HOLD, number, self.cash, 200)
        with self.line.transaction():
            self.ask(SETTLE, number, staked, settled, [self.cash], [200])
            event = self._record(number)
        self.keys += [staked, settled]
        self.events.append(event)

    def read(self) -> None:
        """Read the player's statement and events, and check that they contain everything done so
        far.
        """
        lines = self.line.execute(STATEMENT, [self.cash]).fetchall()
        assert len(lines) == len(self.keys) + 1  # and the deposit
        assert sum(amount for _, _, amount, _ in lines) == lines[-1][3] == MONEY
        shown = {number for (number,) in self.line.execute(EVENTS, [f"player:{self.player}"]).fetchall()}
        assert shown == set(self.events)

    @property
    def actions(self) -> tuple[Callable[[], None], ...]:
        """All actions of a player, in turn."""
        return (self.play, self.read, self.take_back, self.bet_with_others)

    def _journal(self, key: UUID, kind: str, number: UUID, amount: int) -> dict[str, object]:
        lines = [[account, self.currency, "R", each] for account, each in ((self.cash, amount), (self.escrow, -amount))]
        return {"key": str(key), "kind": kind, "round": str(number), "lines": lines}

    def _post(self, *journals: dict[str, object]) -> int:
        return self.ask(POST, json.dumps(journals))

    def _record(self, number: UUID) -> int:
        on = f"player:{self.player}"
        return self.ask(RECORD, *astuple(log.event(PLAYED, by=on, on=on, data={"round": str(number)})))


class Playing:
    """A seat whose player acts in a thread until stopped or until an action fails."""

    def __init__(self, seat: Seat, begin: int) -> None:
        self.seat, self.done = seat, 0
        self.error: BaseException | None = None
        self._deeds = cycle(seat.actions)
        self._is_over = threading.Event()
        for _ in range(begin):
            next(self._deeds)
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Wait for the last action. Raises the error of any action."""
        self._is_over.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        if self.error:
            raise self.error

    def _run(self) -> None:
        try:
            while not self._is_over.is_set():
                next(self._deeds)()
                self.done += 1
        except BaseException as error:  # noqa: BLE001  (the test is to see it)
            self.error = error


def fetched(owner: psycopg.Connection, question: str) -> list[Any]:
    return [value for (value,) in owner.execute(question).fetchall()]


def forget_what_was_applied(database: Database) -> None:
    """Make `manage.py migrate` apply every function and the triggers of entries again, as if
    changed.
    """
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("UPDATE sql_object SET sha256 = '' WHERE name ~ '^function | on wallet_entry$'")


def test_players_play_on_while_functions_and_triggers_are_applied_again(cloned_db):
    forget_what_was_applied(cloned_db)
    a_table()
    seats = [Seat(cloned_db) for _ in range(4)]
    for seat in seats:
        for action in seat.actions * BEFORE:
            action()
    people = [Playing(seat, number) for number, seat in enumerate(seats)]
    for each in people:
        each.start()
    call_command("migrate", verbosity=0, stderr=StringIO())
    during = [each.done for each in people]
    wait_until(  # each action runs again on the new tables
        lambda: all(each.error or each.done > done + 2 * 4 for each, done in zip(people, during, strict=True)),
        "nobody plays on",
    )
    for each in people:
        each.end()
    assert all(during)

    with psycopg.connect(cloned_db.owner_url) as owner:
        keys = Counter(key for seat in seats for key in seat.keys)
        deposits = len(seats)
        assert set(keys) <= set(fetched(owner, "SELECT key FROM wallet_journal"))
        assert fetched(owner, "SELECT count(*) FROM wallet_journal") == [keys.total() + deposits]
        assert fetched(owner, "SELECT count(*) FROM wallet_posting_key") == [keys.total() + deposits]
        assert fetched(owner, "SELECT count(*) FROM wallet_hold") == [0]
        events = sorted(number for seat in seats for number in seat.events)
        assert sorted(fetched(owner, f"SELECT id FROM audit_event WHERE kind = '{PLAYED}'")) == events
        assert set(events) <= set(fetched(owner, "SELECT event_id FROM audit_pending"))
        taken_back = sorted(number for seat in seats for number in seat.reversed)
        assert (
            sorted(fetched(owner, "SELECT reverses_id FROM wallet_journal WHERE reverses_id IS NOT NULL")) == taken_back
        )
    for seat in seats:
        seat.read()
        with pytest.raises(psycopg.errors.UniqueViolation):  # earlier rows too
            seat.ask(REVERSE, [seat.reversed[0]], [uuid4()])
    assert not wholeness.broken()


def test_play_is_never_without_its_rights_while_they_are_set_again(cloned_db, monkeypatch):
    """`apply_privileges` first revokes all privileges.

    One transaction hides that; several would not.
    """
    seat, grant = Seat(cloned_db), privileges._grant

    def play_and_grant(cursor, tables: Iterable[str]) -> None:
        seat.read()
        grant(cursor, tables)

    monkeypatch.setattr(privileges, "_grant", play_and_grant)
    call_command("migrate", verbosity=0, stderr=StringIO())
    seat.play()
    monkeypatch.setattr(
        migrate.Command, "_finish", lambda command, owner, verbosity: privileges.apply_privileges(owner)
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call_command("migrate", verbosity=0, stderr=StringIO())
