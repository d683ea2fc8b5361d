"""A coup at a Chemin de Fer table: effects of every answer on money, rows and event log."""

import pytest

from games.engine.chemin import Call, Phase, Refusal
from games.engine.chemin.state import Chips, there
from games.models import (
    CheminCoup,
    CheminMove,
    CheminSeat,
    CheminTenure,
    LiveRound,
    Participation,
    Round,
    Shoe,
    VerificationDue,
    Wager,
    WhyLeft,
)
from games.models import Phase as RoundPhase
from players.models import LimitKind, Period
from players.protection import limits, play_sessions
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_seated_player,
    a_session,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked,
    asked_at,
    before_the_croupier,
    cash,
    chemin_of,
    let_pass,
    refusal_of,
    seated_players,
    sit,
    state_of,
    step_to,
)
from tests.people import events
from wallet.invariants import verify
from wallet.models import AccountKind, Hold, Journal

pytestmark = pytest.mark.django_db


def kinds_of(round_id) -> list[str]:
    return list(Journal.objects.filter(round_id=round_id).order_by("pk").values_list("kind", flat=True))


class TestACoup:
    def test_from_the_bank_to_the_payment(self):
        table = a_chemin_table()
        players = seated_players(table, 3)
        banker, punter = a_staked_coup(table, amount=10_000, stake=4_000)
        assert (banker, punter) == (players[0], players[1])
        (live_round,) = LiveRound.objects.all()
        assert (live_round.phase, live_round.cards) == (RoundPhase.CLOSED, "")
        assert cash(banker).balance == MONEY - 10_000
        assert cash(punter).balance == MONEY - 4_000
        assert before_the_croupier(AccountKind.BANK) == 10_000
        assert before_the_croupier(AccountKind.STAKES) == 4_000
        answer(banker, table, "deal_cards")
        assert LiveRound.objects.get().cards == ""
        step_to(table, Phase.CHOICE, Phase.OFFER)
        coup = CheminCoup.objects.get()
        won, tax = {"punter": (8_000, 0), "draw": (4_000, 0), "banker": (0, 200)}[coup.outcome]
        assert cash(punter).balance == MONEY - 4_000 + won
        assert before_the_croupier(AccountKind.STAKES) == 0
        assert (coup.bank, coup.at_risk, coup.tax, coup.call) == (10_000, 4_000, tax, "")
        assert (coup.banker_player, there(coup.punter).player) == (banker, punter)
        assert LiveRound.objects.get().phase == RoundPhase.SETTLED
        assert kinds_of(coup.pk) == ["stake", "settle"]
        assert [row for check in verify.run() for row in check.rows] == []

    def test_gli19_a_8_1_is_kept_as_a_round_with_everybodys_part(self):
        table = a_chemin_table()
        seated_players(table, 3)
        banker, punter = a_dealt_coup(table, amount=10_000, stake=4_000)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        kept, coup = Round.objects.get(), CheminCoup.objects.get()
        cards = kept.cards.split()
        assert (kept.first_card, kept.outcome, 4 <= len(cards) <= 6) == (0, coup.outcome, True)
        assert [card.code for card in there(state_of(table).shoe).cards[: len(cards)]] == cards
        assert Shoe.objects.get().gone == len(cards)
        assert VerificationDue.objects.filter(round=kept).exists()
        parts = {part.player: part for part in Participation.objects.all()}
        assert set(parts) == {banker, punter}
        assert parts[punter].staked == parts[banker].staked == 4_000
        assert parts[punter].paid + parts[banker].paid + coup.tax == 8_000
        assert {wager.bet: wager.participation.player for wager in Wager.objects.all()} == {
            "punter": punter,
            "bank": banker,
        }
        assert parts[banker].commission == coup.tax
        for part in parts.values():
            assert part.balance_after - part.balance_before == part.paid - part.staked
        assert parts[punter].balance_after == cash(punter).balance

    @pytest.mark.sweep
    def test_counts_in_the_play_session_of_each(self):
        table, players = a_chemin_table(), [a_player(real=MONEY) for _ in range(2)]
        sessions = {player: a_session(player) for player in players}
        for player in players:
            sit(player, table, session=sessions[player])
            play_sessions.read_session(player, sessions[player])
        a_dealt_coup(table, stake=4_000)
        step_to(table, Phase.CHOICE, Phase.OFFER)
        for player in players:
            seen = play_sessions.read_session(player, sessions[player])
            assert (seen.rounds, seen.staked_real) == (1, 4_000)

    def test_goes_into_the_log_without_a_card_before_it_is_over(self):
        table = a_chemin_table()
        seated_players(table, 2)
        a_staked_coup(table)
        assert [len(events(kind)) for kind in ("coup.opened", "bets.closed", "round.dealt")] == [1, 1, 0]
        step_to(table, Phase.CHOICE, Phase.OFFER)
        (dealt,), (settled,) = events("round.dealt"), events("round.settled")
        assert set(dealt["data"]) == {"first_card", "shoe"}
        assert settled["data"]["cards"] == Round.objects.get().cards

    def test_without_stakes_there_is_no_round(self):
        table = a_chemin_table()
        players = seated_players(table, 3)
        a_bank(table)
        while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
            let_pass(table)
        assert (state_of(table).phase, asked(table)) == (Phase.CHOICE, players[0])
        assert LiveRound.objects.get().phase == RoundPhase.VOID
        assert not Round.objects.exists()
        assert before_the_croupier(AccountKind.BANK) == 10_000

    @pytest.mark.sweep
    def test_a_call_that_others_join_gives_back_what_they_take_over(self):
        table = a_chemin_table()
        _, caller, joiner = seated_players(table, 3)
        a_bank(table, 10_000)
        answer(caller, table, "make_call", call=Call.BANCO)
        assert cash(caller).balance == MONEY - 10_000
        answer(joiner, table, "lay_stake", 5_000)
        assert (cash(caller).balance, cash(joiner).balance) == (MONEY - 5_000, MONEY - 5_000)
        assert before_the_croupier(AccountKind.STAKES) == 10_000
        assert state_of(table).phase is Phase.CARDS
        move = CheminMove.objects.get(kind="make_call")
        assert (move.call, move.amount, there(move.seat).player) == ("banco", None, caller)

    @pytest.mark.sweep
    def test_a_named_call_takes_its_amount(self):
        table = a_chemin_table()
        _, caller, _ = seated_players(table, 3)
        a_bank(table, 10_000)
        answer(caller, table, "make_call", 6_000, Call.BANCO_AVEC_LA_TABLE)
        assert cash(caller).balance == MONEY - 6_000


