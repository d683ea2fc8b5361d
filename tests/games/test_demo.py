"""The demo game for visitors: cards, rules and refusals as for money, and nothing is stored."""

import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from audit.models import Event
from games.betting.limits import Limits
from games.betting.rules import Change, Deal
from games.demo import play, session_state
from games.demo.play import Click, DemoSeat, DemoTable
from games.engine.bets import Shape
from games.engine.cards import Card
from games.engine.coup import deal as hands
from games.engine.settle import settle
from games.errors import BalanceTooLow, PlayError, SlipChanged, StalePage, TableChanged, TableClosed, UnderMinimum
from games.models import Participation, Round, SoloSeat
from games.solo.page import game_view as players_view
from games.tables.default_tables import baccarat_limits, golden_limits
from games.tables.status import close_table
from games.variants import VARIANTS
from players.login.sessions import row_key
from players.models import BrowserSession, Player, User
from tests.builders import a_golden_table, a_player, a_seat, a_table, put_live
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, log_in
from wallet.models import Journal, Mode

pytestmark = pytest.mark.usefixtures("dealer")

TOOL = Path(__file__).resolve().parents[2] / "tools" / "verify_round.py"
CHIPS = 10_000_00
TABLES = {"baccarat": baccarat_limits, "golden": golden_limits}
LANGUAGES = ("sv", "da", "ro", "de", "en")
CURRENCIES = {"sv": "SEK", "da": "DKK", "ro": "RON", "de": "EUR", "en": "GBP"}


def the_table(slug: str = "baccarat", **changes: Any) -> DemoTable:
    """Return a table as a visitor finds it."""
    table = DemoTable(7, VARIANTS[slug], Limits.of(TABLES[slug](), "SEK"), version=1)
    return replace(table, **changes)


def a_demo_seat(table: DemoTable, /, **bets: int) -> DemoSeat:
    """Return a visitor's seat with one chip on each bet."""
    demo_seat = play.sit_down(table, CHIPS)
    for bet, chip in bets.items():
        demo_seat = play.add_chip(demo_seat, table, bet, chip)
    return demo_seat


def as_shown(demo_seat: DemoSeat, table: DemoTable) -> Click:
    """Return the values that the page sends."""
    return Click(demo_seat.next.round_id, demo_seat.slip_version, table.version)


def deal(demo_seat: DemoSeat, table: DemoTable, how: Deal = Deal.AS_PLACED) -> DemoSeat:
    """Return the seat after DEAL."""
    return play.play_round(demo_seat, table, as_shown(demo_seat, table), how)


class TestTheCards:
    @pytest.mark.parametrize("slug", sample(TABLES, 1))
    def test_are_those_that_were_sealed_before_as_anyone_can_check(self, slug):
        table = the_table(slug)
        before = a_demo_seat(table, player=1000)
        said = replace(as_shown(before, table), player_value="my own words")
        last = play.play_round(before, table, said, Deal.AS_PLACED).last
        assert last is not None
        assert last.commitment == before.next.commitment
        named = ["--purpose", "demo", "--id", str(last.id), "--table", "7", "--rules", last.rules]
        named += ["--decks", str(table.variant.decks), "--player-value", "my own words"]
        command = [sys.executable, str(TOOL), last.seed, before.next.commitment, *named]
        checked = subprocess.run(command, capture_output=True, text=True, check=True)
        assert checked.stdout.splitlines()[0].split()[1:] == last.cards.split()

    def test_gli19_4_9_1_are_settled_by_the_rules_of_the_game(self):
        table = the_table()
        before = a_demo_seat(table, banker=10_000, tie=1000)
        last = deal(before, table).last
        assert last is not None
        coup = hands([Card.parse(code) for code in last.cards.split()])
        assert last.lines == settle(table.variant, coup, {"banker": 10_000, "tie": 1000}).lines
        assert last.balance_after == CHIPS - 11_000 + last.paid

    def test_come_from_a_new_seed_every_round(self):
        table = the_table()
        demo_seat, seeds = a_demo_seat(table, player=1000), set()
        for _ in range(20):
            demo_seat = deal(demo_seat, table, Deal.REPEATED if demo_seat.last else Deal.AS_PLACED)
            assert demo_seat.last is not None
            seeds.add(demo_seat.last.seed)
        assert len(seeds) == 20


