"""The back office page of one player: content for each role, and links."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import ProgrammingError, transaction
from django.test import Client
from django.urls import reverse

from accounts import data_export
from audit.models import Category, Significant, Weight
from audit.reports.requests import clock
from audit.significant import detection
from backoffice.players import profile
from backoffice.players.facts import lifetime, named_accounts
from players import staff
from players.login import locks
from players.models import LimitKind, Note, Period, Player, Session, Topic
from players.protection import exclusions, limits
from players.support import conversations
from tests.builders import a_player, a_round, a_submission, a_table, a_verified_player
from tests.chemin.at_table import a_bank, a_chemin_table, a_staked_coup, seated_players
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, bet, round_at
from tests.people import a_member_of_staff, a_visitor, events
from tests.recorded import a_recorded_player
from tests.wallet.at_the_bank import a_payment
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Account, Entry, Mode

pytestmark = pytest.mark.django_db

EVERYBODY = {"notes", "timeline", "account", "money", "play"}
SUPPORT = EVERYBODY | {"identity", "protection", "cases", "service", "chat", "sessions"}
SECTIONS = {"finance": EVERYBODY, "support": SUPPORT, "compliance": SUPPORT | {"watches", "events", "access_log"}}
SUSPICION = "Deposits withdrawn with little play"


def of(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def page(player: Player, role: str = "compliance", more: str = "", **asked: Any) -> str:
    answer = of(role).get(f"/staff/players/{player.pk}/{more}", asked)
    assert answer.status_code == 200
    return html.unescape(answer.text)


def every_page(desk: Client, address: str, **asked: Any) -> Iterator[Any]:
    """Yield the answers from the newest page to the oldest."""
    before: Any = ""
    while before is not None:
        answer = desk.get(address, asked | {"before": before})
        yield answer
        before = answer.context["page"].older or None


def a_suspicion(player: Player) -> Significant:
    found = detection.Found(
        key=f"unplayed:{player}",
        category=Category.LAUNDERING,
        weight=Weight.ALERT,
        on=str(player),
        title=SUSPICION,
        happened_at=clock(),
    )
    detection.keep(found)
    return Significant.objects.get(key=found.key)


@pytest.mark.parametrize("role", SECTIONS)
def test_each_role_sees_its_sections_and_no_other(role):
    player = a_verified_player(real=1000)
    shown = re.findall(r'<div id="([a-z_]+)" tabindex="-1">', page(player, role))
    assert set(shown) == SECTIONS[role]
    assert len(shown) == len(SECTIONS[role])


def sections_open(player: Player) -> set[str]:
    return set(re.findall(r'<details class="[^"]*" open>\s*<summary>.*?</summary>\s*<div id="([a-z_]+)"', page(player)))


def test_only_sections_with_work_are_open():
    player = a_verified_player(real=1000)
    assert sections_open(player) == {"timeline"}
    a_suspicion(player)  # a case that waits, and its event
    conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
    staff.add(player=player, text="Calls in the evening.", restricted=False, by=a_member_of_staff("support"))
    exclusions.exclude(player=player, days=None, reason="asked by phone", by=a_member_of_staff("support"))
    assert sections_open(player) == {"timeline", "notes", "cases", "service", "protection"}


@pytest.mark.sweep
@pytest.mark.parametrize("role", ["operator", "supervisor"])
def test_roles_without_players_see_nothing(role):
    player = a_player()
    for more in ("", "money/", "payments/", "sessions/", "notes/"):
        assert of(role).get(f"/staff/players/{player.pk}/{more}").status_code == 403


@pytest.mark.sweep
def test_finance_sees_no_document_session_or_exclusion():
    player = a_player(real=1000)
    sent = a_submission(player, document_number="AB1234567", street="Sankt Eriksgatan 112")
    Session.objects.create(id=uuid4(), user=player.user, ip="192.0.2.7", browser="Firefox")
    exclusions.exclude(player=player, days=None, reason="asked by phone", by=a_member_of_staff("support"))
    read = page(player, "finance")
    assert f"{sent.given_names} Bergström" in read
    for hidden in ("AB1234567", "Sankt Eriksgatan", "192.0.2.7", "asked by phone", "1990-01-01"):
        assert hidden not in read
    assert "AB1234567" in page(player, "support")
    assert of("finance").get(f"/staff/players/{player.pk}/sessions/").status_code == 403


def test_what_is_suspected_is_for_compliance_alone():
    player = a_player(real=1000)
    suspicion, clerk = a_suspicion(player), a_member_of_staff("compliance")
    staff.add(player=player, text="Where does the money come from?", restricted=True, by=clerk)
    staff.add(player=player, text="Likes to be called in the evening.", restricted=False, by=clerk)
    assert reverse("staff_significant_event", args=[suspicion.pk]) in page(player)
    for more in ("", "notes/"):
        assert "Where does the money come from?" in page(player, "compliance", more)
        for role in ("support", "finance"):
            read = page(player, role, more)
            assert "in the evening" in read
            assert "Where does the money" not in read
            assert SUSPICION not in read
            assert "launder" not in read.lower()
    of("compliance").get(reverse("staff_significant_event", args=[suspicion.pk]))
    accesses = [row["body"] for row in data_export.events(player) if row["kind"] == "data.accessed"]
    assert len(accesses) == len(events("data.accessed", on=str(player))) - 1
    assert not [look for look in accesses if "significant" in look or "watches" in look]


def test_the_player_reads_what_was_noted_and_nothing_of_a_suspicion():
    player, clerk = a_player(), a_member_of_staff("compliance")
    a_suspicion(player)
    for restricted in (False, True):
        staff.add(player=player, text=f"restricted: {restricted}", restricted=restricted, by=clerk)
    (part,) = (part for part in data_export.PARTS if part.model is Note)
    assert [row["text"] for row in part.rows(player)] == ["restricted: False"]
    stated = [row["body"] for row in data_export.events(player)]
    assert not [body for body in stated if 'restricted":true' in body or "unplayed" in body or SUSPICION in body]
    assert [event["on"] for event in events("note.added")] == [str(player), f"note:{Note.objects.latest('pk').pk}"]


class TestNotes:
    def test_are_added_by_a_form_and_stand_newest_first(self):
        player, desk = a_player(), of("support")
        for text in ("The first.", "  The second,\nin two lines.  "):
            answer = desk.post(f"/staff/players/{player.pk}/notes/", {"text": text}, follow=True)
        assert answer.text.index("The second,\nin two lines.<") < answer.text.index("The first.")
        newest = Note.objects.latest("pk")
        assert (newest.by.name, newest.restricted) == ("Someone", False)
        assert abs(newest.at - clock()) < timedelta(minutes=1)
        assert "The second," in page(player, "finance")

    @pytest.mark.sweep
    @pytest.mark.parametrize("text", ["", " \n ", "x" * 2001, "a\0b"])
    def test_say_something_and_not_too_much(self, text):
        player = a_player()
        answer = of("support").post(f"/staff/players/{player.pk}/notes/", {"text": text})
        assert answer.status_code == 200
        assert 'role="alert"' in answer.text
        assert not Note.objects.exists()

    def test_are_for_compliance_alone_only_where_compliance_says_so(self):
        player = a_player()
        for role, restricted in (("support", False), ("compliance", True)):
            of(role).post(f"/staff/players/{player.pk}/notes/", {"text": role, "restricted": "on"})
            assert Note.objects.get(text=role).restricted is restricted

    @pytest.mark.sweep
    def test_are_read_on_page_by_page(self, monkeypatch):
        monkeypatch.setattr(profile.PlayerNotes, "size", 2)
        player, clerk, desk = a_player(), a_member_of_staff("support"), of("support")
        for number in range(5):
            staff.add(player=player, text=f"note no. {number}", restricted=False, by=clerk)
        pages = every_page(desk, f"/staff/players/{player.pk}/notes/")
        seen = [note.text for each in pages for note in each.context["page"].rows]
        assert seen == [f"note no. {number}" for number in (4, 3, 2, 1, 0)]

    def test_are_never_changed_or_taken_away(self):
        note = staff.add(player=a_player(), text="As it was.", restricted=False, by=a_member_of_staff("support"))
        for action in (
            lambda: Note.objects.filter(pk=note.pk).update(text="Otherwise"),
            lambda: Note.objects.filter(pk=note.pk).update(text=""),
            note.delete,
        ):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                action()


class TestPlay:
    @pytest.mark.sweep
    def test_a_round_seat_and_bank_are_open_and_a_solo_seat_is_not(self):
        player = a_player(real=100_000)
        a_round(player, a_table(), player=1000)
        assert "No open round, seat or bank." in page(player)
        live_table = a_live_table()
        bet(player, live_table, player=5_000)
        read = page(player)
        assert round_at(live_table).code in read
        assert "SEK\u00a050.00" in read.split("Open now")[1].split("Latest rounds")[0]
        table = a_chemin_table()
        banker = seated_players(table)[0]
        a_bank(table)
        stated = page(banker).split("Open now")[1].split("Latest rounds")[0]
        assert "Seat 1 at " in stated
        assert "Holds the bank at " in stated

    @pytest.mark.sweep
    def test_the_last_rounds_are_there_and_lead_to_all(self):
        player = a_player(real=100_000, free=100_000)
        table = a_table()
        played = [a_round(player, table, mode, player=1000).round_id for mode in Mode]
        read = page(player, "finance")
        for round_id in played:
            assert f'href="/staff/rounds/{round_id}/"' in read
        assert f'href="/staff/rounds/?player={player.pk}"' in read


class TestMoney:
    @pytest.mark.sweep
    def test_every_movement_is_there_with_what_it_left(self, monkeypatch):
        monkeypatch.setattr(profile.PlayerEntries, "size", 3)
        player, table = a_player(real=100_000), a_table()
        for _ in range(3):
            a_round(player, table, player=1000)
        account = Account.objects.get(owner=player, kind="cash", mode=Mode.REAL)
        pages = every_page(of("finance"), f"/staff/players/{player.pk}/money/", account=account.pk)
        changed = [movement for each in pages for movement in each.context["page"].rows]
        seen = [(movement.journal_id, movement.balance_after) for movement in changed]
        kept = Entry.objects.filter(account=account).order_by("-version")
        assert seen == list(kept.values_list("journal_id", "balance_after"))

    def test_another_player_s_account_is_not_shown(self):
        player, other = a_player(real=1000), a_player(real=7777)
        account = Account.objects.get(owner=other, kind="cash", mode=Mode.REAL)
        read = page(player, "finance", "money/", account=account.pk)
        assert "77.77" not in read
        assert "Select a valid choice" in read

    @pytest.mark.sweep
    def test_deposits_and_withdrawals_are_read_on_page_by_page(self, monkeypatch):
        monkeypatch.setattr(profile.PlayerDeposits, "size", 2)
        monkeypatch.setattr(profile.PlayerWithdrawals, "size", 2)
        player, desk = a_verified_player(real=500_000), of("finance")
        made: dict[str, list[Any]] = {
            "": [a_payment(player, 10_000 + number).pk for number in range(5)],
            "withdrawals": [a_withdrawal(player, 10_000 + number).pk for number in range(5)],
        }
        for which, ids in made.items():
            pages = every_page(desk, f"/staff/players/{player.pk}/payments/", which=which)
            assert [row.pk for each in pages for row in each.context["page"].rows] == ids[::-1]


@pytest.mark.sweep
def test_sessions_are_read_on_page_by_page_and_lead_to_others_from_there(monkeypatch):
    monkeypatch.setattr(profile.PlayerSessions, "size", 2)
    player, desk = a_player(), of("support")
    made = [Session.objects.create(id=uuid4(), user=player.user, ip="192.0.2.7", browser="x/y").pk for _ in range(5)]
    pages = list(every_page(desk, f"/staff/players/{player.pk}/sessions/"))
    assert sorted(row.pk for each in pages for row in each.context["page"].rows) == sorted(made)
    assert "?who=192.0.2.7&by=ip" in html.unescape(pages[-1].text)


@pytest.mark.sweep
def test_an_account_that_staff_locked_says_so_with_the_reason_to_staff_who_may_lock():
    player, clerk = a_player(), a_member_of_staff("support")
    assert "Staff locks" not in page(player, "support")
    locks.lock(player=player, reason="Somebody else logs in.", by=clerk)
    for role, is_announced in (("support", True), ("finance", False)):
        read = page(player, role)
        assert '<span class="badge badge--off">locked</span>' in read
        assert ("Somebody else logs in." in read) is is_announced
    locks.unlock(player=player, reason="Has a new password.", by=clerk)
    assert '<span class="badge badge--off">locked</span>' not in page(player, "support")


@pytest.mark.sweep
def test_a_log_in_locked_after_wrong_passwords_says_since_when():
    player = a_player()
    assert "the player unlocks it with a code sent by e-mail" not in page(player, "support")
    for number in range(1, locks.TRIES + 1):
        locks.begin_try(player.user.email)
        locks.end_try(player.user.email, number, ip="192.0.2.7")
    assert "the player unlocks it with a code sent by e-mail" in page(player, "support")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "more", sample(["money/", "payments/", "payments/?which=withdrawals", "sessions/", "notes/"], 2)
)
def test_an_invalid_cursor_shows_the_newest(more):
    player, desk = a_player(), of("compliance")
    join = "&" if "?" in more else "?"
    for before in ("x", "-1", "9" * 40, "٣", str(uuid4()), "%00"):
        assert desk.get(f"/staff/players/{player.pk}/{more}{join}before={before}").status_code == 200, before


@pytest.mark.parametrize("more", ["", "money/", "payments/", "sessions/", "notes/"])
def test_every_page_about_a_player_is_in_the_access_log(more):
    player = a_player()
    page(player, "support", more)
    assert len(events("data.accessed", on=str(player))) == 1


def test_access_to_other_players_the_page_names_is_recorded_too():
    player, other = a_player(), a_player()
    for each in (player, other):
        a_submission(each, document_number="SAME1234")
    assert str(other) in page(player, "support")
    assert events("data.accessed")[-1]["data"]["players"] == [str(other)]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("role", "actions"),
    [
        ("finance", []),
        ("support", ["lock/", "pause/", "exclusions", "limits/", "adjust/"]),
    ],
)
def test_the_role_s_actions_are_on_top(role, actions):
    player = a_player()
    top = page(player, role).split('aria-label="Parts of this page"')[0]
    assert [action for action in ("lock/", "pause/", "exclusions", "limits/", "adjust/") if action in top] == actions


def test_money_in_all_and_each_account_has_a_name_of_its_own():
    table = a_chemin_table()
    seated_players(table)
    banker, _ = a_staked_coup(table)
    names = [name for _, name in named_accounts(Account.objects.filter(owner=banker, balance__isnull=False))]
    assert names[0].startswith("Cash, ")
    assert len(set(names)) == len(names)
    assert [name for name in names if name.startswith("In a bank") and table.table.name in name]
    player = a_recorded_player(100_000)
    said = lifetime(player)
    assert dict(said.figures)["Net deposits"] == "SEK\xa01,000.00"
    assert dict(said.figures)["Hold"] == "–"
    shown = page(player)
    assert "Since registration, real money" in shown


def test_the_audit_log_of_a_player_leaves_out_what_the_access_log_shows():
    player = a_verified_player("DE")
    page(player)
    assert ">data.accessed<" not in page(player)


def test_codes_are_read_in_the_language_of_the_reader():
    player = a_verified_player("GB", real=100_00)
    a_round(player, a_table(), player=1000)
    limits.set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.MONTH, amount=500_00, by=str(player))
    desk = of("compliance")
    desk.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    shown = html.unescape(desk.get(f"/staff/players/{player.pk}/").text)
    for said in ("Sprache Englisch", "(Spieler)", ">verifiziert<"):
        assert said in shown
    for code in ("(player)", ">verified<", ">stake<"):
        assert code not in shown
