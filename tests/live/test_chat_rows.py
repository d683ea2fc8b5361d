"""Chat rows that the login role of web and workers could write past the code are refused.

Rows older than a test are made as the owner of the tables.
"""

import psycopg
import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError, IntegrityError, ProgrammingError

from games.models import ChatBan, ChatMessage, ChatName, ChatReport, LiveTable
from players.models import Player
from tests.builders import a_player, a_shared_table
from tests.harness.owner import as_owner
from tests.live.at_table import live_table_of

OLD = """
ALTER TABLE games_chatmessage DISABLE TRIGGER USER;
UPDATE games_chatmessage SET at = clock_timestamp() - interval '90 days' + %s::interval;
ALTER TABLE games_chatmessage ENABLE TRIGGER USER;
"""
YOUNGER, OLDER = "1 minute", "-1 second"


def a_named_player(name: str) -> Player:
    player = a_player(real=1_000_000)
    ChatName.objects.create(player=player, name=name)
    return player


def a_message(live_table: LiveTable, player: Player, text: str = "Good evening") -> ChatMessage:
    return ChatMessage.objects.create(live_table=live_table, player=player, name="?", language="en", text=text)


def refused(sql: str, why: str, *values: int | str, error: type[DatabaseError] = IntegrityError) -> None:
    with pytest.raises(error, match=why), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)


