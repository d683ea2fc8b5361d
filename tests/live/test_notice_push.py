"""Notices and the house stop reach every connected page, through streams of a running web server."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from pytest_django import DjangoDbBlocker

from backoffice import house_stop as house_stop_service
from games.engine.chemin.state import there
from games.models import LiveTable
from games.shared.pages import stream_tokens
from players.login import sessions
from players.models import Ended, Notice, Player, Session
from players.protection import exclusions
from players.staff import notices
from players.staff.notices import span
from realtime.hub import ENOUGH_TO_LISTEN, MOST_OF_ONE_PLAYER
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.streaming import a_table_with_bets, a_ticket, a_web_server, an_address
from tests.live.watcher import Watcher, watching
from tests.notices import HOUR, a_notice
from tests.people import a_member_of_staff
from wallet import house_stop
from wallet.models import Mode

SOON = timedelta(seconds=2)
NOTHING = 'data-key=""'


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests of this module, with real commits; each test removes its notices."""
    with django_db_blocker.unblock(), databases.clone("notice_push") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The URL of the web server."""
    with a_web_server(database) as server:
        yield server.url


@pytest.fixture
def live_table(database: Database) -> Iterator[LiveTable]:
    """A table that takes bets. All notices are withdrawn afterwards."""
    yield a_table_with_bets()
    for each in Notice.objects.filter(withdrawn_at=None, shown_until__gt=exclusions.now()):
        withdraw(each)


def withdraw(notice: Notice) -> None:
    notices.withdraw(notice_id=notice.pk, reason="over", by=a_member_of_staff("supervisor"))


def at_the_table(live_table: LiveTable, language: str = "en", jurisdiction: str = "SE") -> str:
    return stream_tokens.issue(replace(a_ticket(a_player(), live_table, language), jurisdiction=jurisdiction))


def in_the_lobby(live_table: LiveTable, language: str = "en", jurisdiction: str = "SE") -> str:
    ticket = a_ticket(a_player(), live_table, language)
    where = {"currency": "SEK", "jurisdiction": jurisdiction}
    return stream_tokens.issue(
        stream_tokens.lobby_ticket(ticket.player, Mode.REAL, there(ticket.session), language, **where)
    )


def at_a_solo_table(player: Player, cookie: str | None = None, language: str = "en") -> str:
    """Return the URL of a stream that carries only notices."""
    session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
    ticket = stream_tokens.house_ticket(player.pk, session.pk, language, jurisdiction=player.jurisdiction_id)
    return stream_tokens.issue(ticket, cookie)


def shown(watcher: Watcher) -> str:
    """Return the text of the latest banner."""
    return watcher.of("banner")[-1].html


def wait_for_nothing(watcher: Watcher) -> None:
    watcher.wait(lambda: NOTHING in shown(watcher), what="it does not go")


def test_every_open_table_and_lobby_is_notified_of_publication_and_withdrawal(url, live_table):
    with watching(url, at_the_table(live_table), in_the_lobby(live_table, "ro", "RO")) as (table, lobby):
        for each in (table, lobby):
            assert NOTHING in each.wait_for("banner").html
        notice = a_notice()
        assert span(notice, "en", "Europe/Stockholm") in table.wait_for("banner", "notice-").html
        assert span(notice, "ro", "Europe/Bucharest") in lobby.wait_for("banner", "notice-").html
        withdraw(notice)
        for each in (table, lobby):
            wait_for_nothing(each)


@pytest.mark.sweep
def test_a_newcomer_is_sent_it_and_all_of_one_language_and_zone_the_same(url, live_table):
    notice = a_notice()
    addresses = [at_the_table(live_table), at_the_table(live_table), at_the_table(live_table, "en", "RO")]
    with watching(url, *addresses) as (one, other, elsewhere):
        first = one.wait_for("banner", f"notice-{notice.pk}").html
        assert first == other.wait_for("banner").html
        assert span(notice, "en", "Europe/Bucharest") in elsewhere.wait_for("banner").html


@pytest.mark.sweep
def test_it_comes_and_goes_by_the_clock_alone(url, live_table):
    with watching(url, at_the_table(live_table)) as (table,):
        assert NOTHING in table.wait_for("banner").html
        now = exclusions.now()
        # After its end a notice cannot be withdrawn, and its hours are not shown.
        notice = a_notice(6 * HOUR, shown_from=now + SOON, shown_until=now + 2 * SOON)
        assert not [each for each in table.of("banner") if "notice-" in each.html]
        table.wait_for("banner", f"notice-{notice.pk}")
        assert exclusions.now() >= notice.shown_from
        wait_for_nothing(table)
        assert exclusions.now() >= notice.shown_until


def test_the_stop_of_the_house_is_sent_and_its_end(url, live_table):
    supervisor = a_member_of_staff("supervisor")
    with watching(url, an_address(live_table), in_the_lobby(live_table, "de", "DE")) as (table, lobby):
        stop = house_stop.stop_house(reason="A fire.", by=supervisor)
        assert "Play is stopped" in table.wait_for("banner", f"stop-{stop.pk}").html
        assert "A fire" not in lobby.wait_for("banner", f"stop-{stop.pk}").html
        house_stop.resume_house(reason="It is out.", by=supervisor)
        for each in (table, lobby):
            wait_for_nothing(each)


@pytest.mark.sweep
def test_a_solo_table_is_sent_this_and_nothing_of_any_table_or_lobby(url, live_table):
    supervisor, player = a_member_of_staff("supervisor"), a_player("RO")
    with watching(url, at_a_solo_table(player, language="ro"), at_the_table(live_table)) as (solo, table):
        assert NOTHING in solo.wait_for("banner").html
        notice = a_notice()
        assert span(notice, "ro", "Europe/Bucharest") in solo.wait_for("banner", "notice-").html
        stop = house_stop_service.stop(reason="A fire.", by=supervisor)  # every table reports it
        assert "notice-" in solo.wait_for("banner", f"stop-{stop.pk}").html
        house_stop_service.resume(reason="It is out.", by=supervisor)
        withdraw(notice)
        for each in (solo, table):
            wait_for_nothing(each)
        assert {received.kind for received in solo.received} == {"banner"}


@pytest.mark.sweep
def test_it_ends_with_the_session_and_lengthens_it_by_nothing(url, live_table):
    player = a_player()
    with watching(url, at_a_solo_table(player), at_a_solo_table(a_player())) as (solo, other):
        for each in (solo, other):
            each.wait_for("banner")
        acted_at = Session.objects.get(user=player.user).acted_at
        sessions.end_all(user=player.user, why=Ended.ELSEWHERE, by=str(player))
        solo.wait_for("over")
        solo.wait_for_end()
        assert Session.objects.get(user=player.user).acted_at == acted_at
        notice = a_notice()
        other.wait_for("banner", f"notice-{notice.pk}")
        assert not any("notice-" in received.html for received in solo.of("banner"))


@pytest.mark.sweep
def test_it_is_opened_with_the_cookie_of_its_page_alone(url, live_table):
    player = a_player()
    address = at_a_solo_table(player, "its-cookie")
    for cookie, status in (("another", 403), ("", 403), ("its-cookie", 200)):
        watcher = Watcher(url, address, cookie=cookie)
        try:
            assert watcher.status == status
        finally:
            watcher.close()


@pytest.mark.sweep
def test_one_player_has_few_and_they_leave_room_for_tables(url, live_table):
    player = a_player()
    with watching(url, *(at_a_solo_table(player) for _ in range(ENOUGH_TO_LISTEN + 1))) as watchers:
        assert sorted(watcher.status for watcher in watchers) == [200] * ENOUGH_TO_LISTEN + [503]
        more = MOST_OF_ONE_PLAYER - ENOUGH_TO_LISTEN
        addresses = [stream_tokens.issue(a_ticket(player, live_table)) for _ in range(more + 1)]
        with watching(url, *addresses) as tables:
            assert sorted(watcher.status for watcher in tables) == [200] * more + [503]