class TestOneClick:
    def test_plays_one_round_however_often_it_comes(self):
        table = the_table()
        before = a_demo_seat(table, player=1000)
        after = deal(before, table)
        assert play.play_round(after, table, as_shown(before, table), Deal.AS_PLACED) == after

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            ({"round_id": uuid4}, StalePage),
            ({"slip_version": lambda: 7}, SlipChanged),
            ({"table_version": lambda: 2}, TableChanged),
        ],
        ids=["another round", "other bets", "other limits"],
    )
    def test_of_another_page_is_refused(self, change, error):
        table = the_table()
        demo_seat = a_demo_seat(table, player=1000)
        click = replace(as_shown(demo_seat, table), **{name: made() for name, made in change.items()})
        with pytest.raises(error):
            play.play_round(demo_seat, table, click, Deal.AS_PLACED)


class TestTheLimits:
    def test_are_the_tables(self):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [5000, 10_000]
        table = the_table(limits=Limits.of(limits, "SEK"))
        with pytest.raises(UnderMinimum):
            deal(a_demo_seat(table, tie=1000), table)
        with pytest.raises(PlayError):
            a_demo_seat(table, tie=50_000)

    def test_are_the_chips_too(self):
        table = the_table()
        demo_seat = replace(a_demo_seat(table, player=1000), chips=1500)
        with pytest.raises(BalanceTooLow):
            play.add_chip(demo_seat, table, "player", 1000)
        with pytest.raises(BalanceTooLow):
            play.change_slip(demo_seat, table, Change.DOUBLE)
        with pytest.raises(BalanceTooLow):
            deal(demo_seat, table, Deal.DOUBLED)

    def test_closed_means_closed_but_bets_may_go(self):
        open_table = the_table()
        demo_seat, closed = a_demo_seat(open_table, player=1000), the_table(refusal=TableClosed())
        for refused in (lambda: deal(demo_seat, closed), lambda: play.add_chip(demo_seat, closed, "tie", 1000)):
            with pytest.raises(TableClosed):
                refused()
        assert play.change_slip(demo_seat, closed, Change.CLEAR).slip.stakes == {}
        with pytest.raises(TableClosed):
            play.demonstration(closed)

    def test_a_refill_brings_the_chips_up_and_never_down(self):
        demo_seat = a_demo_seat(the_table())
        assert play.refill(replace(demo_seat, chips=5), CHIPS).chips == CHIPS
        assert play.refill(replace(demo_seat, chips=CHIPS + 1), CHIPS).chips == CHIPS + 1


class TestADemonstration:
    @pytest.mark.parametrize("slug", [slug for slug, variant in VARIANTS.items() if variant.shape is Shape.SOLO])
    @pytest.mark.parametrize("currency", sorted(baccarat_limits()))
    def test_is_a_round_that_the_table_allows(self, slug, currency):
        limits = Limits.of(TABLES[slug](), currency)
        shown = play.demonstration(the_table(slug, limits=limits))
        limits.check({line.bet: line.stake for line in shown.lines})
        assert shown.currency == currency

    def test_stays_under_a_maximum_that_the_chips_exceed(self):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["player"] = [1000, 2000]
        shown = play.demonstration(the_table(limits=Limits.of(limits, "SEK")))
        assert {line.bet: line.stake for line in shown.lines}["player"] == 2000


# --- Over HTTP ------------------------------------------------------------------------------------------------------


@pytest.fixture
def visitor(db) -> Client:
    return a_visitor()


@pytest.fixture
def table(db):
    return a_table()


def enter(visitor: Client, to: str = "play", *, slug: str = "baccarat", language: str = "en"):
    """Submit the start form."""
    return visitor.post(f"/{language}/demo/{slug}/start/", {"adult": "on", "to": to})


def demo_seat_of(visitor: Client, slug: str = "baccarat") -> DemoSeat:
    """Return the visitor's seat from the session."""
    found = session_state.read(visitor.session)
    assert found is not None
    return found.demo_seats[slug]


def click(visitor: Client, action: str, *, slug: str = "baccarat", htmx: bool = True, **changes: Any) -> Any:
    """Press a button of the table's page in its current state."""
    demo_seat = demo_seat_of(visitor, slug)
    form = {
        "action": action,
        "round_id": demo_seat.next.round_id,
        "slip_version": demo_seat.slip_version,
        "table_version": 1,
        "chip": Limits.of(TABLES[slug](), demo_seat.currency).chips[0],
    } | changes
    return visitor.post(f"/en/demo/{slug}/play/", form, headers={"HX-Request": "true"} if htmx else {})


