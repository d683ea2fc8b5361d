"""Open, paused and closed tables: transitions, records, and what a paused solo table does."""

import pytest
from django.db import DatabaseError, transaction

from audit import log
from audit.models import Event
from games.betting.rules import Change
from games.chemin.stop import continue_table
from games.engine.chemin.state import there
from games.errors import TablePaused
from games.models import Round, SoloSeat, Status, Table
from games.solo import change_slip, play_round
from games.tables.checks import TableError
from games.tables.default_tables import baccarat_limits, load_tables
from games.tables.status import NotFromHere, close_table, close_tables, open_table, pause_table
from tests.attacks.statements import refused, send
from tests.builders import a_player, a_round, a_seat, a_table, put_live
from tests.games.at_pages import click
from tests.harness.owner import as_owner
from tests.people import a_visitor, events
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
WHY = {"reason": "The cloth is torn.", "by": "staff:7"}
PAUSES = "This table is paused. The next round opens when the table resumes."


@pytest.fixture
def table() -> Table:
    return a_table()


@pytest.fixture
def paused(table: Table) -> Table:
    return pause_table(table_id=table.pk, **WHY)


def mailed() -> list[tuple[str, str]]:
    """Return the recorded status changes of tables, and who made them."""
    kinds = ("table.opened", "table.paused", "table.went_on", "table.closed")
    return list(Event.objects.filter(kind__in=kinds).order_by("pk").values_list("kind", "by"))[1:]


class TestTheWaysThereAre:
    def test_gli19_2_4_1_opening_pausing_going_on_and_closing_are_recorded_with_their_reason(self, table):
        for turn in (pause_table, continue_table, pause_table, close_table, open_table):
            turn(table_id=table.pk, **WHY)
        assert [kind for kind, _ in mailed()] == [
            "table.paused",
            "table.went_on",
            "table.paused",
            "table.closed",
            "table.opened",
        ]
        assert {by for _, by in mailed()} == {"staff:7"}
        assert {event["data"]["reason"] for event in events("table.paused")} == {WHY["reason"]}
        assert events("table.closed")[-1]["data"]["before"] == Status.PAUSED
        table.refresh_from_db()
        assert table.status == Status.OPEN  # and not paused, as before it was closed

    @pytest.mark.sweep
    @pytest.mark.parametrize("turn", [pause_table, continue_table, close_table, open_table])
    def test_each_takes_a_reason(self, paused, turn):
        with pytest.raises(TableError, match="reason"):
            turn(table_id=paused.pk, reason=" ", by="staff:7")

    @pytest.mark.sweep
    def test_twice_changes_and_records_nothing(self, paused):
        before = mailed()
        pause_table(table_id=paused.pk, **WHY)
        assert mailed() == before

    def test_a_paused_table_is_not_opened_but_let_go_on(self, paused):
        with pytest.raises(NotFromHere, match="paused"):
            open_table(table_id=paused.pk, **WHY)

    @pytest.mark.sweep
    @pytest.mark.parametrize("turn", [pause_table, continue_table])
    def test_a_closed_table_is_opened_first(self, table, turn):
        close_table(table_id=table.pk, **WHY)
        with pytest.raises(NotFromHere, match="closed"):
            turn(table_id=table.pk, **WHY)
        table.refresh_from_db()
        assert table.status == Status.CLOSED

    def test_closing_the_house_closes_what_pauses(self, paused):
        other = a_table("other")
        assert {each.pk for each in close_tables(variant=None, **WHY)} == {paused.pk, other.pk}
        assert close_tables(variant=None, **WHY) == []
        assert set(Table.objects.values_list("status", flat=True)) == {Status.CLOSED}

    @pytest.mark.sweep
    def test_furnishing_the_house_again_leaves_it_as_it_is(self, paused):
        load_tables()
        paused.refresh_from_db()
        assert paused.status == Status.PAUSED

    def test_another_version_comes_into_force_and_it_pauses_on(self, paused):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [1000, 1000]
        put_live(table_id=paused.pk, limits=limits, reason="Smaller ties.")
        paused.refresh_from_db()
        assert (paused.status, there(paused.version).number) == (Status.PAUSED, 2)


class TestTheDatabase:
    """The status is written by SQL, here as the owner of the tables."""

    def refused(self, statement: str, *parameters: int) -> None:
        with pytest.raises(DatabaseError), transaction.atomic():
            as_owner(statement, parameters)

    def test_has_no_table_that_is_anything_else(self, table):
        self.refused("UPDATE games_table SET status = 'ajar' WHERE id = %s", table.pk)

    def test_has_no_closed_table_pause(self, table):
        close_table(table_id=table.pk, **WHY)
        self.refused("UPDATE games_table SET status = 'paused' WHERE id = %s", table.pk)


