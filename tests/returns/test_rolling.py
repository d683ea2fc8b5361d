"""Results of bets are counted once for each round, for any stakes and players, from the actual payouts."""

from collections import Counter

import pytest
from django.db import connection

from audit.hours import HOUR
from audit.reports.kinds import Interval
from games.engine.cards import Card
from games.engine.coup import deal
from games.engine.evidence import OTHER, name_of
from games.fairness.returns.monitor import differences, roll
from games.models import Evidence, Participation, Phase, Round
from games.variants import VARIANTS
from tests.builders import a_player, a_round, a_table
from tests.live.at_table import a_live_table, advance_to, bet
from tests.voiding import cancel, void_unreproduced
from wallet.models import Mode

pytestmark = pytest.mark.django_db


def hour():
    """Return the hour of the first round."""
    return Participation.objects.earliest("at").at.replace(minute=0, second=0, microsecond=0)


def kept() -> Counter[tuple[str, str, str]]:
    """Return the stored counts by kind of money, bet and result."""
    return Counter({(each.mode, each.bet, each.gain): each.rounds for each in Evidence.objects.all()})


def ended(played: Round, *bets: str) -> Counter[tuple[str, str, str]]:
    """Return the results of bets on the cards of a round."""
    variant = VARIANTS[played.table_version.table.variant]
    coup = deal([Card.parse(card) for card in played.cards.split()])
    return Counter((played.mode, code, name_of(variant.bet(code).pays(coup))) for code in bets)


def test_a_bet_that_was_not_placed_is_not_counted_and_each_kind_of_money_is_by_itself():
    player, table = a_player(real=100_000, free=100_000), a_table()
    expected: Counter[tuple[str, str, str]] = Counter()
    for mode, bets in ((Mode.REAL, ["player"]), (Mode.REAL, ["banker", "tie"]), (Mode.FREE, ["banker"])):
        played = a_round(player, table, mode, **dict.fromkeys(bets, 1000))
        expected += ended(Round.objects.get(pk=played.round_id), *bets)
    assert roll(hour()) == 4
    assert kept() == expected


def test_a_shared_round_counts_once_for_a_bet_however_many_placed_it():
    live_table = a_live_table("pairs")
    for chips in ({"banker": 5000, "tie": 1000}, {"banker": 10_000}, {"banker": 5000}):
        bet(a_player(real=100_000), live_table, **chips)
    live_round = advance_to(live_table, Phase.SETTLED)
    assert roll(hour()) == 4
    assert kept() == ended(Round.objects.get(pk=live_round.pk), "banker", "tie")


def test_a_wrong_payout_counts_for_any_receiver():
    live_table = a_live_table("pairs")
    for _ in range(2):
        bet(a_player(real=100_000), live_table, banker=5000)
    advance_to(live_table, Phase.SETTLED)
    part = Participation.objects.latest("pk")
    wagers = "INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result) VALUES"
    with connection.cursor() as cursor:
        for wager in ("'player', 1000, 1999, 0, 'win'", "'dragon', 1000, 0, 0, 'lose'"):
            cursor.execute("SELECT tests.as_owner(%s)", [f"{wagers} ({part.pk}, {wager})"])
    roll(hour())
    assert kept()["R", "player", OTHER] == 1
    assert kept()["R", "dragon", OTHER] == 1


def test_a_round_voided_before_it_was_settled_is_no_round():
    live_table = a_live_table("pairs")
    bet(a_player(real=100_000), live_table, banker=5000)
    live_round = advance_to(live_table, Phase.CLOSED)
    cancel(round_id=live_round.pk, by="staff:1")
    assert roll(hour()) == 0
    assert not kept()


def test_a_round_voided_afterwards_counts_as_it_ended():
    player, table = a_player(real=100_000), a_table()
    played = a_round(player, table, Mode.REAL, banker=1000)
    void_unreproduced(played.round_id)
    roll(hour())
    assert kept() == ended(Round.objects.get(pk=played.round_id), "banker")


def test_the_neighbouring_hours_do_not_contain_it():
    a_round(a_player(real=100_000), a_table(), Mode.REAL, banker=1000)
    assert roll(hour() - HOUR) == roll(hour() + HOUR) == 0


def test_counting_again_finds_a_wrong_sum():
    a_round(a_player(real=100_000), a_table(), Mode.REAL, banker=1000)
    day = Interval(hour() - 12 * HOUR, hour() + 12 * HOUR)
    assert len(list(differences(day))) == 1  # not summed up yet
    roll(hour())
    assert not list(differences(day))
    right = Evidence.objects.get()
    Evidence.objects.create(hour=right.hour, version=right.version, mode=right.mode, bet="tie", gain="8:1", rounds=3)
    (found,) = differences(day)
    assert "tie, 8:1: 3 kept, 0 counted" in found
