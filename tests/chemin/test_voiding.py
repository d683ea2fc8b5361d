"""Voiding a coup in each phase: bank and stakes restored, everyone told, and nothing twice."""

from contextlib import suppress

import pytest
from django.db import transaction

from games.chemin import play, tick
from games.chemin.coups.void import AnotherCoup
from games.engine.chemin import Call, Phase
from games.engine.chemin.state import there
from games.errors import PlayError
from games.models import (
    CheminCoup,
    CheminMove,
    CheminSeat,
    CheminTenure,
    Incident,
    LiveRound,
    Participation,
    Round,
    Shoe,
    ShoeEnding,
    VerificationDue,
    Void,
    VoidPart,
    VoidReason,
)
from games.models import Phase as RoundPhase
from games.rounds.void import take_void_notices
from games.shared.malfunction import void_live_round
from games.verification.verification_task import publish_seeds, verify_finished_rounds
from players.models import Player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_practice_table,
    a_staked_coup,
    answer,
    asked,
    before_the_croupier,
    cash,
    let_pass,
    seated_players,
    sit,
    state_of,
    step,
    step_to,
)
from tests.chemin.hands import First, next_seed, shoe_where, shown_at_once, third_card_refused, third_cards_on_advice
from tests.games.test_void import spend
from tests.harness import databases
from tests.harness.sweeps import sample
from tests.people import events
from tests.voiding import agree_to_void, void_as_agreed, void_as_two_agree
from tests.wallet import wholeness
from tests.wallet.test_at_once import at_once
from wallet.models import Account, AccountKind, Journal, Mode

BANK, STAKE, PART = 10_000, 4_000, 3_000
TAX = STAKE // 20


def void_round(live_round):
    return void_as_two_agree(live_round.pk)


def coup_at(live_table) -> LiveRound:
    return LiveRound.objects.select_related("shoe").filter(live_table=live_table).latest("opened_at")


def whose_turn(live_table) -> Player:
    return there(asked(live_table))


def money_of(players, mode=Mode.REAL):
    return [cash(player, mode).balance for player in players]


def on_table():
    """Return the money on the table, in banks and on coups."""
    return before_the_croupier(AccountKind.BANK), before_the_croupier(AccountKind.STAKES)


def call(live_table):
    """Open a bank, let the next player call it in full, and the one after take over a part."""
    a_bank(live_table, BANK)
    answer(whose_turn(live_table), live_table, "make_call", call=Call.BANCO)
    answer(whose_turn(live_table), live_table, "lay_stake", PART)


def stake_one_of_two(live_table):
    a_bank(live_table, BANK)
    while state_of(live_table).phase is Phase.CALLS:
        let_pass(live_table)
    answer(whose_turn(live_table), live_table, "lay_stake", STAKE)


def deal(live_table):
    a_dealt_coup(live_table, BANK, STAKE)


def deal_and_draw(live_table):
    deal(live_table)
    answer(whose_turn(live_table), live_table, "draw_card")


# Progress of a coup -> how it gets there, the stakes then, and the phase that players see.
COURSE = {
    "a stake is laid": (stake_one_of_two, {2: STAKE}, RoundPhase.BETTING),
    "called and joined": (call, {2: BANK - PART, 3: PART}, RoundPhase.CLOSED),
    "no more bets": (lambda table: a_staked_coup(table, BANK, STAKE), {2: STAKE}, RoundPhase.CLOSED),
    "the punter decides": (deal, {2: STAKE}, RoundPhase.DEALT),
    "the banker decides": (deal_and_draw, {2: STAKE}, RoundPhase.DEALT),
}


class Evening:
    """A table with three players whose coup has progressed this far."""

    def __init__(self, monkeypatch, course, wanted=third_cards_on_advice):
        seed, self.first = shoe_where(wanted)
        next_seed(monkeypatch, seed)
        self.live_table = a_chemin_table()
        self.players = seated_players(self.live_table)
        reach, self.staked, self.phase = COURSE[course]
        reach(self.live_table)
        self.coup = coup_at(self.live_table)
        assert self.coup.phase == self.phase

    def player(self, seat_number):
        return self.players[seat_number - 1]


@pytest.fixture(params=sample(COURSE, 2), scope="class")
def evening(django_db_setup, django_db_blocker, request):
    with django_db_blocker.unblock(), databases.kept_for_several_tests(), pytest.MonkeyPatch.context() as monkeypatch:
        yield Evening(monkeypatch, request.param)


