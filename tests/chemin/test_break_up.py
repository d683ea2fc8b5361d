"""Staff remove all players from a table: everyone takes their money home, and no coup is cut short."""

import html

import psycopg
import pytest

from games.chemin import play
from games.chemin.stop import break_up
from games.engine.chemin import Phase
from games.errors import PlayError
from games.models import CheminMove, CheminSeat, CheminTenure, LiveRound, Table, Void, VoidReason, WhyLeft
from games.models import Phase as RoundPhase
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_practice_table,
    a_staked_coup,
    answer,
    before_the_croupier,
    cash,
    chemin_of,
    hurry,
    let_pass,
    seated_players,
    state_of,
    step,
    step_to,
)
from tests.chemin.hands import next_seed, shoe_where, third_card_refused, third_cards_on_advice
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet import wholeness
from tests.wallet.test_at_once import at_once
from wallet.models import Account, AccountKind, Hold

BANK, STAKE = 10_000, 4_000


def get_up(live_table, reason="The room closes.", by="staff:7"):
    return break_up(live_table_id=live_table.pk, reason=reason, by=by)


def is_empty(live_table, players) -> bool:
    """Return True if all players have left with their money and nothing is on the table."""
    wholeness.assert_whole()
    return (
        state_of(live_table).phase is Phase.ALONE
        and not state_of(live_table).seats
        and not CheminSeat.objects.filter(left_at=None).exists()
        and {cash(player).balance for player in players} == {MONEY}
        and not Hold.objects.exists()
        and before_the_croupier(AccountKind.BANK) == before_the_croupier(AccountKind.STAKES) == 0
        and not CheminTenure.objects.filter(ended_at=None).exists()
    )


@pytest.fixture
def live_table(db):
    return a_chemin_table()


@pytest.fixture
def players(live_table):
    return seated_players(live_table)


class TestBetweenCoups:
    @pytest.mark.sweep
    def test_before_anybody_has_the_bank(self, live_table, players):
        get_up(live_table)
        assert is_empty(live_table, players)
        assert set(CheminSeat.objects.values_list("why_left", flat=True)) == {WhyLeft.BROKEN_UP}

    @pytest.mark.sweep
    def test_a_bank_that_was_won_goes_home(self, live_table, players, monkeypatch):
        seed, _ = shoe_where(third_card_refused)
        next_seed(monkeypatch, seed)
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE)
        get_up(live_table)
        assert [cash(player).balance for player in players] == [MONEY + STAKE * 19 // 20, MONEY - STAKE, MONEY]
        assert before_the_croupier(AccountKind.BANK) == 0
        assert not CheminSeat.objects.filter(left_at=None).exists()

    def test_bids_are_free_again(self, live_table, players, monkeypatch):
        seed, _ = shoe_where(third_card_refused)
        next_seed(monkeypatch, seed)
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE)
        answer(players[0], live_table, "give_suite")
        while state_of(live_table).phase is Phase.SUITE:
            let_pass(live_table)
        answer(players[1], live_table, "make_bid", BANK)
        assert Hold.objects.exists()
        get_up(live_table)
        assert not Hold.objects.exists()
        assert chemin_of(live_table).sale_id is None
        assert not CheminSeat.objects.filter(left_at=None).exists()

    @pytest.mark.sweep
    def test_the_table_stays_open_and_a_new_player_plays(self, live_table, players):
        a_bank(live_table, BANK)
        get_up(live_table)
        assert Table.objects.get(pk=live_table.table_id).is_open
        for player in players:
            play.join(player=player, live_table_id=live_table.pk, seat_number=None, session=None)
        a_dealt_coup(live_table, BANK, STAKE)

    def test_house_players_get_up_with_the_players(self, db):
        live_table = a_practice_table()
        seated_players(live_table, 1)
        while LiveRound.objects.filter(live_table=live_table, phase=RoundPhase.DEALT).exists():
            step(live_table)
        get_up(live_table)
        assert not CheminSeat.objects.filter(left_at=None).exists()
        assert before_the_croupier(AccountKind.BANK) == 0


