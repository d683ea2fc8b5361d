"""Staff remove a chat name: it disappears everywhere, cannot be reused, its owner is given the reason."""

from collections.abc import Callable

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError, ProgrammingError
from django.utils.translation import override

from accounts import retention
from audit.models import Personal
from audit.raw_rows import named
from games import chat
from games.chat import letters as messages
from games.chat import moderation, panel
from games.chat.moderation import Decision, Length, Why
from games.chat.panel import chat_view, read_log
from games.models import ChatMessage, ChatName, ChatNameTaken, Grounds, LiveTable, ReportDecision, ReportReason
from players.account import closures
from players.models import Conversation, Player, ReplyKind, ServiceMessage
from players.support import conversations
from players.support import staff_replies as replies
from players.support.staff_replies import LANGUAGES
from tests.ageing import age
from tests.builders import a_player, a_shared_table
from tests.harness.owner import disable
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import live_table_of
from tests.live.talk import RUDE, a_talker, say, wait
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, somebody_is_blocked, until
from tests.people import a_member_of_staff, events

SECRET = "Reported by Bert twice"
NOTED = Why(Grounds.IMPOSTOR, SECRET)


@pytest.fixture
def live_table() -> LiveTable:
    return live_table_of(a_shared_table())


def shown(live_table: LiveTable, reader: Player) -> list[tuple[str, str]]:
    return [(line["name"], line["text"]) for line in read_log(reader, live_table)]


def letters(player: Player) -> list[str]:
    return list(
        ServiceMessage.objects.filter(conversation__player=player).order_by("pk").values_list("text", flat=True)
    )


def take(player: Player, name: str, why: Why = NOTED) -> ChatNameTaken:
    return moderation.take_name(player=player, name=name, why=why, by=a_member_of_staff("support"))


@pytest.mark.django_db
class TestTaking:
    def test_leaves_its_owner_without_one_until_another_is_chosen_the_same_day(self, live_table):
        anna = a_player(real=1_000_000)
        chat.choose_name(player=anna, name="Croupyer")
        take(anna, "Croupyer")
        with pytest.raises(chat.NoName, match=r"We have removed your name in the chat\..*impersonating someone else"):
            say(live_table, by=anna)
        assert chat_view(anna, live_table).notices
        chat.choose_name(player=anna, name="Anna")
        assert chat_view(anna, live_table).notices == []
        assert say(live_table, by=anna).name == "Anna"

    @pytest.mark.parametrize("name", ["Åsa", "åsa", "ÅSA", "A\u030asa"])
    def test_keeps_it_from_everybody_however_it_is_written(self, name):
        anna = a_talker("Åsa")
        take(anna, "Åsa")
        for player in (anna, a_player()):
            with pytest.raises(chat.NameGone):
                chat.choose_name(player=player, name=name)
        assert not ChatName.objects.exists()

    def test_leaves_what_was_said_without_a_name_and_tells_those_who_read(self, live_table):
        anna, bert = a_talker("Rude Anna"), a_talker("Bert")
        first = say(live_table, "Hello", anna)
        say(live_table, "Good evening", bert)
        taken = take(anna, "Rude Anna")
        assert shown(live_table, bert) == [("", "Hello"), ("Bert", "Good evening")]
        with connection.cursor() as cursor:
            cursor.execute(panel.READ_NAMELESS, [taken.pk - 1, live_table.pk])
            (row,) = [named([each.name for each in cursor.description], row) for row in cursor.fetchall()]
            cursor.execute(panel.READ_NAMELESS, [taken.pk, live_table.pk])
            assert cursor.fetchall() == []
        html = panel.render_message(row)
        assert f'id="chat-{first.pk}"' in html
        assert "chat__nameless" in html
        assert "Rude" not in html
        assert chat.shown_name(first) == ""
        assert ChatMessage.objects.get(pk=first.pk).name == "Rude Anna"  # kept for staff

    def test_is_on_record_by_numbers(self):
        anna, staff = a_talker("Anna"), a_member_of_staff("support")
        taken = moderation.take_name(player=anna, name="Anna", why=NOTED, by=staff)
        (event,) = events("chat.name_taken", by=str(staff))
        assert event["on"] == str(anna)
        assert event["data"] == {"taken": taken.pk, "grounds": "impostor"}
        assert {"Anna", SECRET} <= set(
            Personal.objects.filter(event__kind="chat.name_taken").values_list("value", flat=True)
        )

    def test_is_done_once(self):
        anna = a_talker("Anna")
        take(anna, "Anna")
        with pytest.raises(moderation.Decided):
            take(anna, "anna")
        assert len(letters(anna)) == 1