@pytest.mark.django_db
class TestInEachPhase:
    def test_bank_and_stakes_are_as_they_were_before_it(self, evening):
        void_round(evening.coup)
        assert money_of(evening.players) == [MONEY - BANK, MONEY, MONEY]
        assert on_table() == (BANK, 0)
        wholeness.assert_whole()

    @pytest.mark.sweep
    def test_it_is_kept_with_everybody_s_part(self, evening):
        void_round(evening.coup)
        played = Round.objects.get(pk=evening.coup.pk)
        assert (played.code, played.outcome, played.mode) == (evening.coup.code, "", Mode.REAL)
        at_risk = sum(evening.staked.values())
        parts = {part.player_id: part for part in Participation.objects.filter(round=played)}
        expected = {
            evening.player(seat_number).pk: ("punter", amount) for seat_number, amount in evening.staked.items()
        }
        expected |= {evening.players[0].pk: ("bank", at_risk)}
        assert parts.keys() == expected.keys()
        for player, (bet, stake) in expected.items():
            part = parts[player]
            (wager,) = part.wagers.all()
            assert (wager.bet, wager.stake, wager.payout, wager.result) == (bet, stake, 0, "void")
            assert (part.staked, part.paid) == (stake, 0)
            assert part.balance_before == part.balance_after == MONEY
        coup = CheminCoup.objects.get(pk=evening.coup.pk)
        assert (coup.outcome, coup.bank, coup.at_risk, coup.tax) == ("", BANK, at_risk, 0)
        assert coup.call == ("banco" if len(evening.staked) > 1 else "")
        assert there(coup.punter).number == 2
        assert {(stake.seat.number, stake.stake, stake.returned) for stake in coup.stakes.all()} == {
            (seat_number, amount, 0) for seat_number, amount in evening.staked.items()
        }
        returned = dict(VoidPart.objects.values_list("player_id", "returned"))
        assert returned == {
            evening.player(seat_number).pk: evening.staked.get(seat_number, 0) for seat_number in (1, *evening.staked)
        }

    def test_the_second_call_moves_nothing(self, evening):
        void_round(evening.coup)
        journals, moves = Journal.objects.count(), CheminMove.objects.count()
        again = void_live_round(round_id=evening.coup.pk, reason=VoidReason.CANCELLED, by="staff:test")
        assert (again.pk, again.phase) == (evening.coup.pk, RoundPhase.VOID)
        assert (Journal.objects.count(), CheminMove.objects.count()) == (journals, moves)
        assert (Void.objects.get().reason, len(events("round.voided"))) == (VoidReason.DECIDED, 1)

    @pytest.mark.sweep
    def test_everybody_in_it_is_informed_once(self, evening):
        void_round(evening.coup)
        table_id = evening.live_table.table_id
        shown = ((evening.coup.pk, evening.coup.code, VoidReason.DECIDED.value),)
        for seat_number in (1, *evening.staked):
            assert take_void_notices(evening.player(seat_number), table_id, Mode.REAL) == shown
            assert take_void_notices(evening.player(seat_number), table_id, Mode.REAL) == ()
        if 3 not in evening.staked:
            assert take_void_notices(evening.player(3), table_id, Mode.REAL) == ()

    def test_the_shoe_is_retired_where_its_cards_were_drawn_and_the_coup_keeps_them(self, evening):
        void_round(evening.coup)
        shoe, is_dealt = Shoe.objects.get(pk=evening.coup.shoe_id), evening.phase == RoundPhase.DEALT
        assert (shoe.ending, shoe.seed) == (ShoeEnding.RETIRED if is_dealt else "", None)
        publish_seeds()
        shoe.refresh_from_db()
        assert (shoe.seed is not None) == is_dealt
        assert not Incident.objects.exists()
        cards = " ".join(card.code for card in evening.first.cards)
        assert cards.startswith(Round.objects.get().cards)
        assert len(Round.objects.get().cards.split()) == shoe.gone

    @pytest.mark.sweep
    def test_the_table_goes_on_with_the_same_bank(self, evening):
        void_round(evening.coup)
        state = state_of(evening.live_table)
        assert (state.phase, there(state.bank).amount, state.coup) == (Phase.CHOICE, BANK, None)
        answer(evening.players[0], evening.live_table, "keep_bank")
        step_to(evening.live_table, Phase.CALLS)
        following = coup_at(evening.live_table)
        assert following.pk != evening.coup.pk
        assert (following.shoe_id == evening.coup.shoe_id) is (evening.phase != RoundPhase.DEALT)

    @pytest.mark.sweep
    def test_it_is_never_dealt_again(self, evening):
        void_round(evening.coup)
        assert not VerificationDue.objects.exists()
        assert verify_finished_rounds().suspicious == ()

    @pytest.mark.sweep
    def test_who_wanted_to_leave_has_left(self, evening):
        for seat_number in (1, 2):
            play.leave(player=evening.player(seat_number), live_table_id=evening.live_table.pk)
        void_round(evening.coup)
        assert money_of(evening.players) == [MONEY, MONEY, MONEY]
        assert on_table() == (0, 0)
        assert [seat.number for seat in CheminSeat.objects.filter(left_at=None)] == [3]
        wholeness.assert_whole()


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_coup_without_stakes_ends_and_is_not_stored():
    live_table = a_chemin_table()
    players = seated_players(live_table)
    a_bank(live_table, BANK)
    ended = void_round(coup_at(live_table))
    assert (ended.phase, Round.objects.count(), Void.objects.count()) == (RoundPhase.VOID, 0, 0)
    assert (state_of(live_table).phase, money_of(players)[0], on_table()) == (Phase.CHOICE, MONEY - BANK, (BANK, 0))


