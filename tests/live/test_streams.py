"""Streams of live tables, from a web server that runs: who is told what, when, at what cost, and when no more."""

from uuid import uuid4

import pytest
from django.db.models.functions import Now

from games.live import phases, seats, tickets
from games.live.tickets import Ticket
from games.models import LiveRound, LiveTable
from players.models import Player, Session
from tests.builders import a_player, a_shared_table
from tests.harness.databases import Database
from tests.harness.web import WebServer
from tests.live.watcher import watching
from wallet.models import Mode


@pytest.fixture
def live_table(cloned_db: Database) -> LiveTable:
    """A shared table for real money that takes bets."""
    table = LiveTable.objects.get(table=a_shared_table(), mode=Mode.REAL)
    phases.advance(table.pk)
    return table


def a_ticket(player: Player, live_table: LiveTable, language: str = "en") -> Ticket:
    """What the page of somebody who has just logged in and sat down brings."""
    seats.seat_at(player, LiveTable.objects.select_related("table").get(pk=live_table.pk))
    session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
    return Ticket(player.pk, live_table.pk, session.pk, language)


def move_on(live_table: LiveTable) -> LiveRound:
    """One phase on, as a tick does when the deadline has passed."""
    LiveRound.objects.filter(live_table=live_table, ended_at=None).update(deadline=Now())
    assert phases.advance(live_table.pk)
    return LiveRound.objects.filter(live_table=live_table).latest("opened_at")


def test_news_of_a_table_reaches_who_watches_it(web_server: WebServer, live_table: LiveTable) -> None:
    address = tickets.issue(a_ticket(a_player(real=100_000), live_table))
    with watching(web_server.url, address) as (watcher,):
        assert watcher.status == 200
        watcher.wait_for("public", 'data-phase="betting"')
        watcher.wait_for("own")
        print(watcher.bytes.decode())
