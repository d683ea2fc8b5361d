"""Messages for every refusal at a table, in the reader's language, with a link where one helps."""

from collections.abc import Iterable, Sequence
from math import ceil
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games import errors
from games.betting.rules import plays_on
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import deal
from games.engine.settle import ExcludedBets, MissingMainBet, SettlementError, UnknownBet
from games.labels import announcement, bet_name
from games.models import Participation, VoidReason
from games.tables.presentation import Notice
from players.protection.eligibility import Ineligibility
from wallet.models import AccountKind, Mode
from wallet.money import format_money


def refusal(error: errors.PlayError | SettlementError, *, variant: Variant, mode: Mode, language: str) -> Notice:
    """Return the message for a refusal."""
    if isinstance(error, errors.OperatorBalanceTooLow):
        return Notice("error", _("Your balance does not cover this bet."))
    if isinstance(error, errors.BalanceTooLow):
        if plays_on(variant) is AccountKind.PURSE:
            return Notice("error", _("The game balance does not cover this bet. Re-buy or bet less."))
        return _balance_too_low(mode)
    if isinstance(error, ExcludedBets):
        return Notice("error", _excluded(error, variant, language))
    if isinstance(error, errors.LimitError):
        return Notice("error", _limit(error, variant, language))
    return refusal_at_chemin(error, mode=mode)


def refusal_at_chemin(error: errors.PlayError | SettlementError, *, mode: Mode) -> Notice:
    """Return the message for a refusal at a Chemin de Fer table, where there are no bets against
    the house.

    `games.chemin.pages.messages` has the croupier's refusals.
    """
    if isinstance(error, errors.NotEligible):
        return not_eligible(error.ineligibility)
    if isinstance(error, errors.TableWaits):
        text = _(
            "In your country you can play at only one table at a time. To play here, open this "
            "table again; your other table will then wait."
        )
        return Notice("error", text, reverse("table", args=[error.slug, mode]), _("Open this table again"))
    if isinstance(error, errors.GameTooSoon):
        return _too_soon(error)
    if isinstance(error, errors.RoundElsewhere):
        text = _(
            "Your round at %(table)s is still in progress. In your country you can play here only after it has ended."
        )
        return Notice("error", text % {"table": error.name})
    if isinstance(error, errors.NotEnoughBalance):
        more = _("Top up play money") if mode == Mode.FREE else _("Deposit")
        return Notice("error", _("Insufficient balance"), reverse("cashier"), more)
    if isinstance(error, errors.OverLimit):
        return Notice("error", str(error.reached), reverse("limits"), _("Your limits"))
    return Notice("error", _message(error))


def _too_soon(error: errors.GameTooSoon) -> Notice:
    seconds = max(1, ceil(error.seconds))
    text = ngettext(
        "The next game can start in %(seconds)s second. No bet was placed.",
        "The next game can start in %(seconds)s seconds. No bet was placed.",
        seconds,
    )
    return Notice("info", text % {"seconds": seconds}, wait=error.seconds)


def not_eligible(ineligibility: Ineligibility) -> Notice:
    """Return the message for a player who may not play, with a link to the page about it."""
    return Notice("error", ineligibility.message, reverse(ineligibility.page), _("Find out more"))


Unplayable = (
    errors.TableClosed
    | errors.DealerAway
    | errors.UnknownCurrency
    | errors.NotEligibleHere
    | errors.OtherMoney
    | errors.NotForOperatorPlayers
)


def unplayable(error: Unplayable) -> Notice:
    """Return the message for a table at which the player cannot play."""
    return Notice("error", _message(error))


def table_changed(misfits: Iterable[errors.LimitError], *, variant: Variant, language: str) -> Notice:
    """Return the message for a page drawn under older limits or rules, with the bets that do not
    fit the new ones.
    """
    changed = _("The limits or rules of this table have changed. No bet was placed. Check the changes, then continue.")
    return Notice("error", " ".join([changed, *(_limit(error, variant, language) for error in misfits)]))


def finished_unseen(part: Participation, language: str) -> Notice:
    """Return the result of a round whose answer may not have reached the player."""
    values = {
        "table": part.round.table_version.table.name,
        "result": announcement(deal([Card.parse(code) for code in part.round.cards.split()])),
        "amount": format_money(part.paid, part.currency, language),
    }
    if part.paid:
        text = _("Your round at %(table)s was completed while you were away. %(result)s Paid out: %(amount)s.") % values
    else:
        text = _("Your round at %(table)s was completed while you were away. %(result)s Your bets lost.") % values
    return Notice("info", text, reverse("round", args=[part.round_id]), _("See the replay"))


def examined(part: Participation) -> Notice:
    """Return the message for a round that cannot be shown and is being verified."""
    text = _("Round %(code)s is under review: its stored data is not consistent.")
    return Notice("info", text % {"code": part.round.code}, reverse("round", args=[part.round_id]), _("View the round"))


def repeated() -> Notice:
    """Return the message for a round that had been played before this click."""
    return Notice("info", _("This round has already been played. Here is the result. No further bet was placed."))


def closed() -> Notice:
    """Return the message for a player who opens a closed table."""
    text = _("This table is closed. You can remove the bets you have on it.")
    return Notice("info", text, reverse("lobby"), _("Go to the tables"))


def table_pauses() -> str:
    """Return the text for a paused table."""
    return _("This table is paused. The next round opens when the table resumes.")


def paused() -> Notice:
    """Return the message for a player who opens a paused table."""
    return Notice("info", table_pauses(), reverse("lobby"), _("Go to the tables"))


def halted() -> Notice:
    """Return the message for a player who opens a table during a house stop."""
    return Notice("info", _("Play is stopped at the moment. You can remove the bets you have here."))


