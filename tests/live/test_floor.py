"""The floor for staff: state of each table, liability of its round, alarms, and no card too early."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games import chat
from games.chemin import play
from games.engine.bets import Variant
from games.engine.evidence import rounds_to_find
from games.engine.settle import largest_loss, largest_win
from games.fairness.returns.monitor import check_returns, set_stop
from games.incidents import case_of
from games.models import LiveTable, Phase, ReportReason
from games.shared import malfunction
from games.shared.floor import Floor, floor
from games.shared.floor.rows import Row, read_rows, render_head, render_row
from games.shared.round_status import in_hands
from games.tables.status import close_table, open_table, pause_table
from games.variants import VARIANTS
from tests.builders import a_player, a_table
from tests.chemin.at_table import a_bank, a_chemin_table, a_dealt_coup, a_practice_table, a_staked_coup, seated_players
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, live_table_of, make_late, round_at, step
from tests.live.talk import a_talker, say
from tests.people import a_member_of_staff
from tests.returns.test_watching import summed_up, two_points_more
from wallet import house_stop
from wallet.models import Mode

pytestmark = pytest.mark.django_db
BY = {"reason": "for a test", "by": "staff:test"}
CARD = re.compile(r"\b[2-9TJQKA][SHDC]\b")


def on_floor(live_table: LiveTable) -> Floor:
    return next(on for tables in floor().values() for on in tables if on.live_table.pk == live_table.pk)


def row_of(live_table: LiveTable) -> Row:
    row = read_rows().row(f"live-{live_table.pk}")
    assert row is not None
    return row


def read(live_table: LiveTable) -> str:
    """Return the row of a table as sent to staff."""
    return render_row(row_of(live_table), read_rows().now)


def game(live_table: LiveTable) -> Variant:
    return VARIANTS[live_table.table.variant]


def alarms(live_table: LiveTable) -> list[str]:
    return [alarm.code for alarm in row_of(live_table).alarms]


class TestTheStateOfATable:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("then", "while_playing", "after"),
        sample([(None, "open", "open"), (pause_table, "paused", "paused"), (close_table, "closing", "closed")], 1),
    )
    def test_is_said_in_one_word(self, then, while_playing, after):
        live_table = a_live_table()
        bet(a_player(real=100_00), live_table, player=5000)
        if then:
            then(table_id=live_table.table_id, **BY)
        assert row_of(live_table).state == while_playing
        advance_to(live_table, Phase.SETTLED)
        assert row_of(live_table).state == after

    def test_is_stopped_whatever_else_it_is(self):
        live_table = a_live_table()
        close_table(table_id=live_table.table_id, **BY)
        malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        assert row_of(live_table).state == "stopped"

    @pytest.mark.sweep
    def test_counts_down_to_what_is_due_and_never_to_the_end_of_a_deal_which_says_how_many_cards_there_are(self):
        live_table = a_live_table()
        bet(a_player(real=100_00), live_table, player=5000)
        for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
            assert row_of(live_table).deadline == round_at(live_table).deadline
            while round_at(live_table).phase != phase:
                advance_to(live_table, phase)
            if phase is Phase.DEALT:
                assert row_of(live_table).deadline is None
                advance_to(live_table, Phase.SETTLED)
                break
        assert row_of(live_table).deadline == round_at(live_table).deadline

    @pytest.mark.sweep
    def test_counts_down_to_nothing_where_nothing_comes(self):
        live_table = a_live_table()
        bet(a_player(real=100_00), live_table, player=5000)
        advance_to(live_table, Phase.SETTLED)
        pause_table(table_id=live_table.table_id, **BY)
        assert row_of(live_table).deadline is None

    @pytest.mark.sweep
    def test_has_the_last_results_the_latest_last(self):
        live_table = a_live_table()
        dealt = []
        for _ in range(14):
            bet(a_player(real=100_00), live_table, player=5000)
            dealt.append(advance_to(live_table, Phase.SETTLED))
            advance_to(live_table, Phase.BETTING)
        results = [result.side for result in row_of(live_table).results]
        assert results == [bead.outcome for bead in on_floor(live_table).results]
        assert len(results) == 12
        assert read(live_table).count("floor-bead ") == 12

    @pytest.mark.sweep
    def test_is_said_of_tables_where_each_plays_alone(self):
        table = a_table()
        row = read_rows().row(f"solo-{table.pk}")
        assert row is not None
        assert (row.full_name, row.state, row.alarms) == ("Baccarat", "open", ())


class TestHowFarARoundHasCome:
    """The progress of a round in words."""

    def phase(self, live_table: LiveTable) -> str:
        return row_of(live_table).phase

    @pytest.mark.sweep
    def test_is_that_bets_are_taken_and_that_none_follows_where_none_does(self):
        live_table = a_live_table()
        bet(a_player(real=100_00), live_table, player=5000)
        assert self.phase(live_table) == "betting open"
        pause_table(table_id=live_table.table_id, **BY)
        assert self.phase(live_table) == "betting open"
        assert " UTC</time>; then no further round: the table is paused</dd>" in read(live_table)
        advance_to(live_table, Phase.SETTLED)
        assert self.phase(live_table) == "paid; no further round: the table is paused"
        close_table(table_id=live_table.table_id, **BY)
        assert self.phase(live_table) == "paid; no further round: the table is closed"
        open_table(table_id=live_table.table_id, **BY)
        assert self.phase(live_table) == "paid; the next round opens after the deadline"

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("phase", "said"),
        sample(
            [
                (Phase.BETTING, "on hold since the table was stopped; betting closed"),
                (Phase.CLOSED, "on hold since the table was stopped; no more bets and no cards drawn"),
                (Phase.DEALT, "cards are drawn; not settled before the ruling"),
                (Phase.SETTLED, "paid; no further round: the table is stopped"),
            ],
            1,
        ),
    )
    def test_is_that_it_is_held_where_the_table_is_stopped(self, phase, said):
        live_table = a_live_table()
        bet(a_player(real=100_00), live_table, player=5000)
        live_round = round_at(live_table) if phase is Phase.BETTING else advance_to(live_table, phase)
        incident = malfunction.report(round_id=live_round.pk, cause="A quarrel.", by="staff:1")
        assert self.phase(live_table) == said
        case = case_of(incident.pk)
        assert case
        assert case.phase == said.partition("; no further round")[0]

    def test_is_that_no_bet_is_taken_where_the_house_is_stopped(self):
        live_table = a_live_table()
        house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
        assert self.phase(live_table).startswith("betting blocked by the house stop")

    @pytest.mark.sweep
    def test_tells_a_round_without_a_bet_from_one_that_was_voided(self):
        empty, voided = a_live_table(), a_live_table(slug="other")
        bet(a_player(real=100_00), voided, player=5000)
        for live_table in (empty, voided):
            pause_table(table_id=live_table.table_id, **BY)
        step(empty)
        malfunction.cancel(round_id=round_at(voided).pk, reason="A quarrel.", by="staff:1")
        assert self.phase(empty) == "ended without a bet; no further round: the table is paused"
        assert self.phase(voided) == "void, all stakes returned; no further round: the table is paused"
        assert (row_of(voided).bettors, row_of(voided).staked) == (0, ())

    @pytest.mark.sweep
    def test_is_which_cards_are_whose_and_what_they_come_to(self):
        assert in_hands("3C 3D AD 5H") == "Player 3C AD (4), Banker 3D 5H (8)"
        assert in_hands("3C KD AD 5H 9S") == "Player 3C AD 9S (3), Banker KD 5H (5)"
        assert in_hands("3C KD 4D 5H 9S") == "Player 3C 4D (7), Banker KD 5H 9S (4)"
        assert in_hands("3C KD AD 5H 4S 2S") == "Player 3C AD 4S (8), Banker KD 5H 2S (7)"
        assert in_hands("3C") == "Player 3C (3)"
        assert in_hands("") == ""


class TestSinceWhen:
    @pytest.mark.sweep
    def test_a_table_shows_who_set_its_state_and_why(self):
        live_table, table, staff = a_live_table(), a_table(), a_member_of_staff("operator")
        assert row_of(live_table).since == ""
        pause_table(table_id=live_table.table_id, reason="A card is bent.", by=str(staff))
        close_table(table_id=table.pk, reason="Its cloth is torn.", by="system")
        assert row_of(live_table).since.endswith(f" UTC, by {staff.name}: A card is bent.")
        assert "<dt>Paused</dt><dd>since " in read(live_table)
        alone = read_rows().row(f"solo-{table.pk}")
        assert alone
        assert alone.since.endswith(" UTC, by system: Its cloth is torn.")
        open_table(table_id=table.pk, **BY)
        alone = read_rows().row(f"solo-{table.pk}")
        assert alone
        assert alone.since == ""


class TestTheMoneyAtRisk:
    STAKES = {"player": 10_000, "banker": 25_000, "tie": 5_000}

    def test_is_what_the_best_coup_wins_while_bets_may_be_taken_back_and_then_what_the_worst_costs(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        bet(a_player(real=1000_00), live_table, banker=25_000, tie=5_000)
        (risk,) = row_of(live_table).risks
        limit = round_at(live_table).version.limits["SEK"]["liability"]
        assert (risk.currency, risk.staked, risk.limit) == ("SEK", 40_000, limit)
        assert risk.worst == largest_win(game(live_table), self.STAKES)
        advance_to(live_table, Phase.CLOSED)
        (risk,) = row_of(live_table).risks
        assert risk.worst == largest_loss(game(live_table), self.STAKES)

    def test_does_not_know_the_cards(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, banker=25_000)
        advance_to(live_table, Phase.CLOSED)
        before = row_of(live_table).risks
        advance_to(live_table, Phase.DEALT)
        assert row_of(live_table).risks == before

    @pytest.mark.sweep
    def test_is_shown_for_each_currency_next_to_its_limit(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        bet(a_player("DK", real=1000_00), live_table, player=5_000)
        risks = row_of(live_table).risks
        assert [risk.currency for risk in risks] == ["DKK", "SEK"]
        limits = round_at(live_table).version.limits
        assert [risk.limit for risk in risks] == [limits[each]["liability"] for each in ("DKK", "SEK")]
        page = read(live_table)
        assert "2 players" in page
        assert page.count("<progress") == 2

    @pytest.mark.sweep
    def test_ends_once_the_round_is_paid(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        advance_to(live_table, Phase.SETTLED)
        assert row_of(live_table).risks == ()

    @pytest.mark.sweep
    def test_does_not_count_for_the_house_where_players_play_each_other(self, db):
        live_table = a_chemin_table()
        seated_players(live_table)
        a_staked_coup(live_table, 10_000, 4_000)
        row = row_of(live_table)
        assert (row.risks, row.bettors, row.staked) == ((), 1, (("SEK", 4_000),))


class TestWhatWantsSomebody:
    def test_is_an_incident_until_it_is_ruled_on_and_then_the_state_of_the_table(self):
        live_table = a_live_table()
        incident = malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        assert alarms(live_table) == [f"incident-{incident.pk}"]
        assert f"/staff/incidents/{incident.pk}/" in read(live_table)
        malfunction.let_stand(incident_id=incident.pk, reason="Nothing.", by="staff:1")
        assert alarms(live_table) == ["stopped"]
        malfunction.reopen(live_table_id=live_table.pk, reason="Mended.", by="staff:1")
        assert alarms(live_table) == []

    @pytest.mark.parametrize(("seconds", "is_late"), [(2, False), (30, True)])
    def test_is_a_round_that_does_not_advance(self, seconds, is_late):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        make_late(live_table, seconds)
        assert ("late" in alarms(live_table)) is is_late

    def test_is_not_betting_time_that_passed_without_a_bet(self):
        """It waits for somebody to watch, and then begins again."""
        live_table = a_live_table()
        make_late(live_table, 30)
        assert "late" not in alarms(live_table)

    @pytest.mark.parametrize("phase", sample([Phase.DEALT, Phase.SETTLED], 1))
    def test_is_a_deal_that_is_not_paid_and_a_round_after_which_none_comes(self, phase):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        advance_to(live_table, phase)
        make_late(live_table, 30)
        assert "late" in alarms(live_table)

    @pytest.mark.sweep
    def test_is_not_that_nothing_comes_where_nothing_is_to_come(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        advance_to(live_table, Phase.SETTLED)
        make_late(live_table, 30)
        stop = house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
        assert alarms(live_table) == []
        assert stop.ended_at is None
        house_stop.resume_house(reason="It is out.", by=a_member_of_staff("supervisor"))
        pause_table(table_id=live_table.table_id, **BY)
        assert alarms(live_table) == []

    @pytest.mark.sweep
    def test_is_what_was_reported_in_its_chat(self):
        live_table = a_live_table()
        said = say(live_table, "You cheat.")
        chat.report(player=a_talker(), live_table=live_table, number=said.pk, reason=ReportReason.ABUSE)
        assert alarms(live_table) == ["chat"]

    @pytest.mark.sweep
    def test_is_a_table_that_an_alarm_about_its_returns_closed_until_it_is_opened_again(self):
        table = a_table()
        set_stop(variant="baccarat", stops=True, reason="for a test", by="staff:test")
        summed_up(table, **two_points_more(rounds_to_find(VARIANTS["baccarat"], "banker")))
        check_returns()
        row = read_rows().row(f"solo-{table.pk}")
        assert row is not None
        assert (row.state, [alarm.code for alarm in row.alarms]) == ("closed", ["returns"])
        open_table(table_id=table.pk, **BY)
        assert read_rows().alarmed == []

    @pytest.mark.sweep
    def test_comes_first(self):
        tables = [a_live_table(slug=f"table-{number}") for number in range(3)]
        close_table(table_id=tables[0].table_id, **BY)
        malfunction.report(round_id=round_at(tables[2]).pk, cause="A quarrel.", by="staff:1")
        rows = read_rows()
        keys = [row.key for row in rows.rows]
        assert keys[0] == f"live-{tables[2].pk}"
        closed = live_table_of(tables[0].table, Mode.FREE)
        assert keys.index(f"live-{tables[1].pk}") < keys.index(f"live-{closed.pk}")
        assert [row.key for row in rows.alarmed] == keys[:1]
        assert rows.order.split() == keys


class TestTheHead:
    @pytest.mark.sweep
    def test_counts_the_tables_that_stand_so_and_names_what_wants_somebody(self):
        live_table, paused = a_live_table(), a_live_table(slug="paused")
        pause_table(table_id=paused.table_id, **BY)
        malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        rows = read_rows()
        assert rows.counts == [("stopped", 1), ("paused", 2), ("open", 1)]
        head = render_head(rows)
        assert f'href="#live-{live_table.pk}"' in head
        assert f"#live-{paused.pk}" not in head

    def test_says_that_the_house_is_stopped(self):
        a_live_table()
        assert "House stop since" not in render_head(read_rows())
        house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
        assert "House stop since" in render_head(read_rows())

    @pytest.mark.sweep
    def test_is_another_one_where_it_says_something_else_and_no_other_where_it_does_not(self):
        live_table = a_live_table()
        first, again = read_rows(), read_rows()
        assert first.version == again.version
        assert [row.version for row in first.rows] == [row.version for row in again.rows]
        pause_table(table_id=live_table.table_id, **BY)
        assert read_rows().version != first.version


class TestSecrets:
    """Staff see only what everyone at the table has been shown, and no player numbers."""

    def test_no_card_is_shown_before_it_is_open(self):
        live_table = a_live_table()
        bet(a_player(real=1000_00), live_table, player=10_000)
        for phase in (Phase.BETTING, Phase.CLOSED):
            while round_at(live_table).phase != phase:
                advance_to(live_table, phase)
            assert not CARD.search(read(live_table))
        dealt = advance_to(live_table, Phase.DEALT)
        first = dealt.cards.split()[0]
        assert CARD.findall(read(live_table)) == [first]
        settled = advance_to(live_table, Phase.SETTLED)
        assert sorted(CARD.findall(read(live_table))) == sorted(settled.cards.split())

    def test_nobody_is_named_where_players_play(self, db):
        live_table = a_practice_table()
        (player,) = seated_players(live_table, 1)
        play.step_away(player=player, live_table_id=live_table.pk)
        page = read(live_table)
        assert "player:" not in page
        assert "1 away, 3 house players" in page

    def test_a_bank_is_named_by_its_seat(self, db):
        live_table = a_chemin_table()
        seated_players(live_table)
        a_bank(live_table, 10_000)
        assert "seat 1: " in read(live_table)


@pytest.mark.sweep
def test_reading_takes_the_same_number_of_queries_for_one_table_and_for_many():
    def furnish(name: str) -> None:
        live_table = a_live_table(slug=name)
        bet(a_player(real=1000_00), live_table, player=10_000)
        malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        chemin = a_chemin_table(slug=f"{name}-guests")
        seated_players(chemin)
        a_dealt_coup(chemin, 10_000, 4_000)
        a_table(f"{name}-solo")

    furnish("one")
    with CaptureQueriesContext(connection) as one:
        read_rows()
    for number in range(3):
        furnish(f"more-{number}")
    with CaptureQueriesContext(connection) as many:
        read_rows()
    assert len(many) == len(one)
