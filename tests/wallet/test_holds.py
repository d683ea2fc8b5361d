"""Holds: money reserved for a round with open bets, then released or staked, never lost."""

from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from players.models import LimitKind, Period, Player
from players.protection import limits
from tests.builders import a_player
from tests.wallet import holds, wholeness
from tests.wallet.money_moves import cash, house, move, write
from tests.wallet.settling import SETTLE, settle_all
from wallet.ledger import (
    InsufficientFunds,
    Journal,
    LimitReached,
    NotStaked,
    PostingConflict,
    UnknownAccount,
    refusals,
    round_reversal,
    system_key,
)
from wallet.models import Account, Day, Entry, Hold, Mode
from wallet.models import Journal as StoredJournal

pytestmark = pytest.mark.django_db


def stake_limit(player: Player, amount: int) -> None:
    """Set a daily stake limit, in minor units."""
    by = str(player)
    limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=amount, by=by)


def test_a_hold_sets_money_aside_and_a_smaller_one_gives_the_rest_back():
    player, round_id = a_player(real=1000), uuid4()
    assert holds.hold(round_id, cash(player), 700) == 300
    assert holds.hold(round_id, cash(player), 200) == 800
    assert Account.objects.get(pk=cash(player)).held == 200


def test_the_same_hold_again_changes_nothing():
    player, round_id = a_player(real=1000), uuid4()
    holds.hold(round_id, cash(player), 700)
    assert holds.hold(round_id, cash(player), 700) == 300


def test_what_is_held_for_one_round_is_not_there_for_another():
    player = a_player(real=1000)
    holds.hold(uuid4(), cash(player), 700)
    with pytest.raises(InsufficientFunds), transaction.atomic():
        holds.hold(uuid4(), cash(player), 400)
    assert holds.hold(uuid4(), cash(player), 300) == 0


def test_what_is_held_cannot_be_staked_elsewhere():
    player = a_player(real=1000)
    holds.hold(uuid4(), cash(player), 700)
    elsewhere = Journal(uuid4(), "stake", move((cash(player), -400), (house("escrow", player), 400)))
    with pytest.raises(InsufficientFunds), transaction.atomic():
        write(elsewhere)


def test_nothing_is_held_on_accounts_that_are_no_players_own():
    player = a_player(real=1000)
    for account_id in (house("escrow", player), 2**40):
        with pytest.raises(UnknownAccount), transaction.atomic():
            holds.hold(uuid4(), account_id, 1)


def lines_of(round_id: UUID, kind: str) -> dict[int, int]:
    """Return the lines of a round's journal of this kind, by account."""
    (journal,) = StoredJournal.objects.filter(round_id=round_id, kind=kind)
    return dict(Entry.objects.filter(journal=journal).values_list("account_id", "amount"))


def test_all_holds_of_a_round_become_its_stakes_in_one_journal():
    round_id, players = uuid4(), [a_player(real=1000), a_player("DK", real=1000), a_player(free=1000)]
    modes = (Mode.REAL, Mode.REAL, Mode.FREE)
    for player, mode, amount in zip(players, modes, (100, 200, 300), strict=True):
        holds.hold(round_id, cash(player, mode), amount)
    elsewhere = holds.hold(uuid4(), cash(players[0]), 50)
    assert elsewhere == 850
    settle_all(round_id, {})
    assert lines_of(round_id, "held_stake") == {
        cash(players[0]): -100,
        cash(players[1]): -200,
        cash(players[2], Mode.FREE): -300,
        house("escrow", players[0]): 100,
        house("escrow", players[1]): 200,
        house("escrow", players[2], Mode.FREE): 300,
    }
    assert not Hold.objects.filter(round_id=round_id).exists()
    assert Account.objects.get(pk=cash(players[0])).held == 50


def test_stakes_of_a_round_are_taken_once():
    player, round_id = a_player(real=1000), uuid4()
    holds.hold(round_id, cash(player), 700)
    assert settle_all(round_id, {}) == {cash(player): 300}
    assert settle_all(round_id, {}) == {}
    assert Account.objects.get(pk=cash(player)).balance == 300


def test_a_round_on_which_nobody_holds_anything_has_no_stakes():
    assert settle_all(uuid4(), {}) == {}


def test_a_round_voided_before_its_deal_gives_every_hold_back():
    round_id, players = uuid4(), [a_player(real=1000), a_player(real=1000)]
    for player in players:
        holds.hold(round_id, cash(player), 1000)
    assert holds.release_all(round_id) == 2
    assert holds.release_all(round_id) == 0
    assert [Account.objects.get(pk=cash(player)).held for player in players] == [0, 0]


