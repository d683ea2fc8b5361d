"""Every refusal of a solo table, with its code and the text of the page; and repeated calls."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.utils import translation

from games import errors
from games.api.problems import CODES
from games.betting import error_messages
from games.chemin.stop import continue_table
from games.engine.settle import SettlementError
from games.models import Participation, Round, SoloSeat, Table
from games.tables.default_tables import baccarat_limits, no_commission_limits
from games.tables.status import close_table, open_table, pause_table
from games.tables.versions import make_table
from games.variants import VARIANTS
from players.api.problems import KINDS
from players.models import LimitKind, Period, Player
from players.protection import exclusions
from players.protection.limits import set_limit
from tests.api.at_solo import Answer, AtTable, answered, refused
from tests.api.client import ApiClient
from tests.builders import a_golden_table, a_player, a_purse, a_table, other_limits, put_live
from tests.games.test_house_stopped import stop
from tests.games.test_table_eligibility import serve
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
CHIP = 5000
WHY = {"reason": "for a test", "by": "staff:7"}
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def table() -> Table:
    return a_table()


@pytest.fixture
def at(player: Player, table: Table) -> AtTable:
    """An API client at its seat, with a bet on the table."""
    seat = AtTable(ApiClient(player.user), table)
    answered(seat.open())
    answered(seat.chip("player", CHIP))
    return seat


def a_table_with_side_bets() -> Table:
    """An open solo table of a game that ships with another shape."""
    limits = no_commission_limits()
    for entry in limits.values():
        del entry["liability"]
    table = make_table(slug="solo", name="Solo", variant="no_commission", limits=limits, by="staff:test")
    return open_table(table_id=table.pk, reason="for a test", by="staff:test")


HAPPENS: dict[str, Callable[[Player, Table], object]] = {
    "house-stopped": lambda player, table: stop(),
    "table-closed": lambda player, table: close_table(table_id=table.pk, **WHY),
    "table-paused": lambda player, table: pause_table(table_id=table.pk, **WHY),
    "table-changed": lambda player, table: put_live(table_id=table.pk, limits=other_limits()),
    "not-eligible-here": lambda player, table: serve(table, jurisdictions=["DK"]),
    "other-money": lambda player, table: serve(table, modes=[Mode.FREE]),
    "not-eligible": lambda player, table: exclusions.pause(player=player, by=str(player)),
}


class TestWhatKeepsARoundFromBeingDealt:
    @pytest.mark.parametrize("code", sample(list(HAPPENS), 3))
    def test_is_answered_and_recorded_and_moves_nothing(self, at, player, table, code):
        HAPPENS[code](player, table)
        before = SoloSeat.objects.values().get()
        problem = refused(at.deal(), int(KINDS[code].status), code)
        assert problem["detail"]
        assert not Round.objects.exists()
        assert SoloSeat.objects.values().get() == before
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        (event,) = events("round.refused")
        assert event["by"] == str(player)

    @pytest.mark.sweep
    @pytest.mark.parametrize("code", sample([code for code in HAPPENS if code != "table-changed"], 1))
    def test_keeps_chips_off_as_well(self, at, player, table, code):
        HAPPENS[code](player, table)
        version = table.versions.latest("number").number
        refused(at.chip("player", CHIP, table_version=version), int(KINDS[code].status), code)

    def test_says_what_bars_the_player(self, at, player):
        exclusions.pause(player=player, by=str(player))
        assert refused(at.deal(), 403, "not-eligible")["ineligibility"] == "excluded"
        assert refused(at.open(), 403, "not-eligible")["ineligibility"] == "excluded"

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_is_said_as_the_page_says_it_in_every_language(self, at, player, table, language):
        at.api_client.client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        problem = refused(at.play({"player": 2 * MONEY}), 409, "balance-too-low")
        with translation.override(language):
            page = error_messages.refusal(
                errors.BalanceTooLow(), variant=VARIANTS["baccarat"], mode=Mode.REAL, language=language
            )
            assert problem["detail"] == page.text
            assert problem["title"] == str(KINDS["balance-too-low"].title)

    def test_is_a_check_that_waits_for_its_answer(self, at):
        as_owner("UPDATE players_playsession SET began = began - interval '61 minutes'")
        assert refused(at.deal(), 403, "not-eligible")["ineligibility"] == "check"
        check = answered(at.api_client.get("protection/check/"))
        assert check["is_due"] is True
        answered(at.api_client.post("protection/check/", {"answer": "continue"}))
        answered(at.deal())

    @pytest.mark.sweep
    def test_is_another_table_where_one_at_a_time_is_the_law(self, table):
        player, other = a_player("DE", real=MONEY // 20), a_table("second")
        first, second = (AtTable(ApiClient(player.user), each) for each in (table, other))
        first.open()
        answered(first.chip("player", 500))
        answered(second.open())
        refused(first.deal(), 409, "table-waits")
        refused(first.chip("player", 500), 409, "table-waits")
        answered(first.api_client.get(first.base + "solo-seat/"))
        refused(first.deal(), 409, "table-waits")  # to read a place is not to go there
        answered(first.open())
        answered(first.deal())

    def test_is_a_currency_that_the_table_does_not_take(self, player):
        limits = {"DKK": baccarat_limits()["DKK"]}
        seat = AtTable(ApiClient(player.user), a_table("danish", limits=limits))
        refused(seat.open(), 403, "other-currency")

    def test_is_a_limit_of_the_player_s(self, at, player):
        set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=1000, by=str(player))
        refused(at.deal(), 403, "limit-reached")


# No call of an API client raises these: they concern the layout of a table page, and bets in an operator's wallet.
NOT_ASKED = (
    errors.CheminRefused,
    errors.QuestionPassed,
    errors.FavouriteError,
    errors.TrayError,
    errors.BetUnderWay,
    errors.OperatorRefuses,
    errors.OperatorBusy,
    errors.OperatorSilent,
)


def every_kind(kind: type[Exception]) -> set[type[Exception]]:
    """Return an error class and all its subclasses."""
    return {kind}.union(*map(every_kind, kind.__subclasses__()))


def test_every_refusal_of_a_table_has_a_code():
    kinds = every_kind(errors.PlayError) | every_kind(SettlementError)
    without = {kind for kind in kinds if not any(each in CODES for each in kind.__mro__)}
    assert {kind for kind in without if not issubclass(kind, NOT_ASKED)} == {errors.PlayError, errors.LimitError}


class TestWhatIsSaidWrongly:
    @pytest.mark.sweep
    def test_of_a_slip_that_has_changed_since(self, at):
        before = at.solo_seat["slip_version"]
        at.chip("player", CHIP)
        refused(at.deal(slip_version=before), 409, "slip-changed")

    @pytest.mark.sweep
    def test_of_a_round_that_is_nobody_s(self, at):
        refused(at.deal(round_id=str(uuid4())), 409, "stale")

    def test_of_somebody_else_s_round(self, at, table):
        other = AtTable(ApiClient(a_player(real=MONEY).user), table)
        other.open()
        round_id = at.solo_seat["round_id"]
        answered(at.deal())
        refused(other.play({"player": CHIP}, round_id=round_id), 409, "stale")
        refused(other.api_client.get(f"rounds/{round_id}/"), 404, "not-found")
        assert Round.objects.count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize("rest", ["solo-seat/deal/", "rounds/", "solo-seat/chips/", "solo-seat/changes/"])
    def test_without_a_seat(self, player, table, rest):
        bodies: dict[str, Answer] = {
            "solo-seat/deal/": {"round_id": str(uuid4()), "slip_version": 0},
            "rounds/": {"round_id": str(uuid4()), "bets": {"tie": CHIP}},
            "solo-seat/chips/": {"bet": "tie", "chip": CHIP},
            "solo-seat/changes/": {"change": "undo"},
        }
        seat = AtTable(ApiClient(player.user), table)
        refused(seat.send(rest, bodies[rest]), 409, "stale")

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("bets", "code"),
        sample(
            [
                ({}, "nothing-staked"),
                ({"player": 500}, "under-minimum"),
                ({"player": 100_000_000}, "over-maximum"),
                ({"player": 5001}, "off-step"),
                ({"dragon": 5000}, "bet-refused"),
            ],
            2,
        ),
    )
    def test_of_bets(self, at, bets, code):
        problem = refused(at.play(bets), 422, code)
        assert problem["detail"]

    def test_of_a_bet_that_the_game_does_not_have(self, at):
        problem = refused(at.play({"dragon": CHIP}), 422, "bet-refused")
        assert problem["detail"] == "This bet does not exist in this game. No bet was placed."

    @pytest.mark.sweep
    def test_of_bets_that_exclude_each_other(self, player):
        seat = AtTable(ApiClient(player.user), a_golden_table())
        seat.open()
        a_purse(player, 5 * CHIP)
        refused(seat.play({"player": CHIP, "banker": CHIP}), 422, "bets-exclude")

    def test_of_a_side_bet_alone(self, player):
        seat = AtTable(ApiClient(player.user), a_table_with_side_bets())
        seat.open()
        refused(seat.play({"super_6": CHIP}), 422, "main-bet-missing")

    @pytest.mark.sweep
    def test_of_chips_and_buttons_that_there_are_not(self, at):
        refused(at.chip("player", 777), 422, "unknown-chip")
        refused(at.chip("player", CHIP, take=True), 422, "not-offered")
        refused(at.change("lower"), 422, "not-offered")
        refused(at.change("rebet"), 422, "nothing-to-repeat")
        refused(at.deal(how="rebet_deal"), 422, "nothing-to-repeat")

    def test_of_more_than_there_is(self, at, player):
        refused(at.play({"player": 2 * MONEY}), 409, "balance-too-low")
        at.chip("player", 500_000)
        refused(at.chip("player", 500_000), 409, "balance-too-low")


class TestOnce:
    def test_the_same_key_gets_the_same_answer_and_one_round(self, at):
        key = str(uuid4())
        said = {name: at.solo_seat[name] for name in ("round_id", "slip_version")}
        first, second = (at.deal(key=key, **said) for _ in range(2))
        assert first.content == second.content
        assert (first.headers.get("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (None, "true")
        assert Round.objects.count() == 1

    def test_the_same_key_with_another_body_is_a_conflict(self, at):
        key = str(uuid4())
        answered(at.play({"player": CHIP}, key=key))
        refused(at.play({"player": 2 * CHIP}, key=key), 409, "idempotency-key-reused")
        assert Round.objects.count() == 1

    @pytest.mark.sweep
    def test_a_refusal_is_repeated_although_the_state_has_changed(self, at, player, table):
        pause_table(table_id=table.pk, **WHY)
        key = str(uuid4())
        refused(at.deal(key=key), 409, "table-paused")
        continue_table(table_id=table.pk, **WHY)
        assert refused(at.deal(key=key), 409, "table-paused")
        assert len(events("round.refused")) == 1
        answered(at.deal())

    def test_a_chip_is_placed_once(self, at):
        key = str(uuid4())
        for _ in range(2):
            at.send("solo-seat/chips/", {"bet": "tie", "chip": 1000}, key=key)
        assert SoloSeat.objects.get().slip == {"player": CHIP, "tie": 1000}

    def test_money_is_moved_into_the_game_once(self, player):
        golden = AtTable(ApiClient(player.user), a_golden_table())
        golden.open()
        key = str(uuid4())
        for _ in range(2):
            answered(golden.api_client.post(golden.base + "purse/re-buy/", {"amount": CHIP}, key=key))
        assert accounts.balance(player.pk, Mode.REAL) == MONEY - CHIP
        assert not Participation.objects.exists()