class TestDuringACoup:
    @pytest.mark.parametrize("reach", sample([a_bank, a_staked_coup], 1))
    def test_one_without_cards_is_cancelled_first(self, live_table, players, reach):
        reach(live_table, BANK)
        coup = LiveRound.objects.get(live_table=live_table)
        get_up(live_table)
        assert is_empty(live_table, players)
        coup.refresh_from_db()
        assert (coup.phase, coup.shoe.ended_at) == (RoundPhase.VOID, None)
        if reach is a_staked_coup:
            assert Void.objects.get().reason == VoidReason.CANCELLED

    def test_one_with_cards_is_played_out_first(self, live_table, players, monkeypatch):
        seed, _ = shoe_where(third_cards_on_advice)
        next_seed(monkeypatch, seed)
        a_dealt_coup(live_table, BANK, STAKE)
        with pytest.raises(MalfunctionError, match="Wait until the coup is completed"):
            get_up(live_table)
        assert CheminSeat.objects.filter(left_at=None).count() == 3
        hurry(live_table)
        step_to(live_table, Phase.CHOICE, Phase.OFFER)
        get_up(live_table)
        assert not CheminSeat.objects.filter(left_at=None).exists()
        wholeness.assert_whole()

    @pytest.mark.sweep
    def test_incidents_of_one_that_is_cancelled_are_ruled_on_with_it(self, live_table, players):
        a_staked_coup(live_table, BANK, STAKE)
        incident = malfunction.report(
            round_id=LiveRound.objects.get(live_table=live_table).pk, cause="A quarrel.", by="staff:1"
        )
        get_up(live_table)
        incident.refresh_from_db()
        assert incident.ruling.reason == "The room closes."
        assert is_empty(live_table, players)


class TestIt:
    def test_is_recorded_with_its_reason(self, live_table, players):
        get_up(live_table)
        (event,) = events("table.broken_up")
        assert (event["by"], event["on"]) == ("staff:7", f"table:{live_table.table_id}")
        assert event["data"] == {"players": 3, "mode": "R", "reason": "The room closes."}
        assert CheminMove.objects.latest("number").kind == "break_up"

    def test_needs_a_reason_and_somebody_to_get_up(self, live_table, players):
        with pytest.raises(MalfunctionError, match="Enter a reason"):
            get_up(live_table, reason=" ")
        get_up(live_table)
        with pytest.raises(MalfunctionError, match="There are no players at"):
            get_up(live_table)

    def test_is_for_tables_where_players_play_each_other(self, db):
        with pytest.raises(MalfunctionError, match="Chemin de Fer table not found"):
            get_up(a_live_table())


