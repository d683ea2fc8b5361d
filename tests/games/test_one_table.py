"""Parallel play: where the law forbids it, a player plays at the table opened last."""

import re
from html import unescape
from threading import Barrier, Thread

import pytest
from django.db import connections
from django.test import Client
from django.utils import translation

from games import solo
from games.betting.limits import Limits
from games.betting.rules import Change
from games.errors import TableWaits
from games.models import OpenTable, Participation, SoloSeat
from games.solo import open_table, play_round
from games.tables.default_tables import baccarat_limits
from players.models import Jurisdiction
from tests.builders import a_player, a_seat, a_table
from tests.harness.sweeps import sample
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 50_000  # minor units, in each mode; below every monthly limit
ONE, OTHER = "baccarat", "second"
FORBIDDEN = ["DE"]
ALLOWED = ["SE", "DK", "RO", "GB"]
WAITS = (
    "In your country you can play at only one table at a time. To play here, open this "
    "table again; your other table will then wait."
)


def at_two_tables(code: str, mode: Mode = Mode.REAL) -> tuple[SoloSeat, SoloSeat]:
    """Return a player's seats at two tables with a bet on each, the second opened last."""
    player = a_player(code, real=MONEY, free=MONEY)
    one, other = a_table(ONE), a_table(OTHER)
    chip = Limits.of(baccarat_limits(), player.currency).chips[0]
    return a_seat(player, one, mode, player=chip), a_seat(player, other, mode, player=chip)


def deal(seat: SoloSeat) -> solo.Played:
    return play_round(
        player=seat.player,
        table_id=seat.table_id,
        mode=Mode(seat.mode),
        round_id=seat.round_id,
        slip_version=seat.slip_version,
    )


def reopen(seat: SoloSeat) -> None:
    open_table(player=seat.player, table_id=seat.table_id, mode=Mode(seat.mode))


@pytest.mark.django_db
class TestTheService:
    def test_every_jurisdiction_is_shown_here(self):
        said = dict(Jurisdiction.objects.values_list("code", "may_play_in_parallel"))
        assert said == dict.fromkeys(FORBIDDEN, False) | dict.fromkeys(ALLOWED, True)

    @pytest.mark.parametrize("mode", Mode, ids=["real", "free"])
    def test_a_round_at_the_table_that_waits_is_refused_before_any_stake(self, mode):
        one, other = at_two_tables("DE", mode)
        with pytest.raises(TableWaits):
            deal(one)
        assert not Participation.objects.exists()
        assert accounts.balance(one.player_id, mode) == MONEY
        (refused,) = events("round.refused")
        assert refused["data"]["reason"] == "TableWaits"
        assert not deal(other).repeated

    @pytest.mark.sweep
    def test_opening_it_again_has_the_other_wait(self):
        one, other = at_two_tables("DE")
        reopen(one)
        assert not deal(one).repeated
        with pytest.raises(TableWaits):
            deal(other)

    @pytest.mark.sweep
    def test_the_same_table_for_the_other_kind_of_money_is_another(self):
        player, table = a_player("DE", real=MONEY, free=MONEY), a_table()
        real = a_seat(player, table, Mode.REAL, player=1000)
        free = a_seat(player, table, Mode.FREE, player=1000)
        with pytest.raises(TableWaits):
            deal(real)
        assert not deal(free).repeated

    def test_a_table_that_waits_takes_and_gives_no_chip(self):
        one, _other = at_two_tables("DE")
        for move in (solo.add_chip, solo.take_chip):
            with pytest.raises(TableWaits):
                move(player=one.player, table_id=one.table_id, mode=Mode.REAL, bet="player", chip=1000)
        with pytest.raises(TableWaits):
            solo.change_slip(player=one.player, table_id=one.table_id, mode=Mode.REAL, change=Change.DOUBLE)
        before = one.slip
        one.refresh_from_db()
        assert one.slip == before

    @pytest.mark.sweep
    def test_a_round_played_there_before_is_still_found(self):
        player = a_player("DE", real=MONEY)
        one = a_seat(player, a_table(ONE), player=1000)
        played = deal(one)
        reopen(a_seat(player, a_table(OTHER)))
        assert deal(one).round_id == played.round_id

    @pytest.mark.sweep
    @pytest.mark.parametrize("code", sample(ALLOWED, 1))
    def test_elsewhere_both_tables_deal(self, code):
        for seat in at_two_tables(code, Mode.FREE):  # real money may have to wait between two games
            assert not deal(seat).repeated
        assert not OpenTable.objects.exists()


def test_of_two_deals_at_once_the_row_decides_for_one(cloned_db):
    seats = at_two_tables("DE")
    barrier, dealt = Barrier(len(seats)), []

    def run(seat: SoloSeat) -> None:
        barrier.wait()
        try:
            dealt.append(deal(seat).round_id)
        except TableWaits:
            pass
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=[seat]) for seat in seats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dealt == [seats[1].round_id]


@pytest.mark.django_db
class TestThePage:
    @pytest.fixture
    def seats(self) -> tuple[SoloSeat, SoloSeat]:
        return at_two_tables("DE")

    def tabs(self, seats: tuple[SoloSeat, SoloSeat], language: str = "en") -> Client:
        """Return a browser with both tables open, the second opened last."""
        browser = Client()
        browser.force_login(seats[0].player.user)
        for slug in (ONE, OTHER):
            assert browser.get(f"/{language}/table/{slug}/real/").status_code == 200
        return browser

    def deal(self, browser: Client, seat: SoloSeat, language: str = "en", *, htmx: bool = True) -> str:
        form = {"action": "deal", "round_id": seat.round_id, "slip_version": seat.slip_version, "table_version": 1}
        address = f"/{language}/table/{seat.table.slug}/real/play/"
        answer = browser.post(address, form, headers={"HX-Request": "true"} if htmx else {})
        assert answer.status_code == 200
        return str(answer.text)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
    @pytest.mark.parametrize("htmx", sample([True, False], 1), ids=["htmx", "plain"])
    def test_says_so_with_a_link_that_opens_it_again(self, seats, language, htmx):
        browser = self.tabs(seats, language)
        page = self.deal(browser, seats[0], language, htmx=htmx)
        with translation.override(language):
            expected = translation.gettext(WAITS)
        assert (expected == WAITS) == (language == "en")
        assert expected in unescape(page)
        address = f"/{language}/table/{ONE}/real/"
        assert re.search(rf'role="alert"><p>[^<]*</p><a class="button" href="{address}"', page)
        assert not Participation.objects.exists()
        assert browser.get(address).status_code == 200
        self.deal(browser, seats[0], language)
        assert Participation.objects.get().round_id == seats[0].round_id
        assert expected in unescape(self.deal(browser, seats[1], language))

    @pytest.mark.sweep
    def test_another_browser_of_the_same_player_counts_too(self, seats):
        first, second = self.tabs(seats), self.tabs(seats)
        second.get(f"/en/table/{ONE}/real/")
        assert WAITS in unescape(self.deal(first, seats[1]))
        assert WAITS not in unescape(self.deal(second, seats[0]))
        assert Participation.objects.get().round_id == seats[0].round_id
