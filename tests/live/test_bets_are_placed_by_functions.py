"""Bets at shared tables are placed by functions of the database, which check them against what is stored.

Each attack runs as the login role of web and workers. It is refused, and it succeeds once the owner
has taken the guard away.
"""

import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, ProgrammingError, connection, transaction

from audit.raw_rows import Value
from games.betting.limits import Limits
from games.engine.bets import SettlementError
from games.engine.settle import BadStake, largest_win
from games.errors import (
    BetTooLate,
    LimitError,
    NotEligible,
    NotEligibleHere,
    OtherMoney,
    OverLiability,
    TableStopped,
    TableWaits,
)
from games.models import BetCombinations, IncidentKind, LiveSeat, LiveTable, Phase
from games.rounds.reference_data import combinations_of
from games.shared import malfunction, seats
from games.tables.default_tables import pairs_limits
from games.variants import VARIANTS
from players.account import terms
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player, put_live
from tests.games.test_rounds_are_written_by_functions import demand_refusal, weaken, without_refusal
from tests.harness.databases import kept_for_several_tests
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at
from tests.live.betting import held, held_for, stakes_of, total_of
from tests.wallet import holds
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
STAKE = 5_000
PLACE = "games_place_bets"
SAMPLE = 400
VOID = "SELECT games_store_void_round(%s::uuid, %s::text, %s::text)"


@pytest.fixture(autouse=True, scope="module")
def a_bet(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), kept_for_several_tests():
        bet(a_player("RO", real=MONEY), a_live_table("pairs"), player=STAKE)
        yield


@pytest.fixture
def live_table() -> LiveTable:
    return LiveTable.objects.get(mode=Mode.REAL)


@pytest.fixture
def seat() -> LiveSeat:
    return LiveSeat.objects.get()


