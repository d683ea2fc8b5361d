"""Bets at a shared table: each is accepted and held at once, or refused with a message."""

from copy import deepcopy

import pytest
from django.utils import translation

from games.betting.error_messages import refusal
from games.betting.limits import StoredLimits
from games.betting.rules import Change
from games.engine.bets import ExcludedBets, MissingMainBet, SettlementError, UnknownBet
from games.engine.settle import largest_loss
from games.errors import (
    BetTooLate,
    NotEnoughBalance,
    NothingToRepeat,
    NotOffered,
    OverLiability,
    OverMaximum,
    PlayError,
    StakeOffStep,
    StalePage,
    TableChanged,
    TableStopped,
    UnderMinimum,
    UnknownChip,
    UnknownCurrency,
)
from games.models import Incident, IncidentKind, LiveSeat, LiveTable, Phase
from games.shared import malfunction
from games.shared.bets import add_chip
from games.shared.seats import seat_at
from games.tables.default_tables import no_commission_limits, pairs_limits
from games.tables.status import close_table
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player, put_live
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, advance_to, hurry, round_at
from tests.live.betting import balance, chip, held, held_for, press, stakes_of, stranger, take, total_of
from tests.people import events
from tests.wallet import holds
from wallet.ledger import accounts
from wallet.models import Entry, Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_00


@pytest.fixture
def table() -> LiveTable:
    """A `no_commission` table that takes bets."""
    return a_live_table()


@pytest.fixture
def player(table: LiveTable) -> Player:
    """A player from Romania at that table with a thousand lei."""
    return a_player_of(table)


def a_player_of(table: LiveTable, jurisdiction: str = "RO", *, real: int = MONEY, free: int = MONEY) -> Player:
    player = a_player(jurisdiction, real=real, free=free)
    seat_at(player, table)
    return player


def message(error: PlayError | SettlementError, table: LiveTable, language: str = "en") -> str:
    with translation.override(language):
        variant = VARIANTS[table.table.variant]
        return refusal(error, variant=variant, mode=Mode(table.mode), language=language).text


def a_pairs_table(limits: StoredLimits | None = None) -> LiveTable:
    """Return a `pairs` table that takes bets."""
    return a_live_table("pairs", limits=limits)


def with_limits(variant: str, currency: str, **changes: object) -> StoredLimits:
    shipped = {"no_commission": no_commission_limits, "pairs": pairs_limits}
    limits = deepcopy(shipped[variant]())
    limits[currency].update(changes)  # type: ignore[typeddict-item]
    if "chips" in changes:
        limits[currency].pop("tray")  # all chips are in the tray
    return limits


