"""The players and kinds of money that a table serves: others cannot see it or stake there.

A player who is seated when the table stops serving them finishes the round.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from django.utils import timezone, translation

from games import solo
from games.betting import eligibility
from games.betting.rules import Change
from games.change_requests import requests
from games.chemin import play, tick
from games.errors import NotEligibleHere, OtherMoney
from games.lobby.selectors import lobby, lobby_cards, playable_table
from games.models import CheminSeat, FavouriteTable, LiveTable, Phase, Round, Shape, SoloSeat, Table, TableVersion
from games.shared import bets, phases
from games.shared.seats import seat_at
from games.tables.checks import NobodyEligible, TableClock, TableEligibility
from games.tables.chemin_rules import CheminClock
from games.tables.clock import Clock
from games.tables.default_tables import baccarat_limits, load_tables
from games.tables.versions import make_table
from players.models import Player
from tests.builders import (
    a_chemin_live_table,
    a_golden_table,
    a_player,
    a_purse,
    a_seat,
    a_shared_table,
    a_table,
    approve,
    put_live,
)
from tests.chemin.at_table import a_chemin_table, a_staked_coup, answer, play_out, seated_players, sit, table_state_of
from tests.harness.owner import create_as_owner, one_as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, live_table_of, round_at, step
from tests.people import a_member_of_staff, a_visitor
from wallet.ledger import purse
from wallet.ledger.accounts import balance
from wallet.models import Mode

pytestmark = pytest.mark.django_db
LANGUAGES = ("sv", "da", "ro", "de", "en")
ELSEWHERE = "This table is not available in your country."
NOT_REAL = "This table is not available for real money."
NOT_FREE = "This table is not available for play money."
MONEY = 1_000_000


def serve(table: Table, jurisdictions: list[str] | None = None, modes: list[Mode] | None = None) -> TableVersion:
    """Publish a version of a table for other players or money."""
    limits = TableVersion.objects.filter(table=table).latest("number").limits
    return put_live(table_id=table.pk, limits=limits, jurisdictions=jurisdictions, modes=modes)


def at(player: Player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def stakes_at(table: Table, player: Player) -> dict[str, Any]:
    """Return the identifying arguments of a click at a solo table."""
    return {"player": player, "table_id": table.pk, "mode": Mode.REAL}


MAKERS: dict[Shape, Callable[[], Table]] = {
    Shape.SOLO: a_table,
    Shape.SHARED: a_shared_table,
    Shape.CHEMIN: a_chemin_live_table,
}


@pytest.mark.parametrize("shape", list(Shape))
class TestAPlayerWithoutAccessToATable:
    @pytest.mark.sweep
    def test_is_not_shown_it_in_the_lobby_and_others_are(self, shape):
        table, swede, dane = MAKERS[shape](), a_player("SE"), a_player("DK")
        table.refresh_from_db()
        serve(table, ["SE"])
        seen = [[each.slug for each in lobby(who, Mode.REAL, "en")] for who in (swede, dane)]
        assert seen == [[table.slug], []]
        assert playable_table(table.variant, dane) is None
        assert "/table/" not in at(dane).get("/en/").text
        assert lobby_cards(Mode.REAL, "SEK", "DK") == []
        assert len(list(lobby_cards(Mode.REAL, "SEK", "SE"))) == (0 if shape is Shape.SOLO else 1)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_reads_at_its_address_why_not(self, shape, language):
        table = MAKERS[shape]()
        serve(table, ["DE"])
        answer = at(a_player("SE", real=MONEY)).get(f"/{language}/table/{table.slug}/real/")
        assert answer.status_code == 404
        with translation.override(language):
            said = translation.gettext(ELSEWHERE)
        assert (said != ELSEWHERE) is (language != "en")
        assert said in unescape(answer.text)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    @pytest.mark.parametrize(
        ("mode", "other", "message"), sample([("real", "F", NOT_REAL), ("free", "R", NOT_FREE)], 1)
    )
    def test_reads_so_too_for_money_that_it_is_not_played_for(self, shape, language, mode, other, message):
        table = MAKERS[shape]()
        serve(table, modes=[Mode(other)])
        visitor = at(a_player("SE", real=MONEY, free=MONEY))
        answer = visitor.get(f"/{language}/table/{table.slug}/{mode}/")
        assert answer.status_code == 404
        with translation.override(language):
            assert translation.gettext(message) in unescape(answer.text)
        assert [each.slug for each in lobby(None, Mode(other), "sv")] == [table.slug]
        assert lobby(None, Mode.REAL if other == "F" else Mode.FREE, "sv") == ()

    @pytest.mark.sweep
    @pytest.mark.parametrize("htmx", sample([True, False], 1), ids=["htmx", "plain"])
    def test_is_led_from_every_form_to_that_page(self, shape, htmx):
        table, player = MAKERS[shape](), a_player("SE", real=MONEY)
        serve(table, ["DE"])
        addresses = {Shape.SOLO: ["play"], Shape.SHARED: ["bet", "chips", "favourites"], Shape.CHEMIN: ["act", "seat"]}
        headers = {"HX-Request": "true"} if htmx else {}
        for last in [*addresses[shape], "panel/cashier/top-up"]:
            answer = at(player).post(f"/en/table/{table.slug}/real/{last}/", {"action": "join"}, headers=headers)
            assert answer["HX-Redirect" if htmx else "Location"] == f"/en/table/{table.slug}/real/", last
        assert not SoloSeat.objects.exists()
        assert not CheminSeat.objects.exists()

    @pytest.mark.sweep
    def test_does_not_keep_it_among_favourites(self, shape):
        table, player = MAKERS[shape](), a_player("SE")
        serve(table, ["DE"])
        assert at(player).post(f"/en/lobby/favourite/{table.slug}/", {"keep": "yes"}).status_code == 404
        assert not FavouriteTable.objects.exists()

    def test_may_not_even_watch(self, shape):
        table, player = MAKERS[shape](), a_player("SE", real=MONEY)
        serve(table, ["DE"])
        assert not eligibility.is_in_current_round(player, table, Mode.REAL)
        now = {Shape.SOLO: "", Shape.SHARED: "now/", Shape.CHEMIN: "chemin/now/"}[shape]
        answer = at(player).get(f"/en/table/{table.slug}/real/{now}", headers={"HX-Request": "true"})
        assert answer.status_code == 404


class TestASoloTable:
    def test_takes_no_seat_chip_or_stake_from_them_in_any_call(self):
        table, player = a_table(), a_player(real=MONEY)
        solo_seat = a_seat(player, table, player=1000)
        serve(table, ["DE"])
        where = stakes_at(table, player)
        for action in (
            lambda: solo.add_chip(**where, bet="player", chip=1000),
            lambda: solo.change_slip(**where, change=Change.DOUBLE),
            lambda: solo.play_round(**where, round_id=solo_seat.round_id, slip_version=solo_seat.slip_version),
            lambda: solo.solo_seat_at(player=a_player("DK"), table_id=table.pk, mode=Mode.REAL),
        ):
            with pytest.raises(NotEligibleHere):
                action()
        solo.change_slip(**where, change=Change.CLEAR)
        assert not Round.objects.exists()

    def test_takes_no_money_of_a_kind_that_it_is_not_played_for(self):
        table, player = a_table(), a_player(real=MONEY)
        solo_seat = a_seat(player, table, player=1000)
        serve(table, modes=[Mode.FREE])
        with pytest.raises(OtherMoney):
            solo.play_round(
                **stakes_at(table, player), round_id=solo_seat.round_id, slip_version=solo_seat.slip_version
            )


class TestAGameWithABalanceOfItsOwn:
    @pytest.mark.parametrize("mode", list(Mode))
    def test_returns_bets_to_players_its_table_no_longer_serves(self, mode):
        table, player = a_golden_table(), a_player("SE", real=MONEY, free=MONEY)
        a_purse(player, 50_000, mode)
        serve(table, ["DE"])
        address = f"/en/table/{table.slug}/{'real' if mode is Mode.REAL else 'free'}/"
        visitor = at(player)
        assert visitor.post(f"{address}re-buy/", {"amount": "10", "key": str(uuid4())})["Location"] == address
        page = unescape(visitor.get(address).text)
        (key,) = re.findall(r'name="key" value="([^"]+)"', page)
        assert f'action="{address}leave/"' in page
        visitor.post(f"{address}leave/", {"key": key})
        assert (purse.balance(player, mode), balance(player.pk, mode)) == (0, MONEY)
        assert "leave/" not in visitor.get(address).text


class TestASharedTable:
    def test_gli19_a_5_1_finishes_the_round_with_its_bettors_and_takes_no_more_bets(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, banker=5000)
        serve(live_table.table, ["DE"])
        with pytest.raises(NotEligibleHere):
            bet(player, live_table, banker=5000)
        page = f"/en/table/{live_table.table.slug}/real/"
        visitor = at(player)
        assert visitor.get(page).status_code == 200, "who has bets there sees the round to its end"
        assert advance_to(live_table, Phase.SETTLED).version.number == 1
        assert visitor.get(page).status_code == 200
        assert step(live_table).version.number == 2
        assert visitor.get(page).status_code == 404

    @pytest.mark.sweep
    def test_lets_them_take_bets_off(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, banker=5000)
        serve(live_table.table, ["DE"])
        seat = bets.change_slip(
            player=player, live_table_id=live_table.pk, round_id=round_at(live_table).pk, change=Change.UNDO
        )
        assert seat.stakes == {}

    @pytest.mark.sweep
    def test_tells_why_where_the_click_comes_too_late(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, banker=5000)
        visitor = at(player)
        serve(live_table.table, ["DE"])
        live_round = round_at(live_table)
        click = {"action": "bet:banker", "chip": "5000", "round_id": str(live_round.pk), "table_version": "1"}
        answer = visitor.post(f"/en/table/{live_table.table.slug}/real/bet/", click, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert ELSEWHERE in unescape(answer.text)

    def test_gives_no_seat_to_players_it_does_not_serve(self):
        table = a_shared_table()
        serve(table, ["DE"])
        live_table = LiveTable.objects.select_related("table__version").get(table=table, mode=Mode.REAL)
        with pytest.raises(NotEligibleHere):
            seat_at(a_player("SE"), live_table)

    @pytest.mark.sweep
    def test_opens_no_round_for_money_that_it_is_not_played_for_and_opens_them_again(self):
        table = a_shared_table()
        real = live_table_of(table)
        serve(table, modes=[Mode.FREE])
        assert real.pk not in phases.due()
        assert live_table_of(table, Mode.FREE).pk in phases.due()
        serve(table, modes=[Mode.FREE, Mode.REAL])
        assert real.pk in phases.due()

    @pytest.mark.sweep
    @pytest.mark.parametrize("make", [a_shared_table, a_chemin_live_table])
    def test_is_laid_out_for_money_that_it_is_played_for_later(self, make):
        made = make(is_open=False)
        table = make_table(
            slug="free",
            name="Free",
            variant=made.variant,
            shape=Shape(made.shape),
            limits=made.version.limits,
            clock=pace_of(made),
            eligibility=TableEligibility.of(["SE"], [Mode.FREE]),
            by="staff:1",
        )
        assert [each.mode for each in table.live.all()] == [Mode.FREE]
        serve(table, modes=[Mode.FREE, Mode.REAL])
        assert {each.mode for each in table.live.all()} == set(Mode)
        assert table.live.filter(chemin__isnull=made.shape != Shape.CHEMIN).count() == 2


def pace_of(made: Table) -> TableClock:
    assert made.version
    return (CheminClock if made.shape == Shape.CHEMIN else Clock).of(made.version.clock or {})


class TestACheminTable:
    @pytest.mark.sweep
    def test_seats_no_player_it_does_not_serve(self):
        live_table = a_chemin_table()
        serve(live_table.table, ["DE"])
        with pytest.raises(NotEligibleHere):
            sit(a_player("SE", real=MONEY), live_table)

    def test_takes_no_stake_of_them_and_has_them_get_up(self):
        live_table = a_chemin_table()
        first, second = seated_players(live_table, 2)
        serve(live_table.table, ["DE"])
        assert at(first).get(f"/en/table/{live_table.table.slug}/real/").status_code == 200, "who sits there looks on"
        with pytest.raises(NotEligibleHere):
            answer(first, live_table, "take_bank", 10_000)
        assert live_table.pk in tick.due()
        assert tick.advance(live_table.pk)
        assert table_state_of(live_table).seats == {}
        assert {each.why_left for each in CheminSeat.objects.all()} == {"unserved"}
        assert at(second).get(f"/en/table/{live_table.table.slug}/real/").status_code == 404
        assert live_table.pk not in tick.due()

    @pytest.mark.sweep
    def test_plays_the_coup_to_its_end_first(self):
        live_table = a_chemin_table()
        seated_players(live_table, 2)
        a_staked_coup(live_table)
        serve(live_table.table, ["DE"])
        tick.advance(live_table.pk)
        play_out(live_table)
        while tick.advance(live_table.pk):
            pass
        assert table_state_of(live_table).seats == {}
        assert Round.objects.count() == 1

    @pytest.mark.sweep
    def test_does_not_call_back_players_it_no_longer_serves(self):
        live_table = a_chemin_table()
        player, _ = seated_players(live_table, 2)
        play.step_away(player=player, live_table_id=live_table.pk)
        serve(live_table.table, ["DE"])
        with pytest.raises(NotEligibleHere):
            play.come_back(player=player, live_table_id=live_table.pk)

    def test_where_the_house_plays_seats_is_for_free_money_alone(self):
        table = a_chemin_live_table(seat_count=5, house_players=3)
        assert table.version
        assert table.version.modes == [Mode.FREE]
        with pytest.raises(NobodyEligible, match="only be for free money"):
            serve(table, modes=[Mode.FREE, Mode.REAL])


class TestAVisitor:
    @pytest.mark.sweep
    def test_is_shown_every_table_that_was_put_live(self):
        serve(a_table(), ["DE"])
        assert "/en/table/baccarat/real/" in Client().get("/en/").text

    def test_tries_none_that_is_not_played_for_free_money(self, settings):
        settings.DEMO_PLAY = True
        table = a_table()
        assert f"/en/demo/{table.slug}/" in Client().get("/en/").text
        serve(table, modes=[Mode.REAL])
        assert f"/table/{table.slug}/real/" in Client().get("/en/").text
        assert f"/demo/{table.slug}/" not in Client().get("/en/").text


class TestTheDatabase:
    """The database refuses it to every writer."""

    @pytest.mark.parametrize(
        "changes", [{"jurisdictions": ["DE"]}, {"modes": ["F"]}, {"jurisdictions": ["DE", "DK", "SE"]}]
    )
    def test_a_version_for_others_than_were_agreed_on(self, changes):
        table = a_table()
        assert table.version
        asked = requests.ask_version(
            table_id=table.pk,
            limits=table.version.limits,
            jurisdictions=["SE"],
            modes=[Mode.REAL],
            reason="for a test",
            staff=a_member_of_staff("supervisor", factor=False),
        )
        approve(asked)
        made = TableVersion.objects.get(approval=asked)
        assert (made.jurisdictions, made.modes) == (["SE"], ["R"])
        other = requests.ask_version(
            table_id=table.pk,
            limits=table.version.limits,
            jurisdictions=["SE", "DK"],
            goes_live_at=timezone.now() + timedelta(days=1),
            reason="for a test",
            staff=a_member_of_staff("supervisor", factor=False),
        )
        approve(other)
        written: dict[str, Any] = {"number": 3, "rules_version": made.rules_version, "rules_digest": made.rules_digest}
        given = {"limits": made.limits, "jurisdictions": ["DK", "SE"], "modes": ["R"], "approval": other}
        with pytest.raises(DatabaseError, match="is not of this version"), transaction.atomic():
            create_as_owner(TableVersion(table=table, **written | given | changes))
        with pytest.raises(DatabaseError, match="is not due"), transaction.atomic():
            create_as_owner(TableVersion(table=table, **written | given))

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"jurisdictions": []}, "for_somebody"),
            ({"modes": []}, "for_somebody"),
            ({"modes": ["X"]}, "for_somebody"),
            ({"jurisdictions": ["XX"]}, "no jurisdictions"),
            ({"limits": {"SEK": {"house_players": 1}}, "modes": ["R"]}, "practice_is_free"),
        ],
        ids=str,
    )
    def test_a_version_for_nobody(self, changes, match):
        table = one_as_owner(Table(slug="t", name="T", variant="baccarat"))
        given = {"limits": baccarat_limits(), "jurisdictions": ["SE"], "modes": ["R"], "rules_digest": "0" * 64}
        with pytest.raises(IntegrityError, match=match), transaction.atomic():
            create_as_owner(TableVersion(table=table, number=1, **given | changes))


@pytest.mark.sweep
def test_a_house_begins_with_tables_for_everybody_and_practice_for_free_money():
    load_tables()
    for version in TableVersion.objects.select_related("table"):
        assert version.jurisdictions == ["DE", "DK", "GB", "RO", "SE"]
        assert version.modes == (["F"] if "practice" in version.table.slug else ["F", "R"])
