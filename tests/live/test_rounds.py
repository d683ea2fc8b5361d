"""A round of a shared table from its start to the payouts, and its stored records."""

from datetime import datetime, timedelta
from hashlib import sha256

import pytest

from games.models import (
    LiveRound,
    LiveTable,
    Phase,
    Round,
    RulesVersion,
    Table,
    TableVersion,
    Wager,
)
from games.shared import phases
from games.tables import status
from players.models import Player
from tests.builders import a_player, a_shared_table, put_live
from tests.harness.owner import create_as_owner, one_as_owner, update_as_owner
from tests.live.at_table import (
    a_live_table,
    advance_to,
    bet,
    hurry,
    lay,
    live_table_of,
    make_late,
    round_at,
    step,
)
from tests.live.betting import held
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Journal, Mode

pytestmark = pytest.mark.django_db

RICH = 10**10


def balance(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.balance(player.pk, mode)


def lasts(live_round: LiveRound, since: datetime | None) -> float:
    """Return the milliseconds from *since* to the deadline."""
    assert since
    return (live_round.deadline - since) / timedelta(milliseconds=1)


def digest(*lines: tuple[object, ...]) -> str:
    return sha256("\n".join(" ".join(str(each) for each in line) for line in sorted(lines)).encode()).hexdigest()


def close_table(live_table: LiveTable) -> None:
    status.close_table(table_id=live_table.table_id, reason="for a test", by="staff:test")


class TestARound:
    def test_goes_from_betting_to_closed_to_dealt_to_settled_and_to_the_next(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        first = round_at(live_table)
        bet(player, live_table, player=25_000)
        assert first.phase == Phase.BETTING
        assert [step(live_table).phase for _ in range(3)] == [Phase.CLOSED, Phase.DEALT, Phase.SETTLED]
        following = step(live_table)
        assert following.phase == Phase.BETTING
        assert following.pk != first.pk
        assert (following.shoe_id, following.number) == (first.shoe_id, first.number + 1)

    @pytest.mark.sweep
    def test_lasts_in_each_phase_as_the_clock_of_its_version_says(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        pace = round_at(live_table).version.clock or {}
        bet(player, live_table, player=25_000)
        lasting = [lasts(each := round_at(live_table), each.opened_at)]
        lasting.append(lasts(each := step(live_table), each.closed_at))
        lasting.append(lasts(each := step(live_table), each.dealt_at) / len(each.cards.split()))
        lasting.append(lasts(each := step(live_table), each.ended_at))
        assert lasting == [pace["betting"], pace["call"], pace["card"], pace["pause"]]

    def test_draws_no_card_and_takes_no_stake_before_its_time(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        assert not phases.advance(live_table.pk)
        closed = step(live_table)
        assert (closed.cards, closed.first_card, closed.dealt_at) == ("", None, None)
        assert not phases.advance(live_table.pk)
        assert (balance(player), held(player)) == (RICH, 25_000)

    def test_moves_nothing_when_a_tick_comes_again(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        for _ in range(4):
            before = step(live_table)
            assert [phases.advance(live_table.pk) for _ in range(3)] == [False] * 3
            assert round_at(live_table).deadline == before.deadline
        assert Journal.objects.filter(kind__in=("held_stake", "settle")).count() == 2

    def test_is_the_same_however_late_the_tick_within_the_time_that_counts_as_late(self, settings):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED, Phase.BETTING):
            make_late(live_table, settings.LIVE_LATE_SECONDS - 60)
            assert phases.advance(live_table.pk)
            assert round_at(live_table).phase == phase
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is None

    def test_is_due_once_its_deadline_is_there_and_not_before(self):
        live_table = a_live_table()
        other = LiveTable.objects.exclude(pk=live_table.pk).get(table=live_table.table)
        assert phases.due() == [other.pk]  # the other table has no round yet
        phases.advance(other.pk)
        assert phases.due() == []
        hurry(live_table)
        assert phases.due() == [live_table.pk]


class TestNobodyBets:
    def test_betting_begins_again_with_the_same_round(self):
        live_table = a_live_table()
        before = round_at(live_table)
        hurry(live_table)
        due = round_at(live_table).deadline
        assert phases.advance(live_table.pk)
        after = round_at(live_table)
        assert (after.pk, after.phase, after.cards) == (before.pk, Phase.BETTING, "")
        assert after.deadline > due
        assert after.shoe.gone == before.shoe.gone

    @pytest.mark.sweep
    def test_so_it_does_for_a_player_who_has_removed_all_bets(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {})
        assert step(live_table).phase == Phase.BETTING

    def test_a_round_far_past_its_deadline_stops_nothing_while_nobody_has_bet(self, settings):
        live_table = a_live_table()
        make_late(live_table, settings.LIVE_LATE_SECONDS * 10)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is None

    @pytest.mark.sweep
    def test_a_round_under_older_limits_makes_way_for_one_under_those_in_force(self):
        live_table = a_live_table()
        version = round_at(live_table).version
        other = {**version.limits, "SEK": {**version.limits["SEK"], "tray": version.limits["SEK"]["tray"][:3]}}
        put_live(table_id=live_table.table_id, limits=other, reason="for a test")
        assert step(live_table).phase == Phase.VOID
        assert step(live_table).version.number == version.number + 1


class TestATableThatCloses:
    def test_finishes_its_round_and_opens_no_other(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        close_table(live_table)
        assert [step(live_table).phase for _ in range(3)] == [Phase.CLOSED, Phase.DEALT, Phase.SETTLED]
        hurry(live_table)
        assert phases.due() == []
        assert not phases.advance(live_table.pk)

    def test_ends_a_round_without_bets_and_stores_nothing(self):
        live_table = a_live_table()
        close_table(live_table)
        ended = step(live_table)
        assert ended.phase == Phase.VOID
        assert not Round.objects.filter(pk=ended.pk).exists()
        hurry(live_table)
        assert not phases.advance(live_table.pk)

    @pytest.mark.sweep
    def test_goes_on_with_the_same_shoe_when_it_opens_again(self):
        live_table = a_live_table()
        shoe = round_at(live_table).shoe_id
        close_table(live_table)
        step(live_table)
        status.open_table(table_id=live_table.table_id, reason="for a test", by="staff:test")
        again = step(live_table)
        assert (again.phase, again.shoe_id, again.number) == (Phase.BETTING, shoe, 2)

    def test_opens_nothing_before_it_is_open(self):
        table = a_shared_table(is_open=False)
        assert phases.due() == []
        assert not phases.advance(live_table_of(table).pk)
        assert not LiveRound.objects.exists()

    def test_opens_nothing_by_rules_that_the_api_client_does_not_have(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        advance_to(live_table, Phase.SETTLED)
        table = live_table.table
        was = TableVersion.objects.get(table=table)
        create_as_owner(RulesVersion(variant=table.variant, version="9", digest="9" * 64, body={}))
        table.version = one_as_owner(
            TableVersion(
                table=table,
                number=2,
                rules_version="9",
                rules_digest="9" * 64,
                limits=was.limits,
                clock=was.clock,
                jurisdictions=was.jurisdictions,
                modes=was.modes,
            )
        )
        update_as_owner(Table.objects.filter(pk=table.pk), version=table.version)
        hurry(live_table)
        assert not phases.advance(live_table.pk)


class TestTheLog:
    @pytest.fixture
    def bettors(self) -> list[Player]:
        return [a_player("SE", real=RICH), a_player("RO", real=RICH), a_player("SE", real=RICH)]

    @pytest.fixture
    def live_table(self, bettors: list[Player]) -> LiveTable:
        live_table = a_live_table()
        lay(bettors[0], live_table, {"player": 1001, "super_6": 999})
        lay(bettors[1], live_table, {"tie": 50})
        lay(bettors[2], live_table, {"player": 2000})
        return live_table

    def test_commits_to_every_bet_when_bets_close(self, live_table, bettors):
        first, second, third = bettors
        closed = advance_to(live_table, Phase.CLOSED)
        (event,) = events("bets.closed", on=f"round:{closed.pk}")
        assert event["data"] == {
            "code": closed.code,
            "players": 3,
            "sha256": digest(
                (first.pk, "player", 1001),
                (first.pk, "super_6", 999),
                (second.pk, "tie", 50),
                (third.pk, "player", 2000),
            ),
            "shoe": str(closed.shoe_id),
            "staked": {"RON": {"tie": 50}, "SEK": {"player": 3001, "super_6": 999}},
            "table_version": closed.version_id,
            "wagers": 4,
        }

    @pytest.mark.sweep
    def test_says_where_in_the_shoe_a_deal_begins_and_no_card_before_the_players_see_it(self, live_table):
        dealt = advance_to(live_table, Phase.DEALT)
        (event,) = events("round.dealt", on=f"round:{dealt.pk}")
        assert event["data"] == {"first_card": dealt.first_card, "shoe": str(dealt.shoe_id)}

    def test_commits_to_the_whole_settlement_when_it_is_paid(self, live_table):
        settled = advance_to(live_table, Phase.SETTLED)
        (event,) = events("round.settled", on=f"round:{settled.pk}")
        lines = Wager.objects.filter(participation__round_id=settled.pk).values_list(
            "participation__player_id", "bet", "stake", "payout", "commission", "result"
        )
        assert event["data"]["sha256"] == digest(*lines)
        assert (event["data"]["cards"], event["data"]["first_card"]) == (settled.cards, settled.first_card)
        swedish = [line for line in lines if line[0] != lines.get(bet="tie")[0]]
        assert event["data"]["totals"]["SEK"] == {
            "commission": sum(line[4] for line in swedish),
            "paid": sum(line[3] for line in swedish),
            "players": 2,
            "staked": 4000,
            "wagers": 3,
        }
        assert event["data"]["totals"]["RON"]["staked"] == 50
