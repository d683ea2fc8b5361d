"""Streams next to the table itself, from a running web server: scoreboard, chat and lobby."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import count

import psycopg
import pytest
from django.db import connection, transaction
from django.utils.translation import override
from pytest_django import DjangoDbBlocker

from games.betting.limits import StoredLimits
from games.engine.cards import Card
from games.engine.chemin.state import there
from games.labels import card_name
from games.models import ChatBlock, ChatMessage, ChatName, LiveTable, Phase, TableVersion
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from games.tables.status import close_table
from players import notify
from players.models import Player
from tests.builders import a_player, put_live
from tests.chemin.at_table import a_chemin_table, answer, sit
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.at_table import advance_to, bet, live_table_of, step
from tests.live.streaming import SPOILT_CLOCK, a_table_with_bets, a_ticket, a_web_server, an_address, backends
from tests.live.watcher import Watcher, watching
from wallet.models import Mode

KEY = re.compile('data-key="([^"]+)"')
NOW = "SELECT clock_timestamp()"
REMOVE = "UPDATE games_chatmessage SET removed_at = now(), removed_by = 'staff:1', removed_for = 'abuse' WHERE id = %s"
_names = (f"Player {number}" for number in count(1))
_slugs = (f"chemin-{number}" for number in count(1))


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests of this module, with real commits; each has its own table."""
    with django_db_blocker.unblock(), databases.clone("streams_furniture") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The URL of the web server."""
    with a_web_server(database) as server:
        yield server.url


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser_url, autocommit=True) as made:
        yield made


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    """A shared table that takes bets, with one bet."""
    return a_table_with_bets()


def a_page(player: Player, live_table: LiveTable, language: str = "en") -> Ticket:
    """Return the ticket of a page that is rendered now."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        (now,) = cursor.fetchone()
    return replace(a_ticket(player, live_table, language), made_at=now)


def in_the_lobby(live_table: LiveTable, mode: Mode = Mode.REAL, language: str = "en", currency: str = "SEK") -> str:
    """Return the stream URL of a lobby."""
    ticket = a_ticket(a_player(real=555_00), live_table, language)
    where = {"currency": currency, "jurisdiction": "SE"}
    return stream_tokens.issue(
        stream_tokens.lobby_ticket(ticket.player, mode, there(ticket.session), language, **where)
    )


def limits_at(live_table: LiveTable) -> StoredLimits:
    limits: StoredLimits = TableVersion.objects.filter(table=live_table.table_id).latest("number").limits
    return limits


def a_talker() -> Player:
    player = a_player(real=100_00)
    ChatName.objects.create(player=player, name=next(_names))
    return player


def say(player: Player, live_table: LiveTable, text: str) -> ChatMessage:
    with transaction.atomic():
        said = ChatMessage.objects.create(live_table=live_table, player=player, language="en", text=text)
        notify.notify_chat(live_table.pk)
    return said


def take_away(said: ChatMessage) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(REMOVE, [said.pk])
        notify.notify_chat(said.live_table_id)


def block(player: Player, other: Player) -> None:
    with transaction.atomic():
        ChatBlock.objects.create(player=player, blocked=other)
        notify.notify_blocks(player.pk)


def lines(watcher: Watcher) -> list[str]:
    """Return the chat lines in order of arrival."""
    return [
        found[1] if (found := re.search(r'class="chat__text"[^>]*>(.*?)</p>', each.html)) else ""
        for each in watcher.of("chat")
    ]


def cards(watcher: Watcher, live_table: LiveTable) -> list[str]:
    """Return the cards of a table that were sent."""
    marked = f'id="card-{live_table.table.slug}-{live_table.mode}"'
    return [each.html for each in watcher.of("lobby") if marked in each.html]


def wait_for_card(watcher: Watcher, live_table: LiveTable, status: str) -> None:
    """Wait until a table's card has this status."""
    watcher.wait(lambda: f'card-live--{status}"' in "".join(cards(watcher, live_table)[-1:]), what=status)


def roads(watcher: Watcher, live_table: LiveTable) -> set[str]:
    """Return the different roads that a table's card has had."""
    return {each[each.index('<div class="card-live__road') :] for each in cards(watcher, live_table)}


def tells_of_cards(watcher: Watcher, drawn: str, language: str) -> list[str]:
    """Return the drawn cards that can be read anywhere in what was sent."""
    with override(language):
        names = [card_name(Card.parse(code)) for code in drawn.split()]
    return [each for each in [*names, drawn] if each.encode() in watcher.bytes]


def has_boards(watcher: Watcher, number: int) -> bool:
    return len(watcher.of("board")) == number


