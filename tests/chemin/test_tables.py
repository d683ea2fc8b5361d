"""Chemin de Fer tables in the back office: one currency, two modes, fixed seats, house players."""

from dataclasses import replace

import pytest

from games.engine.chemin import Phase, new_table
from games.engine.chemin.frozen import thaw
from games.models import CheminTable, LiveTable, Shape, Status, Table
from games.shared import phases
from games.solo.seats import takes_bets
from games.tables.checks import NothingChanged, TableError, UnusableClock, UnusableLimits, WrongShape
from games.tables.chemin_rules import CheminClock, CheminRules, StoredCheminLimits
from games.tables.default_tables import CHEMIN_DE_FER, CHEMIN_PACE, PACE, baccarat_limits, chemin_limits, load_tables
from games.tables.versions import follow_rules, make_table
from games.variants import GAMES
from tests.builders import UNHURRIED_CHEMIN, a_chemin_live_table, put_live
from wallet.models import Currency, Mode

CHEMIN = "chemin_de_fer"
SEK = CheminRules("SEK", seat_count=9, minimum=1_000, maximum=100_000)


def a_table_with(limits: StoredCheminLimits) -> Table:
    return make_table(
        slug="t", name="T", variant=CHEMIN, shape=Shape.CHEMIN, limits=limits, clock=UNHURRIED_CHEMIN, by="staff:1"
    )


@pytest.mark.django_db
def test_a_chemin_table_is_one_for_real_money_and_one_for_free_with_nobody_at_either() -> None:
    table = a_chemin_live_table()
    table_state = CheminTable.objects.filter(live_table__table=table).select_related("live_table")
    assert {each.live_table.mode for each in table_state} == set(Mode)
    for each in table_state:
        state = thaw(each.state, rules=SEK.table_rules, cards=(), balances={})
        assert state == new_table(SEK.table_rules)
        assert (state.phase, each.move, each.question, each.deadline) == (Phase.ALONE, 0, 0, None)


@pytest.mark.django_db
def test_a_practice_table_is_for_free_money_alone() -> None:
    table = a_chemin_live_table(seat_count=5, house_players=3)
    assert list(LiveTable.objects.filter(table=table).values_list("mode", flat=True)) == [Mode.FREE]
    assert CheminTable.objects.filter(live_table__table=table).count() == 1


@pytest.mark.django_db
def test_a_version_has_seats_banks_pace_and_the_rules_of_the_engine() -> None:
    version = a_chemin_live_table().version
    assert version is not None
    assert CheminRules.of(version.limits) == SEK
    assert CheminClock.of(version.clock or {}) == UNHURRIED_CHEMIN
    assert (version.rules_version, version.rules_digest) == (GAMES[CHEMIN].version, GAMES[CHEMIN].digest)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "limits",
    [
        chemin_limits("SEK") | chemin_limits("EUR"),
        baccarat_limits(),
        {},
    ],
)
def test_limits_that_no_chemin_table_can_have_are_refused(limits: StoredCheminLimits) -> None:
    with pytest.raises(UnusableLimits):
        a_table_with(limits)


@pytest.mark.django_db
@pytest.mark.parametrize("clock", [None, PACE])
def test_a_chemin_table_has_a_clock_of_its_own_kind(clock: None) -> None:
    with pytest.raises(UnusableClock):
        make_table(
            slug="t", name="T", variant=CHEMIN, shape=Shape.CHEMIN, limits=SEK.stored(), clock=clock, by="staff:1"
        )


@pytest.mark.django_db
def test_a_clock_for_players_does_not_exist_for_other_tables() -> None:
    with pytest.raises(UnusableClock):
        make_table(
            slug="t", name="T", variant="baccarat", limits=baccarat_limits(), clock=UNHURRIED_CHEMIN, by="staff:1"
        )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("variant", "shape"), [(CHEMIN, Shape.SOLO), (CHEMIN, Shape.SHARED), ("baccarat", Shape.CHEMIN)]
)
def test_a_game_of_chemin_and_a_chemin_table_belong_together(variant: str, shape: Shape) -> None:
    with pytest.raises(WrongShape):
        make_table(slug="t", name="T", variant=variant, shape=shape, limits=SEK.stored(), by="staff:1")


