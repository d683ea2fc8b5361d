"""Errors of the tables. The texts for players are in `games.betting.error_messages`."""

from games.engine.chemin.state import Refusal
from players.protection.eligibility import Ineligibility
from wallet.ledger import LimitReached
from wallet.models import Mode


class PlayError(Exception):
    """The table refuses a player's request. Nothing has changed."""


class NotEligible(PlayError):
    """The player may not play anywhere; *ineligibility* contains the reason."""

    def __init__(self, ineligibility: Ineligibility) -> None:
        super().__init__(ineligibility.code)
        self.ineligibility = ineligibility


class TableWaits(PlayError):
    """The player may play at one table at a time and has opened another; *slug* is the waiting
    table.
    """

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug


class RoundElsewhere(PlayError):
    """The player may play at one table at a time, and a round at another one, *name*, is in progress."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class GameTooSoon(PlayError):
    """The jurisdiction sets a time between the starts of two games; the next may start in *seconds*."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class ApiClientMayNotPlay(PlayError):
    """API clients may not play for real money in the player's jurisdiction."""


class TableClosed(PlayError):
    """The table takes no bets now."""


class TablePaused(PlayError):
    """The table is paused: no round begins until it continues."""


class HouseStopped(PlayError):
    """The house stop is on: nobody can stake until it ends."""


class NothingStaked(PlayError):
    """DEAL was pressed without a bet on the table."""


class StalePage(PlayError):
    """The page refers to a round that this player never had: it is too old, or was altered."""


class SlipChanged(PlayError):
    """The bets were changed in another tab after this page was loaded."""


class TableChanged(PlayError):
    """The limits or rules of the table changed after this page was loaded."""


class DealerAway(PlayError):
    """The dealer does not answer: no round can be dealt until it does."""


class CommitmentSpent(PlayError):
    """The dealer does not deal the round that the seat is committed to.

    *reason* is a `games.deals.Reason`, *proof* the dealer's, for the database.
    """

    def __init__(self, reason: str, proof: bytes = b"") -> None:
        super().__init__(reason)
        self.reason, self.proof = reason, proof


class ShoeRefused(Exception):
    """The dealer does not have the shoe, or deals nothing from it for this request; the message says why."""


class NothingToRepeat(PlayError):
    """REBET was pressed before any round was played at this table."""


class BalanceTooLow(PlayError):
    """The bets exceed the balance."""


class OperatorBalanceTooLow(BalanceTooLow):
    """The bets exceed the balance at the player's operator. A deposit here is not possible."""


class OperatorRefuses(PlayError):
    """The player's operator refuses the bet for a reason of its own."""


class OperatorBusy(PlayError):
    """Too many requests wait for the player's operator. No stake was requested."""


class OperatorSilent(PlayError):
    """The operator has not confirmed the stake: no round is played, and the stake is returned."""


class BetUnderWay(PlayError):
    """The operator has not yet answered the request for the stake of this round."""


class VisitOver(PlayError):
    """The player's session at the operator, or its launch here, has ended."""


class NotForOperatorPlayers(PlayError):
    """The table is not available to players of an operator wallet."""


class OverLimit(PlayError):
    """The bets would exceed a limit of the player; *reached* describes the limit."""

    def __init__(self, reached: LimitReached) -> None:
        super().__init__(f"{reached.kind} {reached.period}")
        self.reached = reached


class UnknownChip(PlayError):
    """The tray has no such chip."""


class NotOffered(PlayError):
    """The game's table does not have this control."""


class UnknownCurrency(PlayError):
    """The table does not offer this currency."""


class NotEligibleHere(PlayError):
    """The table does not accept players of this jurisdiction."""


class OtherMoney(PlayError):
    """The table does not offer this kind of money, *mode*."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.mode = mode


class LimitError(PlayError):
    """A stake is outside the table limits of a bet; *amount* is the limit in minor units of
    *currency*.
    """

    def __init__(self, bet: str, amount: int, currency: str) -> None:
        super().__init__(f"{bet}: {amount} {currency}")
        self.bet = bet
        self.amount = amount
        self.currency = currency


class UnderMinimum(LimitError):
    """The stake is below the bet's minimum."""


class OverMaximum(LimitError):
    """The stake is above the bet's maximum."""


class StakeOffStep(LimitError):
    """The stake is not a multiple of the table's step."""


class BetTooLate(PlayError):
    """The bet came after NO MORE BETS, or was meant for another round than the one that takes
    bets.
    """


class NotEnoughBalance(PlayError):
    """The available balance does not cover the bet at a shared table."""


class TableStopped(PlayError):
    """The shared table is stopped because of a malfunction."""


class OverLiability(PlayError):
    """The bets of all players together could win more than the house's liability limit for the
    round.
    """


class CheminRefused(PlayError):
    """An action at a Chemin de Fer table is refused; *reason* names the rule that forbids it."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__()  # not even logged: a binding rule reveals the player's hand
        self.reason = reason


class QuestionPassed(PlayError):
    """The answer came too late, or belongs to another question than the current one."""


class FavouriteError(PlayError):
    """The favourite cannot be saved; `games.shared.favourites` has the texts."""


class NameMissing(FavouriteError):
    """The favourite has no name."""


class NameTooLong(FavouriteError):
    """The name of the favourite is too long."""


class NameUnreadable(FavouriteError):
    """The name of the favourite contains invisible characters."""


class NameTaken(FavouriteError):
    """Another favourite of the player at this game has this name, ignoring case."""


class NothingToSave(FavouriteError):
    """The favourite has no bets: there are none on the table, and there is no earlier round."""


class TooManyFavourites(FavouriteError):
    """The player has the maximum number of favourites at this game."""


class TrayError(PlayError):
    """The chips are not a valid tray; `games.shared.pages.views` has the texts."""


class NoChipChosen(TrayError):
    """The tray has no chips."""


class TooManyChips(TrayError):
    """The tray has too many chips."""
