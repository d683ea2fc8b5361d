"""Reminders to review limits: by mail and on pages, as often as the jurisdiction says, until they are reviewed."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from players.models import LimitKind, LimitReminder, Mail, Period
from players.protection import exclusions, limits
from players.protection.limits import set_limit
from tests.builders import a_player
from tests.harness.owner import as_owner, without_guards
from tests.people import events, last_mail
from tests.wallet.faults import Fault
from wallet.limits import remind_due

pytestmark = pytest.mark.django_db

PERIOD = 181
NOTICE = "It is time to check whether your limits still suit you."
SHOWN_ON = ("lobby", "cashier")


def a_resident(days, code="GB"):
    """Return a player whose account was opened these days ago."""
    player = a_player(code)
    as_owner(
        "UPDATE players_user SET created_at = created_at - make_interval(days => %s) WHERE id = %s",
        [days, player.user_id],
    )
    return player


def let_pass(days):
    """Move all reminders back by these days."""
    with without_guards("players_limitreminder"):
        as_owner("UPDATE players_limitreminder SET at = at - make_interval(days => %s)", [days])


def reminders(player):
    return LimitReminder.objects.filter(player=player, is_review=False).count()


def browser_of(player):
    browser = Client()
    browser.force_login(player.user)
    return browser


@pytest.fixture
def reminded():
    player = a_resident(PERIOD)
    assert remind_due() == 1
    return player


def test_one_comes_every_six_months_and_not_before():
    player = a_resident(PERIOD - 1)
    assert remind_due() == 0
    as_owner("UPDATE players_user SET created_at = created_at - interval '1 day' WHERE id = %s", [player.user_id])
    assert (remind_due(), remind_due()) == (1, 0)
    let_pass(PERIOD - 1)
    assert remind_due() == 0
    let_pass(1)
    assert (remind_due(), reminders(player)) == (1, 2)
    assert [event["by"] for event in events("limits.reminded", on=str(player))] == ["system"] * 2
    assert Mail.objects.filter(user=player.user, template="limits_reminder").count() == 2


def test_it_lists_the_limits_in_the_players_language():
    player = a_resident(PERIOD)
    set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.WEEK, amount=5000, by=str(player))
    player.user.language = "de"
    player.user.save(update_fields=["language"])
    remind_due()
    mail = last_mail(player.user.email, "limits_reminder")
    assert mail.subject == "Überprüfen Sie Ihre Limits"
    assert "Einzahlungslimit · Woche: 50,00\xa0£" in mail.body


def test_nobody_is_written_to_who_may_not_play_or_where_no_law_asks_for_it():
    excluded = a_resident(PERIOD)
    exclusions.exclude_self(player=excluded, months=12, by=str(excluded))
    for code in ("SE", "DK", "RO", "DE"):
        a_resident(10 * PERIOD, code)
    assert remind_due() == 0


def test_the_notice_is_shown_until_the_limits_are_kept(reminded):
    browser = browser_of(reminded)
    for page in SHOWN_ON:
        assert NOTICE in browser.get(reverse(page)).text
    assert "Keep my limits" in browser.get(reverse("limits")).text
    browser.post(reverse("limits_review"))
    browser.post(reverse("limits_review"))
    for page in SHOWN_ON:
        assert NOTICE not in browser.get(reverse(page)).text
    assert "Keep my limits" not in browser.get(reverse("limits")).text
    assert len(events("limits.reviewed", on=str(reminded))) == 1


def test_a_limit_that_is_set_answers_it_too(reminded):
    browser_of(reminded).post(reverse("limits"), {"deposit-kind": "deposit", "deposit-week": "50"})
    assert not limits.should_review(reminded)


def test_each_player_is_read_once_in_a_run(monkeypatch):
    monkeypatch.setattr("wallet.limits.BATCH", 1)
    players = [a_resident(PERIOD) for _ in range(3)]
    asked = []

    def execute_and_note(execute, sql, params, many, context):
        if "players_limit_reminder_at" in sql:
            asked.append(params[0])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(execute_and_note):
        assert remind_due() == len(players)
    assert asked == [0, *(player.pk for player in players)]


def test_one_that_fails_delays_no_other():
    first, second = a_resident(PERIOD), a_resident(PERIOD)

    def execute_or_fail(execute, sql, params, many, context):
        if "players_remind_of_limits" in sql and first.pk in params:
            raise Fault(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(execute_or_fail):
        assert remind_due() == 1
    assert (reminders(first), reminders(second)) == (0, 1)
    assert remind_due() == 1


def test_the_login_role_reminds_nobody_early_and_writes_no_reminder():
    player = a_resident(PERIOD - 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_remind_of_limits(%s), players_review_limits(%s)", [player.pk, player.pk])
        assert cursor.fetchone() == (False, False)
        for statement in (
            "INSERT INTO players_limitreminder (player_id, is_review) VALUES (%s, true)",
            "DELETE FROM players_limitreminder WHERE player_id = %s",
        ):
            with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
                cursor.execute(statement, [player.pk])