class TestTheBoard:
    def test_it_comes_once_and_again_when_a_round_is_settled_the_same_for_all_who_read_a_language(
        self, url: str, live_table: LiveTable
    ) -> None:
        addresses = [an_address(live_table, language) for language in ("en", "en", "ro")]
        with watching(url, *addresses) as watchers:
            empty = [KEY.search(watcher.wait_for("board").html)[1] for watcher in watchers]  # type: ignore[index]
            assert len(set(empty)) == 1
            advance_to(live_table, Phase.DEALT)
            for watcher in watchers:
                watcher.wait_for("public", 'data-phase="dealt"')
            with watching(url, an_address(live_table)) as (late,):
                assert f'data-key="{empty[0]}"' in late.wait_for("board").html
            advance_to(live_table, Phase.SETTLED)
            for watcher in watchers:
                watcher.wait(partial(has_boards, watcher, 2))
            first, second, other = (watcher.of("board") for watcher in watchers)
            assert [len(boards) for boards in (first, second, other)] == [2, 2, 2]
            assert first == second
            assert first[1].html != other[1].html
            for watcher in watchers:
                kinds = [each.kind for each in watcher.received]
                assert kinds[-1] == "board"  # after the public and the own part
            for private in (b"100,000.00", b"SEK"):
                assert all(private not in each.html.encode() for each in first + other)


class TestWhatIsSaid:
    def test_everybody_at_the_table_is_notified_and_nobody_elsewhere(self, url: str, live_table: LiveTable) -> None:
        elsewhere, talker = a_table_with_bets(), a_talker()
        addresses = [
            stream_tokens.issue(a_page(talker, live_table)),
            an_address(live_table, "ro"),
            an_address(elsewhere),
        ]
        with watching(url, *addresses) as (own, other, away):
            for each in (own, other, away):
                each.wait_for("board")
            said = say(talker, live_table, "Good luck &amp; <b>all</b>")
            for each in (own, other):
                assert f'id="chat-{said.pk}"' in each.wait_for("chat").html
            assert own.of("chat") == other.of("chat")
            assert lines(own) == ["Good luck &amp;amp; &lt;b&gt;all&lt;/b&gt;"]
            say(a_talker(), elsewhere, "Here")
            away.wait_for("chat")
            assert lines(away) == ["Here"]
            take_away(said)
            other.wait(lambda: len(other.of("chat")) > 1)
            assert f'id="chat-{said.pk}"' in other.of("chat")[1].html
            assert lines(other)[1:] == [""]

    def test_a_page_is_sent_what_was_said_since_it_was_made_and_no_more(self, url: str, live_table: LiveTable) -> None:
        before, in_between = say(a_talker(), live_table, "Long before"), a_page(a_player(), live_table)
        with connection.cursor() as cursor:
            cursor.execute(f"{NOW} + interval '10 seconds'")
            (later,) = cursor.fetchone()
        say(a_talker(), live_table, "Meanwhile")
        with watching(url, stream_tokens.issue(in_between)) as (first,):
            first.wait_for("chat", "Meanwhile")
            after = replace(a_page(a_player(), live_table), made_at=later)
            with watching(
                url, stream_tokens.issue(after), stream_tokens.issue(replace(in_between, player=after.player))
            ) as (
                late,
                second,
            ):
                second.wait_for("chat", "Meanwhile")  # from stored messages, since no new one was sent
                late.wait_for("board")
                take_away(before)
                say(a_talker(), live_table, "Now")
                for each in (first, second, late):
                    each.wait_for("chat", "Now")
                assert lines(late) == ["", "Now"]

    def test_a_player_who_has_blocked_somebody_is_sent_nothing_of_theirs(self, url: str, live_table: LiveTable) -> None:
        loud, quiet, reader = a_talker(), a_talker(), a_player()
        block(reader, quiet)
        page = a_page(reader, live_table)
        say(quiet, live_table, "Blocked before")
        with watching(url, stream_tokens.issue(page), an_address(live_table)) as (mine, other):
            other.wait_for("board")
            mine.wait_for("board")
            said = say(loud, live_table, "One")
            mine.wait_for("chat", "One")
            block(reader, loud)
            take_away(said)
            say(a_talker(), live_table, "Two")
            for each in (mine, other):
                each.wait_for("chat", "Two")
            assert lines(mine) == ["One", "Two"]
            assert lines(other) == ["One", "", "Two"]
            assert b"Blocked before" not in mine.bytes

    def test_chat_sent_while_the_database_was_unreachable_is_delivered_once_it_is_back(
        self, url: str, live_table: LiveTable, superuser: psycopg.Connection
    ) -> None:
        with watching(url, an_address(live_table)) as (watcher,):
            watcher.wait_for("board")
            say(a_talker(), live_table, "Before")
            watcher.wait_for("chat", "Before")
            superuser.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [backends(superuser)])
            say(a_talker(), live_table, "Meanwhile")
            watcher.wait_for("chat", "Meanwhile")
            assert lines(watcher) == ["Before", "Meanwhile"]


class TestATableThatServesOthersAlone:
    @pytest.mark.sweep
    def test_opens_no_stream_and_ends_open_ones_except_of_players_with_bets(
        self, url: str, live_table: LiveTable
    ) -> None:
        looker, bettor = a_player(real=100_000_00), a_player(real=100_000_00)
        pages = [stream_tokens.issue(a_ticket(each, live_table)) for each in (looker, looker, bettor)]
        bet(bettor, live_table, banker=50_00)
        with watching(url, pages[0], pages[2]) as (viewing, betting):
            for each in (viewing, betting):
                each.wait_for("public")
            put_live(table_id=live_table.table_id, limits=limits_at(live_table), jurisdictions=["DE"])
            viewing.wait_for("over")
            with watching(url, pages[1]) as (late,):
                late.wait_for("over")
                assert not late.of("public")
            assert not betting.of("over")