class TestTheDoor:
    def test_takes_nobody_in_by_reading(self, visitor, table):
        answer = visitor.get("/en/demo/baccarat/")
        assert "at least 18 years old" in answer.text
        assert settings.SESSION_COOKIE_NAME not in answer.cookies
        assert not BrowserSession.objects.exists()

    @pytest.mark.parametrize("to", ["play", "watch"])
    def test_asks_for_the_age_first(self, visitor, table, to):
        answer = visitor.post("/en/demo/baccarat/start/", {"to": to})
        assert "First confirm that you are at least 18 years old." in answer.text
        assert session_state.read(visitor.session) is None

    @pytest.mark.sweep
    def test_asks_once(self, visitor, table):
        a_golden_table()
        enter(visitor)
        assert 'name="adult"' not in visitor.get("/en/demo/golden/").text
        assert visitor.post("/en/demo/golden/start/", {"to": "play"})["Location"] == "/en/demo/golden/"

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_gives_chips_in_the_money_of_the_language(self, visitor, table, language):
        enter(visitor, language=language)
        assert demo_seat_of(visitor).currency == CURRENCIES[language]
        visitor.get(f"/{language}/demo/baccarat/")

    def test_gives_the_tables_first_money_where_the_language_has_none_there(self, visitor):
        a_table(limits={"EUR": baccarat_limits()["EUR"]})
        enter(visitor, language="sv")
        assert demo_seat_of(visitor).currency == "EUR"

    def test_is_shut_where_the_table_is(self, visitor, table):
        close_table(table_id=table.pk, reason="for a test", by="staff:test")
        assert "This table is closed now." in visitor.get("/en/demo/baccarat/").text
        assert "This table is closed now." in enter(visitor).text
        assert session_state.read(visitor.session) is None

    @pytest.mark.parametrize("slug", ["roulette", "pairs"])
    def test_is_nowhere_else(self, visitor, table, slug):
        assert visitor.get(f"/en/demo/{slug}/").status_code == 404

    @pytest.mark.sweep
    def test_is_passed_only_so_often(self, visitor, table):
        with time_machine.travel(datetime.now(UTC), tick=False):  # within one minute, however slow the machine is
            answers = [enter(visitor, "watch").status_code for _ in range(31)]
        assert set(answers[:-1]) == {302}
        assert answers[-1] == 429


class TestWhereThereIsNoVisitorPlay:
    @pytest.mark.sweep
    def test_nothing_shows(self, visitor, table, settings):
        settings.DEMO_PLAY = False
        lobby = visitor.get("/en/").text
        assert "/demo/" not in lobby
        assert "Free play" in lobby
        for address in ("", "watch/"):
            assert visitor.get(f"/en/demo/baccarat/{address}").status_code == 404
        for address in ("start/", "play/", "watch/"):
            assert visitor.post(f"/en/demo/baccarat/{address}", {"adult": "on"}).status_code == 404