@pytest.mark.django_db
class TestAMessage:
    @pytest.fixture
    def message(self) -> ChatMessage:
        return a_message(live_table_of(a_shared_table()), a_named_player("Anna"))

    def test_stays_as_it_was_said(self, message):
        for change in ("text = 'x'", "name = 'x'", "at = now()", "player_id = player_id", "live_table_id = 1"):
            refused(
                f"UPDATE games_chatmessage SET {change} WHERE id = %s",
                "permission denied",
                message.pk,
                error=ProgrammingError,
            )
        refused("TRUNCATE games_chatmessage CASCADE", "permission denied", error=ProgrammingError)

    def test_is_taken_away_once_by_somebody_and_never_brought_back(self, message):
        removed = (
            "UPDATE games_chatmessage SET removed_at = now() - interval '1 day', removed_by = %s, removed_for = %s"
            " WHERE id = %s"
        )
        refused(removed, "stays as it was said", "", "abuse", message.pk)
        refused(removed, "stays as it was said", "staff:1", "", message.pk)
        ChatMessage.objects.filter(pk=message.pk).update(
            removed_at=message.at, removed_by="staff:1", removed_for="abuse"
        )
        message.refresh_from_db()
        assert message.removed_at is not None
        refused(removed, "stays as it was said", "staff:2", "abuse", message.pk)
        refused("UPDATE games_chatmessage SET removed_at = NULL WHERE id = %s", "stays as it was said", message.pk)

    def test_bears_the_time_and_the_name_of_the_house(self, message):
        message.refresh_from_db()
        assert message.name == "Anna"
        sql = (
            "INSERT INTO games_chatmessage (live_table_id, player_id, name, language, text, at, removed_by)"
            " VALUES (%s, %s, 'House', 'en', 'Hi', now() - interval '9 days', '') RETURNING name, at > now()"
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT at FROM games_chatmessage WHERE id = %s", [message.pk])
            other = a_named_player("Bea")
            cursor.execute(sql, [message.live_table_id, other.pk])
            assert cursor.fetchone() == ("Bea", True)

    def test_needs_a_name(self, message):
        refused(
            "INSERT INTO games_chatmessage (live_table_id, player_id, name, language, text, at, removed_by)"
            " VALUES (%s, %s, 'House', 'en', 'Hi', now(), '')",
            "has no name",
            message.live_table_id,
            a_player().pk,
            error=DatabaseError,
        )

    def test_is_not_deleted_before_its_time(self, message):
        refused("DELETE FROM games_chatmessage WHERE id = %s", "kept for longer", message.pk)
        ChatReport.objects.create(message=message, player=a_player(), reason="abuse")
        refused("DELETE FROM games_chatreport", "kept for longer")

    def test_is_not_said_by_a_banned_player(self, message):
        ban = ChatBan.objects.create(player=message.player, reason="abuse", by="staff:1")
        with pytest.raises(DatabaseError, match="may not write"), transaction.atomic():
            a_message(message.live_table, message.player)
        refused("DELETE FROM games_chatban", "permission denied", error=ProgrammingError)
        refused("UPDATE games_chatban SET lifted_at = now()", "stays as it was")
        ChatBan.objects.filter(pk=ban.pk).update(lifted_at=ban.at, lifted_by="staff:1")
        refused("UPDATE games_chatban SET lifted_at = NULL, lifted_by = ''", "stays as it was")


@pytest.mark.django_db
def test_a_report_is_decided_once():
    message = a_message(live_table_of(a_shared_table()), a_named_player("Anna"))
    report = ChatReport.objects.create(message=message, player=a_player(), reason="abuse")
    refused("UPDATE games_chatreport SET decision = 'kept'", "stays as it was")
    ChatReport.objects.filter(pk=report.pk).update(decision="kept", decided_by="staff:1")
    refused("UPDATE games_chatreport SET decision = 'removed', decided_by = 'staff:2'", "stays as it was")
    refused("UPDATE games_chatreport SET reason = 'other'", "permission denied", error=ProgrammingError)


@pytest.mark.django_db
def test_a_report_is_of_what_others_said_and_can_be_seen():
    message, reporter = a_message(live_table_of(a_shared_table()), a_named_player("Anna")), a_player()
    insert = (
        "INSERT INTO games_chatreport (message_id, player_id, reason, decision, decided_by)"
        " VALUES (%s, %s, 'abuse', '', '')"
    )
    refused(insert, "does not report", message.pk, message.player_id)
    refused(insert, "does not report", message.pk + 1, reporter.pk)
    ChatMessage.objects.filter(pk=message.pk).update(removed_at=message.at, removed_by="staff:1", removed_for="abuse")
    refused(insert, "does not report", message.pk, reporter.pk)


@pytest.mark.django_db
def test_a_name_is_changed_once_a_day_and_never_one_that_somebody_else_spoke_under(django_user_model):
    live_table, anna = live_table_of(a_shared_table()), a_named_player("Anna")
    refused("UPDATE games_chatname SET name = 'Bea', chosen_at = now() - interval '9 days'", "a name today",
            error=DatabaseError)  # fmt: skip
    a_message(live_table, anna)
    with pytest.raises(IntegrityError, match="under this name"), transaction.atomic():
        a_named_player("ANNA")


class TestAfterNinetyDays:
    def test_a_message_goes_and_not_a_minute_before(self, cloned_db, owner: psycopg.Connection):
        message = a_message(live_table_of(a_shared_table()), a_named_player("Anna"))
        age(owner, YOUNGER)
        refused("DELETE FROM games_chatmessage WHERE id = %s", "kept for longer", message.pk)
        age(owner, OLDER)
        assert ChatMessage.objects.filter(pk=message.pk).delete()[0] == 1

    def test_what_was_reported_waits_for_its_decision(self, cloned_db, owner: psycopg.Connection):
        message = a_message(live_table_of(a_shared_table()), a_named_player("Anna"))
        report = ChatReport.objects.create(message=message, player=a_player(), reason="abuse")
        age(owner, OLDER)
        refused("DELETE FROM games_chatmessage", "kept for longer")
        refused("DELETE FROM games_chatreport", "kept for longer")
        ChatReport.objects.filter(pk=report.pk).update(decision="kept", decided_by="staff:1")
        ChatReport.objects.filter(pk=report.pk).delete()
        ChatMessage.objects.filter(pk=message.pk).delete()
        assert not ChatMessage.objects.exists()

    def test_nobody_is_forgotten_in_the_chat_whose_account_is_not_erased(self, cloned_db, owner: psycopg.Connection):
        player = a_named_player("Anna")
        message = a_message(live_table_of(a_shared_table()), player)
        ChatReport.objects.create(message=message, player=a_player(), reason="abuse")
        refused("SELECT games_forget_chat(%s)", "is not erased", player.pk)
        as_owner("INSERT INTO players_closure (player_id, state, by) VALUES (%s, 'erased', 'system')", [player.pk])
        age(owner, OLDER)
        with connection.cursor() as cursor:
            cursor.execute("SELECT games_forget_chat(%s)", [player.pk])
        assert not ChatMessage.objects.exists()
        assert not ChatName.objects.exists()


def age(owner: psycopg.Connection, beyond: str) -> None:
    """Make every message ninety days old, and *beyond*."""
    for statement in OLD.strip().split(";")[:-1]:
        owner.execute(statement, [beyond] if "%s" in statement else None)
