"""A house in the middle of an evening, and its backup restored elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from django.db import connections

from games.models import LiveTable, Phase, SoloSeat, Table
from games.tables.clock import Clock
from ops.backup import pg_tools
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table, a_verified_player
from tests.chemin.at_table import a_chemin_table, a_coup_without_a_natural, a_staked_coup, seated_players
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.at_table import a_live_table, advance_to, bet
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet.models import Payment, Withdrawal
from wallet.payments.notifications import ask_about

MONEY = 1_000_000
STAKE = 25_000
PLAYERS = 2  # who continue to play in the meantime
ROUNDS_IN_BETWEEN = 3  # that each of them plays at least, before what is done in between is begun, and one while it is
SNAPSHOT = Clock(betting=600_000, call=600_000, card=100_000, pause=600_000)


@dataclass(frozen=True)
class Evening:
    """The people of the house, and the phase of each table."""

    solo: Table
    regular: Player
    place: SoloSeat
    purser: Player
    tables: dict[Phase, LiveTable]
    bettors: dict[Phase, Player]
    staked: LiveTable  # a coup of players of which no card is drawn
    drawn: LiveTable  # one whose punter is asked for a third card
    waiting: Payment
    credited: Payment
    asked: Withdrawal
    approved: Withdrawal


def an_evening() -> Evening:
    """Create the house with players at all tables."""
    solo, regular, purser = a_table(), a_player(real=MONEY), a_player(real=MONEY)
    for bets in ({"player": 1_000}, {"banker": 5_000, "tie": 1_000}):
        a_round(regular, solo, **bets)
    a_golden_table()
    a_purse(purser, 100_000)
    tables, bettors = {}, {}
    for phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT):
        bettors[phase], tables[phase] = a_player(real=MONEY), a_live_table(slug=f"live-{phase}", clock=SNAPSHOT)
        bet(bettors[phase], tables[phase], player=STAKE)
        if phase is not Phase.BETTING:
            advance_to(tables[phase], phase)
    staked, drawn = a_chemin_table(slug="staked"), a_chemin_table(slug="drawn")
    for each in (staked, drawn):
        seated_players(each)
    a_staked_coup(staked)
    a_coup_without_a_natural(drawn)
    rich = a_verified_player(real=MONEY)
    waiting, credited = a_payment(regular), a_payment(regular)
    at_the_bank(credited)
    ask_about(credited.pk)
    return Evening(
        solo=solo,
        regular=regular,
        place=a_seat(regular, solo, banker=5_000),
        purser=purser,
        tables=tables,
        bettors=bettors,
        staked=staked,
        drawn=drawn,
        waiting=waiting,
        credited=credited,
        asked=a_withdrawal(rich, 10_000),
        approved=approve(a_withdrawal(rich, 20_000)),
    )


@contextmanager
def playing(table: Table) -> Iterator[None]:
    """Let other players play one round after another in the meantime, each in a thread with its own connection."""
    over, rounds = threading.Event(), [threading.Semaphore(0) for _ in range(PLAYERS)]
    threads = [
        threading.Thread(target=_play, args=(a_player(real=MONEY), table, over, played), daemon=True)
        for played in rounds
    ]
    for thread in threads:
        thread.start()
    try:
        for played in rounds:
            for _ in range(ROUNDS_IN_BETWEEN):
                assert played.acquire(timeout=60), "nobody plays"
        yield
        for played in rounds:  # the rounds played in the meantime, and at least one more
            assert played.acquire(timeout=60), "somebody was kept from playing"
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


def _play(player: Player, table: Table, over: threading.Event, played: threading.Semaphore) -> None:
    try:
        while not over.is_set():
            a_round(player, table, player=1_000)
            played.release()
    finally:
        connections.close_all()


def backed_up(file: Path) -> Path:
    """Back up the house that Django uses."""
    call_command("back_up", str(file), stdout=StringIO())
    return file


@contextmanager
def naive_copy(file: Path) -> Iterator[Database]:
    """Restore the backup with PostgreSQL's programs alone, without the steps of the house."""
    with databases.empty("copy") as database:
        pg_tools.run("pg_restore", "--single-transaction", "--no-owner", file, is_connected=True)
        yield database


@contextmanager
def restored(file: Path) -> Iterator[str]:
    """Restore the house from its backup on the same server; give the output."""
    with databases.empty("restored"):
        yield said("restore", str(file))


def said(*command: str) -> str:
    """Run a command and return what it printed."""
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()