@pytest.mark.django_db
def test_other_banks_and_another_pace_are_a_new_version() -> None:
    table = a_chemin_live_table()
    slower = replace(UNHURRIED_CHEMIN, missed=3)
    version = put_live(table_id=table.pk, limits=replace(SEK, maximum=50_000).stored(), clock=slower, reason="Smaller.")
    assert (version.number, version.clock) == (2, slower.stored())
    assert CheminRules.of(version.limits).maximum == 50_000


@pytest.mark.django_db
def test_other_banks_leave_the_pace_as_it_is_and_the_same_again_is_no_change() -> None:
    table = a_chemin_live_table()
    smaller = replace(SEK, maximum=50_000).stored()
    version = put_live(table_id=table.pk, limits=smaller, reason="Smaller.")
    assert version.clock == UNHURRIED_CHEMIN.stored()
    with pytest.raises(NothingChanged):
        put_live(table_id=table.pk, limits=smaller, reason="Again.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "limits",
    [
        replace(SEK, seat_count=8).stored(),
        replace(SEK, house_players=1).stored(),
        replace(SEK, currency="EUR").stored(),
        replace(SEK, currency="EUR").stored() | SEK.stored(),
    ],
)
def test_seats_house_players_and_currency_stay_while_players_may_sit_there(limits: StoredCheminLimits) -> None:
    table = a_chemin_live_table()
    with pytest.raises(UnusableLimits):
        put_live(table_id=table.pk, limits=limits, reason="Why not.")


@pytest.mark.django_db
def test_where_the_api_client_has_other_rules_nothing_begins_until_the_table_follows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = a_chemin_live_table()
    monkeypatch.setitem(vars(GAMES[CHEMIN]), "digest", "of other rules")
    assert not takes_bets(table, Mode.REAL)
    follow_rules(by="system")
    followed = Table.objects.select_related("version").get(pk=table.pk)
    assert takes_bets(followed, Mode.REAL)
    assert followed.version is not None
    assert (followed.version.number, followed.version.limits) == (2, SEK.stored())


@pytest.mark.django_db
def test_every_refusal_of_a_table_is_a_sentence_for_staff() -> None:
    with pytest.raises(TableError, match=r"\.$"):
        a_table_with(chemin_limits("SEK") | chemin_limits("EUR"))


@pytest.mark.django_db
def test_the_house_opens_with_a_table_and_a_practice_table_for_each_currency() -> None:
    load_tables()
    load_tables()
    assert set(CHEMIN_DE_FER) == set(Currency.values)
    tables = Table.objects.filter(variant=CHEMIN, shape=Shape.CHEMIN, status=Status.OPEN).select_related("version")
    assert len({table.name for table in tables}) == 2 * len(Currency)
    rules = [CheminRules.of(table.version.limits) for table in tables if table.version]
    assert sorted((each.currency, each.seat_count, each.house_players) for each in rules) == sorted(
        each for currency in Currency.values for each in ((currency, 9, 0), (currency, 5, 3))
    )
    assert all(table.version and table.version.clock == CHEMIN_PACE.stored() for table in tables)
    practice = [table.pk for table, each in zip(tables, rules, strict=True) if each.is_practice]
    assert not LiveTable.objects.filter(table__in=practice, mode=Mode.REAL).exists()


@pytest.mark.django_db
def test_nothing_that_moves_rounds_of_punto_banco_touches_a_chemin_table() -> None:
    a_chemin_live_table()
    assert phases.due() == []
    for live_table_id in LiveTable.objects.values_list("pk", flat=True):
        assert not phases.advance(live_table_id)
    assert not LiveTable.objects.exclude(round=None, shoe=None).exists()