class TestTheLoginRole:
    """A table opens, pauses and closes on record; nothing else of it changes."""

    SET = "SELECT games_set_table_status(%s, %s, %s, %s)"

    def event(self, table, kind):
        return log.event(kind, by="staff:1", on=f"table:{table.pk}", data={"reason": "x"}).rest

    @pytest.mark.parametrize(
        "change", ["status = 'closed'", "variant = 'pairs'", "shape = 'shared'", "name = 'x'", "version_id = NULL"]
    )
    def test_writes_no_table(self, table, change):
        refused(f"UPDATE games_table SET {change}")
        refused("INSERT INTO games_table (slug, name, variant, shape) VALUES ('x', 'x', 'baccarat', 'solo')")
        as_owner("GRANT UPDATE ON games_table TO sabot_app")
        if change != "version_id = NULL":  # the owner is refused, too
            send(f"UPDATE games_table SET {change}")

    def test_closes_no_table_without_its_event(self, table):
        for kind in ("table.paused", "table.opened"):
            refused(self.SET, table.pk, "closed", "staff:1", self.event(table, kind), by="23514")
        refused(self.SET, table.pk, "closed", "staff:2", self.event(table, "table.closed"), by="23514")
        send(self.SET, table.pk, "closed", "staff:1", self.event(table, "table.closed"))
        assert len(events("table.closed")) == 1

    def test_takes_no_other_step(self, table):
        refused(self.SET, table.pk, "open", "staff:1", self.event(table, "table.opened"), by="SB142")
        close_table(table_id=table.pk, **WHY)
        refused(self.SET, table.pk, "paused", "staff:1", self.event(table, "table.paused"), by="SB142")
        with pytest.raises(NotFromHere):
            pause_table(table_id=table.pk, **WHY)


class TestASoloTable:
    def test_refuses_a_chip_and_a_round(self, table):
        player = a_player(real=MONEY)
        seat = a_seat(player, table, player=1000)
        pause_table(table_id=table.pk, **WHY)
        with pytest.raises(TablePaused):
            a_seat(player, table, player=1000)
        with pytest.raises(TablePaused):
            play_round(
                player=player,
                table_id=table.pk,
                mode=Mode.REAL,
                round_id=seat.round_id,
                slip_version=seat.slip_version,
            )
        assert not Round.objects.exists()
        assert events("round.refused")[-1]["data"]["reason"] == "TablePaused"

    def test_keeps_the_bets_that_lie_there_and_lets_them_be_taken_off(self, table):
        player = a_player(real=MONEY)
        a_seat(player, table, player=1000)
        pause_table(table_id=table.pk, **WHY)
        assert SoloSeat.objects.get().slip == {"player": 1000}
        seat = change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=Change.CLEAR)
        assert seat.slip == {}

    def test_goes_on_with_the_round_that_it_was_committed_to(self, table):
        player = a_player(real=MONEY)
        promised = a_seat(player, table, player=1000)
        pause_table(table_id=table.pk, **WHY)
        continue_table(table_id=table.pk, **WHY)
        played = play_round(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=promised.round_id,
            slip_version=promised.slip_version,
        )
        assert Round.objects.get(pk=played.round_id).commitment == promised.commitment

    @pytest.mark.sweep
    def test_says_so_on_its_page_and_offers_no_deal(self, table):
        player, visitor = a_player(real=MONEY), a_visitor()
        a_round(player, table, player=1000)
        visitor.force_login(player.user)
        pause_table(table_id=table.pk, **WHY)
        page = visitor.get("/en/table/baccarat/real/").text
        assert PAUSES in page
        assert '<span class="badge badge--brass">paused</span>' in page
        assert ">closed<" not in page
        assert "aria-disabled" in page.split('id="act-deal"')[1].split(">")[0]
        assert PAUSES in click(visitor, player, "bet:player").text

    @pytest.mark.sweep
    @pytest.mark.parametrize("who", ["a player", "a visitor"])
    def test_is_paused_in_the_lobby_and_can_be_entered_by_players(self, paused, who):
        visitor = a_visitor()
        if who == "a player":
            visitor.force_login(a_player(real=MONEY).user)
        card = visitor.get("/en/").text.split('id="table-baccarat"')[1].split("</li>")[0]
        assert '<span class="badge badge--brass">paused</span>' in card
        assert "Try a round" not in card
        assert "/table/baccarat/real/" in card

    def test_deals_no_visitor_a_round(self, paused):
        page = a_visitor().get("/en/demo/baccarat/").text
        assert PAUSES in page
        assert "Watch a round" not in page