class TestTheLobby:
    @pytest.mark.sweep
    def test_it_has_every_table_of_one_kind_of_money_and_then_only_what_changes(
        self, url: str, live_table: LiveTable, superuser: psycopg.Connection
    ) -> None:
        other = a_table_with_bets()
        free = live_table_of(live_table.table, Mode.FREE)
        with watching(url, in_the_lobby(live_table), in_the_lobby(live_table, Mode.FREE)) as (real, play):
            for table in (live_table, other):
                wait_for_card(real, table, "betting")
            play.wait(lambda: cards(play, free))
            assert cards(real, free) == cards(play, live_table) == []
            step(live_table)
            wait_for_card(real, live_table, "closed")
            superuser.execute(SPOILT_CLOCK, [other.pk])
            notify.notify_table(other.pk)
            step(live_table)
            wait_for_card(real, live_table, "dealt")
            assert len(cards(real, other)) == 1
            assert cards(play, live_table) == []
            assert len(cards(play, free)) == 1
            close_table(table_id=live_table.table_id, reason="for a test", by="staff:test")
            real.wait(lambda: "badge--off" in cards(real, live_table)[-1])
            play.wait(lambda: "badge--off" in cards(play, free)[-1])

    @pytest.mark.sweep
    def test_it_has_no_table_that_serves_others_alone(self, url: str, live_table: LiveTable) -> None:
        other = a_table_with_bets()
        put_live(table_id=other.table_id, limits=limits_at(other), jurisdictions=["DE"])
        with watching(url, in_the_lobby(live_table)) as (lobby,):
            wait_for_card(lobby, live_table, "betting")
            step(other)
            step(live_table)
            wait_for_card(lobby, live_table, "closed")
            assert cards(lobby, other) == []

    def test_no_card_is_sent_before_its_time_and_no_result_before_it_is_paid(
        self, url: str, live_table: LiveTable
    ) -> None:
        languages = ("en", "de")
        with ExitStack() as open_streams:
            lobbies = [in_the_lobby(live_table, language=language) for language in languages]
            watchers = open_streams.enter_context(watching(url, *lobbies))
            for watcher in watchers:
                wait_for_card(watcher, live_table, "betting")
            drawn = advance_to(live_table, Phase.DEALT).cards
            for watcher in watchers:
                wait_for_card(watcher, live_table, "dealt")
                assert len(roads(watcher, live_table)) == 1
            advance_to(live_table, Phase.SETTLED)
            for watcher, language in zip(watchers, languages, strict=True):
                wait_for_card(watcher, live_table, "settled")
                assert len(roads(watcher, live_table)) == 2
                assert tells_of_cards(watcher, drawn, language) == []

    @pytest.mark.sweep
    def test_a_chemin_table_is_sent_to_those_who_have_its_currency(self, url: str, live_table: LiveTable) -> None:
        chemin_table = a_chemin_table(currency="EUR", slug=next(_slugs))
        first, second = (a_player("DE", real=500_00) for _ in range(2))
        with watching(url, in_the_lobby(live_table), in_the_lobby(live_table, currency="EUR")) as (kronor, euros):
            wait_for_card(euros, chemin_table, "alone")
            for place, player in enumerate((first, second), start=1):
                sit(player, chemin_table, place)
            wait_for_card(euros, chemin_table, "offer")
            answer(first, chemin_table, "take_bank", 10_000)
            euros.wait(lambda: "Bank: €100.00" in cards(euros, chemin_table)[-1])
            step(live_table)
            wait_for_card(kronor, live_table, "closed")
            assert cards(kronor, chemin_table) == []
            for player in (first, second):
                assert player.user.email.encode() not in euros.bytes

    @pytest.mark.sweep
    def test_nothing_of_a_reader_or_a_bettor_is_in_it(self, url: str, live_table: LiveTable) -> None:
        bettor = a_player(real=4321_00)
        bet(bettor, live_table, player=250_00)
        with watching(url, in_the_lobby(live_table)) as (watcher,):
            watcher.wait(lambda: cards(watcher, live_table))
            advance_to(live_table, Phase.CLOSED)
            watcher.wait(lambda: len(cards(watcher, live_table)) > 1)
            for private in (b"4,321", b"4,071", b"250.00", b"555.00", b"SEK", bettor.user.email.encode()):
                assert private not in watcher.bytes
            assert {each.kind for each in watcher.received} == {"banner", "lobby"}


def test_a_ticket_opens_a_stream_for_the_browser_that_has_its_cookie_alone(url: str, live_table: LiveTable) -> None:
    address = stream_tokens.issue(a_page(a_player(), live_table), "the-cookie")
    statuses = {cookie: Watcher(url, address, cookie=cookie).status for cookie in ("the-cookie", "another", "")}
    assert statuses == {"the-cookie": 200, "another": 403, "": 403}
