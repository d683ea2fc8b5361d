"""The timeline of a player with its kinds, dates and pages, and tags from the list of the house."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from audit.raw_rows import sqlstate
from players import cases, staff
from players.login import locks
from players.models import CaseKind, Player, PlayerTag, PlaySession, Tag
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, events

pytestmark = pytest.mark.django_db


def of(role: str) -> Client:
    desk = Client()
    desk.force_login(a_member_of_staff(role).user)
    return desk


def timeline(desk: Client, player: Player, **asked: str) -> str:
    return desk.get(reverse("staff_player_timeline", args=[player.pk]), asked).text


def a_visit(player: Player, began: datetime, rounds: int) -> None:
    as_owner(
        "INSERT INTO players_playsession (session, player_id, began, rounds, staked_real, paid_real)"
        " VALUES (%s, %s, %s, %s, 12300, 4500)",
        [uuid4(), player.pk, began, rounds],
    )


def test_rounds_are_summed_per_session_and_visits_without_rounds_are_left_out():
    player, now = a_player(), datetime.now(UTC)
    a_visit(player, now, 41)
    a_visit(player, now, 0)
    page = timeline(of("support"), player, kind="play")
    assert "41 rounds, staked" in page
    assert page.count("rounds, staked") == 1


def test_each_reader_sees_the_kinds_of_their_role():
    player, compliance = a_player(), a_member_of_staff("compliance")
    cases.ask_source_of_funds(player=player, due_at=datetime(2100, 1, 1, tzinfo=UTC), reason="Big house", by=compliance)
    cases.open_case(player.pk, CaseKind.MARKER, subject="nights", words="Late nights")
    staff.add(player=player, text="Open note", restricted=False, by=compliance)
    staff.add(player=player, text="Secret note", restricted=True, by=compliance)
    locks.lock(player=player, reason="a test", by=compliance)
    seen = {role: timeline(of(role), player) for role in ("compliance", "support", "finance")}
    for said, readers in {
        "Big house": {"compliance"},
        "Late nights": {"compliance", "support"},
        "Open note": {"compliance", "support", "finance"},
        "Secret note": {"compliance"},
        "Account locked": {"compliance", "support"},
    }.items():
        assert {role for role, page in seen.items() if said in page} == readers


def test_pages_by_key_show_every_line_once_in_both_directions():
    player, now = a_player(), datetime.now(UTC)
    for number in range(120):
        a_visit(player, now - timedelta(minutes=number // 2), 1 + number)  # two at each moment
    desk, shown = of("support"), []
    address = reverse("staff_player_timeline", args=[player.pk])
    page = desk.get(address, {"kind": "play"})
    while True:
        shown += [each.ref for each in page.context["page"].rows]
        if not page.context["page"].older:
            break
        page = desk.get(address, {"kind": "play", "before": page.context["page"].older})
    assert len(shown) == len(set(shown)) == PlaySession.objects.filter(player=player).count() == 120
    back = desk.get(address, {"kind": "play", "after": page.context["page"].newer})
    assert [each.ref for each in back.context["page"].rows] == shown[50:100]


def test_dates_narrow_it_to_whole_days():
    player = a_player()
    for day in (1, 2, 3):
        a_visit(player, datetime(2026, 5, day, 23, 59, tzinfo=UTC), day)
    page = timeline(of("support"), player, kind="play", since="2026-05-02", until="2026-05-02")
    assert "2 rounds" in page
    assert "3 rounds" not in page
    assert "1 round," not in page


def test_tags_come_from_the_list_of_compliance_and_each_change_is_in_the_log():
    player, desk = a_player(), of("support")
    of("compliance").post(reverse("staff_tags"), {"name": " VIP "})
    (tag,) = Tag.objects.all()
    address = reverse("staff_player_tag", args=[player.pk])
    desk.post(address, {"tag": tag.pk, "is_on": "1"})
    assert "VIP" in desk.get(reverse("staff_player", args=[player.pk])).text
    desk.post(address, {"tag": tag.pk})
    of("compliance").post(reverse("staff_tags"), {"retire": tag.pk})
    desk.post(address, {"tag": tag.pk, "is_on": "1"})
    assert PlayerTag.objects.get().removed_at
    of("compliance").post(reverse("staff_tags"), {"name": "VIP"})  # the name is free again
    assert Tag.objects.filter(name="VIP", retired_at=None).count() == 1
    of("compliance").post(reverse("staff_tags"), {"name": "VIP"})
    assert Tag.objects.count() == 2
    on_list = [events(kind, on=str(tag)) for kind in ("tag.made", "tag.retired")]
    on_player = [events(kind, on=str(player)) for kind in ("player.tagged", "player.untagged")]
    assert [len(each) for each in on_list + on_player] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("role", "statement", "refusal"),
    [
        ("support", "SELECT players_make_tag({staff}, 'VIP')", "SB156"),
        ("compliance", "SELECT players_make_tag({staff}, 'V')", "SB157"),
        ("support", "SELECT players_retire_tag({staff}, {tag})", "SB156"),
        ("administrator", "SELECT players_tag_player({staff}, {player}, {tag}, true)", "SB156"),
        ("support", "SELECT players_tag_player({staff}, {player}, {tag}, false)", "SB157"),
        (
            "support",
            "INSERT INTO players_player_tag (player_id, tag_id, by_id) VALUES ({player}, {tag}, {staff})",
            "42501",
        ),
    ],
)
def test_the_web_login_cannot_tag_past_the_rules(role, statement, refusal):
    compliance = a_member_of_staff("compliance")
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_make_tag(%s, 'Watch')", [compliance.pk])
        (tag,) = cursor.fetchone()
    said = statement.format(staff=a_member_of_staff(role).pk, player=a_player().pk, tag=tag)
    with pytest.raises(DatabaseError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(said)
    assert sqlstate(refused.value) == refusal