class TestAtOnce:
    def test_of_many_calls_one_voids(self, cloned_db, monkeypatch):
        evening = Evening(monkeypatch, "the punter decides")
        by = agree_to_void(evening.coup.pk)
        at_once([lambda: void_as_agreed(evening.coup.pk, by)] * 4)
        assert money_of(evening.players) == [MONEY - BANK, MONEY, MONEY]
        assert len(events("round.voided")) == Void.objects.count() == 1

    @pytest.mark.parametrize(
        ("course", "seat_number", "action"),
        sample(
            [("a stake is laid", 3, "pass"), ("no more bets", 1, "deal_cards"), ("the banker decides", 1, "draw_card")],
            1,
        ),
    )
    def test_a_decision_made_in_the_meantime_changes_nothing(self, cloned_db, monkeypatch, course, seat_number, action):
        evening = Evening(monkeypatch, course)

        def decide() -> None:
            with suppress(PlayError):
                answer(evening.player(seat_number), evening.live_table, action)

        by = agree_to_void(evening.coup.pk)
        at_once([decide, lambda: void_as_agreed(evening.coup.pk, by), lambda: tick.advance(evening.live_table.pk)])
        bank, staked = on_table()
        assert (bank in (0, BANK), staked) == (True, 0)  # it was returned if the coup was already settled
        assert money_of(evening.players) == [MONEY - bank, MONEY, MONEY]
        assert Void.objects.count() == 1
        wholeness.assert_whole()


class Settled:
    """A coup that the bank has won or lost, from a shoe whose first coup matches."""

    def __init__(self, monkeypatch, wanted, live_table=None, **options):
        seed, _ = shoe_where(wanted)
        next_seed(monkeypatch, seed)
        self.live_table = live_table or a_chemin_table(**options)
        self.players = seated_players(self.live_table)
        deal(self.live_table)
        self.coup = coup_at(self.live_table)
        step_to(self.live_table, Phase.CHOICE, Phase.OFFER)
        self.coup.refresh_from_db()
        assert self.coup.phase == RoundPhase.SETTLED

    def voided(self):
        void_round(self.coup)
        wholeness.assert_whole()
        return money_of(self.players)


def bank_wins(coup: First) -> bool:
    return third_card_refused(coup)


def bank_loses(coup: First) -> bool:
    return shown_at_once(coup)