def call(statement: str, *values: Any) -> Any:
    """Call a function as the login role, and return the first column of the first row, or None.

    It is checked as at a COMMIT.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        connection.check_constraints()
    return row and row[0]


def place(seat: LiveSeat, stakes: Mapping[str, Any], round_id: UUID | None = None) -> Any:
    """Call the function as the product does, with any stakes, and return the id of the seat, None if it changed."""
    values: dict[str, Value] = {
        "seat": seat.pk,
        "seen": seat.version,
        "round": round_id or round_at(seat.live_table).pk,
        "stakes": json.dumps(stakes),
        "undo": "[]",
        "last_chip": None,
        "session": None,
        "key": None,
        "terms": terms.VERSION,
        "minutes": 60,
    }
    with seats._refusals(seat), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(seats.PLACE, values)
        row = cursor.fetchone()
    return row and row[0]


def a_seat_of(player: Player, live_table: LiveTable) -> LiveSeat:
    return seats.seat_at(player, live_table)


def refused_until(error: type[Exception], action: Callable[[], Any], drop: Callable[[], Any]) -> None:
    """Check that an action is refused, and done after *drop*."""
    with pytest.raises(error):
        action()
    drop()
    action()


def let_everybody_call(owner: Any, function: str) -> None:
    """Let the login role call a function of the owner."""
    owner.execute(f"ALTER FUNCTION {function} SECURITY DEFINER")
    owner.execute(f"GRANT EXECUTE ON FUNCTION {function} TO sabot_app")


def test_the_arguments_of_the_product_are_accepted(seat):
    assert place(seat, {"player": 2 * STAKE, "tie": STAKE}) == seat.pk
    assert stakes_of(seat.player, seat.live_table) == {"player": 2 * STAKE, "tie": STAKE}
    assert held(seat.player) == held_for(round_at(seat.live_table).pk) == 3 * STAKE
    assert total_of(round_at(seat.live_table).pk, "RON") == {"player": 2 * STAKE, "tie": STAKE}


def test_a_seat_that_changed_since_it_was_read_is_not_overwritten(seat, owner):
    place(seat, {"player": 2 * STAKE})
    assert place(seat, {"banker": STAKE}) is None
    assert stakes_of(seat.player, seat.live_table) == {"player": 2 * STAKE}
    weaken(owner, PLACE, ("own.version <> seen", "false"))
    place(seat, {"banker": STAKE})
    assert stakes_of(seat.player, seat.live_table) == {"banker": STAKE}


WRITES = {
    "a bet": "UPDATE games_liveseat SET stakes = '{\"banker\": 5000}'",
    "a seat": "INSERT INTO games_liveseat (live_table_id, player_id, account_id, currency, stakes, version, undo,"
    " last_stakes) SELECT live_table_id, {stranger}, account_id, currency, '{{}}', 0, '[]', '{{}}' FROM games_liveseat",
    "the account of a seat": "UPDATE games_liveseat SET account_id = account_id",
    "no seat": "DELETE FROM games_liveseat",
    "a total": "UPDATE games_livetotal SET stakes = '{}'",
    "no total": "DELETE FROM games_livetotal",
    "a hold": "UPDATE wallet_hold SET amount = amount + 1",
    "no hold": "DELETE FROM wallet_hold",
}


class TestIsRefused:
    def test_what_is_written_past_the_functions(self, seat, owner):
        stranger = str(a_player().pk)
        writes = {what: WRITES[what].replace("{stranger}", stranger).replace("{{}}", "{}") for what in WRITES}
        with connection.cursor() as web:
            for what, write in writes.items():
                with demand_refusal(ProgrammingError, what, match="permission denied"), transaction.atomic():
                    web.execute(write)
            tables = "games_liveseat, games_livetotal, wallet_hold, wallet_account"
            owner.execute(f"GRANT INSERT, UPDATE, DELETE ON {tables} TO sabot_app")
            owner.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO sabot_app")
            for what, write in writes.items():
                with transaction.atomic():
                    web.execute(write)
                    assert web.rowcount == 1, what
                    transaction.set_rollback(True)

    def test_money_held_for_a_round_without_a_bet(self, seat, owner):
        round_id, stranger = round_at(seat.live_table).pk, a_player(real=MONEY)
        account = accounts.player_account(stranger.pk, Mode.REAL)
        refused_until(
            DatabaseError,
            lambda: call("SELECT wallet_set_hold(%s::uuid, %s::bigint, %s::bigint)", round_id, account, STAKE),
            lambda: let_everybody_call(owner, "wallet_set_hold"),
        )
        assert held_for(round_id) == 2 * STAKE

    def test_money_held_for_a_round_before_it_opens(self, seat, owner):
        advance_to(seat.live_table, Phase.SETTLED)
        live_table, round_id = LiveTable.objects.get(pk=seat.live_table_id), uuid4()
        holds.hold(round_id, accounts.player_account(seat.player_id, Mode.REAL), STAKE)
        version = live_table.table.version_id
        opened = "SELECT id FROM games_open_round(%s::bigint, %s::uuid, %s::bigint, 'X')"
        guard = "OR EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = round)"
        refused_until(
            DatabaseError,
            lambda: call(opened, live_table.pk, round_id, version),
            lambda: weaken(owner, "games_open_round", (guard, "")),
        )
        assert held_for(round_id) == STAKE

    def test_money_released_under_the_bets(self, seat, owner):
        round_id = round_at(seat.live_table).pk
        refused_until(
            DatabaseError,
            lambda: call("SELECT wallet_delete_holds(%s::uuid)", round_id),
            lambda: let_everybody_call(owner, "wallet_delete_holds"),
        )
        assert held_for(round_id) == 0

    @pytest.mark.parametrize("reason", ["cancelled", "overdue"])
    def test_a_round_voided_without_a_word(self, seat, owner, reason):
        hurry(seat.live_table)
        round_id = round_at(seat.live_table).pk
        refused_until(
            DatabaseError,
            lambda: call(VOID, round_id, reason, "system"),
            lambda: owner.execute("DROP TRIGGER games_void_has_its_cause ON games_void"),
        )
        assert held_for(round_id) == 0

    def test_a_round_voided_as_overdue_before_its_deadline(self, seat, owner):
        round_id = round_at(seat.live_table).pk
        owner.execute("DROP TRIGGER games_void_has_its_cause ON games_void")
        refused_until(
            DatabaseError,
            lambda: call(VOID, round_id, "overdue", "system"),
            lambda: weaken(owner, "games_void_has_its_reason", ("AND deadline < NEW.at", "")),
        )
        assert held_for(round_id) == 0

    def test_a_dealt_round_released_by_one(self, seat, owner):
        advance_to(seat.live_table, Phase.DEALT)
        round_id = round_at(seat.live_table).pk
        with pytest.raises(DatabaseError, match="takes two people"):
            call(VOID, round_id, "decided", "staff:1")
        assert stakes_of(seat.player, seat.live_table) == {"player": STAKE}

    def test_a_bet_after_the_deadline(self, seat, owner):
        hurry(seat.live_table)
        refused_until(
            BetTooLate,
            lambda: place(seat, {"player": 2 * STAKE}),
            lambda: weaken(
                owner, PLACE, ("AND r.deadline > clock_timestamp()", ""), ("OR live.deadline <= clock_timestamp()", "")
            ),
        )
        assert held(seat.player) == 2 * STAKE

    @pytest.mark.parametrize("phase", [Phase.CLOSED, Phase.DEALT, Phase.SETTLED])
    def test_a_bet_on_a_round_whose_bets_are_closed(self, seat, owner, phase):
        late = advance_to(seat.live_table, phase)
        as_owner("UPDATE games_liveround SET deadline = clock_timestamp() + interval '1 hour' WHERE id = %s", [late.pk])
        refused_until(
            BetTooLate,
            lambda: place(seat, {"player": 2 * STAKE}, late.pk),
            lambda: weaken(owner, PLACE, ("AND r.phase = 'betting'", "")),
        )

    def test_a_bet_on_a_round_of_another_table(self, seat, owner):
        elsewhere = round_at(a_live_table("pairs", slug="elsewhere")).pk
        refused_until(
            BetTooLate,
            lambda: place(seat, {"player": 2 * STAKE}, elsewhere),
            lambda: weaken(owner, PLACE, ("AND r.live_table_id = held.live_table_id", "")),
        )

    def test_a_bet_of_somebody_who_may_not_play(self, seat, owner):
        exclusions.pause(player=seat.player, by=str(seat.player))
        refused_until(
            NotEligible,
            lambda: place(seat, {"player": 2 * STAKE}),
            lambda: without_refusal(owner, PLACE, "SB102"),
        )

    def test_a_bet_where_another_table_was_opened_since(self, live_table, owner):
        player, other = a_player("DE", real=50_000), a_live_table("pairs", slug="other")
        seat = seats.open_seat(player, live_table)
        seats.open_seat(player, other)

        def drop() -> None:
            for function in (PLACE, "games_begin_game"):
                without_refusal(owner, function, "SB103")

        refused_until(TableWaits, lambda: place(seat, {"player": STAKE}), drop)

    def test_more_bets_at_a_table_that_serves_the_player_no_more(self, seat, owner):
        put_live(table_id=seat.live_table.table_id, limits=pairs_limits(), jurisdictions=["SE"])
        place(seat, {})
        seat.refresh_from_db()
        refused_until(
            NotEligibleHere, lambda: place(seat, {"player": STAKE}), lambda: without_refusal(owner, PLACE, "SB104")
        )

    def test_more_bets_with_money_that_the_table_takes_no_more(self, seat, owner):
        put_live(table_id=seat.live_table.table_id, limits=pairs_limits(), modes=[Mode.FREE])
        refused_until(
            OtherMoney, lambda: place(seat, {"player": 2 * STAKE}), lambda: without_refusal(owner, PLACE, "SB104")
        )

    def test_more_bets_at_a_stopped_table(self, seat, owner):
        malfunction.stop(
            live_round=round_at(seat.live_table), kind=IncidentKind.PHASE_RAISED, cause="a test", found=(), by="test"
        )
        refused_until(
            TableStopped, lambda: place(seat, {"player": 2 * STAKE}), lambda: without_refusal(owner, PLACE, "SB104")
        )

    def test_a_stake_outside_of_the_limits_of_the_table(self, seat):
        for stakes in (
            {"player": 10_000_000},
            {"player": 1},
            {"player": STAKE + 1},
            {"player": -STAKE},
            {"player": 0},
            {"player": STAKE / 2 + 0.5},
            {"player": str(STAKE)},
            {"player": None},
            {"dragon": STAKE},
        ):
            with demand_refusal(BadStake, stakes):
                place(seat, stakes)
        assert held(seat.player) == STAKE

    def test_a_stake_above_the_limit(self, live_table, owner):
        limit = pairs_limits()["RON"]["bets"]["player"][1]
        seat = a_seat_of(a_player("RO", real=2 * limit), live_table)
        refused_until(
            BadStake, lambda: place(seat, {"player": limit + 2_500}), lambda: without_refusal(owner, PLACE, "SB105")
        )
        assert held(seat.player) == limit + 2_500

    def test_more_than_the_house_risks(self, owner):
        limits = pairs_limits()
        most = limits["RON"]["bets"]["player"][1]
        limits["RON"]["liability"] = 2 * most - 1
        live_table = a_live_table("pairs", slug="risky", limits=limits)
        place(a_seat_of(a_player("RO", real=most), live_table), {"player": most})
        seat = a_seat_of(a_player("RO", real=most), live_table)
        refused_until(
            OverLiability, lambda: place(seat, {"player": most}), lambda: without_refusal(owner, PLACE, "SB106")
        )

    def test_a_seat_with_the_account_of_somebody_else(self, live_table, owner):
        player, other = a_player("RO", real=MONEY), a_player("RO", real=MONEY)
        theirs = accounts.player_account(other.pk, Mode.REAL)
        refused_until(
            DatabaseError,
            lambda: call(seats.TAKE, live_table.pk, player.pk, theirs),
            lambda: weaken(owner, "games_take_seat", ("AND a.owner_id = player ", "")),
        )
        assert LiveSeat.objects.get(player=player).account_id == theirs

    def test_a_seat_with_other_money_or_at_another_kind_of_table(self, live_table):
        player = a_player("RO", real=MONEY, free=MONEY)
        free = accounts.player_account(player.pk, Mode.FREE)
        with pytest.raises(DatabaseError, match="takes no seat"):
            call(seats.TAKE, live_table.pk, player.pk, free)
        assert not LiveSeat.objects.filter(player=player).exists()


class TestWhatTheDatabaseKnowsOfTheRules:
    VARIANTS = tuple(each for each in VARIANTS.values() if each.shape == "shared")

    def test_is_stored_for_every_installed_game(self):
        stored = {each.rules_digest: [each.exclusions, each.needs, each.wins] for each in BetCombinations.objects.all()}
        for variant in VARIANTS.values():
            exclusions, needs, wins = json.loads(json.dumps(combinations_of(variant)))
            assert stored[variant.digest][:2] == [exclusions, needs]
            assert sorted(map(repr, map(sorted, stored[variant.digest][2]))) == sorted(map(repr, map(sorted, wins)))

    def test_its_largest_win_is_that_of_the_engine(self, owner):
        chance = random.Random(7)
        for _ in range(SAMPLE // len(self.VARIANTS)):
            for variant in self.VARIANTS:
                codes = [each.code for each in variant.bets]
                chosen = chance.sample(codes, chance.randint(1, len(codes)))
                stakes = {code: chance.randrange(1, 10**9) for code in chosen}
                asked = [variant.digest, json.dumps(stakes)]
                (won,) = owner.execute("SELECT games_largest_win(%s, %s::jsonb)", asked).fetchone()
                assert won == largest_win(variant, stakes)

    def test_it_takes_the_stakes_that_rules_and_limits_take(self, owner):
        chance, limits = random.Random(8), pairs_limits()["RON"]
        variant, checked = VARIANTS["pairs"], Limits.of({"RON": limits}, "RON")
        seen = set()
        for _ in range(SAMPLE):
            codes = chance.sample([each.code for each in variant.bets], chance.randint(1, 4))
            stakes = {code: chance.choice([0, 1, 500, 2_500, 5_000, 10_001, 100_000, 10**8]) for code in codes}
            fits = False
            with suppress(SettlementError, LimitError):
                variant.check(stakes)
                checked.check(stakes)
                fits = True
            asked = [variant.digest, json.dumps(limits), json.dumps(stakes)]
            (said,) = owner.execute("SELECT games_stakes_fit(%s, %s::jsonb, %s::jsonb)", asked).fetchone()
            assert said is fits, stakes
            seen.add(fits)
        assert seen == {True, False}
