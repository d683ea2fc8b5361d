"""Rounds of live tables are stored by functions of the database, which believe only what is stored.

Each attack runs as the login role of web and workers. It is refused, and it succeeds once the owner
has taken the guard away.
"""

import json
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, transaction

from audit.log import canonical
from audit.models import Event
from games.engine.cards import Card
from games.engine.coup import deal
from games.models import LiveRound, LiveTable, Participation, Phase, Round
from games.rounds.database_refusals import NotCommitted, StakesDiffer, WrongWagers, round_refusals
from games.shared import rounds
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player
from tests.games.test_rounds_are_written_by_functions import without_refusal
from tests.harness.databases import kept_for_several_tests
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Journal, Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
STAKE = 5_000
SETTLE = "games_settle_live_round"
WRITES = {
    "a round": "INSERT INTO games_round SELECT (jsonb_populate_record(r, {new})).* FROM games_round AS r",
    "a participation": """
        INSERT INTO games_participation (round_id, player_id, currency, mode, balance_before, balance_after, staked,
            paid, commission, at, table_id, bets, stakes, payouts, commissions, results)
        SELECT round_id, {stranger}, currency, mode, 0, 100000, 100, 100000, 0, at, table_id, bets, stakes, payouts,
            commissions, results
        FROM games_participation""",
    "a wager": """
        INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
        SELECT participation_id, 'dragon', 100, 100000, 0, 'win' FROM games_wager LIMIT 1""",
    "its place in the queue": "DELETE FROM games_verificationdue",
}
TABLES = {
    "a round": "games_round",
    "a participation": "games_participation",
    "a wager": "games_wager",
    "its place in the queue": "games_verificationdue",
}


@pytest.fixture(autouse=True, scope="module")
def a_bet(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), kept_for_several_tests():
        bet(a_player(real=MONEY), a_live_table("pairs"), player=STAKE)
        yield


@pytest.fixture
def player():
    return Player.objects.get()


@pytest.fixture
def live_table():
    return LiveTable.objects.get(mode=Mode.REAL)


def settle(round_id: UUID, pays: list[dict[str, object]]) -> None:
    with transaction.atomic(), round_refusals(), ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(
            rounds.SETTLE,
            {
                "round": round_id,
                "pays": json.dumps(pays),
                "stake_key": ledger.system_key(round_id, "stake"),
                "settle_key": ledger.system_key(round_id, "settle"),
            },
        )


def rich_pays(win: int = 1_000) -> list[dict[str, object]]:
    """Return odds at which the player's bet wins with any cards."""
    return [{"bet": "player", "win": win, "per": 1, "bears_commission": False, "result": "win"}]


def true_pays(live_round: LiveRound) -> list[dict[str, object]]:
    coup = deal([Card.parse(code) for code in live_round.cards.split()])
    return [asdict(rounds._Pay.of(each, coup)) for each in VARIANTS["pairs"].bets]


class TestASettlement:
    def test_pays_what_the_rules_say(self, player, live_table):
        dealt = advance_to(live_table, Phase.DEALT)
        settle(dealt.pk, true_pays(dealt))
        part = Participation.objects.get()
        assert part.balance_after == accounts.balance(player.pk, Mode.REAL) == MONEY - STAKE + part.paid

    def test_above_the_paytable_is_refused(self, player, live_table, owner):
        dealt = advance_to(live_table, Phase.DEALT)
        with pytest.raises(WrongWagers):
            settle(dealt.pk, rich_pays())
        assert not Round.objects.exists()
        without_refusal(owner, SETTLE, "SB063")
        settle(dealt.pk, rich_pays())
        assert accounts.balance(player.pk, Mode.REAL) == MONEY + 1_000 * STAKE

    @pytest.mark.parametrize(
        "change",
        [{"win": -1}, {"result": "push"}, {"per": 0}, {"per": -1}, {"result": "none"}, {"bet": "dragon"}],
        ids=str,
    )
    def test_with_odds_that_mean_nothing_is_refused(self, live_table, change):
        dealt = advance_to(live_table, Phase.DEALT)
        with pytest.raises(WrongWagers):
            settle(dealt.pk, [{**rich_pays()[0], "win": 1, **change}])

    @pytest.mark.parametrize("phase", [Phase.BETTING, Phase.CLOSED])
    def test_of_a_round_that_is_not_dealt_is_refused(self, live_table, owner, phase):
        live_round = round_at(live_table) if phase is Phase.BETTING else advance_to(live_table, phase)
        with pytest.raises(NotCommitted):
            settle(live_round.pk, [])

    def test_under_an_invented_round_is_refused(self, live_table):
        with pytest.raises(NotCommitted):
            settle(uuid4(), rich_pays(1))

    def test_of_bets_that_grew_after_they_were_closed_is_refused(self, player, live_table, owner):
        dealt = advance_to(live_table, Phase.DEALT)
        owner.execute("UPDATE games_liveseat SET stakes = '{\"player\": 500000}'")
        with pytest.raises(StakesDiffer) as refused:
            settle(dealt.pk, true_pays(dealt))
        assert refused.value.found == ((player.pk, "500000 SEK R", "5000 SEK R"),)
        without_refusal(owner, SETTLE, "SB064")
        without_refusal(owner, SETTLE, "SB065")
        settle(dealt.pk, true_pays(dealt))
        assert Participation.objects.get().staked == 500_000

    def test_of_money_that_is_held_without_a_bet_is_refused(self, player, live_table, owner):
        dealt, stranger = advance_to(live_table, Phase.DEALT), a_player(real=MONEY)
        account = accounts.player_account(stranger.pk, Mode.REAL)
        owner.execute("SELECT wallet_set_hold(%s, %s, 700)", [dealt.pk, account])
        with pytest.raises(StakesDiffer) as refused:
            settle(dealt.pk, true_pays(dealt))
        assert refused.value.found == ((stranger.pk, "nothing", "700 SEK R"),)

    def test_of_bets_without_money_is_refused(self, player, live_table, owner):
        dealt = advance_to(live_table, Phase.DEALT)
        owner.execute("SELECT wallet_delete_holds(%s)", [dealt.pk])
        with pytest.raises(StakesDiffer) as refused:
            settle(dealt.pk, true_pays(dealt))
        assert refused.value.found == ((player.pk, "5000 SEK R", "nothing"),)

    def test_past_the_function_is_refused(self, player, live_table, owner):
        """The ledger's own function pays any account that holds money, so only the function above calls it."""
        dealt = advance_to(live_table, Phase.DEALT)
        pay = "SELECT * FROM wallet_settle_holds(%s::uuid, %s::uuid, %s::uuid, %s::bigint[], %s::bigint[])"
        values: list[Any] = [dealt.pk, uuid4(), uuid4(), [accounts.player_account(player.pk, Mode.REAL)], [100 * STAKE]]
        with connection.cursor() as web:
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                web.execute(pay, values)
            owner.execute("ALTER FUNCTION wallet_settle_holds SECURITY DEFINER")
            owner.execute("GRANT EXECUTE ON FUNCTION wallet_settle_holds TO sabot_app")
            web.execute(pay, values)
        assert Journal.objects.filter(kind="settle").count() == 1
        assert accounts.balance(player.pk, Mode.REAL) == MONEY + 99 * STAKE


