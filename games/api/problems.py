"""API problems of tables: the code and message of each refusal, and the codes of each call."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from games import errors
from games.betting.error_messages import refusal, refusal_at_chemin, table_changed
from games.engine.bets import Variant
from games.engine.settle import ExcludedBets, MissingMainBet, SettlementError
from players.api.problems import Problem, register
from players.models import Player
from wallet.models import Mode

CONFLICT, FORBIDDEN = HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN
UNPROCESSABLE = HTTPStatus.UNPROCESSABLE_ENTITY

CODES: Final[Mapping[type[Exception], str]] = {
    errors.NotEligible: register("not-eligible", FORBIDDEN, _("You are not eligible to play")),
    errors.NotEligibleHere: register("not-eligible-here", FORBIDDEN, _("The table is not available in your country")),
    errors.OtherMoney: register("other-money", FORBIDDEN, _("The table is not available for this type of money")),
    errors.NotForOperatorPlayers: register(
        "not-for-operator-players", FORBIDDEN, _("The table is not available to players of operators")
    ),
    errors.VisitOver: register("visit-over", FORBIDDEN, _("Your game session has ended")),
    errors.UnknownCurrency: register("other-currency", FORBIDDEN, _("The table is not available in your currency")),
    errors.OverLimit: register("limit-reached", FORBIDDEN, _("This would exceed one of your limits")),
    errors.ApiClientMayNotPlay: register("api-clients-may-not-play", FORBIDDEN, _("API clients cannot play here")),
    errors.RoundElsewhere: register("round-elsewhere", CONFLICT, _("Your round at another table is in progress")),
    errors.GameTooSoon: register("too-soon", CONFLICT, _("Your last game has only just started")),
    errors.HouseStopped: register("house-stopped", CONFLICT, _("All play is stopped")),
    errors.TableClosed: register("table-closed", CONFLICT, _("The table is closed")),
    errors.TablePaused: register("table-paused", CONFLICT, _("The table is paused")),
    errors.TableStopped: register("table-stopped", CONFLICT, _("The table is stopped")),
    errors.TableWaits: register("table-waits", CONFLICT, _("You are playing at another table")),
    errors.TableChanged: register("table-changed", CONFLICT, _("The table has changed")),
    errors.SlipChanged: register("slip-changed", CONFLICT, _("Your bets have changed")),
    errors.DealerAway: register(
        "dealer-away", HTTPStatus.SERVICE_UNAVAILABLE, _("No cards can be dealt at the moment")
    ),
    errors.CommitmentSpent: register("commitment-spent", CONFLICT, _("The commitment is no longer valid")),
    errors.StalePage: register("stale", CONFLICT, _("This page is out of date")),
    errors.BetTooLate: register("too-late", CONFLICT, _("The bet was received too late")),
    errors.BalanceTooLow: register("balance-too-low", CONFLICT, _("The balance is too low")),
    errors.NotEnoughBalance: "balance-too-low",
    errors.OverLiability: register("table-full", CONFLICT, _("The table accepts no more bets in this round")),
    errors.NothingStaked: register("nothing-staked", UNPROCESSABLE, _("No bet has been placed")),
    errors.NothingToRepeat: register("nothing-to-repeat", UNPROCESSABLE, _("There is nothing to repeat")),
    errors.UnknownChip: register("unknown-chip", UNPROCESSABLE, _("The table has no such chip")),
    errors.NotOffered: register("not-offered", UNPROCESSABLE, _("The table does not offer this")),
    errors.UnderMinimum: register("under-minimum", UNPROCESSABLE, _("The bet is too small")),
    errors.OverMaximum: register("over-maximum", UNPROCESSABLE, _("The bet is too large")),
    errors.StakeOffStep: register("off-step", UNPROCESSABLE, _("The bet is not a multiple of the step")),
    ExcludedBets: register("bets-exclude", UNPROCESSABLE, _("These bets cannot be combined")),
    MissingMainBet: register("main-bet-missing", UNPROCESSABLE, _("The bet needs a main bet")),
    SettlementError: register("bet-refused", UNPROCESSABLE, _("The rules do not allow this bet")),
}


def demand_api_client_may_play(player: Player, mode: Mode) -> None:
    """Check that API clients may play for this kind of money where the player is. Raises ApiClientMayNotPlay."""
    if mode is Mode.REAL and not player.jurisdiction.api_clients_may_play:
        raise errors.ApiClientMayNotPlay


@contextmanager
def refusals(variant: Variant | None, mode: Mode) -> Iterator[None]:
    """Turn a refusal of the table into a Problem with the sentence of the page. Raises Problem.

    *variant* is None at Chemin de Fer.
    """
    try:
        yield
    except (errors.PlayError, SettlementError) as error:
        raise problem_of(error, variant, mode) from error


def problem_of(error: errors.PlayError | SettlementError, variant: Variant | None, mode: Mode) -> Problem:
    """Return the problem for a refusal."""
    # These go away by themselves: the same call is to be tried again.
    is_kept = not isinstance(error, errors.DealerAway | errors.GameTooSoon | errors.RoundElsewhere)
    more = {"seconds": error.seconds} if isinstance(error, errors.GameTooSoon) else {}
    return coded(error, _message(error, variant, mode), is_kept=is_kept, **more)


def coded(error: errors.PlayError | SettlementError, message: str, *, is_kept: bool = True, **more: Any) -> Problem:
    """Return the problem for a refusal with this sentence and these extra members."""
    code = next(code for kind in type(error).__mro__ if (code := CODES.get(kind)))
    if isinstance(error, errors.NotEligible):
        more["ineligibility"] = error.ineligibility.code.value
    return Problem(code, message, is_kept=is_kept, **more)


def _message(error: errors.PlayError | SettlementError, variant: Variant | None, mode: Mode) -> str:
    language = get_language() or "en"
    if variant is None:
        return refusal_at_chemin(error, mode=mode).text
    if isinstance(error, errors.TableChanged):
        return table_changed((), variant=variant, language=language).text
    return refusal(error, variant=variant, mode=mode, language=language).text


AT_A_TABLE: Final = (
    "not-eligible",
    "not-eligible-here",
    "other-money",
    "not-for-operator-players",
    "other-currency",
    "table-closed",
    "table-changed",
    "dealer-away",
)
SLIP: Final = (
    *AT_A_TABLE,
    "house-stopped",
    "table-paused",
    "table-waits",
    "stale",
    "balance-too-low",
    "nothing-to-repeat",
    "unknown-chip",
    "not-offered",
    "over-maximum",
    "bets-exclude",
    "main-bet-missing",
    "bet-refused",
)
DEALING: Final = (
    *SLIP,
    "slip-changed",
    "limit-reached",
    "visit-over",
    "api-clients-may-not-play",
    "round-elsewhere",
    "too-soon",
    "nothing-staked",
    "under-minimum",
    "off-step",
    "commitment-spent",
)
