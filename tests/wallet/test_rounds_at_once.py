"""Concurrent rounds of many players that pay and are voided, among solo rounds of the same
players.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID, uuid4

import psycopg
from django.db import connection, transaction

from players.models import LimitKind, Period, Player, PlayTime
from players.protection import limits
from tests.builders import a_player, a_purse
from tests.harness.databases import Database
from tests.harness.owner import as_owner, without_guards
from tests.start.support import wait_until
from tests.wallet import holds
from tests.wallet.money_moves import a_round, cash, house, move, write
from tests.wallet.settling import settle_all
from tests.wallet.test_at_once import THREADS, at_once, is_whole, outcome
from wallet.ledger import Journal, accounts, round_reversal
from wallet.models import Account, AccountKind, Day, Mode

HELD = 100


def hold_all(round_id: UUID, account_ids: list[int]) -> None:
    """Hold each in its own transaction, as chips arrive."""
    for account_id in account_ids:
        with transaction.atomic():
            holds.hold(round_id, account_id, HELD)


def pay(round_id: UUID, account_ids: list[int]) -> int:
    """Settle a round; return how many accounts it moved."""
    with transaction.atomic():
        return len(settle_all(round_id, dict.fromkeys(account_ids, 2 * HELD)))


def purse_of(player: Player) -> int:
    a_purse(player, 10_000)
    return accounts.player_account(player.pk, Mode.REAL, AccountKind.PURSE)


def test_a_round_that_several_pay_is_paid_once(cloned_db):
    round_id, players = uuid4(), [a_player(real=1000) for _ in range(5)]
    theirs = [cash(player) for player in players]
    hold_all(round_id, theirs)
    results = Counter(at_once([partial(outcome, partial(pay, round_id, theirs))] * THREADS))
    assert results.pop("posted") == 1
    assert set(results) <= {"NotStaked", "PostingConflict"}
    assert {account.balance for account in Account.objects.filter(pk__in=theirs)} == {1100}
    assert is_whole()


def test_rounds_of_the_same_players_close_pay_and_are_voided_among_solo_rounds(cloned_db, without_voids):
    """Nothing deadlocks: PostgreSQL would end one transaction and the test would fail.

    The last player has cash and purse in the same rounds, and the daily total counts both.
    """
    players = [a_player(real=100_000) for _ in range(6)]
    theirs = [cash(player) for player in players] + [purse_of(players[-1])]
    rounds = [uuid4() for _ in range(6)]
    for number, round_id in enumerate(rounds):
        hold_all(round_id, theirs[number:] + theirs[:number])

    def play_together(round_id: UUID, *, is_kept: bool) -> None:
        pay(round_id, theirs[::2])
        if not is_kept:
            with transaction.atomic():
                round_reversal.undo_round(round_id)

    def play_alone() -> None:
        for player in players[::-1]:
            a_round(player, staked=50, paid=70)

    jobs: list[Callable[[], None]] = [
        partial(play_together, each, is_kept=number % 3 != 0) for number, each in enumerate(rounds)
    ]
    at_once([*jobs, play_alone, play_alone])
    without_voids()
    assert is_whole()
    voided, alone = 2, 2
    stood = len(rounds) - voided
    counted = Day.objects.get(player=players[-1])  # cash odd, unpaid; purse even
    assert counted.staked == alone * 50 + stood * 2 * HELD
    assert counted.paid == alone * 70 + stood * 2 * HELD


def test_chips_elsewhere_are_placed_between_or_during_the_payment_of_a_round(cloned_db):
    """Holds for other rounds remain, in either order."""
    players = [a_player(real=100_000) for _ in range(4)]
    theirs, closing, open_rounds = [cash(player) for player in players], uuid4(), [uuid4() for _ in range(4)]
    hold_all(closing, theirs)
    at_once([partial(hold_all, each, theirs[::-1]) for each in open_rounds] + [partial(pay, closing, theirs)])
    assert {account.held for account in Account.objects.filter(pk__in=theirs)} == {len(open_rounds) * HELD}
    for each in open_rounds:
        holds.release_all(each)
    assert is_whole()


def test_a_paid_round_counts_once_towards_limits_in_the_meantime(cloned_db):
    """Paying locks no limits, since it checks none: holds become stakes at one moment."""
    player = a_player(real=100_000)
    theirs, elsewhere, round_id = cash(player), purse_of(player), uuid4()
    limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=2 * HELD, by=str(player))
    hold_all(round_id, [theirs])
    asking = [partial(outcome, partial(holds.hold, uuid4(), elsewhere, HELD)) for _ in range(THREADS)]
    results = Counter(at_once([*asking, partial(outcome, partial(pay, round_id, []))]))
    assert results == {"posted": 2, "LimitReached": THREADS - 1}
    assert Day.objects.get(player=player).staked == HELD
    assert is_whole()


def between(
    first: Callable[[], object], in_between: Callable[[], object], then: Callable[[], object], db: Database
) -> None:
    """Run *first* and *then* in one transaction; *meanwhile* in another, which comes to wait for it in between.

    A deadlock is an error of one of them.
    """

    def run() -> None:
        try:
            in_between()
        finally:
            connection.close()

    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool, psycopg.connect(db.superuser_url, autocommit=True) as eye:
        with transaction.atomic():
            first()
            running = pool.submit(run)
            wait_until(lambda: eye.execute(waits).fetchone() == (1,), "the other waits for nothing")
            then()
        running.result(timeout=300)


def test_a_player_who_has_not_staked_today_is_counted_in_the_order_of_all(cloned_db):
    """Only the second has a day. A round at another table, on their purses, takes the first before the second too."""
    first, second = players = [a_player(real=100_000) for _ in range(2)]
    round_id, theirs = uuid4(), [cash(player) for player in players]
    purses = dict(zip(players, map(purse_of, players), strict=True))
    hold_all(round_id, theirs)
    with without_guards("wallet_day"):
        as_owner("DELETE FROM wallet_day WHERE player_id = %s", [first.pk])  # of the deposit
    assert [Day.objects.filter(player=player).count() for player in players] == [0, 1]

    def stake_from_purse(player: Player) -> None:
        write(Journal(uuid4(), "stake", move((purses[player], -HELD), (house("escrow", player), HELD))))

    between(
        partial(stake_from_purse, first), partial(pay, round_id, theirs), partial(stake_from_purse, second), cloned_db
    )
    assert [Day.objects.get(player=player).staked for player in players] == [2 * HELD, 2 * HELD]
    assert [Day.objects.get(player=player).paid for player in players] == [2 * HELD, 2 * HELD]


def test_the_days_of_a_void_are_counted_in_the_order_of_players_and_not_of_their_accounts(cloned_db, without_voids):
    """The second has opened a purse before the first. A round on their cash takes the first before the second."""
    first, second = [a_player(real=100_000) for _ in range(2)]
    purses = {player: purse_of(player) for player in (second, first)}
    assert purses[second] < purses[first]
    round_id = uuid4()
    hold_all(round_id, list(purses.values()))
    pay(round_id, list(purses.values()))

    def undo() -> None:
        with transaction.atomic():
            round_reversal.undo_round(round_id)

    def stake_cash(player: Player) -> None:
        write(Journal(uuid4(), "stake", move((cash(player), -HELD), (house("escrow", player), HELD))))

    between(partial(stake_cash, first), undo, partial(stake_cash, second), cloned_db)
    without_voids()
    assert [Day.objects.get(player=player).staked for player in (first, second)] == [HELD, HELD]


def test_a_player_who_has_not_played_today_has_time_added_in_the_order_of_all(cloned_db):
    first, second = [a_player().pk for _ in range(2)]

    def note(*players: int) -> None:
        together = "SELECT players_note_rounds(%s, %s::uuid[], %s::text[], %s::bigint[], %s::bigint[])"
        many = len(players)
        as_owner(together, [list(players), [None] * many, ["R"] * many, [HELD] * many, [0] * many])

    note(second)
    between(partial(note, first), partial(note, first, second), partial(note, second), cloned_db)
    assert PlayTime.objects.filter(player__in=[first, second]).count() == 2
