"""Time and result of a session, shown at the table, and the reality check before the next round."""

import re
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db.models.functions import Now
from django.test import Client

from games.errors import NotEligible
from games.models import Participation, Table
from games.solo import Played, play_round, solo_seat_at
from players.models import Player, PlaySession, PlayTime, Session
from players.protection import eligibility, play_sessions
from tests.builders import a_player, a_seat, a_table
from tests.chemin.at_table import a_session
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.people import a_visitor, events
from wallet.models import Mode

MONEY = 1_000_000


@pytest.fixture
def table(cloned_db: Database) -> Table:
    """A table in its own database, whose rows the owner can move in time."""
    return a_table()


@pytest.fixture
def player(table: Table) -> Player:
    """A player with real and free money."""
    return a_player(real=MONEY, free=MONEY)


def play(player: Player, table: Table, session: UUID | None, mode: Mode = Mode.REAL) -> Played:
    seat = a_seat(player, table, mode, player=1000)
    return play_round(
        player=player,
        table_id=table.pk,
        mode=mode,
        round_id=seat.round_id,
        slip_version=seat.slip_version,
        session=session,
    )


def ago(owner: psycopg.Connection, minutes: int) -> None:
    """Move the start of all sessions and all last actions into the past."""
    owner.execute("UPDATE players_playsession SET began = began - make_interval(mins => %s)", [minutes])
    owner.execute("UPDATE players_playsession SET checked_at = checked_at - make_interval(mins => %s)", [minutes])
    owner.execute("UPDATE players_playtime SET last_at = last_at - make_interval(mins => %s)", [minutes])


def ago_with_log_ins(owner: psycopg.Connection, minutes: int) -> None:
    """Move log-ins and their last actions too."""
    ago(owner, minutes)
    owner.execute(
        "UPDATE players_session SET began_at = began_at - gone, acted_at = acted_at - gone"
        " FROM make_interval(mins => %s) AS gone",
        [minutes],
    )


def a_log_in(player: Player) -> UUID:
    """Return the id of a new log-in of the player, who has opened a table."""
    session = a_session(player)
    play_sessions.read_session(player, session)
    return session


@pytest.mark.sweep
def test_a_play_session_sums_up_its_rounds_by_kind_of_money(player, table):
    session = uuid4()
    play_sessions.read_session(player, session)
    for mode, times in ((Mode.REAL, 3), (Mode.FREE, 2)):
        for _ in range(times):
            play(player, table, session, mode)
    seen = play_sessions.read_session(player, session)
    assert seen.rounds == 5
    assert (seen.staked_real, seen.staked_free) == (3000, 2000)
    for kind, net in ((Mode.REAL, seen.net_real), (Mode.FREE, seen.net_free)):
        parts = Participation.objects.filter(player=player, mode=kind)
        assert net == sum(part.paid - part.staked for part in parts)


@pytest.mark.sweep
def test_rounds_of_another_session_are_not_in_it(player, table):
    mine, other = uuid4(), uuid4()
    play_sessions.read_session(player, mine)
    play_sessions.read_session(player, other)
    play(player, table, other)
    assert play_sessions.read_session(player, mine).rounds == 0