def voided(rounds: Sequence[tuple[UUID, str, str]]) -> Notice | None:
    """Return the message for voided rounds, given by id, code and reason; None if there are none."""
    if not rounds:
        return None
    text = _voided_by_people(rounds) or ngettext(
        "Round %(codes)s was voided because of a malfunction. All stakes were returned and any payout was reversed.",
        "Rounds %(codes)s were voided because of a malfunction. All stakes were returned and "
        "any payouts were reversed.",
        len(rounds),
    )
    last_id, _last_code, _reason = rounds[-1]
    codes = ", ".join(code for _id, code, _why in rounds)
    return Notice("info", text % {"codes": codes}, reverse("round", args=[last_id]), _("View the round"))


def _voided_by_people(rounds: Sequence[tuple[UUID, str, str]]) -> str:
    """Return a text without "malfunction" if staff voided the rounds, otherwise an empty string."""
    if not any(VoidReason(reason).is_of_people for _id, _code, reason in rounds):
        return ""
    return ngettext(
        "Round %(codes)s was voided. All stakes were returned and any payout was reversed.",
        "Rounds %(codes)s were voided. All stakes were returned and any payouts were reversed.",
        len(rounds),
    )


def _message(error: errors.PlayError | SettlementError) -> str:
    if isinstance(error, errors.NothingStaked):
        return _("Place a bet first: choose a chip and click Player, Banker or Tie.")
    if isinstance(error, errors.HouseStopped):
        return _("All play is stopped at the moment. No bet was placed.")
    if isinstance(error, errors.TableClosed):
        return _("This table is closed. No bet was placed.")
    if isinstance(error, errors.TablePaused):
        return table_pauses()
    if isinstance(error, errors.BetTooLate):
        return _("Bet received too late")
    if isinstance(error, errors.QuestionPassed):
        return _("This action came too late: the time for this decision has passed. Nothing was staked.")
    if isinstance(error, errors.TableStopped):
        return _("This table is stopped while we investigate a malfunction. No bet was placed.")
    if isinstance(error, errors.OverLiability):
        return _(
            "This bet exceeds what the table can still accept in this round. Try a smaller bet or a different one."
        )
    if isinstance(error, errors.SlipChanged):
        return _("Your bets were changed in another window. No bet was placed. Check your bets, then deal again.")
    if isinstance(error, errors.DealerAway):
        return _("No cards can be dealt at the moment. No bet was placed. Try again in a few seconds.")
    if isinstance(error, errors.CommitmentSpent):
        return _(
            "The seal of this round is no longer valid, so a new one was made. No bet was placed. Your bets are"
            " still on the table: deal again."
        )
    if isinstance(error, errors.NothingToRepeat):
        return _("There is no previous round at this table to rebet.")
    if isinstance(error, errors.UnknownChip):
        return _("This table does not have this chip. Choose one from the tray.")
    if isinstance(error, errors.UnknownCurrency):
        return _("This table is not available in your currency.")
    if isinstance(error, errors.NotEligibleHere):
        return _("This table is not available in your country.")
    if isinstance(error, errors.OtherMoney):
        free, real = _("This table is not available for play money."), _("This table is not available for real money.")
        return free if error.mode == Mode.FREE else real
    if isinstance(error, errors.NotForOperatorPlayers):
        return _(
            "You are playing with your balance at the site you came from. You can use it at "
            "single-player tables, but not at this table."
        )
    if isinstance(error, errors.VisitOver):
        return _("Your game session has ended. Open the table again from the site you came from. No bet was placed.")
    if isinstance(error, errors.OperatorRefuses):
        return _("The site you came from does not accept this bet at the moment. No bet was placed.")
    if isinstance(error, errors.OperatorBusy):
        return _("The site you came from is responding slowly. No bet was placed. Try again in a moment.")
    if isinstance(error, errors.OperatorSilent):
        return _(
            "The site you came from did not respond in time. No round was played. If a stake was "
            "taken, it will be returned."
        )
    if isinstance(error, errors.BetUnderWay):
        return _("This bet is already being processed. Wait a moment, then check the table again.")
    if isinstance(error, errors.ApiClientMayNotPlay):
        return _("API clients cannot play here. Play on the page of the table.")
    if isinstance(error, errors.NotOffered):
        return _("This table has no such button.")
    if isinstance(error, MissingMainBet):
        return _("This bet requires a main bet.")
    if isinstance(error, UnknownBet):
        return _("This bet does not exist in this game. No bet was placed.")
    return _("This page was out of date and has been updated. No bet was placed.")


def _excluded(error: ExcludedBets, variant: Variant, language: str) -> str:
    names = [bet_name(variant, bet, language) for bet in error.bets]
    return _("%(one)s and %(other)s cannot be combined. Remove one of them first.") % {
        "one": names[0],
        "other": names[1],
    }


def _balance_too_low(mode: Mode) -> Notice:
    if mode == Mode.FREE:
        return Notice(
            "error", _("Your play money does not cover this bet."), reverse("cashier"), _("Top up play money")
        )
    return Notice("error", _("Your balance does not cover this bet."), reverse("cashier"), _("Deposit"))


def _limit(error: errors.LimitError, variant: Variant, language: str) -> str:
    names = {
        "bet": bet_name(variant, error.bet, language),
        "amount": format_money(error.amount, error.currency, language),
    }
    if isinstance(error, errors.UnderMinimum):
        return _("The minimum bet on %(bet)s is %(amount)s.") % names
    if isinstance(error, errors.OverMaximum):
        return _("The maximum bet on %(bet)s is %(amount)s.") % names
    return _("A bet on %(bet)s must be a multiple of %(amount)s.") % names
