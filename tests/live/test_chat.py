"""The chat service of a shared table: who may write what, and how messages are handled."""

from datetime import datetime
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils.translation import override

from accounts import retention
from audit.models import Personal
from audit.raw_rows import named
from games import chat
from games.chat import moderation, panel
from games.chat.moderation import Decision, Length, Why
from games.chat.panel import chat_view, read_log
from games.errors import NotEligible
from games.models import (
    ChatBan,
    ChatBlock,
    ChatMessage,
    ChatName,
    ChatReport,
    Grounds,
    LiveTable,
    ReportDecision,
    ReportReason,
)
from players.account import closures
from players.models import Player
from players.protection import exclusions
from tests.ageing import age
from tests.builders import a_player, a_shared_table
from tests.harness.sweeps import sample
from tests.live.at_table import live_table_of
from tests.live.talk import RUDE, a_talker, say, wait
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, somebody_is_blocked, until
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once
from wallet.models import Mode


@pytest.fixture
def live_table() -> LiveTable:
    return live_table_of(a_shared_table())


def notifications_since(live_table: LiveTable, last: int, removed: datetime) -> list[dict[str, object]]:
    """Return what a stream with this state is sent."""
    with connection.cursor() as cursor:
        cursor.execute(panel.READ_SINCE, [live_table.pk, last, removed])
        return [dict(named([each.name for each in cursor.description], row)) for row in cursor.fetchall()]


def start_of(live_table: LiveTable) -> tuple[int, datetime]:
    with connection.cursor() as cursor:
        cursor.execute(panel.READ_LAST, [live_table.pk])
        last, removed = cursor.fetchone()
        return last, removed


def notices(player: Player, live_table: LiveTable) -> list[str]:
    return [line["text"] for line in read_log(player, live_table)]


@pytest.mark.django_db
class TestAName:
    def test_is_chosen_and_on_record_as_personal(self):
        player = a_player()
        assert chat.choose_name(player=player, name=" Ștefan  ".rstrip()).name == "Ștefan"
        (event,) = events("chat.named", by=str(player))
        assert "Ștefan" not in str(event)
        assert Personal.objects.get(event__kind="chat.named").value == "Ștefan"

    @pytest.mark.parametrize("other", ["Åsa", "åsa", "ÅSA", "A\u030asa"])
    def test_is_one_player_s(self, other):
        chat.choose_name(player=a_player(), name="Åsa")
        with pytest.raises(chat.NameTaken):
            chat.choose_name(player=a_player(), name=other)
        assert ChatName.objects.count() == 1

    def test_is_not_changed_twice_a_day_but_may_be_chosen_again_as_it_is(self):
        player = a_player()
        chat.choose_name(player=player, name="Anna")
        assert chat.choose_name(player=player, name="Anna").name == "Anna"
        with pytest.raises(chat.NamedToday):
            chat.choose_name(player=player, name="Bea")
        assert chat.name_of(player) == "Anna"

    def test_is_not_changed_by_a_banned_player(self):
        player = a_talker("Anna")
        moderation.ban(player=player, length=Length.HOUR, why=RUDE, by=a_member_of_staff("support"))
        with pytest.raises(chat.Banned):
            chat.choose_name(player=player, name="Bea")


@pytest.mark.django_db
class TestSaying:
    def test_is_read_by_everybody_and_by_streams_from_their_last_message_on(self, live_table):
        start = start_of(live_table)
        anna = a_talker("Anna")
        one = say(live_table, "Hej  på\ter", anna, "sv")
        assert [(row["id"], row["player"]) for row in notifications_since(live_table, *start)] == [(one.pk, anna.pk)]
        two = say(live_table, "Hello")
        (row,) = notifications_since(live_table, one.pk, start[1])
        assert row["id"] == two.pk
        assert notices(a_player(), live_table) == ["Hej på er", "Hello"]
        html = panel.render_message(notifications_since(live_table, 0, start[1])[0])
        assert f'id="chat-{one.pk}"' in html
        assert '<p class="chat__text" lang="sv" dir="auto">Hej på er</p>' in html
        assert f"player:{anna.pk}" not in html

    def test_is_heard_at_that_table_alone(self, live_table):
        say(live_table)
        assert notices(a_player(), live_table_of(live_table.table, Mode.FREE)) == []

    def test_needs_a_name(self, live_table):
        with pytest.raises(chat.NoName):
            chat.say(player=a_player(real=1), live_table=live_table, text="Hi", language="en")
        assert not ChatMessage.objects.exists()

    def test_is_slow(self, live_table):
        anna = a_talker()
        say(live_table, "One", anna)
        with pytest.raises(chat.TooFast):
            say(live_table, "Two", anna)
        with pytest.raises(chat.TooFast):
            say(live_table_of(a_shared_table(slug="other")), "Two", anna)
        assert notices(anna, live_table) == ["One"]

    @pytest.mark.parametrize("stop", ["pause", "closing"])
    def test_needs_what_playing_needs(self, live_table, stop):
        anna = a_talker()
        if stop == "pause":
            exclusions.pause(player=anna, by=str(anna))
        else:
            closures.begin(player=anna, ip="192.0.2.1")
        for table in (live_table, live_table_of(live_table.table, Mode.FREE)):
            with pytest.raises(NotEligible):
                say(table, "Hi", anna)

    @pytest.mark.sweep
    def test_in_another_language_than_the_house_has_is_marked_as_english(self, live_table):
        assert say(live_table, language="fr").language == "en"


