"""The stream of a table for API clients, from a running web server: its events, and who may read it."""

from collections.abc import Iterator

import psycopg
import pytest
from pytest_django import DjangoDbBlocker

from games.engine.cards import Card
from games.models import LiveTable, Phase
from games.shared.pages import stream_tokens
from games.tables.clock import Clock
from players import notify
from players.models import ApiToken, Scope, Session
from players.protection import exclusions
from realtime.hub import MOST_OF_ONE_PLAYER
from tests.api.at_live import at, client_of, state_at
from tests.api.client import ApiClient
from tests.api.listening import listening, problem_of, rounds, states, values, wait_for_state
from tests.builders import a_player
from tests.chemin.spelling import cards_in
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.at_table import advance_to, bet, round_at, step
from tests.live.streaming import a_table_with_bets, a_ticket, a_web_server, backends
from tests.live.watcher import Watcher, watching
from tests.people import a_member_of_staff

OWN_MONEY = 777_00


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests here, with real commits: each has its own table and players."""
    with django_db_blocker.unblock(), databases.clone("programs") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The address of the house."""
    with a_web_server(database) as server:
        yield server.url


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    """A shared table that takes bets, and at which somebody has bet."""
    return LiveTable.objects.select_related("table").get(pk=a_table_with_bets().pk)


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        yield connection