@pytest.mark.parametrize("what", WRITES)
def test_written_past_the_functions_is_refused(live_table, owner, what):
    advance_to(live_table, Phase.SETTLED)
    new = f"jsonb_build_object('id', '{uuid4()}', 'code', 'INVENTED')"
    write = WRITES[what].format(new=new, stranger=a_player().pk)
    with connection.cursor() as web:
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            web.execute(write)
        owner.execute(f"GRANT INSERT, DELETE ON {TABLES[what]} TO sabot_app")
        owner.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO sabot_app")
        web.execute(write)
        assert web.rowcount == 1


def test_a_void_round_is_stored_only_after_its_stakes_were_returned(live_table, owner):
    dealt = advance_to(live_table, Phase.DEALT)
    settle(dealt.pk, true_pays(dealt))
    owner.execute("ALTER TABLE games_liveround DISABLE TRIGGER USER")
    owner.execute("UPDATE games_liveround SET phase = 'closed' WHERE id = %s", [dealt.pk])
    store = "SELECT games_store_void_round(%s::uuid, 'decided', 'staff:1')"
    with pytest.raises(StakesDiffer), transaction.atomic(), round_refusals(), connection.cursor() as cursor:
        cursor.execute(store, [dealt.pk])
    without_refusal(owner, "games_store_void_round", "SB064")
    with pytest.raises(IntegrityError, match="games_round_pkey"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(store, [dealt.pk])  # it is stored already


def test_a_dealt_round_is_stored_as_void_only_if_two_people_agreed(live_table, owner):
    dealt = advance_to(live_table, Phase.DEALT)
    store = "SELECT games_store_void_round(%s::uuid, 'decided', 'staff:1')"
    with pytest.raises(DatabaseError, match="takes two people"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(store, [dealt.pk])
    owner.execute("DROP TRIGGER games_void_has_its_reason ON games_void")
    with connection.cursor() as cursor:
        cursor.execute(store, [dealt.pk])
    assert Round.objects.get().pk == dealt.pk


def test_the_event_is_canonical(live_table):
    settled = advance_to(live_table, Phase.SETTLED)
    (event,) = Event.objects.filter(kind="round.settled", on=f"round:{settled.pk}")
    stored = bytes(event.body).decode()
    assert canonical(json.loads(stored)) == stored
    assert json.loads(stored)["data"]["totals"]


def test_the_outcome_is_read_from_the_cards(owner):
    """Naturals, a fifth card of either hand, and six cards."""
    for cards, outcome in {
        "9H 4D KS 2C": "player",
        "2H KD 3S 8C": "banker",
        "6H 2D KS 3C 9D": "player",
        "6H 2D KS 3C 2D": "banker",
        "2H 7D 2S KC 4D": "player",
        "2H 3D 2S 2C 4D 3S": "tie",
        "": None,
        "9H 4D KS": None,
    }.items():
        assert owner.execute("SELECT games_outcome(%s)", [cards]).fetchone() == (outcome,), cards
