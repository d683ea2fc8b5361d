"""A round of a shared table from its opening to everybody's payout, and what is kept of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from games.engine.bets import Variant
from games.engine.refusals import SettlementError
from games.engine.settle import settle
from games.live import phases, settling
from games.models import (
    LiveRound,
    LiveSeat,
    LiveTable,
    Participation,
    Phase,
    ReplayDue,
    Round,
    TableVersion,
    Wager,
)
from games.tables import new_version, set_open
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player, a_shared_table
from tests.live.at_table import (
    a_live_table,
    advance_to,
    bet,
    hurry,
    lay,
    live_table_of,
    make_late,
    round_at,
    slip_of,
    step,
)
from tests.people import events
from wallet import accounts, ledger, verify
from wallet.models import Entry, Journal, Mode

pytestmark = pytest.mark.django_db

RICH = 10**10


def balance(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.balance(player.pk, mode)


def deposit(player: Player, amount: int) -> None:
    cashier = accounts.house_account("cashier", player.currency, Mode.REAL)
    cash = accounts.player_account(player.pk, Mode.REAL)
    lines = tuple(
        ledger.Line(account, player.currency, Mode.REAL, each) for account, each in ((cashier, -amount), (cash, amount))
    )
    ledger.post(ledger.Journal(uuid4(), "deposit", lines))


def lines_of(part: Participation) -> list[tuple[str, int, int, int, str]]:
    return sorted(part.wagers.values_list("bet", "stake", "payout", "commission", "result"))


def lasts(live_round: LiveRound, since: datetime | None) -> float:
    """Milliseconds from then to the deadline."""
    assert since
    return (live_round.deadline - since) / timedelta(milliseconds=1)


def digest(*lines: tuple[object, ...]) -> str:
    return sha256("\n".join(" ".join(str(each) for each in line) for line in sorted(lines)).encode()).hexdigest()


def close_table(live_table: LiveTable) -> None:
    set_open(table_id=live_table.table_id, is_open=False, reason="for a test", by="staff:test")


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
        assert balance(player) == RICH - 25_000

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
        assert phases.due() == [other.pk]  # which has no round yet
        phases.advance(other.pk)
        assert phases.due() == []
        hurry(live_table)
        assert phases.due() == [live_table.pk]


class TestNobodyBets:
    def test_betting_begins_anew_with_the_same_round(self):
        live_table = a_live_table()
        before = round_at(live_table)
        hurry(live_table)
        due = round_at(live_table).deadline
        assert phases.advance(live_table.pk)
        after = round_at(live_table)
        assert (after.pk, after.phase, after.cards) == (before.pk, Phase.BETTING, "")
        assert after.deadline > due
        assert after.shoe.gone == before.shoe.gone

    def test_so_it_does_for_whoever_has_taken_all_their_bets_back(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        lay(player, live_table, {})
        assert step(live_table).phase == Phase.BETTING

    def test_a_round_far_past_its_deadline_stops_nothing_while_nobody_has_bet(self, settings):
        live_table = a_live_table()
        make_late(live_table, settings.LIVE_LATE_SECONDS * 10)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by is None

    def test_a_round_under_older_limits_makes_way_for_one_under_those_in_force(self):
        live_table = a_live_table()
        version = round_at(live_table).version
        other = {**version.limits, "SEK": {**version.limits["SEK"], "chips": version.limits["SEK"]["chips"][:3]}}
        new_version(table_id=live_table.table_id, limits=other, reason="for a test", by="staff:test")
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

    def test_ends_a_round_on_which_nobody_has_bet_and_keeps_nothing_of_it(self):
        live_table = a_live_table()
        close_table(live_table)
        ended = step(live_table)
        assert ended.phase == Phase.VOID
        assert not Round.objects.filter(pk=ended.pk).exists()
        hurry(live_table)
        assert not phases.advance(live_table.pk)

    def test_goes_on_with_the_same_shoe_when_it_opens_again(self):
        live_table = a_live_table()
        shoe = round_at(live_table).shoe_id
        close_table(live_table)
        step(live_table)
        set_open(table_id=live_table.table_id, is_open=True, reason="for a test", by="staff:test")
        again = step(live_table)
        assert (again.phase, again.shoe_id, again.number) == (Phase.BETTING, shoe, 2)

    def test_opens_nothing_before_it_is_open(self):
        table = a_shared_table(is_open=False)
        assert phases.due() == []
        assert not phases.advance(live_table_of(table).pk)
        assert not LiveRound.objects.exists()

    def test_opens_nothing_by_rules_that_the_program_does_not_have(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        advance_to(live_table, Phase.SETTLED)
        table = live_table.table
        was = TableVersion.objects.get(table=table)
        table.version = TableVersion.objects.create(
            table=table, number=2, rules_version="9", rules_digest="9" * 64, limits=was.limits, clock=was.clock
        )
        table.save(update_fields=["version"])
        hurry(live_table)
        assert not phases.advance(live_table.pk)


def slips(variant: Variant) -> st.SearchStrategy[dict[str, int]]:
    """Whatever may be staked together, in odd amounts too."""

    def is_allowed(stakes: Mapping[str, int]) -> bool:
        try:
            variant.check(stakes)
        except SettlementError:
            return False
        return True

    bets = st.sampled_from([each.code for each in variant.bets])
    return st.dictionaries(bets, st.integers(1, 10_000_019), min_size=1).filter(is_allowed)


class TestEverybodyIsPaid:
    @pytest.mark.parametrize("slug", ["no_commission", "pairs"])
    def test_what_the_engine_says_each_by_each_in_every_currency(self, slug):
        variant = VARIANTS[slug]
        live_table = a_live_table(slug)
        players = [a_player(where, real=RICH) for where in ("SE", "RO", "GB", "DK", "SE")]

        @settings(max_examples=8, database=None)
        @given(st.lists(slips(variant), min_size=len(players), max_size=len(players)))
        def play(chosen: list[dict[str, int]]) -> None:
            before = {player.pk: balance(player) for player in players}
            for player, stakes in zip(players, chosen, strict=True):
                lay(player, live_table, stakes)
            dealt = advance_to(live_table, Phase.DEALT)
            coup = settling.dealt_again(dealt)
            finished = Round.objects.get(pk=advance_to(live_table, Phase.SETTLED).pk)
            assert finished.cards == " ".join(card.code for card in coup.cards)
            assert finished.outcome == coup.outcome
            for player, stakes in zip(players, chosen, strict=True):
                due = settle(variant, coup, stakes)
                part = Participation.objects.get(round=finished, player=player)
                assert lines_of(part) == sorted(
                    (line.bet, line.stake, line.payout, line.commission, str(line.result)) for line in due.lines
                )
                assert (part.staked, part.paid) == (due.staked, due.paid)
                assert part.commission == sum(line.commission for line in due.lines)
                assert part.balance_before == before[player.pk]
                assert part.balance_after == balance(player) == before[player.pk] - due.staked + due.paid
            step(live_table)

        play()
        assert [check.rows for check in verify.run() if check.rows] == []

    def test_and_the_round_is_kept_whole_to_be_dealt_again(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        settled = advance_to(live_table, Phase.SETTLED)
        kept = Round.objects.get(pk=settled.pk)
        assert (kept.code, kept.table_version_id, kept.mode) == (settled.code, settled.version_id, "R")
        assert (kept.shoe_id, kept.first_card, kept.cards) == (settled.shoe_id, settled.first_card, settled.cards)
        assert (kept.commitment, kept.seed, kept.player_value) == (settled.shoe.commitment, None, "")
        assert ReplayDue.objects.filter(pk=kept.pk).exists()

    def test_from_a_balance_that_other_things_have_moved_since_bets_closed(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        advance_to(live_table, Phase.CLOSED)
        deposit(player, 777)
        advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(player=player)
        assert part.balance_before == RICH
        assert part.balance_after == balance(player) == RICH - 25_000 + part.paid + 777

    def test_or_nothing_and_then_the_house_is(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        paid = None
        while paid != 0:  # nine rounds of ten are no tie
            lay(player, live_table, {"tie": 1001})
            settled = advance_to(live_table, Phase.SETTLED)
            paid = Participation.objects.get(round_id=settled.pk).paid
            step(live_table)
        entries = Entry.objects.filter(journal__round_id=settled.pk).order_by("journal", "amount")
        assert [(each.journal.kind, each.account.kind, each.amount) for each in entries] == [
            ("held_stake", "cash", -1001),
            ("held_stake", "escrow", 1001),
            ("settle", "escrow", -1001),
            ("settle", "house", 1001),
        ]

    def test_by_one_journal_of_stakes_and_one_of_payouts(self):
        live_table = a_live_table()
        players = [a_player("SE", real=RICH), a_player("SE", real=RICH), a_player("RO", real=RICH)]
        for player in players:
            lay(player, live_table, {"player": 1001, "banker": 999, "tie": 500})
        settled = advance_to(live_table, Phase.SETTLED)
        journals = Journal.objects.filter(round_id=settled.pk).order_by("pk")
        assert [journal.kind for journal in journals] == ["held_stake", "settle"]
        assert Entry.objects.filter(journal=journals[0], account__owner__isnull=False).count() == len(players)

    def test_in_as_many_statements_as_one_is(self):
        """Closing and paying ask PostgreSQL for everybody at once, never for each."""
        live_table, players = a_live_table(), [a_player("SE", real=RICH) for _ in range(6)]
        alone: dict[str, int] = {}
        for bettors in (players[:1], players):
            for player in bettors:
                lay(player, live_table, {"player": 1001, "tie": 500})
            for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
                with CaptureQueriesContext(connection) as asked:
                    assert step(live_table).phase == phase
                assert len(asked) <= alone.setdefault(phase, len(asked))
            step(live_table)
        assert Participation.objects.count() == 1 + len(players)

    def test_and_their_time_at_play_and_their_session_know_of_it(self):
        live_table, player, session = a_live_table(), a_player(real=RICH), uuid4()
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO players_sitting (session, player_id, began, rounds, staked_real, paid_real, staked_free,"
                " paid_free) VALUES (%s, %s, clock_timestamp(), 0, 0, 0, 0, 0)",
                [session, player.pk],
            )
        lay(player, live_table, {"player": 2500})
        LiveSeat.objects.filter(player=player).update(session=session)
        advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(player=player)
        assert part.session == session
        with connection.cursor() as cursor:
            cursor.execute("SELECT rounds, staked_real, paid_real FROM players_sitting WHERE session = %s", [session])
            assert cursor.fetchone() == (1, 2500, part.paid)
            cursor.execute("SELECT count(*) FROM players_playtime WHERE player_id = %s", [player.pk])
            assert cursor.fetchone() == (1,)

    def test_and_the_bets_lie_there_for_rebet(self):
        live_table, player = a_live_table(), a_player(real=RICH)
        bet(player, live_table, player=25_000)
        settled = advance_to(live_table, Phase.SETTLED)
        assert slip_of(player, settled) == {"player": 25_000}


class TestRealAndFreeMoney:
    def test_are_two_tables_with_a_round_and_a_shoe_each(self):
        real = a_live_table()
        free = live_table_of(real.table, Mode.FREE)
        assert phases.advance(free.pk)
        player = a_player(real=RICH, free=RICH)
        lay(player, real, {"player": 1000})
        lay(player, free, {"banker": 3000})
        assert round_at(real).shoe_id != round_at(free).shoe_id
        paid = Participation.objects.get(round_id=advance_to(real, Phase.SETTLED).pk).paid
        assert round_at(free).phase == Phase.BETTING
        assert (balance(player), balance(player, Mode.FREE)) == (RICH - 1000 + paid, RICH)
        won = Participation.objects.get(round_id=advance_to(free, Phase.SETTLED).pk)
        assert (won.mode, won.staked) == ("F", 3000)
        assert (balance(player), balance(player, Mode.FREE)) == (RICH - 1000 + paid, RICH - 3000 + won.paid)


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

    def test_says_what_was_dealt_when_it_is(self, live_table):
        dealt = advance_to(live_table, Phase.DEALT)
        (event,) = events("round.dealt", on=f"round:{dealt.pk}")
        assert event["data"] == {"cards": dealt.cards, "first_card": dealt.first_card, "shoe": str(dealt.shoe_id)}

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