class TestEventsOfTheStream:
    """Each player gets the public state of the table, and the private state of no other player."""

    @pytest.mark.sweep
    def test_a_round_is_streamed_as_it_goes_and_each_api_client_gets_only_its_own_money(
        self, url: str, live_table: LiveTable, superuser: psycopg.Connection
    ) -> None:
        swede, dane = a_player(real=OWN_MONEY), a_player("DK", real=888_00)
        bet(swede, live_table, player=250_00)
        bet(dane, live_table, banker=100_00)
        with listening(url, client_of(swede), client_of(dane), to=live_table) as (first, other):
            for watcher, balance in ((first, OWN_MONEY - 250_00), (other, 788_00)):
                wait_for_state(watcher, phase="betting", takes_bets=True)
                assert values(watcher.wait_for("own"))["balance"] == balance
            advance_to(live_table, Phase.CLOSED)
            for watcher in (first, other):
                wait_for_state(watcher, phase="closed", takes_bets=False)
            settled = advance_to(live_table, Phase.SETTLED)
            for watcher in (first, other):
                wait_for_state(watcher, phase="settled")
                watcher.wait_for("own", '"last_round":{')
                assert rounds(watcher) == [str(settled.pk)]
            kept = client_of(swede).get(f"rounds/{settled.pk}/").json()
            assert values(first.of("round")[0])["at"] == kept["at"]
            assert len(backends(superuser)) == 1
        for private in (b"SEK", b"52700"):
            assert private in first.bytes
            assert private not in other.bytes
        assert b"DKK" not in first.bytes

    @pytest.mark.sweep
    def test_the_stream_tells_what_reading_tells(self, url: str, live_table: LiveTable) -> None:
        player = a_player(real=OWN_MONEY)
        bet(player, live_table, player=50_00)
        api_client = client_of(player)
        with listening(url, api_client, to=live_table) as (watcher,):
            for phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
                if phase is not Phase.BETTING:
                    advance_to(live_table, phase)
                stated, read = wait_for_state(watcher, phase=phase), state_at(api_client, live_table)
                of_the_moment = {"at": None, "seconds_left": None}
                assert stated | of_the_moment == read["state"] | of_the_moment
            watcher.wait_for("own", '"last_round":{')
            assert values(watcher.of("own")[-1]) == state_at(api_client, live_table)["own"]

    @pytest.mark.sweep
    def test_one_reading_of_a_table_serves_all_api_clients_and_pages(
        self, url: str, live_table: LiveTable, superuser: psycopg.Connection
    ) -> None:
        programs = [client_of(a_player(real=OWN_MONEY)) for _ in range(4)]
        page = stream_tokens.issue(a_ticket(a_player(), live_table))
        with listening(url, *programs, to=live_table) as watchers, watching(url, page) as (reader,):
            for watcher in watchers:
                wait_for_state(watcher, phase="betting")
            advance_to(live_table, Phase.CLOSED)
            reader.wait_for("public", 'data-phase="closed"')
            for watcher in watchers:
                wait_for_state(watcher, phase="closed")
            assert len({watcher.of("state")[-1] for watcher in watchers}) == 1
            assert len(backends(superuser)) == 1
            assert not reader.of("state")
            assert not [each for watcher in watchers for each in watcher.received if each.kind in ("public", "board")]

    def test_every_byte_tells_no_card_that_the_page_had_not_shown_by_then(self, url: str, database: Database) -> None:
        quick = Clock(betting=600_000, call=600_000, card=600, pause=600_000)
        made = LiveTable.objects.select_related("table").get(pk=a_table_with_bets(clock=quick).pk)
        page = stream_tokens.issue(a_ticket(a_player(), made))
        api_client = client_of(a_player(real=OWN_MONEY))
        with listening(url, api_client, to=made) as (watcher,), watching(url, page) as (reader,):
            wait_for_state(watcher, phase="betting")
            reader.wait_for("public", 'data-phase="betting"')
            before = len(reader.of("public")), len(watcher.of("state"))
            drawn = [Card.parse(code) for code in advance_to(made, Phase.DEALT).cards.split()]
            watcher.wait(lambda: len(_turned(watcher)[-1]) == len(drawn))
            reader.wait(lambda: {card for each in reader.of("public") for card in cards_in(each.html)} >= set(drawn))
            step(made)
            wait_for_state(watcher, phase="settled")
        stated, shown = watcher.of("state")[before[1] :], reader.of("public")[before[0] :]
        on_page: set[Card] = set()  # each event adds the hand that has changed
        for number, (state, public) in enumerate(zip(stated, shown, strict=False)):
            on_page |= cards_in(public.html)
            assert cards_in(state.html) <= {*drawn} & on_page, number
        order = [len(cards) for cards in _turned(watcher)]
        assert order == sorted(order)
        assert {*range(len(drawn) + 1)} <= {*order}
        opened = watcher.bytes[: watcher.bytes.index(b"event: state")]
        assert not cards_in(opened.decode())

    def test_notices_of_the_house_come_in_the_language_asked_for(
        self, url: str, live_table: LiveTable, superuser: psycopg.Connection
    ) -> None:
        api_client = client_of(a_player(real=OWN_MONEY))
        with listening(url, api_client, to=live_table) as (watcher,):
            assert values(watcher.wait_for("notice")) == {"is_stopped": False, "notices": []}

    def test_a_notification_that_changes_nothing_of_one_s_own_is_not_sent_as_such(
        self, url: str, live_table: LiveTable
    ) -> None:
        player = a_player(real=OWN_MONEY)
        bet(player, live_table, player=50_00)
        with listening(url, client_of(player), to=live_table) as (watcher,):
            wait_for_state(watcher, phase="betting")
            watcher.wait_for("own")
            notify.notify_table(live_table.pk)
            watcher.wait(lambda: len(watcher.of("state")) == 2)
            assert len(watcher.of("own")) == 1
            assert not watcher.of("round")


def _turned(watcher: Watcher) -> list[list[str]]:
    """Return the cards that were face up in each state."""
    return [state["player"]["cards"] + state["banker"]["cards"] for state in states(watcher)]