class TestTakingAgainstRenaming:
    """Staff remove the name that they saw while its owner chooses another one."""

    COMPARED = " AND lower(mine.name) = lower(NEW.name)"

    def race(self, owner: psycopg.Connection) -> tuple[list[str], list[str]]:
        """Return the removed names and the names in use."""
        anna = a_player(real=1)
        chat.choose_name(player=anna, name="Old name")
        wait(owner, "2 days")
        with transaction.atomic():
            chat.choose_name(player=anna, name="New name")
            taking = in_a_thread(lambda: take(anna, "Old name").name)
            until(somebody_is_blocked)
        taking.result(PATIENCE)
        return (
            list(ChatNameTaken.objects.values_list("name", flat=True)),
            list(ChatName.objects.values_list("name", flat=True)),
        )

    def test_without_comparing_them_the_new_name_goes_instead(self, cloned_db, owner):
        without(owner, "games_take_chat_name", self.COMPARED)
        assert self.race(owner) == (["Old name"], [])

    def test_with_it_the_old_one_is_taken_and_the_new_one_stays(self, cloned_db, owner):
        assert self.race(owner) == (["Old name"], ["New name"])
        assert Conversation.objects.count() == 0  # there is no name to choose again


class TestTakingAgainstChoosing:
    """A player chooses a name at the moment when staff remove it from another player."""

    def race(self, chosen_by: Callable[[], str]) -> tuple[str, int]:
        anna = a_talker("Wanted")
        with transaction.atomic():
            take(anna, "Wanted")
            choosing = in_a_thread(chosen_by)
            until(lambda: choosing.done() or somebody_is_blocked())
        return choosing.result(PATIENCE), ChatName.objects.count()

    def choose(self) -> str:
        try:
            return chat.choose_name(player=a_player(), name="wanted").name
        except chat.NameGone:
            return "gone"

    def test_without_the_lock_somebody_has_a_name_that_was_taken_away(self, cloned_db, owner):
        without(owner, "games_choose_chat_name", "PERFORM pg_advisory_xact_lock_shared(1024, 0);")
        assert self.race(self.choose) == ("wanted", 1)

    def test_with_it_a_player_who_chooses_waits_and_is_refused(self, cloned_db):
        assert self.race(self.choose) == ("gone", 0)


def without(owner: psycopg.Connection, function: str, part: str) -> None:
    """Remove *part* from the body of a database function."""
    (body,) = owner.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchone() or ("",)
    assert part in body
    owner.execute(body.replace(part, ""))


@pytest.mark.django_db
class TestAProcessWithTheLoginRoleOfTheWeb:
    def refused(self, sql: str, why: str, error: type[DatabaseError] = ProgrammingError) -> None:
        with pytest.raises(error, match=why), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)

    def test_gives_no_name_back_and_chooses_none_that_was_taken(self):
        anna = a_talker("Anna")
        take(anna, "Anna")
        for action in ("UPDATE games_chatnametaken SET name = 'x'", "DELETE FROM games_chatnametaken",
                     "TRUNCATE games_chatnametaken", "DELETE FROM games_chatname"):  # fmt: skip
            self.refused(action, "permission denied")
        for name in ("Anna", "aNNA"):
            with pytest.raises(DatabaseError, match="taken away"), transaction.atomic():
                ChatName.objects.create(player=anna, name=name)
        bert = a_talker("Bert")
        with pytest.raises(DatabaseError), transaction.atomic():
            ChatName.objects.filter(player=bert).update(name="Anna")
        with pytest.raises(IntegrityError), transaction.atomic():
            ChatNameTaken.objects.create(player=bert, name="ANNA", grounds="abuse", by="staff:1")

    def test_sets_neither_its_time_nor_its_number(self):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO games_chatnametaken (id, player_id, name, grounds, note, by, at) VALUES"
                " (9, %s, 'Anna', 'abuse', '', 'staff:1', now() - interval '9 days') RETURNING id <> 9, at >= now()",
                [a_talker("Anna").pk],
            )
            assert cursor.fetchone() == (True, True)