@pytest.mark.django_db
class TestBlocking:
    def test_hides_what_somebody_says_and_said_from_that_player_alone(self, live_table):
        anna, bert = a_talker("Anna"), a_talker("Bert")
        message = say(live_table, "Rude", bert)
        for _ in range(2):
            block = chat.block(player=anna, live_table=live_table, number=message.pk)
        assert notices(anna, live_table) == []
        assert notices(a_player(), live_table) == notices(bert, live_table) == ["Rude"]
        with connection.cursor() as cursor:
            cursor.execute(panel.READ_BLOCKS, [[anna.pk, bert.pk]])
            assert cursor.fetchall() == [(anna.pk, bert.pk)]
        assert [each.name for each in chat_view(anna, live_table).blocked] == ["Bert"]
        chat.unblock(player=bert, block_id=block.pk)  # the block belongs to somebody else
        assert ChatBlock.objects.exists()
        for _ in range(2):
            chat.unblock(player=anna, block_id=block.pk)
        assert notices(anna, live_table) == ["Rude"]

    def test_is_of_others_at_that_table(self, live_table):
        anna = a_talker()
        message = say(live_table, by=anna)
        with pytest.raises(chat.OwnMessage):
            chat.block(player=anna, live_table=live_table, number=message.pk)
        with pytest.raises(chat.NotThere):
            chat.block(player=a_player(), live_table=live_table_of(live_table.table, Mode.FREE), number=message.pk)


@pytest.mark.django_db
class TestReporting:
    def test_is_on_record_once_by_numbers(self, live_table):
        anna, message = a_talker(), say(live_table, "Something rude")
        for reason in (ReportReason.ABUSE, ReportReason.OTHER):
            chat.report(player=anna, live_table=live_table, number=message.pk, reason=reason)
        assert ChatReport.objects.get().reason == ReportReason.ABUSE
        (event,) = events("chat.reported")
        assert event["on"] == f"chat_message:{message.pk}"
        assert event["data"]["author"] == f"player:{message.player_id}"
        assert "rude" not in str(event)
        assert notices(anna, live_table) == ["Something rude"]

    def test_is_of_what_others_said_and_is_final(self, live_table):
        anna = a_talker()
        own, gone = say(live_table, by=anna), say(live_table)
        moderation.remove(message_id=gone.pk, why=RUDE, by=a_member_of_staff("support"))
        with pytest.raises(chat.OwnMessage):
            chat.report(player=anna, live_table=live_table, number=own.pk, reason=ReportReason.ABUSE)
        with pytest.raises(chat.NotThere):
            chat.report(player=anna, live_table=live_table, number=gone.pk, reason=ReportReason.ABUSE)
        assert not ChatReport.objects.exists()


class TestAReportAgainstARemoval:
    """Staff remove a message while a player who still sees it reports it."""

    def test_without_the_lock_a_report_waits_for_ever_of_what_is_gone(self, cloned_db, monkeypatch):
        look = chat.message_at

        def only_check(live_table: LiveTable, number: int, *, lock: bool) -> ChatMessage:
            assert lock
            return look(live_table, number)

        monkeypatch.setattr(chat, "message_at", only_check)
        assert reported_while_removed() == ("reported", 1)

    def test_with_it_the_player_learns_that_the_message_is_gone(self, cloned_db):
        assert reported_while_removed() == ("gone", 0)


def reported_while_removed() -> tuple[str, int]:
    """Return the outcome of the report and the number of reports that await a decision."""
    live_table, reader = live_table_of(a_shared_table()), a_player()
    message = say(live_table)

    def report() -> str:
        try:
            chat.report(player=reader, live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)
        except chat.NotThere:
            return "gone"
        return "reported"

    with transaction.atomic():
        moderation.remove(message_id=message.pk, why=RUDE, by=a_member_of_staff("support"))
        notices = in_a_thread(report)
        until(lambda: notices.done() or somebody_is_blocked())
    return notices.result(PATIENCE), ChatReport.objects.filter(decision="").count()