class TestAStateThatCannotBeRead:
    """Money is returned by the ledger, and the damaged state is reset."""

    def spoil(self, owner: psycopg.Connection, live_table, becomes: str) -> None:
        statement = f"UPDATE games_chemintable SET state = {becomes} WHERE live_table_id = %s"
        assert owner.execute(statement, [live_table.pk]).rowcount

    # The damaged states. A bank and a stake are on the table.
    @pytest.mark.parametrize(
        "becomes",
        sample(
            [
                "'{}'",
                "'[]'",
                "jsonb_set(state, '{phase}', '\"nowhere\"')",
                "jsonb_set(state, '{bank}', 'null')",
                "jsonb_set(state, '{seats}', '[[1, \"playing\"]]')",
                "jsonb_set(state, '{coup,stakes}', '7')",
            ],
            1,
        ),
    )
    def test_with_a_coup_without_cards(self, cloned_db, owner, becomes):
        live_table = a_chemin_table()
        players = seated_players(live_table)
        a_staked_coup(live_table, BANK, STAKE)
        self.spoil(owner, live_table, becomes)
        get_up(live_table)
        assert is_empty(live_table, players)
        a_live_round = LiveRound.objects.get(live_table=live_table)
        assert (a_live_round.phase, Void.objects.get().round_id) == (RoundPhase.VOID, a_live_round.pk)
        for player in players:
            play.join(player=player, live_table_id=live_table.pk, seat_number=None, session=None)
        a_dealt_coup(live_table, BANK, STAKE)

    @pytest.mark.sweep
    def test_with_bids_for_a_bank(self, cloned_db, owner, monkeypatch):
        seed, _ = shoe_where(third_card_refused)
        next_seed(monkeypatch, seed)
        live_table = a_chemin_table()
        players = seated_players(live_table)
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE)
        answer(players[0], live_table, "give_suite")
        while state_of(live_table).phase is Phase.SUITE:
            let_pass(live_table)
        answer(players[1], live_table, "make_bid", BANK)
        self.spoil(owner, live_table, "'{}'")
        get_up(live_table)
        assert not Hold.objects.exists()
        assert not Account.objects.exclude(held=0).exists()
        assert not CheminSeat.objects.filter(left_at=None).exists()

    @pytest.mark.sweep
    def test_with_a_bank_that_nobody_plays_for(self, cloned_db, owner, monkeypatch):
        seed, _ = shoe_where(third_card_refused)
        next_seed(monkeypatch, seed)
        live_table = a_chemin_table()
        players = seated_players(live_table)
        a_dealt_coup(live_table, BANK, STAKE)
        step_to(live_table, Phase.CHOICE)
        self.spoil(owner, live_table, "'{}'")
        get_up(live_table)
        assert [cash(player).balance for player in players] == [MONEY + STAKE * 19 // 20, MONEY - STAKE, MONEY]
        tenure = CheminTenure.objects.get()
        assert (tenure.ended_at is not None, tenure.home) == (True, BANK + STAKE * 19 // 20)
        wholeness.assert_whole()


class TestThePage:
    @pytest.fixture
    def boss(self, db):
        return self.log_in("supervisor")

    def log_in(self, role):
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff(role).user)
        return visitor

    def read(self, answered) -> str:
        return html.unescape(answered.text)

    def url(self, live_table):
        return f"/staff/tables/live/{live_table.pk}/break-up/"

    @pytest.mark.sweep
    def test_shows_what_happens_to_the_money_on_the_table_before_anything_is_done(self, live_table, players, boss):
        a_staked_coup(live_table, BANK, STAKE)
        assert self.url(live_table) in self.read(boss.get(f"/staff/floor/live-{live_table.pk}/"))
        page = self.read(boss.get(self.url(live_table)))
        for text in (f"seat 1, player:{players[0].pk}", "SEK\u00a0100.00", "SEK\u00a040.00", "is cancelled"):
            assert text in page
        assert CheminSeat.objects.filter(left_at=None).count() == 3

    @pytest.mark.sweep
    def test_does_nothing_without_reason_and_confirmation(self, live_table, players, boss):
        for form in ({"reason": "x"}, {"sure": "on"}, {"reason": " ", "sure": "on"}):
            assert "Enter a reason and tick the confirmation." in self.read(
                boss.post(self.url(live_table), form, follow=True)
            )
        assert CheminSeat.objects.filter(left_at=None).count() == 3

    @pytest.mark.sweep
    def test_has_everybody_get_up(self, live_table, players, boss):
        answered = boss.post(self.url(live_table), {"reason": "x", "sure": "on"}, follow=True)
        assert "is broken up" in self.read(answered)
        assert is_empty(live_table, players)
        assert "There are no players at this table." in self.read(boss.get(self.url(live_table)))
        assert self.url(live_table) not in self.read(boss.get(f"/staff/floor/live-{live_table.pk}/"))

    @pytest.mark.sweep
    def test_says_that_drawn_cards_are_played_out(self, live_table, players, boss, monkeypatch):
        seed, _ = shoe_where(third_cards_on_advice)
        next_seed(monkeypatch, seed)
        a_dealt_coup(live_table, BANK, STAKE)
        assert "Wait until the coup is completed" in self.read(boss.get(self.url(live_table)))
        answered = boss.post(self.url(live_table), {"reason": "x", "sure": "on"}, follow=True)
        assert "Wait until the coup is completed" in self.read(answered)
        assert CheminSeat.objects.filter(left_at=None).count() == 3

    @pytest.mark.sweep
    def test_is_for_those_who_supervise(self, live_table, players):
        for role in ("operator", "finance", "support"):
            assert self.log_in(role).get(self.url(live_table)).status_code == 403
        assert self.url(live_table) not in self.read(self.log_in("operator").get(f"/staff/floor/live-{live_table.pk}/"))

    @pytest.mark.sweep
    def test_is_not_there_for_other_tables(self, boss):
        assert boss.get(self.url(a_live_table())).status_code == 404
        assert boss.get("/staff/tables/live/99999/break-up/").status_code == 404


def test_of_staff_and_a_player_at_once_one_is_first(cloned_db):
    live_table = a_chemin_table()
    players = seated_players(live_table)
    banker, _ = a_staked_coup(live_table, BANK, STAKE)

    def deal() -> bool:
        try:
            answer(banker, live_table, "deal_cards")
        except PlayError:
            return False
        return True

    def close() -> bool:
        try:
            get_up(live_table)
        except MalfunctionError:
            return False
        return True

    dealt, closed = at_once([deal, close])
    assert dealt is not closed or (dealt and LiveRound.objects.get().phase == RoundPhase.SETTLED)
    assert is_empty(live_table, players) is (closed and not dealt)
    wholeness.assert_whole()