class TestTheOwner:
    @pytest.mark.parametrize(
        "action",
        sample(
            [
                "UPDATE games_chatnametaken SET name = 'x'",
                "UPDATE games_chatnametaken SET player_id = NULL, note = ''",
                "DELETE FROM games_chatnametaken",
                "TRUNCATE games_chatnametaken",
            ],
            1,
        ),
    )
    def test_gives_no_name_back_either(self, cloned_db, owner, action):
        take(a_talker("Anna"), "Anna")
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner.execute(action)

    def test_of_a_forgotten_player_the_name_stays_nobody_s(self, cloned_db, owner):
        gone = a_talker("Gone")
        take(gone, "Gone")
        closures.begin(player=gone, ip="192.0.2.1")
        closures.finish(player=gone, by="system")
        age(owner, "players_closure", "at", 1827)
        retention.erase(gone)
        taken = ChatNameTaken.objects.get()
        assert (taken.player_id, taken.note, taken.name) == (None, "", "Gone")
        assert not Personal.objects.filter(event__kind="chat.name_taken").exists()
        with pytest.raises(chat.NameGone):
            chat.choose_name(player=a_player(), name="GONE")


@pytest.mark.django_db
class TestAMute:
    def test_holds_at_one_table_alone(self, live_table):
        anna, other = a_talker("Anna"), live_table_of(a_shared_table(slug="other"))
        begun = moderation.ban(
            player=anna, length=Length.DAY, why=NOTED, by=a_member_of_staff("support"), live_table=live_table
        )
        with pytest.raises(
            chat.Banned,
            match=r"You can read the chat at this table, but you cannot write in it until.*impersonating someone else",
        ):
            say(live_table, by=anna)
        assert chat_view(anna, live_table).banned
        assert not chat_view(anna, other).banned
        assert say(other, by=anna).pk
        moderation.lift(ban_id=begun.pk, by=a_member_of_staff("supervisor"))
        assert chat.ban_of(anna, live_table) is None

    def test_is_held_by_the_database(self, live_table):
        anna, other = a_talker("Anna"), live_table_of(a_shared_table(slug="other"))
        moderation.ban(
            player=anna, length=Length.LIFTED, why=RUDE, by=a_member_of_staff("support"), live_table=live_table
        )
        row = {"player": anna, "language": "en", "text": "Hi"}
        with pytest.raises(DatabaseError, match="may not write"), transaction.atomic():
            ChatMessage.objects.create(live_table=live_table, **row)
        assert ChatMessage.objects.create(live_table=other, **row).pk

    def test_lets_its_player_choose_another_name(self, live_table):
        anna = a_talker("Anna")
        moderation.ban(player=anna, length=Length.DAY, why=RUDE, by=a_member_of_staff("support"), live_table=live_table)
        take(anna, "Anna")
        assert chat.choose_name(player=anna, name="Bea").name == "Bea"


def reading(language: str, player: Player) -> Player:
    player.user.language = language
    player.user.save(update_fields=["language"])
    return player


