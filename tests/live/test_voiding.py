"""Voiding a shared round in each phase: money restored, everyone told, and nothing twice."""

import hashlib
from uuid import uuid4

import pytest
from django.db import transaction

from games.models import (
    LiveRound,
    LiveTable,
    Participation,
    Phase,
    Round,
    Shoe,
    ShoeEnding,
    Void,
    VoidPart,
    VoidReason,
    Wager,
)
from games.rounds.void import RoundNotFound, take_void_notices
from games.shared import malfunction, moves, phases
from games.verification import verification_task
from tests.builders import a_player
from tests.games.test_void import spend
from tests.harness.dealer import seed_of
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, live_table_of, round_at, step
from tests.people import events
from tests.voiding import agree_to_void, void_as_agreed, void_as_two_agree
from tests.wallet import wholeness
from tests.wallet.test_at_once import at_once
from wallet.ledger import accounts
from wallet.models import Account, Journal, Mode

MONEY = 1_000_000
CHIPS = {"SE": {"player": 5000, "tie": 5000}, "RO": {"banker": 2000}}
PHASES = (Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED)


def void_round(live_round):
    return void_as_two_agree(live_round.pk)


def balance(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


def bettors(live_table, mode=Mode.REAL):
    """Return players of two currencies, each with bets on the round."""
    players = [a_player(where, real=MONEY, free=MONEY) for where in CHIPS]
    for player, chips in zip(players, CHIPS.values(), strict=True):
        bet(player, live_table, **chips)
    return players


def a_round_in(phase, live_table):
    """Return the table's round, with bets, in that phase."""
    players = bettors(live_table)
    return players, (round_at(live_table) if phase == Phase.BETTING else advance_to(live_table, phase))


@pytest.mark.django_db
@pytest.mark.parametrize("phase", sample(PHASES, 2))
class TestInEachPhase:
    def test_gli19_4_16_every_stake_goes_back(self, phase):
        live_table = a_live_table()
        players, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        assert [balance(player) for player in players] == [MONEY, MONEY]
        assert not Account.objects.exclude(held=0).exists()
        wholeness.assert_whole()

    @pytest.mark.sweep
    def test_the_round_is_kept_with_everybody_s_part(self, phase):
        live_table = a_live_table()
        players, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        played = Round.objects.get(pk=live_round.pk)
        assert (played.code, played.shoe_id, played.mode) == (live_round.code, live_round.shoe_id, Mode.REAL)
        assert (played.cards, played.first_card) == (live_round.cards, live_round.first_card)
        assert bool(played.outcome) is bool(played.cards) is (phase in (Phase.DEALT, Phase.SETTLED))
        parts = {part.player_id: part for part in Participation.objects.filter(round=played)}
        for player, chips in zip(players, CHIPS.values(), strict=True):
            part = parts[player.pk]
            assert part.staked == sum(chips.values())
            assert {wager.bet: wager.stake for wager in part.wagers.all()} == chips
            if phase != Phase.SETTLED:
                assert (part.paid, part.balance_before, part.balance_after) == (0, MONEY, MONEY)
                assert {wager.result for wager in part.wagers.all()} == {"void"}
            assert VoidPart.objects.get(void_id=played.pk, player=player).returned == part.staked - part.paid
        assert Void.objects.get(pk=played.pk).reason == VoidReason.DECIDED

    def test_the_second_call_moves_nothing(self, phase):
        live_table = a_live_table()
        _, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        journals, rows = Journal.objects.count(), Wager.objects.count()
        again = malfunction.void_live_round(round_id=live_round.pk, reason=VoidReason.CANCELLED, by="staff:test")
        assert again.pk == live_round.pk
        assert (Journal.objects.count(), Wager.objects.count()) == (journals, rows)
        assert Void.objects.get().reason == VoidReason.DECIDED
        assert len(events("round.voided")) == 1

    @pytest.mark.sweep
    def test_everybody_in_it_is_informed_once(self, phase):
        live_table = a_live_table()
        players, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        for player in players:
            shown = (live_round.pk, live_round.code, VoidReason.DECIDED.value)
            assert take_void_notices(player, live_table.table_id, Mode.REAL) == (shown,)
            assert take_void_notices(player, live_table.table_id, Mode.REAL) == ()
            assert take_void_notices(player, live_table.table_id, Mode.FREE) == ()

    @pytest.mark.sweep
    def test_the_event_has_every_part(self, phase):
        live_table = a_live_table()
        _, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        (event,) = events("round.voided")
        parts = event["data"]["players"]
        lines = [f"{each['player']} {each['currency']} {each['returned']} {each['shortfall']}\n" for each in parts]
        lines = [line.removeprefix("player:") for line in lines]
        assert event["data"]["sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
        assert event["data"]["count"] == len(parts) == len(CHIPS)
        assert event["on"] == f"round:{live_round.pk}"
        assert event["data"]["cards"] == live_round.cards

    def test_the_shoe_is_retired_where_its_cards_were_drawn(self, phase):
        live_table = a_live_table()
        _, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        shoe = Shoe.objects.get(pk=live_round.shoe_id)
        is_dealt = phase in (Phase.DEALT, Phase.SETTLED)
        assert (shoe.ending, shoe.seed) == (ShoeEnding.RETIRED if is_dealt else "", None)
        verification_task.publish_seeds()
        shoe.refresh_from_db()
        assert (shoe.seed is not None) == is_dealt

    @pytest.mark.sweep
    def test_the_table_goes_on_with_the_next_round(self, phase):
        live_table = a_live_table()
        _, live_round = a_round_in(phase, live_table)
        void_round(live_round)
        following = advance_to(live_table, Phase.BETTING)
        assert following.pk != live_round.pk
        is_dealt = phase in (Phase.DEALT, Phase.SETTLED)
        assert (following.shoe_id == live_round.shoe_id) is not is_dealt


@pytest.mark.django_db
class TestOneRound:
    @pytest.mark.sweep
    def test_without_bets_ends_and_is_not_stored(self):
        live_table = a_live_table()
        ended = void_round(round_at(live_table))
        assert (ended.phase, Round.objects.count(), Void.objects.count()) == (Phase.VOID, 0, 0)
        assert step(live_table).phase == Phase.BETTING

    @pytest.mark.sweep
    def test_that_does_not_exist_cannot_be_voided(self):
        with pytest.raises(RoundNotFound):
            malfunction.void_live_round(round_id=uuid4(), reason=VoidReason.CANCELLED, by="system")


@pytest.mark.django_db
class TestLater:
    """A settled round that is voided after others have been played."""

    @pytest.mark.sweep
    def test_however_many_rounds_have_been_played(self):
        live_table = a_live_table()
        players, first = a_round_in(Phase.SETTLED, live_table)
        paid = dict(Participation.objects.filter(round_id=first.pk).values_list("player_id", "paid"))
        for _ in range(2):
            advance_to(live_table, Phase.BETTING)
            for player, chips in zip(players, CHIPS.values(), strict=True):
                bet(player, live_table, **chips)
            advance_to(live_table, Phase.SETTLED)
        before = [balance(player) for player in players]
        void_round(first)
        for player, chips, was in zip(players, CHIPS.values(), before, strict=True):
            assert balance(player) == was + sum(chips.values()) - paid[player.pk]
        assert LiveRound.objects.get(pk=first.pk).phase == Phase.SETTLED
        assert Shoe.objects.get(pk=first.shoe_id).ending == ShoeEnding.RETIRED
        wholeness.assert_whole()

    def test_a_round_that_takes_bets_keeps_its_shoe_secret_until_it_is_over(self):
        live_table = a_live_table()
        players, first = a_round_in(Phase.SETTLED, live_table)
        now = advance_to(live_table, Phase.BETTING)
        bet(players[0], live_table, player=5000)
        void_round(first)
        assert Shoe.objects.get(pk=now.shoe_id).seed is None
        settled = advance_to(live_table, Phase.SETTLED)
        assert settled.pk == now.pk
        following = advance_to(live_table, Phase.BETTING)  # after players have cut the next shoe
        assert Shoe.objects.get(pk=now.shoe_id).ending == ShoeEnding.RETIRED
        assert following.shoe_id != now.shoe_id

    def test_winnings_that_are_spent_are_covered_by_the_house(self):
        live_table = a_live_table()
        player = a_player("SE", real=MONEY)
        while True:
            bet(player, live_table, player=5000)
            live_round = advance_to(live_table, Phase.SETTLED)
            part = Participation.objects.get(round_id=live_round.pk)
            if part.paid > part.staked:
                break
            advance_to(live_table, Phase.BETTING)
        spend(player, balance(player))
        void_round(live_round)
        assert balance(player) == 0
        assert VoidPart.objects.get().shortfall == part.paid - part.staked
        wholeness.assert_whole()

    def test_money_that_is_held_for_the_next_round_is_not_taken(self):
        live_table = a_live_table()
        player = a_player("SE", real=MONEY)
        while True:
            bet(player, live_table, player=5000)
            live_round = advance_to(live_table, Phase.SETTLED)
            advance_to(live_table, Phase.BETTING)
            if Participation.objects.get(round_id=live_round.pk).result > 0:
                break
        spend(player, balance(player) - 5000)
        bet(player, live_table, player=5000)
        void_round(live_round)
        account = Account.objects.get(owner=player, mode=Mode.REAL, kind="cash")
        assert (account.balance, account.held) == (5000, 5000)
        assert advance_to(live_table, Phase.SETTLED)


@pytest.mark.django_db
class TestTheSeed:
    """No seed is public while a bet on its shoe is possible, for any writer."""

    def test_is_not_published_while_a_round_waits_to_be_dealt(self):
        live_round = round_at(a_live_table())
        shoe = live_round.shoe
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.end_shoe(shoe, ShoeEnding.RETIRED)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.ask_for_seed(shoe.pk)
        with pytest.raises(moves.WrongPhase), transaction.atomic():
            moves.publish_seed(shoe, seed_of(shoe))

    def test_that_is_public_has_no_round_begin(self):
        live_table = a_live_table()
        _, live_round = a_round_in(Phase.DEALT, live_table)
        void_round(live_round)
        with pytest.raises(moves.NothingOpensHere), transaction.atomic():
            moves.open_round(live_table, uuid4(), version_id=live_round.version_id, code="x")


@pytest.mark.sweep
@pytest.mark.django_db
def test_the_other_kind_of_money_s_table_goes_on():
    live_table = a_live_table()
    _, live_round = a_round_in(Phase.DEALT, live_table)
    free = live_table_of(live_table.table, Mode.FREE)
    assert LiveTable.objects.get(pk=free.pk).stopped_by is None
    void_round(live_round)
    hurry(free)
    assert Shoe.objects.filter(live_table=free).exclude(ending="").count() == 0


class TestAtOnce:
    def test_of_many_calls_one_voids(self, cloned_db):
        live_table = a_live_table()
        players, live_round = a_round_in(Phase.DEALT, live_table)
        by = agree_to_void(live_round.pk)
        at_once([lambda: void_as_agreed(live_round.pk, by)] * 4)
        assert [balance(player) for player in players] == [MONEY, MONEY]
        assert len(events("round.voided")) == Void.objects.count() == 1

    def test_a_round_that_closes_while_it_is_voided_ends_once(self, cloned_db):
        live_table = a_live_table()
        players, live_round = a_round_in(Phase.BETTING, live_table)
        hurry(live_table)
        by = agree_to_void(live_round.pk)
        at_once([lambda: void_as_agreed(live_round.pk, by), lambda: phases.advance(live_table.pk)])
        assert round_at(live_table).phase == Phase.VOID
        assert [balance(player) for player in players] == [MONEY, MONEY]