class TestAcceptedBets:
    def test_a_chip_is_held_at_once_and_the_balance_stays(self, table, player):
        seat = chip(player, table, "player", 20_00)
        assert seat.stakes == {"player": 20_00}
        assert (held(player), balance(player)) == (20_00, MONEY)
        assert held_for(round_at(table).pk) == 20_00

    def test_the_hold_follows_the_slip_up_and_down(self, table, player):
        seen = []
        for move in (
            lambda: chip(player, table, "player", 100_00),
            lambda: chip(player, table, "super_6", 20_00),
            lambda: press(player, table, Change.DOUBLE),
            lambda: press(player, table, Change.UNDO),
            lambda: press(player, table, Change.UNDO),
            lambda: press(player, table, Change.UNDO),
        ):
            move()
            seen.append(held(player))
        assert seen == [100_00, 120_00, 240_00, 120_00, 100_00, 0]
        assert not total_of(round_at(table).pk, "RON")

    def test_a_chip_is_taken_off_and_the_whole_bet_where_less_than_its_minimum_would_stay(self, table, player):
        for value in (100_00, 20_00, 20_00):
            chip(player, table, "player", value)
        assert take(player, table, "player", 20_00).stakes == {"player": 120_00}
        assert take(player, table, "player", 100_00).stakes == {"player": 20_00}
        assert take(player, table, "tie", 100_00).stakes == {"player": 20_00}
        assert take(player, table, "player", 5_00).stakes == {}
        assert held(player) == 0
        assert press(player, table, Change.UNDO).stakes == {"player": 20_00}
        with pytest.raises(UnknownChip):
            take(player, table, "player", 1)

    @pytest.mark.sweep
    def test_the_seat_remembers_the_chip_for_the_next_click(self, table, player):
        chip(player, table, "tie", 100_00)
        assert LiveSeat.objects.get(player=player).last_chip == 100_00

    def test_clear_takes_everything_back_and_undo_puts_it_down_again(self):
        table = a_pairs_table()
        player = a_player_of(table)
        chip(player, table, "player", 25_00)
        chip(player, table, "tie", 5_00)
        assert press(player, table, Change.CLEAR).stakes == {}
        assert held(player) == 0
        press(player, table, Change.UNDO)
        assert stakes_of(player, table) == {"player": 25_00, "tie": 5_00}
        assert held(player) == 30_00

    def test_rebet_places_the_bets_of_the_last_round_played_there(self, table, player):
        chip(player, table, "banker", 100_00)
        chip(player, table, "banker_bonus", 5_00)
        advance_to(table, Phase.BETTING)
        assert stakes_of(player, table) == {}
        assert held(player) == 0
        seat = press(player, table, Change.REPEAT)
        assert seat.stakes == {"banker": 100_00, "banker_bonus": 5_00}
        assert held(player) == 105_00

    @pytest.mark.sweep
    def test_rebet_reaches_over_a_round_that_was_skipped_and_over_bets_that_were_taken_back(self, table, player):
        chip(player, table, "banker", 100_00)
        advance_to(table, Phase.BETTING)
        chip(player, table, "tie", 20_00)
        press(player, table, Change.UNDO)
        chip(a_player_of(table), table, "player", 20_00)  # so that the round is played
        advance_to(table, Phase.BETTING)
        assert press(player, table, Change.REPEAT).stakes == {"banker": 100_00}

    @pytest.mark.sweep
    def test_undo_takes_a_rebet_back_to_what_lay_there(self, table, player):
        chip(player, table, "banker", 100_00)
        advance_to(table, Phase.BETTING)
        chip(player, table, "tie", 20_00)
        press(player, table, Change.REPEAT)
        assert press(player, table, Change.UNDO).stakes == {"tie": 20_00}
        assert press(player, table, Change.UNDO).stakes == {}
        assert press(player, table, Change.UNDO).stakes == {}  # and does not undo into the previous round

    @pytest.mark.sweep
    def test_taking_back_the_last_main_bet_leaves_no_side_bet(self, table, player):
        """games.md: side bets come after a main bet, so undo removes them before it."""
        chip(player, table, "player", 20_00)
        chip(player, table, "player_pair", 20_00)
        chip(player, table, "banker", 20_00)
        left = [press(player, table, Change.UNDO).stakes for _ in range(3)]
        assert left == [{"player": 20_00, "player_pair": 20_00}, {"player": 20_00}, {}]

    @pytest.mark.sweep
    def test_a_rebet_with_side_bets_is_undone_as_a_whole(self, table, player):
        chip(player, table, "player", 20_00)
        chip(player, table, "player_pair", 20_00)
        advance_to(table, Phase.BETTING)
        press(player, table, Change.REPEAT)
        assert press(player, table, Change.UNDO).stakes == {}

    @pytest.mark.sweep
    def test_betting_that_begins_again_keeps_what_can_be_undone(self, table, player):
        chip(player, table, "player", 20_00)
        press(player, table, Change.UNDO)
        before = round_at(table)
        assert advance_to(table, Phase.BETTING).pk == before.pk
        chip(player, table, "player", 20_00)
        assert stakes_of(player, table) == {"player": 20_00}

    @pytest.mark.sweep
    def test_players_of_several_currencies_bet_on_one_round_each_in_their_own(self, table, player):
        swede = a_player_of(table, "SE")
        chip(player, table, "player", 20_00)
        chip(swede, table, "banker", 50_00)
        round_id = round_at(table).pk
        assert (total_of(round_id, "RON"), total_of(round_id, "SEK")) == ({"player": 20_00}, {"banker": 50_00})

    @pytest.mark.sweep
    def test_a_table_that_is_closing_takes_bets_until_the_deadline(self, table, player):
        close_table(table_id=table.table_id, reason="The evening ends.", by="staff:7")
        chip(player, table, "player", 20_00)
        hurry(table)
        with pytest.raises(BetTooLate):
            chip(player, table, "player", 20_00)
        assert held(player) == 20_00

    @pytest.mark.sweep
    def test_new_limits_are_for_the_next_round(self, table, player):
        version = round_at(table).version
        limits = with_limits("no_commission", "RON", chips=[100_00])
        put_live(table_id=table.table_id, limits=limits, reason="Fewer chips.")
        chip(player, table, "player", 20_00, table_version=version.number)
        advance_to(table, Phase.BETTING)
        with pytest.raises(TableChanged):
            chip(player, table, "player", 100_00, table_version=version.number)
        with pytest.raises(UnknownChip):
            chip(player, table, "player", 20_00)