@pytest.mark.django_db
class TestTelling:
    def everything(self, live_table: LiveTable, player: Player, why: Why = NOTED) -> str:
        """Make every decision on one message; return the letter about it."""
        said, reporter = say(live_table, by=player), a_player()
        chat.report(player=reporter, live_table=live_table, number=said.pk, reason=ReportReason.ABUSE)
        decision = Decision(ReportDecision.REMOVED, why, Length.DAY, is_at_one_table=True, takes_name=True)
        moderation.decide(message_id=said.pk, decision=decision, by=a_member_of_staff("support"))
        (letter,) = letters(player)
        assert str(reporter) not in letter
        assert SECRET not in letter
        return letter

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    def test_says_in_one_letter_in_their_language_what_was_decided_and_why(self, live_table, language):
        player = reading(language, a_talker("Rude one"))
        letter = self.everything(live_table, player)
        ban = chat.ban_of(player, live_table)
        assert ban is not None
        with override(language):
            for sentence in (
                messages.removed(live_table.table.name),
                messages.muted(live_table.table.name, ban.until, player),
                messages.nameless(),
                messages.reason("impostor"),
            ):
                assert sentence in letter
        assert not {"{", "[", "Rude one"} & set(letter.split())
        assert "[" not in letter
        conversation = Conversation.objects.get(player=player)
        assert conversation.is_unread
        assert conversations.unread(player) == 1

    @pytest.mark.sweep
    def test_is_worded_as_staff_worded_it_last(self, live_table):
        newest = next(each for each in replies.newest() if each.name == "decided")
        texts = dict.fromkeys(LANGUAGES, "{hello} Look: {action} ({reason})")
        replies.write(
            name="decided", based_on=newest.number, kind=ReplyKind.CHAT, title="x", texts=texts,
            by=a_member_of_staff("compliance"),
        )  # fmt: skip
        assert "Look: We have removed" in self.everything(live_table, reading("en", a_talker()))
        assert events("service.begun")[0]["data"]["template"] == "reply:decided, version 2"

    @pytest.mark.sweep
    @pytest.mark.parametrize("spoilt", ["withdrawn", "a mark that the house cannot fill in"])
    def test_falls_back_on_what_the_house_ships(self, live_table, spoilt):
        newest, staff = (
            next(each for each in replies.newest() if each.name == "decided"),
            a_member_of_staff("compliance"),
        )
        if spoilt == "withdrawn":
            replies.withdraw(name="decided", number=newest.number, reason="bad", by=staff)
        else:
            texts = dict.fromkeys(LANGUAGES, "{hello} {amount}")
            replies.write(name="decided", based_on=newest.number, kind=ReplyKind.CHAT, title="x", texts=texts, by=staff)
        letter = self.everything(live_table, reading("en", a_talker()))
        assert "We have removed" in letter
        assert "[" not in letter

    @pytest.mark.parametrize("grounds", list(Grounds))
    def test_knows_words_for_every_reason_in_every_language(self, grounds):
        words = set()
        for language in LANGUAGES:
            with override(language):
                words.add(messages.reason(grounds))
        assert len(words) == len(LANGUAGES)

    @pytest.mark.sweep
    def test_of_a_message_that_stays_tells_nobody(self, live_table):
        said = say(live_table)
        chat.report(player=a_player(), live_table=live_table, number=said.pk, reason=ReportReason.ABUSE)
        moderation.decide(
            message_id=said.pk, decision=Decision(ReportDecision.KEPT, RUDE), by=a_member_of_staff("support")
        )
        assert letters(said.player) == []

    def test_decides_everything_or_nothing(self, live_table):
        anna = a_talker("Anna")
        said = say(live_table, by=anna)
        take(anna, "Anna")
        decision = Decision(ReportDecision.REMOVED, RUDE, Length.DAY, takes_name=True)
        with pytest.raises(moderation.Decided):
            moderation.decide(message_id=said.pk, decision=decision, by=a_member_of_staff("support"))
        said.refresh_from_db()
        assert said.removed_at is None
        assert chat.ban_of(anna) is None

    @pytest.mark.sweep
    def test_writes_nothing_to_an_account_that_nobody_can_open(self, live_table):
        anna = a_talker("Anna")
        disable(anna.user)
        anna.user.refresh_from_db()
        take(anna, "Anna")
        assert letters(anna) == []

    @pytest.mark.sweep
    def test_at_the_table_says_what_was_removed_just_now(self, live_table):
        anna = a_talker("Anna")
        said = say(live_table, by=anna)
        moderation.remove(message_id=said.pk, why=RUDE, by=a_member_of_staff("support"))
        (stated,) = chat_view(anna, live_table).notices
        assert "insults or threats" in stated
        assert chat_view(a_player(), live_table).notices == []


@pytest.mark.sweep
def test_all_that_waits_of_one_author_waits_together_where_the_first_report_is(cloned_db, owner):
    live_table, anna = live_table_of(a_shared_table()), a_talker("Anna")
    first, other = say(live_table, "First", anna), say(live_table, "Other")
    wait(owner)
    second = say(live_table, "Second", anna)
    for message in (first, other, second):
        chat.report(player=a_player(), live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)
    anything = moderation.Wanted()
    reports = moderation.first_reports(anything).order_by("pk")
    found = moderation.authors_of(reports, anything)
    assert [(each.player_id, each.count) for each in found] == [(anna.pk, 2), (other.player_id, 1)]
    assert [case.message.pk for case in found[0].cases] == [first.pk, second.pk]
    assert moderation.waiting_count() == 3
    assert [report.message_id for report in reports] == [first.pk, other.pk]