@pytest.mark.django_db
class TestAfterItWasSettled:
    @pytest.mark.sweep
    def test_a_bank_that_won_goes_home_with_what_it_was_and_is_offered_on(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        assert on_table() == (BANK + STAKE - TAX, 0)
        assert settled.voided() == [MONEY, MONEY, MONEY]
        assert on_table() == (0, 0)
        tenure = CheminTenure.objects.get()
        assert (tenure.ended_at is not None, tenure.home) == (True, BANK)
        state = state_of(settled.live_table)
        assert (state.phase, state.turn, state.bank, state.coup) == (Phase.OFFER, 2, None, None)
        assert Shoe.objects.get(pk=settled.coup.shoe_id).ending == ShoeEnding.RETIRED

    def test_a_bank_that_lost_goes_home_whole(self, monkeypatch):
        settled = Settled(monkeypatch, bank_loses)
        assert money_of(settled.players) == [MONEY - STAKE, MONEY + STAKE, MONEY]
        assert settled.voided() == [MONEY, MONEY, MONEY]
        assert (on_table(), CheminTenure.objects.get().home) == ((0, 0), BANK)
        assert state_of(settled.live_table).phase is Phase.OFFER

    @pytest.mark.sweep
    def test_a_bank_that_has_gone_home_since_is_made_up_by_its_banker(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        answer(settled.players[0], settled.live_table, "give_suite")
        assert settled.voided() == [MONEY, MONEY, MONEY]
        assert on_table() == (0, 0)

    def test_what_a_winner_has_spent_is_borne_by_the_house(self, monkeypatch):
        settled = Settled(monkeypatch, bank_loses)
        spend(settled.players[1], MONEY + STAKE)
        assert settled.voided() == [MONEY, 0, MONEY]
        assert VoidPart.objects.get(player=settled.players[1]).shortfall == STAKE

    @pytest.mark.sweep
    def test_however_much_of_the_bank_was_beyond_the_maximum(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins, maximum=BANK)
        assert on_table() == (BANK, 0)
        assert settled.voided() == [MONEY, MONEY, MONEY]

    @pytest.mark.sweep
    def test_not_while_another_coup_is_in_progress(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        answer(settled.players[0], settled.live_table, "keep_bank")
        before = money_of(settled.players), on_table()
        with pytest.raises(AnotherCoup, match="is in progress"), transaction.atomic():
            void_round(settled.coup)
        assert (money_of(settled.players), on_table(), Void.objects.count()) == (*before, 0)
        void_round(coup_at(settled.live_table))
        assert settled.voided() == [MONEY, MONEY, MONEY]

    @pytest.mark.sweep
    def test_an_earlier_coup_of_the_same_bank(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        first = settled.coup
        answer(settled.players[0], settled.live_table, "keep_bank")
        step_to(settled.live_table, Phase.CHOICE, Phase.OFFER)
        before = money_of(settled.players)
        assert settled.voided()[1:] == [before[1] + STAKE, before[2]]
        assert sum(money_of(settled.players)) + on_table()[0] == 3 * MONEY
        assert Void.objects.get().pk == first.pk

    @pytest.mark.sweep
    def test_a_player_who_has_left_since_is_refunded_and_charged_too(self, monkeypatch):
        settled = Settled(monkeypatch, bank_loses)
        play.leave(player=settled.players[0], live_table_id=settled.live_table.pk)
        play.leave(player=settled.players[1], live_table_id=settled.live_table.pk)
        assert settled.voided() == [MONEY, MONEY, MONEY]
        assert on_table() == (0, 0)

    @pytest.mark.sweep
    def test_the_second_call_moves_nothing(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        settled.voided()
        journals = Journal.objects.count()
        void_round(settled.coup)
        assert Journal.objects.count() == journals

    @pytest.mark.sweep
    def test_the_table_goes_on_with_a_new_shoe(self, monkeypatch):
        settled = Settled(monkeypatch, bank_wins)
        settled.voided()
        a_bank(settled.live_table, BANK)
        step_to(settled.live_table, Phase.CALLS)
        assert coup_at(settled.live_table).shoe_id != settled.coup.shoe_id
        step_to(settled.live_table, Phase.CHOICE, Phase.OFFER)
        wholeness.assert_whole()


@pytest.mark.sweep
@pytest.mark.django_db
class TestAtAPracticeTable:
    def test_house_players_are_voided_like_players_and_nobody_is_informed_for_them(self):
        live_table = a_practice_table()
        (player,) = seated_players(live_table, 1)
        for _ in range(60):
            coup = LiveRound.objects.filter(live_table=live_table, phase=RoundPhase.DEALT).first()
            if coup:
                break
            assert step(live_table)
        assert coup
        before = Account.objects.filter(kind=AccountKind.SEAT).count()
        void_round(coup)
        assert before_the_croupier(AccountKind.STAKES) == 0
        assert Account.objects.filter(kind=AccountKind.SEAT).count() == before
        assert set(VoidPart.objects.values_list("player_id", flat=True)) <= {player.pk}
        wholeness.assert_whole()
        for _ in range(10):
            assert step(live_table)


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_player_of_another_table_loses_nothing_by_it(monkeypatch):
    settled = Settled(monkeypatch, bank_wins)
    other = a_chemin_table(slug="other")
    for player in settled.players[:2]:
        sit(player, other)
    banker = a_bank(other, BANK)
    void_round(settled.coup)
    assert before_the_croupier(AccountKind.BANK) == BANK
    assert cash(banker).balance == MONEY - BANK