class TestTooLittleMoneyOrTooLate:
    def test_balance_too_low_on_clicking_a_bet(self, table, player):
        chip(player, table, "player", 500_00)
        chip(player, table, "player", 500_00)
        entries = Entry.objects.count()
        with pytest.raises(NotEnoughBalance) as refused:
            chip(player, table, "tie", 20_00)
        assert message(refused.value, table) == "Insufficient balance"
        assert (held(player), balance(player)) == (MONEY, MONEY)
        assert stakes_of(player, table) == {"player": 1000_00}
        assert Entry.objects.count() == entries

    @pytest.mark.sweep
    def test_balance_too_low_on_doubling(self, table, player):
        chip(player, table, "player", 500_00)
        spend(player, 1)
        with pytest.raises(NotEnoughBalance):
            press(player, table, Change.DOUBLE)
        assert stakes_of(player, table) == {"player": 500_00}

    @pytest.mark.sweep
    def test_balance_too_low_on_betting_again(self, table, player):
        chip(player, table, "player", 500_00)
        advance_to(table, Phase.BETTING)
        spend(player, balance(player) - 499_99)
        with pytest.raises(NotEnoughBalance):
            press(player, table, Change.REPEAT)
        assert stakes_of(player, table) == {}

    @pytest.mark.parametrize("phase", sample([None, Phase.CLOSED, Phase.DEALT, Phase.SETTLED], 1), ids=str)
    def test_a_bet_that_reaches_the_server_after_no_more_bets(self, table, player, phase):
        """`None`: the deadline has passed, but no worker has closed the bets yet."""
        chip(player, table, "player", 20_00)
        if phase is None:
            hurry(table)
        else:
            advance_to(table, phase)
        before = (held(player), balance(player), Entry.objects.count())
        for click in (lambda: chip(player, table, "player", 20_00), lambda: press(player, table, Change.UNDO)):
            with pytest.raises(BetTooLate) as refused:
                click()
            assert message(refused.value, table) == "Bet received too late"
        assert (held(player), balance(player), Entry.objects.count()) == before
        assert stakes_of(player, table) == {"player": 20_00}

    def test_a_bet_meant_for_an_earlier_round_never_lands_in_the_next(self, table, player):
        earlier = round_at(table).pk
        chip(player, table, "player", 20_00)
        advance_to(table, Phase.BETTING)
        for round_id in (earlier, stranger()):
            with pytest.raises(BetTooLate):
                chip(player, table, "player", 20_00, round_id=round_id)
            with pytest.raises(BetTooLate):
                press(player, table, Change.REPEAT, round_id=round_id)
        assert held(player) == 0
        assert stakes_of(player, table) == {}

    def test_a_round_of_another_table_takes_no_bet_from_here(self, table, player):
        elsewhere = a_live_table("pairs", slug="elsewhere")
        with pytest.raises(BetTooLate):
            chip(player, table, "player", 20_00, round_id=round_at(elsewhere).pk)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(["sv", "da", "ro", "de"]))
    def test_both_sentences_are_in_the_player_s_language(self, table, language):
        said = {message(error, table, language) for error in (NotEnoughBalance(), BetTooLate())}
        assert len(said - {"Insufficient balance", "Bet received too late"}) == 2

    @pytest.mark.sweep
    def test_who_lacks_money_is_led_to_more_of_the_same_kind(self, table):
        variant = VARIANTS["no_commission"]
        real, free = (
            refusal(NotEnoughBalance(), variant=variant, mode=mode, language="en") for mode in (Mode.REAL, Mode.FREE)
        )
        assert (real.link_text, free.link_text) == ("Deposit", "Top up play money")