def test_a_hold_counts_against_limits_when_it_is_accepted_and_paying_asks_nothing():
    player, round_id = a_player(real=10_000), uuid4()
    stake_limit(player, 1000)
    holds.hold(round_id, cash(player), 800)
    with pytest.raises(LimitReached) as refused, transaction.atomic():
        holds.hold(uuid4(), cash(player), 300)
    assert refused.value.left == 200
    stake_limit(player, 500)
    settle_all(round_id, {})
    assert Day.objects.get(player=player).staked == 800
    with pytest.raises(LimitReached), transaction.atomic():
        holds.hold(uuid4(), cash(player), 1)


def test_a_hold_may_shrink_under_a_limit_that_it_has_passed():
    player, round_id = a_player(real=10_000), uuid4()
    holds.hold(round_id, cash(player), 800)
    stake_limit(player, 100)
    assert holds.hold(round_id, cash(player), 700) == 9300


class TestPaying:
    """A round of three bettors in three kinds of money: 100 and 200 real in two currencies,
    300 free.
    """

    @pytest.fixture
    def bettors(self) -> tuple[Player, Player, Player]:
        return a_player(real=1000), a_player("DK", real=1000), a_player(free=1000)

    @pytest.fixture
    def round_id(self, bettors) -> UUID:
        round_id, (swede, dane, coup_player) = uuid4(), bettors
        for account, amount in ((cash(swede), 100), (cash(dane), 200), (cash(coup_player, Mode.FREE), 300)):
            holds.hold(round_id, account, amount)
        return round_id

    def test_pays_all_of_them_in_one_journal_and_the_house_takes_the_rest(self, bettors, round_id):
        swede, dane, coup_player = bettors
        balances = settle_all(round_id, {cash(swede): 0, cash(dane): 700, cash(coup_player, Mode.FREE): 300})
        assert lines_of(round_id, "settle") == {
            house("escrow", swede): -100,
            house("house", swede): 100,
            house("escrow", dane): -200,
            cash(dane): 700,
            house("house", dane): -500,
            house("escrow", coup_player, Mode.FREE): -300,
            cash(coup_player, Mode.FREE): 300,
        }
        assert balances == {cash(swede): 900, cash(dane): 1500, cash(coup_player, Mode.FREE): 1000}
        assert (Day.objects.get(player=dane).staked, Day.objects.get(player=dane).paid) == (200, 700)
        assert [check.rows for check in wholeness.checks() if check.rows] == []

    def test_pays_once(self, bettors, round_id):
        paid = {cash(bettors[0]): 150}
        assert settle_all(round_id, paid)[cash(bettors[0])] == 1050
        with pytest.raises(NotStaked), transaction.atomic():
            settle_all(round_id, paid)
        assert Account.objects.get(pk=cash(bettors[0])).balance == 1050

    def test_pays_once_under_a_key(self, bettors, round_id):
        settle_all(round_id, {cash(bettors[0]): 150})
        holds.hold(round_id, cash(bettors[0]), 100)
        with pytest.raises(PostingConflict):
            settle_all(round_id, {cash(bettors[0]): 150})

    def test_pays_only_who_has_staked(self, bettors, round_id):
        for account in (cash(a_player()), cash(bettors[0], Mode.FREE), house("house", bettors[0])):
            with pytest.raises(NotStaked), transaction.atomic():
                settle_all(round_id, {cash(bettors[0]): 100, account: 5})

    def test_leaves_out_nobody_who_has_staked(self, bettors, round_id):
        keys = system_key(round_id, "stake"), system_key(round_id, "settle")
        with pytest.raises(NotStaked), transaction.atomic(), refusals(), connection.cursor() as cursor:
            cursor.execute(SETTLE, [round_id, *keys, [cash(bettors[0])], [100]])

    def test_takes_nothing_from_who_has_staked(self, bettors, round_id):
        with pytest.raises(NotStaked), transaction.atomic():
            settle_all(round_id, {cash(bettors[0]): -5})

    def test_pays_nothing_for_holds_that_were_released(self, bettors, round_id):
        holds.release_all(round_id)
        with pytest.raises(NotStaked), transaction.atomic():
            settle_all(round_id, {cash(bettors[0]): 150})

    @pytest.mark.usefixtures("without_voids")
    def test_a_round_that_was_paid_is_taken_back_whole(self, bettors, round_id):
        settle_all(round_id, {cash(bettors[0]): 150})
        assert {each.returned for each in round_reversal.undo_round(round_id)} == {-50, 200, 300}
        assert [check.rows for check in wholeness.checks() if check.rows] == []

    def test_pays_nothing_where_nobody_has_staked(self, bettors):
        with pytest.raises(NotStaked), transaction.atomic():
            settle_all(uuid4(), {cash(bettors[0]): 150})


def test_the_ledger_checks_out_with_holds_on_it():
    player = a_player(real=1000)
    holds.hold(uuid4(), cash(player), 100)
    staked = uuid4()
    holds.hold(staked, cash(player), 100)
    settle_all(staked, {cash(player): 50})
    assert not [check for check in wholeness.checks() if check.rows]
