"""Collusion between two players is detected within a number of coups, with few false alarms."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import combinations
from math import comb, isclose
from random import Random
from typing import Final
from uuid import uuid4

import pytest

from games.chemin.collusion import measures, statistics
from games.chemin.collusion.measures import given, money
from games.chemin.collusion.signals import FALSE_ALARM, AnalysedPair, Sign, analyse_play
from games.chemin.collusion.statistics import BEYOND_NORMAL, Answers, Scope, for_all, more_often, tail
from games.engine.chemin import SeatView
from games.engine.chemin.actions import TableAction
from games.models import CheminMove, CheminStake, Decider, LiveTable, Void, VoidReason
from players.models import Duplicate, Ground, Player, Resolution, Session
from tests.builders import a_chemin_live_table, a_player
from tests.chemin.friends import gives_to, hands_over_to, lose_on_purpose, spares, takes_from
from tests.chemin.on_record import Evening, Policy, honest
from tests.harness.owner import create_as_owner
from tests.people import a_member_of_staff
from tests.voiding import agree_to_void
from wallet.models import Mode

BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
MONTH: Final = Scope(BEGAN, BEGAN + timedelta(days=30))
FEW_COUPS, MORE_COUPS, ENOUGH_FOR_MONEY = 60, 150, 700
"""Number of coups within which money given away and sparing are detected."""

pytestmark = pytest.mark.django_db


def a_live_table(mode: Mode = Mode.REAL, slug: str = "chemin") -> LiveTable:
    table = a_chemin_live_table(slug=slug, maximum=1_000_000, seat_count=6)
    return LiveTable.objects.select_related("table__version").get(table=table, mode=mode)


def an_evening(
    coups: int,
    policies: dict[int, Policy] | None = None,
    *,
    seated_players: int = 5,
    seed: int = 1,
    live_table: LiveTable | None = None,
    players: list[Player] | None = None,
    sessions: list[object] | None = None,
) -> list[Player]:
    """Store an evening and return its players by seat."""
    players = players or [a_player() for _ in range(seated_players)]
    live_table = live_table or a_live_table()
    evening = Evening(live_table, players, policies or {}, Random(seed), BEGAN, sessions=sessions or ())  # type: ignore[arg-type]
    evening.play(coups)
    return players


def between(one: Player, other: Player, scope: Scope = MONTH) -> AnalysedPair:
    (found,) = (pair for pair in analyse_play(scope).pairs if set(pair.pair) == {one.pk, other.pk})
    return found


class TestFound:
    """Each kind of collusion is detected within a stated number of coups of the table."""

    def test_gli19_a_8_1_a_player_who_calls_a_friend_s_bank_and_stands_on_nothing(self):
        giver, taker, *_ = an_evening(FEW_COUPS, {1: gives_to(2)})
        found = between(giver, taker)
        assert Sign.GIVEN in found.signs
        assert found.given[giver.pk].plain_cost > 0

    @pytest.mark.sweep
    def test_and_for_the_calls_too(self):
        giver, taker, *_ = an_evening(MORE_COUPS, {1: gives_to(2)})
        found = between(giver, taker)
        assert {Sign.GIVEN, Sign.CALLED} <= set(found.signs)
        assert found.choices[giver.pk].called.done == found.choices[giver.pk].called.asked

    @pytest.mark.sweep
    def test_gli19_a_8_1_and_by_the_money_alone_once_there_are_enough_coups(self):
        giver, taker, *_ = an_evening(ENOUGH_FOR_MONEY, {1: hands_over_to(2), 2: takes_from(1)})
        found = between(giver, taker)
        assert Sign.MONEY in found.signs
        assert found.money is not None
        assert (found.money.net > 0) is (found.pair[0] == taker.pk)

    @pytest.mark.sweep
    def test_who_puts_up_large_banks_that_the_friend_calls(self):
        giver, taker, *_ = an_evening(MORE_COUPS, {1: hands_over_to(2), 2: takes_from(1)})
        found = between(giver, taker)
        assert {Sign.GIVEN, Sign.CALLED} <= set(found.signs)
        called = found.choices[taker.pk].called
        assert called.done > 0.8 * called.asked > called.done_elsewhere

    def test_gli19_a_8_1_who_lets_the_bank_of_a_friend_go_by(self):
        soft, friend, *_ = an_evening(MORE_COUPS, {1: spares(2)})
        found = between(soft, friend)
        assert found.signs == (Sign.LET_GO,)
        habit = found.choices[soft.pk].let_go
        assert habit.done == habit.asked

    @pytest.mark.sweep
    def test_nobody_else_at_the_table(self):
        players = an_evening(MORE_COUPS, {1: gives_to(2), 3: spares(4)}, seed=3)
        named = {frozenset(pair.pair) for pair in analyse_play(MONTH).pairs if pair.signs}
        assert named <= {frozenset((players[0].pk, players[1].pk)), frozenset((players[2].pk, players[3].pk))}


class TestHonest:
    """Chance produces some signs at every table, but no more often than the stated rate."""

    @pytest.mark.sweep
    def test_gli19_a_8_1_honest_evenings_are_as_chance_says_and_nobody_is_named(self):
        tables = 12
        for number in range(tables):
            an_evening(80, seated_players=6, seed=100 + number, live_table=a_live_table(slug=f"table-{number}"))
        found = analyse_play(MONTH)
        assert found.test_counts.money == tables * comb(6, 2)
        assert [pair for pair in found.pairs if pair.signs] == []
        chances = {
            "money": [pair.money.chance for pair in found.pairs if pair.money],
            "let go": [each.let_go.chance for pair in found.pairs for each in pair.choices.values()],
            "called": [each.called.chance for pair in found.pairs for each in pair.choices.values()],
        }
        for question, values in chances.items():
            for level in (0.05, 0.01):
                share = sum(value <= level for value in values) / len(values)
                assert share <= level + 3 * (level / len(values)) ** 0.5, (question, level)

    @pytest.mark.sweep
    def test_of_a_thousand_reports_on_honest_stakes_fewer_than_stated_name_anybody(self):
        chance, alarms, pairs = Random(11), 0, 15
        by_chance = statistics.decisive()
        for _ in range(1_000):
            for _ in range(pairs):
                stakes = [chance.choice((1, 1, 2, 5, 20, 100)) for _ in range(chance.choice((2, 6, 20, 60)))]
                won = sum(stake if chance.random() < (1 + by_chance.mean) / 2 else -stake for stake in stakes)
                spread = (by_chance.variance * sum(stake**2 for stake in stakes)) ** 0.5
                alarms += for_all(tail((won - by_chance.mean * sum(stakes)) / spread), pairs) <= FALSE_ALARM
        assert alarms <= 1_000 * FALSE_ALARM

    @pytest.mark.sweep
    def test_ideas_against_everybody_are_no_gift(self):
        def careless(seen: SeatView, chance: Random) -> TableAction:
            return lose_on_purpose(seen) or honest(seen, chance)

        (player, *_) = an_evening(2 * MORE_COUPS, {1: careless}, seated_players=4)
        gave = {pair: what for pair, what in given(MONTH).items() if pair[0] == player.pk}
        assert sum(what.plain for what in gave.values()) >= 10
        assert not [pair for pair in analyse_play(MONTH).pairs if Sign.MONEY in pair.signs]
        assert sum(Sign.GIVEN in pair.signs for pair in analyse_play(MONTH).pairs) <= 1


class TestFigures:
    @pytest.mark.sweep
    def test_money_is_what_the_stakes_say(self):
        players = an_evening(40, seated_players=4)
        found = money(MONTH)
        expected: Counter[tuple[int, int]] = Counter()
        for stake in CheminStake.objects.select_related("coup"):
            banker, punter = stake.coup.banker_player_id, stake.player_id
            assert banker
            assert punter
            expected[punter, banker] += stake.returned - stake.stake
        for one, other in combinations(sorted(player.pk for player in players), 2):
            assert found[one, other].net == expected[one, other] - expected[other, one]

    def test_a_departure_costs_what_chance_says_of_its_stake(self):
        giver, taker, *_ = an_evening(FEW_COUPS, {1: gives_to(2)})
        (what,) = (each for pair, each in given(MONTH).items() if pair == (giver.pk, taker.pk))
        stakes = CheminStake.objects.filter(player=giver, coup__punter_departs=True)
        staked = sum(stake.stake for stake in stakes)
        assert what.times == stakes.count()
        assert 0.2 * staked < what.plain_cost < 0.6 * staked

    @pytest.mark.sweep
    def test_voided_coups_other_money_other_tables_and_other_months_do_not_count(self):
        live_table = a_live_table()
        an_evening(20, live_table=live_table)
        assert money(MONTH)
        assert not money(Scope(BEGAN, MONTH.until, mode=Mode.FREE))
        assert not money(Scope(BEGAN, MONTH.until, currency="EUR"))
        assert not money(Scope(BEGAN, MONTH.until, table=live_table.table_id + 1))
        assert not money(Scope(MONTH.until, MONTH.until + timedelta(days=30)))
        assert money(Scope(BEGAN, MONTH.until, currency="SEK", table=live_table.table_id)) == money(MONTH)
        for stake in CheminStake.objects.distinct("coup"):
            by = agree_to_void(stake.coup_id)
            Void.objects.create(round_id=stake.coup_id, reason=VoidReason.DECIDED, by=str(by))
        assert not money(MONTH)

    def test_what_the_croupier_answers_for_somebody_tells_nothing_of_them(self):
        an_evening(20)
        assert measures.choices(MONTH)
        moves = list(CheminMove.objects.all())
        later = MONTH.until + timedelta(days=1)
        create_as_owner(
            *(
                CheminMove(
                    **{**_columns(move), "number": 10**6 + move.number, "at": later, "decider": Decider.CROUPIER}
                )
                for move in moves
            )
        )
        assert not measures.choices(Scope(MONTH.until, later + timedelta(days=1)))

    @pytest.mark.sweep
    def test_each_question_is_one_statement(self, django_assert_num_queries):
        an_evening(10)
        with django_assert_num_queries(5):
            analyse_play(MONTH)


def _columns(move: CheminMove) -> dict[str, object]:
    return {field.attname: getattr(move, field.attname) for field in move._meta.concrete_fields if field.name != "id"}


class TestTies:
    def sessions(self, players: list[Player], *addresses: str) -> list[object]:
        made = [
            Session.objects.create(id=uuid4(), user=player.user, ip=address, browser="Firefox")
            for player, address in zip(players, addresses, strict=True)
        ]
        return [session.pk for session in made]

    def test_one_address_is_conspicuous(self):
        players = [a_player() for _ in range(3)]
        sessions = self.sessions(players, "192.0.2.1", "192.0.2.1", "192.0.2.2")
        an_evening(5, players=players, sessions=sessions)
        found = {pair.pair: pair for pair in analyse_play(MONTH).pairs}
        assert found[players[0].pk, players[1].pk].signs == (Sign.ADDRESS,)
        tie = found[players[0].pk, players[1].pk].tie
        assert tie is not None
        assert tie.device
        assert found[players[0].pk, players[2].pk].signs == ()

    def test_an_erased_address_ties_nobody(self):
        players = [a_player() for _ in range(2)]
        an_evening(5, players=players, sessions=self.sessions(players, "", ""))
        assert between(players[0], players[1]).signs == ()

    @pytest.mark.parametrize(("resolution", "signs"), [("", (Sign.SAME,)), (Resolution.DIFFERENT, ())])
    def test_a_possible_duplicate_is_conspicuous_until_it_is_ruled_out(self, resolution, signs):
        players = [a_player() for _ in range(2)]
        an_evening(5, players=players)
        resolved: dict[str, object] = {}
        if resolution:
            resolved = {"resolved_by": a_member_of_staff("compliance"), "resolved_at": BEGAN}
        Duplicate.objects.create(
            first=players[0], second=players[1], ground=Ground.NAME, resolution=resolution, **resolved
        )
        assert between(players[0], players[1]).signs == signs


class TestChance:
    def test_a_tail_is_never_smaller_than_two_equal_stakes_make_it(self):
        assert tail(2**0.5) >= 0.5  # both lost or both won
        assert isclose(BEYOND_NORMAL, 0.25 / 0.0786496, rel_tol=1e-3)
        assert tail(0) == 1

    @pytest.mark.parametrize(
        ("answers", "expected"),
        [
            (Answers(5, 5, 0, 5), 1 / comb(10, 5)),
            (Answers(3, 3, 1, 5), comb(4, 3) / comb(8, 3)),
            (Answers(0, 9, 5, 9), 1.0),
            (Answers(4, 4, 0, 0), 1.0),
        ],
    )
    def test_it_is_fisher_s_exact_test(self, answers, expected):
        assert isclose(more_often([answers]), expected, rel_tol=1e-9)

    def test_circumstances_compare_only_within_themselves(self):
        large, small = Answers(9, 10, 90, 100), Answers(1, 10, 10, 100)
        assert more_often([large, small]) == 1.0
        assert more_often([Answers(5, 5, 0, 5)] * 2) == pytest.approx(1 / comb(10, 5) ** 2)

    def test_many_answers_are_weighed_as_few_are(self):
        exact = more_often([Answers(60, 190, 40, 190)])
        normal = more_often([Answers(64, 202, 43, 202)])
        assert exact == pytest.approx(normal, rel=0.7)

    def test_more_comparisons_make_the_same_less_remarkable(self):
        assert for_all(0.001, 10) == pytest.approx(0.01)
        assert for_all(0.3, 10) == 1