class TestTheBank:
    def test_is_a_tenure_with_an_account_of_its_own(self):
        table = a_chemin_table()
        banker, _ = seated_players(table, 2)
        a_bank(table, 10_000)
        tenure = CheminTenure.objects.get()
        assert (tenure.seat.player, tenure.put_up, tenure.home, tenure.ended_at) == (banker, 10_000, 0, None)
        assert chemin_of(table).tenure_id == tenure.pk
        assert kinds_of(tenure.pk) == ["bank"]
        assert len(events("bank.taken")) == 1

    @pytest.mark.sweep
    def test_goes_home_whole_when_it_is_passed_on_and_is_sold_at_its_full_amount(self):
        table = a_chemin_table()
        banker, other = seated_players(table, 2)
        a_bank(table, 10_000)
        while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
            let_pass(table)
        answer(banker, table, "give_suite")
        tenure = CheminTenure.objects.get()
        assert (cash(banker).balance, tenure.home, tenure.ended_at is not None) == (MONEY, 10_000, True)
        assert kinds_of(tenure.pk) == ["bank", "bank_back"]
        assert (state_of(table).phase, asked(table)) == (Phase.SUITE, other)
        assert refusal_of(other, table, "take_bank", 9_999) is Refusal.NOT_THE_FULL_AMOUNT
        answer(other, table, "take_bank", 10_000)
        assert CheminTenure.objects.count() == 2

    def test_bids_are_held_and_the_highest_becomes_the_bank(self):
        table = a_chemin_table()
        banker, second, third = seated_players(table, 3)
        a_bank(table, 10_000)
        while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
            let_pass(table)
        answer(banker, table, "give_suite")
        let_pass(table)
        let_pass(table)
        assert state_of(table).phase is Phase.AUCTION
        answer(second, table, "make_bid", 6_000)
        sale_id = there(chemin_of(table).sale_id)
        assert Hold.objects.get(round_id=sale_id).amount == 6_000
        assert there(cash(second).balance) - cash(second).held == state_of(table).seat(2).balance == MONEY - 6_000
        answer(third, table, "make_bid", 7_000)
        assert not Hold.objects.exists()
        assert (chemin_of(table).sale_id, state_of(table).bank) == (None, Chips(3, 7_000))
        assert (cash(second).balance, cash(second).held) == (MONEY, 0)

    def test_of_what_goes_home_the_put_up_comes_back_and_the_rest_is_won(self):
        """Play until a banker wins."""
        table = a_chemin_table(maximum=12_000)
        seated_players(table, 2)
        while not (coup := CheminCoup.objects.filter(outcome="banker").first()):
            if state_of(table).phase is Phase.OFFER:
                a_dealt_coup(table, amount=10_000, stake=10_000)
            else:
                answer_by_the_rule(table)
        assert there(state_of(table).bank).amount == 12_000
        banker = asked_at(table)
        answer(banker, table, "give_suite")
        tenure = coup.tenure
        tenure.refresh_from_db()
        assert kinds_of(tenure.pk) == ["bank", "bank_won", "bank_back", "bank_won"]
        assert tenure.home == 19_500  # the tax is 5 % of the win
        assert len(events("bank.excess")) == 1


@pytest.mark.sweep
def test_a_bidder_who_may_not_pay_any_more_gets_up_and_the_next_bid_wins():
    table = a_chemin_table()
    banker, second, third = seated_players(table, 3)
    a_seated_player(table, 4)
    a_bank(table, 10_000)
    while state_of(table).phase in (Phase.CALLS, Phase.STAKES):
        let_pass(table)
    answer(banker, table, "give_suite")
    while state_of(table).phase is Phase.SUITE:
        let_pass(table)
    answer(second, table, "make_bid", 7_000)
    answer(third, table, "make_bid", 6_000)
    limits.set_limit(player=second, kind=LimitKind.STAKE, period=Period.DAY, amount=1, by=str(second))
    let_pass(table)
    assert CheminSeat.objects.get(player=second).why_left == WhyLeft.SESSION
    assert state_of(table).bank == Chips(3, 6_000)
    assert (cash(second).balance, cash(second).held) == (MONEY, 0)