class TestWhoMayListen:
    """A person who may read, as long as the token holds, its session runs, and they may play."""

    def test_a_stream_is_opened_with_a_token_that_reads_and_by_nobody_else(
        self, url: str, live_table: LiveTable
    ) -> None:
        player = a_player(real=OWN_MONEY)
        refused = {
            ApiClient(None): (401, "token-refused"),
            ApiClient(player.user, Scope.PLAY): (403, "forbidden"),
            ApiClient(a_member_of_staff("compliance").user): (403, "forbidden"),
            ApiClient(a_member_of_staff("supervisor").user): (403, "forbidden"),
        }
        for api_client, (status, code) in refused.items():
            with listening(url, api_client, to=live_table) as (watcher,):
                assert watcher.status == status
                assert problem_of(watcher)["code"] == code
                assert b"event:" not in watcher.bytes
        with listening(url, ApiClient(player.user, Scope.READ), to=live_table) as (watcher,):
            assert watcher.status == 200
            assert b"text/event-stream" in watcher.bytes
            wait_for_state(watcher, phase="betting")

    def test_one_player_has_so_many_streams_whether_pages_or_api_clients(self, url: str, live_table: LiveTable) -> None:
        player = a_player(real=OWN_MONEY)
        api_client = client_of(player)
        page = stream_tokens.issue(a_ticket(player, live_table))
        with listening(url, *[api_client] * (MOST_OF_ONE_PLAYER - 1), to=live_table) as watchers:
            assert {watcher.status for watcher in watchers} == {200}
            with watching(url, page) as (reader,), listening(url, api_client, to=live_table, language="de") as (more,):
                reader.wait_for("public")
                assert more.status == 503
                stated = problem_of(more)
                assert stated["code"] == "streams-full"
                assert b"retry-after: 5" in more.bytes.lower()

    def test_it_ends_with_the_token_the_session_and_an_exclusion_and_tells_so(
        self, url: str, live_table: LiveTable
    ) -> None:
        players = [a_player(real=OWN_MONEY) for _ in range(4)]
        stays, revoked, idles, pauses = (client_of(player) for player in players)
        asked = {"round_id": str(round_at(live_table).pk), "table_version": 1, "bet": "player", "chip": 50_00}
        assert idles.post(at(live_table, "bets"), asked).status_code == 200  # so it has a session
        with listening(url, stays, revoked, idles, pauses, to=live_table) as watchers:
            for watcher in watchers:
                wait_for_state(watcher, phase="betting")
            ApiToken.objects.filter(user=players[1].user).update(revoked_at="2026-01-01T00:00:00Z")
            Session.objects.filter(user=players[2].user).update(acted_at="2020-01-01T00:00:00Z")
            exclusions.pause(player=players[3], by=str(players[3]))
            for watcher in watchers[1:]:
                watcher.wait_for("over")
                watcher.wait_for_end()
            advance_to(live_table, Phase.CLOSED)
            wait_for_state(watchers[0], phase="closed")
            assert b'"closed"' not in b"".join(watcher.bytes for watcher in watchers[1:])
            assert not watchers[0].of("over")
        with listening(url, idles, to=live_table) as (again,):  # it may read on
            wait_for_state(again, phase="closed")

    def test_listening_begins_no_session_and_keeps_none_from_ending(self, url: str, live_table: LiveTable) -> None:
        player = a_player(real=OWN_MONEY)
        with listening(url, client_of(player), to=live_table) as (watcher,):
            wait_for_state(watcher, phase="betting")
        assert not Session.objects.filter(user=player.user).exists()

    def test_unknown_parameters_of_a_query_open_nothing(self, url: str, live_table: LiveTable) -> None:
        api_client = client_of(a_player(real=OWN_MONEY))
        watcher = Watcher(
            url,
            f"/api/v1/{at(live_table, 'stream')}?since=1",
            headers={"Authorization": f"Bearer {api_client.key}"},
        )
        assert watcher.status == 400
        assert problem_of(watcher)["errors"][0]["pointer"] == "/?since"
        watcher.close()


def test_a_server_of_pages_alone_tells_nothing(client, live_table: LiveTable) -> None:
    """The view runs without the stream server in front of it, as under WSGI."""
    answer = client_of(a_player(real=OWN_MONEY)).get(at(live_table, "stream"))
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
    assert answer.content == b"retry: 3000\n\n"
