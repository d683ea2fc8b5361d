"""The money of a coup at a Chemin de Fer table, moved as the table moves it."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from players.models import Player
from tests.wallet import wholeness
from tests.wallet.money_moves import cash, open_table_account, write
from wallet.ledger import Journal, Line, Posted, accounts
from wallet.models import Account, AccountKind, Day, Mode


@dataclass(frozen=True)
class CoupPlayer:
    """A player and their account; a house player has no owner."""

    account: int
    owner: int | None = None


def coup_player(player: Player, mode: Mode = Mode.REAL) -> CoupPlayer:
    return CoupPlayer(cash(player, mode), player.pk)


def house_player(chips: int) -> CoupPlayer:
    """Return a house player with this free money, in SEK."""
    account = open_table_account(AccountKind.SEAT, uuid4(), currency="SEK", mode=Mode.FREE)
    mint = accounts.house_account(AccountKind.MINT, "SEK", Mode.FREE)
    lines = (Line(mint, "SEK", "F", -chips), Line(account, "SEK", "F", chips))
    write(Journal(uuid4(), "seat_funded", lines))
    return CoupPlayer(account)


@dataclass(frozen=True)
class Bank:
    """A tenure and its account."""

    banker: CoupPlayer
    currency: str
    mode: Mode
    account: int
    tenure: UUID

    @property
    def balance(self) -> int:
        return balance_of(self.account)

    def move(self, kind: str, amount: int) -> Posted:
        """Move money from the banker to the bank, or back if negative."""
        (posted,) = write(Journal(uuid4(), kind, self.lines((self.banker.account, -amount), amount), self.tenure))
        return posted

    def lines(self, other: tuple[int, int], amount: int) -> tuple[Line, ...]:
        return tuple(Line(at, self.currency, self.mode, each) for at, each in (other, (self.account, amount)))


def a_bank(banker: CoupPlayer, amount: int, *, currency: str = "SEK", mode: Mode = Mode.REAL) -> Bank:
    """Return a bank of *banker*."""
    tenure = uuid4()
    account = open_table_account(AccountKind.BANK, tenure, currency=currency, mode=mode, owner_id=banker.owner)
    bank = Bank(banker, currency, mode, account, tenure)
    bank.move("bank", amount)
    return bank


@dataclass(frozen=True)
class Coup:
    """A coup against a bank, and its stakes."""

    bank: Bank
    id: UUID = field(default_factory=uuid4)

    @property
    def stakes(self) -> int:
        return open_table_account(AccountKind.STAKES, self.id, currency=self.bank.currency, mode=self.bank.mode)

    @property
    def balance(self) -> int:
        return balance_of(self.stakes)

    def journal(self, kind: str, *amounts: tuple[int, int]) -> Journal:
        lines = tuple(
            Line(account, self.bank.currency, self.bank.mode, amount) for account, amount in amounts if amount
        )
        return Journal(uuid4(), kind, lines, self.id)

    def lay(self, punter: CoupPlayer, amount: int) -> Posted:
        """Lay a stake; a negative one is returned."""
        (posted,) = write(self.journal("stake", (punter.account, -amount), (self.stakes, amount)))
        return posted

    def settle(self, returned: dict[CoupPlayer, int], tax: int = 0) -> Posted:
        """Settle all stakes: *returned* to punters, the tax to the house, the rest to or from the
        bank.
        """
        house = accounts.house_account(AccountKind.HOUSE, self.bank.currency, self.bank.mode)
        staked, paid = self.balance, [(punter.account, amount) for punter, amount in returned.items()]
        bank = staked - sum(returned.values()) - tax
        (posted,) = write(
            self.journal("settle", (self.stakes, -staked), (self.bank.account, bank), (house, tax), *paid)
        )
        return posted


def balance_of(account: int) -> int:
    return Account.objects.get(pk=account).balance or 0


def counted(player: Player) -> tuple[int, int]:
    """Return the stakes and payouts of all days together."""
    days = Day.objects.filter(player=player)
    return sum(day.staked for day in days), sum(day.paid for day in days)


def broken() -> dict[str, tuple[str, ...]]:
    """Return the violated invariants with their rows."""
    return {check.invariant.name: check.rows for check in wholeness.checks() if check.rows}