class TestTheRealityCheck:
    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", sample([Mode.REAL, Mode.FREE], 1), ids=["real", "free"])
    def test_keeps_the_next_round_waiting_for_an_answer(self, player, table, owner, mode):
        session = uuid4()
        play_sessions.read_session(player, session)
        play(player, table, session, mode)
        ago(owner, 61)
        with pytest.raises(NotEligible, match="check"):
            play(player, table, session, mode)
        assert Participation.objects.filter(player=player).count() == 1
        play_sessions.answer_check(player=player, session=session, goes_on=True)
        play(player, table, session, mode)
        (answered,) = events("reality_check.answered", on=str(player))
        assert answered["data"]["seconds"] >= 61 * 60
        assert answered["data"]["goes_on"] is True

    @pytest.mark.sweep
    @pytest.mark.parametrize("minutes", sample(play_sessions.INTERVALS, 1))
    def test_comes_at_the_interval_the_player_chose(self, player, table, owner, minutes):
        session = uuid4()
        play_sessions.choose_interval(player=player, minutes=minutes)
        play_sessions.read_session(player, session)
        ago(owner, minutes - 1)
        assert not play_sessions.read_session(player, session).is_check_due
        ago(owner, 1)
        assert play_sessions.read_session(player, session).is_check_due
        play_sessions.answer_check(player=player, session=session, goes_on=True)
        ago(owner, minutes - 1)
        assert not play_sessions.read_session(player, session).is_check_due
        ago(owner, 1)
        assert play_sessions.read_session(player, session).is_check_due

    @pytest.mark.parametrize("device", [False, True], ids=["after logging out", "on another device"])
    def test_goes_on_counting_after_another_log_in(self, player, table, owner, device):
        first = a_log_in(player)
        play(player, table, first)
        ago_with_log_ins(owner, 50)
        if device:
            Session.objects.filter(pk=first).update(acted_at=Now())
        else:
            Session.objects.filter(pk=first).update(acted_at=Now(), ended_at=Now(), why="logout")
        second = a_log_in(player)
        play(player, table, second)
        ago_with_log_ins(owner, 11)
        with pytest.raises(NotEligible, match="check"):
            play(player, table, second)
        play_sessions.answer_check(player=player, session=second, goes_on=True)
        third = a_log_in(player)
        ago_with_log_ins(owner, 58)
        assert not play_sessions.read_session(player, third).is_check_due
        ago_with_log_ins(owner, 3)
        assert play_sessions.read_session(player, third).is_check_due

    def test_begins_again_for_a_player_who_was_away_for_as_long_as_the_interval(self, player, owner):
        play_sessions.choose_interval(player=player, minutes=30)
        a_log_in(player)
        ago_with_log_ins(owner, 20)
        assert PlaySession.objects.get(session=a_log_in(player)).checked_at is not None
        ago_with_log_ins(owner, 31)
        assert PlaySession.objects.get(session=a_log_in(player)).checked_at is None

    @pytest.mark.sweep
    def test_cannot_be_had_at_another_interval(self, player):
        with pytest.raises(play_sessions.UnknownInterval):
            play_sessions.choose_interval(player=player, minutes=500)

    @pytest.mark.sweep
    def test_is_shown_at_the_table_with_time_and_money(self, player, table, owner):
        browser = logged_in(player)
        browser.get("/en/table/baccarat/real/")
        play(player, table, PlaySession.objects.get().session)
        assert 'id="check"' not in browser.get("/en/table/baccarat/real/").content.decode()
        ago(owner, 65)
        page = browser.get("/en/table/baccarat/real/").content.decode()
        check = page[page.index('id="check"') :]
        assert re.search(r'<dd class="num">1:05:\d\d</dd>', check)
        assert '<dd class="num">SEK\xa010.00</dd>' in check
        answer = browser.post("/en/protection/check/", {"table": "baccarat", "mode": "R", "answer": "continue"})
        assert answer.headers["Location"] == "/en/table/baccarat/real/"
        assert 'id="check"' not in browser.get("/en/table/baccarat/real/").content.decode()

    @pytest.mark.sweep
    def test_a_player_who_leaves_is_led_to_the_lobby(self, player, table):
        answer = logged_in(player).post("/en/protection/check/", {"table": "baccarat", "mode": "R", "answer": "leave"})
        assert answer.headers["Location"] == "/en/"

    def test_refuses_a_deal_with_a_sentence_and_shows_itself(self, player, table, owner):
        browser = logged_in(player)
        browser.get("/en/table/baccarat/free/")
        seat = a_seat(player, table, Mode.FREE, player=1000)
        ago(owner, 65)
        assert seat.table.version
        sent = {
            "action": "deal",
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": seat.table.version.number,
        }
        page = browser.post("/en/table/baccarat/free/play/", sent, headers={"HX-Request": "true"}).content.decode()
        assert "Check your time and money first" in page
        assert 'id="check"' in page
        assert not Participation.objects.filter(player=player).exists()
        assert solo_seat_at(player=player, table_id=table.pk, mode=Mode.FREE).slip == {"player": 1000}


class TestTimePlayed:
    def test_counts_gaps_up_to_nine_minutes(self, player, table, owner):
        play(player, table, None)
        for minutes in (5, 9, 10):
            ago(owner, minutes)
            owner.execute("UPDATE players_playtime SET last_at = last_at + interval '1 second'")
            play(player, table, None)
        assert 13 * 60 <= PlayTime.objects.get(player=player).seconds <= 14 * 60

    @pytest.mark.parametrize("mode", sample([Mode.REAL, Mode.FREE], 1), ids=["real", "free"])
    @pytest.mark.parametrize("period", sample(["day", "week", "month"], 1))
    def test_used_up_lets_no_round_begin(self, player, table, owner, mode, period):
        owner.execute(
            "SELECT players_change_limit(%s, 'player', 'time', %s, 3600, %s, '')", [player.pk, period, str(player)]
        )
        play(player, table, None, mode)
        owner.execute("UPDATE players_playtime SET seconds = 3590")
        play(player, table, None, mode)
        owner.execute("UPDATE players_playtime SET seconds = 3600")
        with pytest.raises(NotEligible, match="used_up"):
            play(player, table, None, mode)
        assert eligibility.check_deposit(player) is None

    @pytest.mark.sweep
    def test_of_an_earlier_day_leaves_today_alone(self, player, table, owner):
        owner.execute(
            "SELECT players_change_limit(%s, 'player', 'time', 'day', 3600, %s, '')", [player.pk, str(player)]
        )
        play(player, table, None)
        owner.execute("UPDATE players_playtime SET seconds = 9000, day = day - 1, last_at = last_at - interval '1 day'")
        play(player, table, None)


@pytest.mark.sweep
def test_the_line_in_the_header_says_clock_length_and_net(player, table, owner):
    browser = logged_in(player)
    browser.get("/en/table/baccarat/free/")
    for _ in range(2):
        play(player, table, PlaySession.objects.get().session, Mode.FREE)
    ago(owner, 61)
    page = browser.get("/en/table/baccarat/free/").content.decode()
    line = page[page.index('id="play-session"') : page.index("</div>", page.index('id="play-session"'))]
    assert re.search(r'id="play-session-duration">1:01:\d\d<', line)
    assert "Net, play money" in line
    assert 'data-zone="Europe/Stockholm"' in line


def logged_in(player: Player) -> Client:
    """Return a browser whose session has an id, as after a login."""
    client = a_visitor()
    client.force_login(player.user)
    session = client.session
    session["sid"] = str(uuid4())
    session.save()
    return client