class TestAtTheTable:
    def test_a_whole_round_leaves_nothing_but_a_session(self, visitor, table):
        events, journals = Event.objects.count(), Journal.objects.count()
        enter(visitor)
        click(visitor, "bet:player")
        answer = click(visitor, "deal")
        last = demo_seat_of(visitor).last
        assert answer.status_code == 200
        assert "data-fresh" in answer.text
        assert last is not None
        assert unescape(re.findall(r'href="(/en/fair/[?][^"]*)"', answer.text)[0]).count(last.seed) == 1
        for model in (Round, Participation, SoloSeat, Player, User):
            assert not model._default_manager.exists()
        assert (Event.objects.count(), Journal.objects.count()) == (events, journals)

    def test_the_seed_to_come_reaches_neither_page_nor_cookie_nor_session(self, visitor, table):
        enter(visitor)
        click(visitor, "bet:player")
        before = demo_seat_of(visitor)
        page = visitor.get("/en/demo/baccarat/").text
        stored = str(visitor.session[session_state.KEY])
        assert before.next.commitment in page
        assert before.next.commitment in stored
        click(visitor, "deal")
        last = demo_seat_of(visitor).last
        assert last is not None
        assert last.commitment == before.next.commitment
        assert last.seed not in page
        assert last.seed not in stored
        assert settings.SESSION_ENGINE == "players.login.sessions"  # stored on the server
        assert all(len(cookie.value) < 100 for cookie in visitor.cookies.values())

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("language", "name"),
        sample(
            [
                ("sv", "Låtsasmarker"),
                ("da", "Legechips"),
                ("ro", "Jetoane fictive"),
                ("de", "Spieljetons"),
                ("en", "Play chips"),
            ],
            1,
        ),
    )
    def test_what_a_visitor_plays_with_has_one_name_on_the_meter_and_aloud(self, visitor, table, language, name):
        enter(visitor, language=language)
        click(visitor, "bet:player")
        click(visitor, "deal")
        page = unescape(visitor.get(f"/{language}/demo/baccarat/").text)
        assert f'<span class="meter__name">{name}</span>' in page
        assert re.search(rf'data-say="[^"]*[.;] {name}: ', page)

    def test_the_same_click_again_shows_the_same_round(self, visitor, table):
        enter(visitor)
        click(visitor, "bet:player")
        shown = demo_seat_of(visitor)
        click(visitor, "deal")
        once = demo_seat_of(visitor)
        again = click(visitor, "deal", round_id=shown.next.round_id, slip_version=shown.slip_version)
        assert "This round has already been played." in again.text
        assert demo_seat_of(visitor) == once

    @pytest.mark.parametrize("slug", sample(TABLES, 1))
    def test_works_without_javascript(self, visitor, slug):
        a_table(slug, variant=slug, limits=TABLES[slug]())
        enter(visitor, slug=slug)
        for action in ("bet:player", "clear", "bet:banker", "deal", "refill", "keep"):
            answer = click(visitor, action, slug=slug, htmx=False)
            assert answer["Location"] == f"/en/demo/{slug}/"
            assert visitor.get(f"/en/demo/{slug}/").status_code == 200
        assert demo_seat_of(visitor, slug).last is not None

    @pytest.mark.sweep
    def test_a_refusal_without_javascript_is_said_once(self, visitor, table):
        enter(visitor)
        click(visitor, "deal", htmx=False)
        assert "Place a bet first" in visitor.get("/en/demo/baccarat/").text
        assert "Place a bet first" not in visitor.get("/en/demo/baccarat/").text

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "message"),
        sample(
            [
                ({"action": "nonsense"}, "This page was out of date and has been updated."),
                ({"action": "bet:player", "round_id": "x"}, "This page was out of date and has been updated."),
                ({"action": "bet:player", "chip": "7"}, "This table does not have this chip."),
                ({"action": "bet:moon"}, "This bet does not exist in this game."),
                ({"action": "lower"}, "This table has no such button."),
                ({"action": "bet:player", "table_version": 9}, "The limits or rules of this table have changed."),
                ({"action": "rebet"}, "There is no previous round"),
            ],
            3,
        ),
        ids=["no action", "no round", "no chip", "no bet", "not offered", "other limits", "nothing to repeat"],
    )
    def test_what_makes_no_sense_gets_a_sentence(self, visitor, table, changes, message):
        enter(visitor)
        before = demo_seat_of(visitor)
        answer = click(visitor, **changes)
        assert message in answer.text
        assert demo_seat_of(visitor) == before

    @pytest.mark.sweep
    def test_chips_that_are_gone_are_refilled(self, visitor, table):
        enter(visitor)
        with session_state.changing(visitor.session) as kept:
            kept.demo_seats["baccarat"] = replace(kept.demo_seats["baccarat"], chips=0)
        assert "You do not have enough play chips for this bet." in click(visitor, "bet:player").text
        click(visitor, "refill")
        assert demo_seat_of(visitor).chips == 1000_00

    @pytest.mark.sweep
    def test_new_limits_hold_from_the_next_click_on(self, visitor, table):
        enter(visitor)
        limits = baccarat_limits()
        limits["GBP"]["bets"]["tie"] = [500, 1000]
        put_live(table_id=table.pk, limits=limits, reason="for a test")
        assert "have changed" in click(visitor, "bet:tie").text
        assert "£5.00" in click(visitor, "bet:tie", table_version=2).text

    def test_a_session_that_is_gone_leads_to_the_door(self, visitor, table):
        enter(visitor)
        form = {"action": "deal"}
        BrowserSession.objects.all().delete()
        answer = visitor.post("/en/demo/baccarat/play/", form, headers={"HX-Request": "true"})
        assert answer["HX-Redirect"] == "/en/demo/baccarat/"
        assert visitor.post("/en/demo/baccarat/play/", form)["Location"] == "/en/demo/baccarat/"
        assert visitor.post("/en/demo/baccarat/watch/")["Location"] == "/en/demo/baccarat/"

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "older",
        sample(
            [
                lambda stored: stored["demo_seats"]["baccarat"].pop("next"),
                lambda stored: stored["demo_seats"]["baccarat"].update(favourites=[]),
                lambda stored: stored["demo_seats"]["baccarat"]["last"].update(
                    lines=[["player", 100, 0, 0, "surrendered"]]
                ),
                lambda stored: stored.update(notice={"words": "Welcome"}),
                lambda stored: stored.update(demo_seats=None),
            ],
            1,
        ),
        ids=["less", "more", "other words", "another notice", "another shape"],
    )
    def test_what_another_release_has_kept_is_let_go_but_the_age(self, visitor, table, older):
        enter(visitor)
        click(visitor, "bet:player")
        click(visitor, "deal")
        session = visitor.session
        older(session[session_state.KEY])
        session.save()
        page = visitor.get("/en/demo/baccarat/")
        assert page.status_code == 200
        assert "Play a round" in page.text
        assert 'name="adult"' not in page.text
        for address, back in {"play/": "", "watch/": "watch/"}.items():
            answer = visitor.post(f"/en/demo/baccarat/{address}", {"action": "deal"})
            assert answer["Location"] == f"/en/demo/baccarat/{back}"
        visitor.post("/en/demo/baccarat/start/", {"to": "play"})
        assert click(visitor, "bet:player").status_code == 200

    @pytest.mark.sweep
    def test_is_as_it_is_to_a_player(self, visitor, table):
        """Bets, chips, limits and controls are the same as for a player."""
        demo_seat = a_seat(a_player(free=CHIPS), table, Mode.FREE)
        theirs = players_view(demo_seat, language="en")
        enter(visitor, language="sv")
        ours = visitor.get("/en/demo/baccarat/").context["game"]
        for same in ("spots", "tray", "controls", "limits", "currency", "mode", "table_version", "is_open"):
            assert getattr(ours, same) == getattr(theirs, same)


