"""Shared tables in the back office: pace, liability, and the separation of real and free money."""

import json
from copy import deepcopy

import pytest

from audit.models import Event
from games.betting.limits import BetLimits, Limits, StoredLimits
from games.engine.settle import largest_loss
from games.models import LiveTable, Shape, SoloSeat, Table
from games.solo import solo_seat_at
from games.tables.checks import NothingChanged, UnusableClock, UnusableLimits, check_returns, check_usable
from games.tables.clock import Clock, ClockError
from games.tables.default_tables import PACE, baccarat_limits, load_tables, no_commission_limits, pairs_limits
from games.tables.versions import make_table
from games.variants import VARIANTS
from tests.builders import UNHURRIED, a_player, a_shared_table, put_live
from tests.harness.sweeps import sample
from wallet.models import Mode

SHIPPED = {"no_commission": no_commission_limits, "pairs": pairs_limits}
QUICKER = Clock(betting=15_000, call=1_500, card=900, pause=5_000)


def with_liability(amount: int | None) -> StoredLimits:
    limits = deepcopy(pairs_limits())
    if amount is None:
        del limits["EUR"]["liability"]
    else:
        limits["EUR"]["liability"] = amount
    return limits


@pytest.mark.parametrize("variant", SHIPPED)
def test_every_bet_of_the_shipped_tables_can_be_staked_and_returns_enough_at_its_minimum(variant: str) -> None:
    check_usable(variant, SHIPPED[variant](), Shape.SHARED)
    check_returns(variant, SHIPPED[variant]())


@pytest.mark.parametrize("variant", SHIPPED)
@pytest.mark.parametrize("currency", sample(sorted(baccarat_limits()), 2))
def test_some_chip_of_the_tray_places_every_bet_at_its_minimum_and_fits_under_its_maximum(
    variant: str, currency: str
) -> None:
    limits = Limits.of(SHIPPED[variant](), currency)
    for bet, each in limits.bets.items():
        assert any(chip >= each.minimum and chip <= each.maximum for chip in limits.chips), bet


def test_live_baccarat_2_nc_takes_20_to_100_000_lei_on_player_and_banker() -> None:
    limits = Limits.of(no_commission_limits(), "RON")
    assert {(limits.bets[bet].minimum, limits.bets[bet].maximum) for bet in ("player", "banker")} == {
        (20_00, 100_000_00)
    }
    assert limits.main == BetLimits(20_00, 100_000_00)


@pytest.mark.parametrize("variant", SHIPPED)
@pytest.mark.parametrize("currency", sample(sorted(baccarat_limits()), 2))
def test_one_player_alone_may_place_any_bet_of_the_shipped_tables_at_its_maximum(variant: str, currency: str) -> None:
    limits = Limits.of(SHIPPED[variant](), currency)
    assert limits.liability is not None
    for bet, each in limits.bets.items():
        assert largest_loss(VARIANTS[variant], {bet: each.maximum}) <= limits.liability, bet


@pytest.mark.django_db
def test_the_house_opens_with_both_shared_tables() -> None:
    load_tables()
    for slug, name, variant in (
        ("live-baccarat-2-nc", "Live Baccarat 2 NC", "no_commission"),
        ("pairs", "Baccarat with Pairs", "pairs"),
    ):
        table = Table.objects.select_related("version").get(slug=slug)
        assert (table.name, table.variant, table.shape, table.is_open) == (name, variant, Shape.SHARED, True)
        assert table.version is not None
        assert table.version.clock == PACE.stored()


@pytest.mark.django_db
def test_a_shared_table_is_one_for_real_money_and_one_for_free_money() -> None:
    table = a_shared_table()
    assert sorted(LiveTable.objects.filter(table=table).values_list("mode", flat=True)) == sorted(Mode.values)


@pytest.mark.django_db
def test_a_table_says_which_shape_it_has_by_its_clock_and_its_liability() -> None:
    with pytest.raises(UnusableClock):
        make_table(slug="a", name="A", variant="pairs", shape=Shape.SHARED, limits=pairs_limits(), by="staff:1")
    with pytest.raises(UnusableClock):
        make_table(slug="a", name="A", variant="baccarat", limits=baccarat_limits(), clock=PACE, by="staff:1")
    with pytest.raises(UnusableLimits, match="a shared table needs a maximum house loss"):
        check_usable("pairs", pairs_limits())
    with pytest.raises(UnusableLimits, match="a shared table needs a maximum house loss"):
        a_shared_table("pairs", limits=with_liability(None))


def test_a_liability_covers_the_largest_bet_that_one_player_may_place() -> None:
    check_usable("pairs", with_liability(5_500_00), Shape.SHARED)  # 500 euros on a pair win 5,500
    with pytest.raises(UnusableLimits, match="player_pair: €500 can win €5,500"):
        check_usable("pairs", with_liability(5_500_00 - 1), Shape.SHARED)


def test_a_clock_has_these_times_and_no_others() -> None:
    assert Clock.of(QUICKER.stored()) == QUICKER
    with pytest.raises(ClockError):
        Clock.of({**QUICKER.stored(), "rest": 1000})
    with pytest.raises(ClockError):
        Clock.of({**QUICKER.stored(), "card": 99})
    with pytest.raises(ClockError):
        Clock.of({**QUICKER.stored(), "betting": True})


@pytest.mark.django_db
def test_gli19_a_6_1_another_pace_is_another_version_and_both_stand_in_the_log() -> None:
    table = a_shared_table()
    version = put_live(table_id=table.pk, limits=no_commission_limits(), clock=QUICKER, reason="Quicker.")
    assert (version.number, version.clock) == (2, QUICKER.stored())
    body = json.loads(bytes(Event.objects.filter(kind="table.version").latest("id").body))
    assert body["data"]["after"]["clock"] == QUICKER.stored()
    assert body["data"]["before"]["clock"] == UNHURRIED.stored()


@pytest.mark.django_db
def test_other_limits_leave_the_pace_as_it_is() -> None:
    table = a_shared_table("pairs")
    version = put_live(table_id=table.pk, limits=with_liability(9_999_00), reason="Less.")
    assert version.clock == UNHURRIED.stored()
    with pytest.raises(NothingChanged):
        put_live(table_id=table.pk, limits=with_liability(9_999_00), reason="Again.")


@pytest.mark.django_db
def test_nobody_takes_a_solo_seat_at_a_shared_table() -> None:
    table = a_shared_table()
    with pytest.raises(Table.DoesNotExist):
        solo_seat_at(player=a_player(real=100_000), table_id=table.pk, mode=Mode.REAL)
    assert not SoloSeat.objects.exists()