@pytest.mark.django_db
class TestStaff:
    def test_remove_a_message_for_everybody_and_for_good(self, live_table):
        staff, start = a_member_of_staff("support"), start_of(live_table)
        message = say(live_table, "Rude")
        chat.report(player=a_player(), live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)
        moderation.remove(message_id=message.pk, why=RUDE, by=staff)
        assert notices(a_player(), live_table) == []
        (row,) = notifications_since(live_table, message.pk, start[1])
        html = panel.render_message(row)
        assert "Rude" not in html
        assert ">" + "</li>" in html
        assert ChatReport.objects.get().decision == ReportDecision.REMOVED
        assert ChatMessage.objects.get().text == "Rude"  # kept for staff, who have decided it
        (event,) = events("chat.removed", by=str(staff))
        assert "Rude" not in str(event)
        with pytest.raises(moderation.Decided):
            moderation.remove(message_id=message.pk, why=RUDE, by=staff)

    @pytest.mark.sweep
    def test_keep_a_message_once(self, live_table):
        staff, message = a_member_of_staff("support"), say(live_table)
        with pytest.raises(moderation.Decided):
            moderation.keep(message_id=message.pk, by=staff)
        chat.report(player=a_player(), live_table=live_table, number=message.pk, reason=ReportReason.OTHER)
        moderation.keep(message_id=message.pk, by=staff)
        with pytest.raises(moderation.Decided):
            moderation.keep(message_id=message.pk, by=staff)
        assert len(events("chat.retained")) == 1
        assert len(notices(a_player(), live_table)) == 1

    @pytest.mark.parametrize("length", sample(list(Length), 1))
    def test_ban_a_player_who_reads_on(self, live_table, length):
        staff, anna = a_member_of_staff("support"), a_talker()
        begun = moderation.ban(player=anna, length=length, why=Why(Grounds.ABUSE, "Rude to Bert"), by=staff)
        assert (begun.until is None) == (length is Length.LIFTED)
        with pytest.raises(chat.Banned, match="read the chat"):
            say(live_table, by=anna)
        assert chat_view(anna, live_table).banned
        (event,) = events("chat.banned", by=str(staff))
        assert "Bert" not in str(event)
        moderation.lift(ban_id=begun.pk, by=staff)
        with pytest.raises(moderation.Decided):
            moderation.lift(ban_id=begun.pk, by=staff)
        assert say(live_table, by=anna).pk

    def test_decide_both_or_neither(self, live_table):
        staff, message = a_member_of_staff("support"), say(live_table)
        moderation.remove(message_id=message.pk, why=RUDE, by=staff)
        with pytest.raises(moderation.Decided):
            moderation.decide(
                message_id=message.pk, decision=Decision(ReportDecision.REMOVED, RUDE, Length.DAY), by=staff
            )
        assert chat.ban_of(message.player) is None

    @pytest.mark.sweep
    def test_say_until_when_in_the_reader_s_language(self, live_table):
        anna = a_talker()
        moderation.ban(player=anna, length=Length.DAY, why=RUDE, by=a_member_of_staff("support"))
        found = chat.ban_of(anna)
        assert found
        sentences = set()
        for language in ("sv", "da", "ro", "de", "en"):
            with override(language):
                sentences.add(chat.ban_message(found, anna))
        assert len(sentences) == 5