class TestAVisitorWhoLogsIn:
    @pytest.mark.sweep
    def test_is_led_to_the_table_itself(self, visitor, table):
        enter(visitor)
        visitor.force_login(a_player().user)
        answer = visitor.post("/en/demo/baccarat/play/", {"action": "deal"}, headers={"HX-Request": "true"})
        assert answer["HX-Redirect"] == "/en/table/baccarat/free/"
        assert visitor.get("/en/demo/baccarat/")["Location"] == "/en/table/baccarat/free/"
        assert "/demo/" not in visitor.get("/en/").text

    def test_staff_are_led_to_the_lobby(self, visitor, table):
        visitor.force_login(a_member_of_staff("operator").user)
        assert visitor.get("/en/demo/baccarat/")["Location"] == "/en/"

    def test_is_a_visitor_no_more(self, visitor, table):
        player = a_player(password="walking-the-dog-7")
        enter(visitor)
        seated_players = visitor.session.session_key
        log_in(visitor, player.user)
        assert visitor.session.get("_auth_user_id") == str(player.user.pk)
        assert session_state.read(visitor.session) is None
        assert visitor.session.session_key != seated_players
        row = BrowserSession.objects.filter(pk=row_key(seated_players))
        assert not row.exists(), "nobody who knew the visitor's session gets into this one"


class TestWatching:
    def test_deals_a_round_and_tells_every_step(self, visitor, table):
        assert enter(visitor, "watch")["Location"] == "/en/demo/baccarat/watch/"
        found = session_state.read(visitor.session)
        assert found is not None
        assert not found.demo_seats
        page = visitor.get("/en/demo/baccarat/watch/")
        assert page.text.count("<li value=") == len(page.context["watched"].steps)
        assert found.watched["baccarat"].seed in page.text
        before = found.watched["baccarat"]
        visitor.post("/en/demo/baccarat/watch/")
        again = session_state.read(visitor.session)
        assert again is not None
        assert again.watched["baccarat"] != before

    def test_is_left_for_the_table_with_one_click(self, visitor, table):
        enter(visitor, "watch")
        assert visitor.post("/en/demo/baccarat/start/", {"to": "play"})["Location"] == "/en/demo/baccarat/"
        assert "Demo game: play chips" in visitor.get("/en/demo/baccarat/").text
