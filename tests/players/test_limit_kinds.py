"""A kind of limit that is not money is declared in one place for Python and one for SQL."""

import pytest
from django.db import connection
from django.urls import reverse

from games.errors import NotEligible
from players.models import LimitKind, LimitSource, Period
from players.protection import limits
from players.protection.limits import LIMIT_KINDS, KindOfLimit, Unit, set_limit
from tests.builders import a_player, a_table
from tests.games.test_play_sessions import a_log_in, logged_in, play
from tests.people import a_member_of_staff, a_visitor
from wallet.limits import UnitField, used, what, written

ROUNDS = Unit(
    "rounds",
    1,
    {Period.DAY: 100, Period.WEEK: 500, Period.MONTH: 2000},
    lambda count: f"{count} rounds",
    "In rounds.",
    "Enter rounds, from 1 to %(most)s.",
)
DECLARED = KindOfLimit("Round limit", "How many rounds you play.", "played", unit=ROUNDS, used_up="No rounds are left.")
IN_SQL = (
    ("SELECT '{time}'::text[]", "SELECT '{time,rounds}'::text[]"),
    (
        "    CASE kind\n",
        (
            "    CASE kind\n        WHEN 'rounds' THEN RETURN (SELECT coalesce(sum(s.rounds), 0)"
            " FROM public.players_playsession AS s WHERE s.player_id = player AND s.began >= since);\n"
        ),
    ),
)


@pytest.fixture
def rounds(cloned_db, owner, monkeypatch):
    """Add the kind *rounds* as CONTRIBUTING describes: to the enum, to LIMIT_KINDS and to two functions."""
    kind = str.__new__(LimitKind, "rounds")
    kind._name_, kind._value_, kind._label_ = "ROUNDS", "rounds", "Rounds"
    monkeypatch.setitem(LimitKind._value2member_map_, "rounds", kind)
    monkeypatch.setattr(LimitKind, "_member_names_", [*LimitKind._member_names_, "ROUNDS"])
    monkeypatch.setitem(LimitKind._member_map_, "ROUNDS", kind)
    monkeypatch.setitem(LIMIT_KINDS, kind, DECLARED)
    owner.execute("ALTER TABLE players_limitchange DROP CONSTRAINT players_limit_kind")
    for name in ("players_limits_on_play", "players_used"):
        (text,) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [name]).fetchone()
        for old, new in IN_SQL:
            text = text.replace(old, new)
        owner.execute(text)
    return kind


def test_an_added_kind_is_counted_shown_and_refused_by_its_declaration_alone(rounds):
    player, table = a_player("SE", real=100_000), a_table()
    browser, staff, session = logged_in(player), a_visitor(), a_log_in(player)
    staff.force_login(a_member_of_staff("compliance").user)
    set_limit(player=player, kind=rounds, period=Period.WEEK, amount=2, by=str(player))
    set_limit(
        player=player,
        kind=rounds,
        period=Period.DAY,
        amount=50,
        by="staff:1",
        source=LimitSource.HOUSE,
        reason="for a test",
    )
    for _ in range(2):
        play(player, table, session)
    assert used(player)[rounds, Period.WEEK] == 2
    assert (what(rounds, Period.WEEK), written(player, rounds, 2)) == ("Round limit · Week", "2 rounds")
    with pytest.raises(NotEligible) as refusal:
        play(player, table, session)
    assert refusal.value.ineligibility.message == "No rounds are left."
    for page in (browser.get(reverse("limits")), staff.get(reverse("staff_player_limits", args=[player.pk]))):
        text = page.content.decode()
        assert all(words in text for words in ("Round limit", "2 rounds", "50 rounds", "In rounds."))


def test_what_is_entered_is_stored_in_parts_of_the_unit():
    field = UnitField(unit=limits.HOURS, most=24)
    assert (field.clean("3"), field.prepare_value(10800)) == (10800, 3)


def test_sql_and_python_agree_on_the_kinds_that_are_not_money(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_limits_on_play()")
        (kinds,) = cursor.fetchone()
    assert set(kinds) == {kind.value for kind, each in LIMIT_KINDS.items() if each.unit}