class TestInTime:
    """Rules with a time limit; time passes in the database."""

    def test_six_messages_within_half_a_minute_and_no_same_one_again(self, cloned_db, owner):
        live_table, anna = live_table_of(a_shared_table()), a_talker()
        for number in range(6):
            say(live_table, f"Message {number}", anna)
            wait(owner, "3 seconds")
        with pytest.raises(chat.TooFast):
            say(live_table, "Message 7", anna)
        with pytest.raises(chat.SameAgain):
            say(live_table, "MESSAGE  5", anna)
        wait(owner, "15 seconds")
        say(live_table, "Message 7", anna)
        wait(owner, "11 minutes")
        say(live_table, "Message 7", anna)

    def test_of_messages_at_once_one_is_said(self, cloned_db):
        live_table, anna = live_table_of(a_shared_table()), a_talker()

        def talk(number: int) -> str:
            try:
                say(live_table, f"Message {number}", anna)
            except chat.TooFast:
                return "too fast"
            return "said"

        assert sorted(at_once([partial(talk, number) for number in range(6)])) == ["said"] + ["too fast"] * 5

    def test_of_reports_at_once_twenty_an_hour_are_kept(self, cloned_db, owner):
        live_table, anna = live_table_of(a_shared_table()), a_talker()
        messages = [say(live_table) for _ in range(25)]

        def report(message: ChatMessage) -> str:
            try:
                chat.report(player=anna, live_table=live_table, number=message.pk, reason=ReportReason.OTHER)
            except chat.TooManyReports:
                return "too many"
            return "kept"

        assert {report(message) for message in messages[:18]} == {"kept"}
        said = at_once([partial(report, message) for message in messages[18:24]])
        assert sorted(said) == ["kept"] * 2 + ["too many"] * 4
        owner.execute("ALTER TABLE games_chatreport DISABLE TRIGGER USER")
        owner.execute("UPDATE games_chatreport SET at = at - interval '61 minutes'")
        owner.execute("ALTER TABLE games_chatreport ENABLE TRIGGER USER")
        assert report(messages[24]) == "kept"

    def test_the_second_speaker_has_the_higher_number_when_both_are_heard(self, cloned_db):
        live_table, bert = live_table_of(a_shared_table()), a_talker()
        with transaction.atomic():
            first = say(live_table)
            second = in_a_thread(lambda: str(say(live_table, by=bert).pk))
            until(somebody_is_blocked)
        assert int(second.result(timeout=PATIENCE)) > first.pk

    @pytest.mark.sweep
    def test_a_name_is_another_one_the_next_day(self, cloned_db, owner):
        anna = a_player()
        chat.choose_name(player=anna, name="Anna")
        wait(owner, "25 hours")
        assert chat.choose_name(player=anna, name="Bea").name == "Bea"

    @pytest.mark.sweep
    def test_a_ban_ends_by_itself(self, cloned_db, owner):
        live_table, anna = live_table_of(a_shared_table()), a_talker()
        moderation.ban(player=anna, length=Length.HOUR, why=RUDE, by=a_member_of_staff("support"))
        owner.execute("ALTER TABLE games_chatban DISABLE TRIGGER USER")
        owner.execute("UPDATE games_chatban SET until = clock_timestamp() - interval '1 second'")
        say(live_table, "Back again", anna)

    def test_what_is_older_than_a_day_is_no_talk_any_more_nor_found_by_its_number(self, cloned_db, owner):
        live_table, reader = live_table_of(a_shared_table()), a_player()
        message = say(live_table)
        wait(owner, "25 hours")
        assert notices(reader, live_table) == []
        with pytest.raises(chat.NotThere):
            chat.message_at(live_table, message.pk)
        with pytest.raises(chat.NotThere):
            chat.report(player=reader, live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)

    def test_gli19_a_4_7_chat_is_kept_ninety_days_and_then_forgotten(self, cloned_db, owner, monkeypatch):
        monkeypatch.setattr(moderation, "BATCH", 2)
        live_table, staff = live_table_of(a_shared_table()), a_member_of_staff("support")
        old = [say(live_table, f"Message {number}") for number in range(5)]
        for message in old[:2]:
            chat.report(player=a_player(), live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)
        moderation.keep(message_id=old[0].pk, by=staff)
        wait(owner, "89 days 23 hours")
        assert moderation.forget_old() == 0
        wait(owner, "2 hours")
        young = say(live_table, "Today")
        assert moderation.forget_old() == 4
        assert set(ChatMessage.objects.values_list("pk", flat=True)) == {old[1].pk, young.pk}
        moderation.remove(message_id=old[1].pk, why=RUDE, by=staff)
        assert moderation.forget_old() == 1
        assert moderation.forget_old() == 0

    def test_a_forgotten_player_is_nobody_in_the_chat(self, cloned_db, owner):
        live_table, gone, stays = live_table_of(a_shared_table()), a_talker("Gone"), a_talker("Stays")
        message = say(live_table, "I am from Cluj", gone)
        chat.block(player=stays, live_table=live_table, number=message.pk)
        chat.report(player=stays, live_table=live_table, number=message.pk, reason=ReportReason.PRIVATE)
        moderation.ban(
            player=gone, length=Length.HOUR, why=Why(Grounds.ABUSE, "He named Cluj"), by=a_member_of_staff("support")
        )
        wait(owner, "91 days")
        closures.begin(player=gone, ip="192.0.2.1")
        closures.finish(player=gone, by="system")
        age(owner, "players_closure", "at", 1827)
        retention.erase(gone)
        assert list(ChatName.objects.values_list("name", flat=True)) == ["Stays"]
        assert not ChatMessage.objects.exists()
        assert not ChatBlock.objects.exists()
        assert not Personal.objects.filter(value__in=["Gone", "He named Cluj"]).exists()
        assert ChatBan.objects.get().reason == ""
