"""Why a table refuses. The sentence a player reads for each stands in `games.betting.error_messages`."""

from games.engine.chemin.refusals import Refusal
from players.protection.eligibility import Bar
from wallet.ledger import LimitReached
from wallet.models import Mode


class PlayError(Exception):
    """Something a player asked for that the table does not do; nothing has changed."""


class Barred(PlayError):
    """Something keeps the player from playing anywhere: *bar* says what, in words."""

    def __init__(self, bar: Bar) -> None:
        super().__init__(bar.code)
        self.bar = bar


class TableWaits(PlayError):
    """The player may play at one table at a time, and has opened another since; *slug* is the one that waits."""

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug


class TableClosed(PlayError):
    """The table takes no bets now."""


class TablePaused(PlayError):
    """The table pauses: no round begins there until it goes on."""


class HouseStopped(PlayError):
    """The whole house is stopped: nobody stakes anywhere until it goes on."""


class NothingStaked(PlayError):
    """DEAL without a bet on the table."""


class StalePage(PlayError):
    """The page speaks of a round that this player never had: it was left open too long, or altered."""


class SlipChanged(PlayError):
    """The bets were changed in another tab since this page was drawn."""


class TableChanged(PlayError):
    """The limits or rules of the table have changed since this page was drawn."""


class NothingToRepeat(PlayError):
    """REBET before any round was played here."""


class BalanceTooLow(PlayError):
    """The bets come to more than the balance."""


class RemoteBalanceTooLow(BalanceTooLow):
    """The operator that the player comes from says so; there is nothing to deposit here."""


class OperatorRefuses(PlayError):
    """The operator that the player comes from takes no bet of theirs now, for a reason of its own."""


class OperatorBusy(PlayError):
    """Too many wait for the operator that the player comes from: it was asked for no stake."""


class OperatorSilent(PlayError):
    """The operator has not said whether it took the stake: no round is played, and the stake goes back."""


class BetUnderWay(PlayError):
    """The operator is being asked for the stake of this very round."""


class VisitOver(PlayError):
    """The operator's session with the player, or the way from it to here, is over."""


class NotHereRemotely(PlayError):
    """The table is not one for players who come from an operator."""


class OverLimit(PlayError):
    """The bets would pass a limit of the player's; *reached* says which, in words."""

    def __init__(self, reached: LimitReached) -> None:
        super().__init__(f"{reached.kind} {reached.period}")
        self.reached = reached


class UnknownChip(PlayError):
    """The tray has no such chip."""


class NotOffered(PlayError):
    """A control that the game's table does not have."""


class UnknownCurrency(PlayError):
    """The table is not played in this currency."""


class NotServed(PlayError):
    """The table serves no players of this jurisdiction."""


class OtherMoney(PlayError):
    """The table is not played for this kind of money: *mode*."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.mode = mode


class LimitError(PlayError):
    """A stake outside the table limits of a bet; *amount* is the limit in minor units of *currency*."""

    def __init__(self, bet: str, amount: int, currency: str) -> None:
        super().__init__(f"{bet}: {amount} {currency}")
        self.bet = bet
        self.amount = amount
        self.currency = currency


class UnderMinimum(LimitError):
    """Less than the bet's minimum."""


class OverMaximum(LimitError):
    """More than the bet's maximum."""


class StakeOffStep(LimitError):
    """Not a multiple of the table's step."""


class BetTooLate(PlayError):
    """The bet came after NO MORE BETS, or was meant for another round than the one that takes bets now."""


class NotEnoughBalance(PlayError):
    """What is free on the account does not cover the bet at a shared table."""


class TableStopped(PlayError):
    """The shared table stands still because of a malfunction."""


class OverLiability(PlayError):
    """All bets of the round together could win more than the house puts up in it."""


class GuestRefused(PlayError):
    """The croupier refuses what a guest wants to do at a Chemin de Fer table; *reason* says which rule forbids it."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__()  # not even in a log: that a rule binds tells what somebody holds
        self.reason = reason


class QuestionPassed(PlayError):
    """The answer came after its time, or is one to another question than the one that is asked now."""


class FavouriteError(PlayError):
    """A favourite that cannot be kept so: `games.shared.favourites.panel` says why."""


class NameMissing(FavouriteError):
    """A favourite without a name."""


class NameTooLong(FavouriteError):
    """A favourite whose name has more characters than there is room for."""


class NameUnreadable(FavouriteError):
    """A favourite whose name has characters in it that nobody sees."""


class NameTaken(FavouriteError):
    """Another favourite of the player's at this game has that name, whatever the case of its letters."""


class NothingToSave(FavouriteError):
    """A favourite of no bets: none lie on the table, and there is no earlier round."""


class TooManyFavourites(FavouriteError):
    """More favourites than a player may keep at one game."""


class TrayError(PlayError):
    """Chips that cannot be a player's tray: `games.shared.views` says why."""


class NoChipChosen(TrayError):
    """A tray without chips."""


class TooManyChips(TrayError):
    """More chips than a tray has room for."""