def spend(player: Player, amount: int) -> None:
    """Stake this much of the player's money in a round elsewhere."""
    holds.hold(stranger(), accounts.player_account(player.pk, Mode.REAL), amount)


class TestRefusals:
    def refused(self, error, click, player, table):
        before = (held(player), stakes_of(player, table), total_of(round_at(table).pk, player.currency))
        with pytest.raises(error) as refused:
            click()
        assert events("bet.refused")[-1]["data"]["reason"] == error.__name__
        assert (held(player), stakes_of(player, table), total_of(round_at(table).pk, player.currency)) == before
        return refused.value

    def test_a_chip_under_the_minimum_of_a_bet_is_refused_at_once(self, table, player):
        refused = self.refused(UnderMinimum, lambda: chip(player, table, "player", 5_00), player, table)
        assert message(refused, table) == "The minimum bet on Player is RON\N{NO-BREAK SPACE}20.00."

    def test_a_chip_over_the_maximum_of_a_bet_is_refused(self, table, player):
        chip(player, table, "player", 20_00)
        chip(player, table, "perfect_pair", 500_00)
        refused = self.refused(OverMaximum, lambda: chip(player, table, "perfect_pair", 5_00), player, table)
        assert message(refused, table).startswith("The maximum bet on Perfect Pair is")

    def test_doubling_over_a_maximum_is_refused_as_a_whole(self, table, player):
        chip(player, table, "player", 20_00)
        chip(player, table, "perfect_pair", 500_00)
        self.refused(OverMaximum, lambda: press(player, table, Change.DOUBLE), player, table)

    @pytest.mark.sweep
    def test_rebet_is_checked_as_a_whole_against_the_limits_in_force(self, table, player):
        chip(player, table, "player", 20_00)
        chip(player, table, "super_6", 20_00)
        limits = with_limits("no_commission", "RON")
        limits["RON"]["bets"]["super_6"] = [100_00, 5_000_00]
        put_live(table_id=table.table_id, limits=limits, reason="Dearer.")
        advance_to(table, Phase.BETTING)
        self.refused(UnderMinimum, lambda: press(player, table, Change.REPEAT), player, table)

    @pytest.mark.sweep
    def test_rebet_that_fits_no_step_any_more_is_refused(self):
        table = a_pairs_table()
        player = a_player_of(table)
        chip(player, table, "player", 25_00)
        limits = with_limits("pairs", "RON", step=10_00, chips=[10_00, 50_00])
        limits["RON"]["bets"] = {bet: [10_00, 1_000_00] for bet in limits["RON"]["bets"]}
        put_live(table_id=table.table_id, limits=limits, reason="Round sums.")
        advance_to(table, Phase.BETTING)
        self.refused(StakeOffStep, lambda: press(player, table, Change.REPEAT), player, table)

    def test_a_side_bet_without_a_main_bet_is_refused(self, table, player):
        refused = self.refused(MissingMainBet, lambda: chip(player, table, "super_6", 20_00), player, table)
        assert message(refused, table) == "This bet requires a main bet."

    def test_player_and_banker_exclude_each_other_where_the_rules_say_so(self):
        table = a_pairs_table()
        player = a_player_of(table)
        chip(player, table, "player", 25_00)
        refused = self.refused(ExcludedBets, lambda: chip(player, table, "banker", 25_00), player, table)
        assert "cannot be combined" in message(refused, table)

    def test_a_bet_that_the_game_does_not_know_is_refused(self, table, player):
        self.refused(UnknownBet, lambda: chip(player, table, "dragon", 20_00), player, table)

    @pytest.mark.parametrize("value", sample([0, -20_00, 7_00, 20_01], 1))
    def test_a_chip_that_is_not_in_the_tray_is_refused(self, table, player, value):
        self.refused(UnknownChip, lambda: chip(player, table, "player", value), player, table)

    @pytest.mark.sweep
    def test_a_button_that_the_table_does_not_have_is_refused(self, table, player):
        chip(player, table, "player", 20_00)
        self.refused(NotOffered, lambda: press(player, table, Change.CLEAR), player, table)
        self.refused(NotOffered, lambda: press(player, table, Change.LOWER), player, table)

    @pytest.mark.sweep
    def test_rebet_before_any_round_is_refused(self, table, player):
        self.refused(NothingToRepeat, lambda: press(player, table, Change.REPEAT), player, table)

    def test_a_page_drawn_under_other_limits_is_refused(self, table, player):
        click = lambda: chip(player, table, "player", 20_00, table_version=2)  # noqa: E731
        self.refused(TableChanged, click, player, table)

    def test_a_currency_that_the_version_does_not_take_is_refused(self):
        limits = pairs_limits()
        del limits["RON"]
        table = a_pairs_table(limits)
        player = a_player_of(table)
        self.refused(UnknownCurrency, lambda: chip(player, table, "player", 25_00), player, table)

    def test_nobody_bets_without_a_seat_or_at_no_table(self, table):
        player = a_player("RO", real=MONEY)
        with pytest.raises(StalePage):
            chip(player, table, "player", 20_00)
        with pytest.raises(StalePage):
            add_chip(player=player, live_table_id=0, round_id=round_at(table).pk, bet="player", chip=20_00)
        assert held(player) == 0

    def test_more_than_the_house_risks_in_a_round_is_refused_for_any_player(self):
        table, (one, other) = a_table_that_puts_up(50_000_00, seated_players=2)
        for player in (one, other):
            chip(player, table, "player", 25_000_00)
        refused = self.refused(OverLiability, lambda: chip(other, table, "player", 25_00), other, table)
        assert "exceeds what the table can still accept" in message(refused, table)
        chip(a_player_of(table), table, "banker", 25_00)  # bets on Player and Banker never win together

    def test_stakes_that_may_be_taken_back_pay_for_nothing(self):
        """Otherwise a player could bet against another to make room, and then take the bet back."""
        table, (one, other, third) = a_table_that_puts_up(50_000_00, seated_players=3)
        chip(one, table, "banker", 25_000_00)
        for player in (other, third):
            chip(player, table, "player", 25_000_00)
        self.refused(OverLiability, lambda: chip(third, table, "player", 25_00), third, table)
        press(one, table, Change.UNDO)
        assert largest_loss(VARIANTS["pairs"], total_of(round_at(table).pk, "RON")) == 50_000_00

    @pytest.mark.sweep
    def test_what_is_taken_back_makes_room_for_others(self):
        table, (one, other) = a_table_that_puts_up(30_000_00, seated_players=2)
        chip(one, table, "player", 2_500_00)
        chip(one, table, "player_pair", 2_500_00)
        chip(other, table, "banker", 25_00)
        self.refused(OverLiability, lambda: chip(other, table, "player_pair", 25_00), other, table)
        press(one, table, Change.UNDO)
        chip(other, table, "player_pair", 25_00)

    def test_at_a_stopped_table_bets_are_taken_back_and_none_is_placed(self, table, player):
        chip(player, table, "player", 20_00)
        stop(table)
        refused = self.refused(TableStopped, lambda: chip(player, table, "player", 20_00), player, table)
        assert "malfunction" in message(refused, table)
        press(player, table, Change.UNDO)
        assert held(player) == 0

    def test_every_refusal_is_recorded_with_the_round_it_was_for(self, table, player):
        round_id = stranger()
        with pytest.raises(BetTooLate):
            chip(player, table, "player", 20_00, round_id=round_id)
        (refused,) = events("bet.refused", by=str(player))
        assert refused["data"] == {"reason": "BetTooLate", "round": str(round_id)}


def a_table_that_puts_up(liability: int, *, seated_players: int) -> tuple[LiveTable, list[Player]]:
    """Return a `pairs` table with that liability in lei and large chips, and players with money."""
    limits = with_limits("pairs", "RON", liability=liability, chips=[25_00, 2_500_00, 25_000_00])
    limits["RON"]["bets"] |= {"player": [25_00, 30_000_00], "banker": [25_00, 30_000_00]}
    table = a_pairs_table(limits)
    return table, [a_player_of(table, real=100_000_00) for _ in range(seated_players)]


def stop(table: LiveTable) -> Incident:
    """Stop the table as the program does when it finds an error."""
    return malfunction.stop(
        live_round=round_at(table), kind=IncidentKind.PHASE_RAISED, cause="for a test", found=(), by="system"
    )
