"""A model of the wallet in plain Python: accounts, holds, days and limits after each action.

It uses no SQL and no code of the wallet. Amounts are minor units. A refused action changes nothing.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta

REAL, FREE = "R", "F"
CASH, PURSE = "cash", "purse"
MONEY = ("deposit", "loss", "stake")
PERIODS = ("day", "week", "month")
OPEN = ("requested", "seconding", "approved", "sending")

Where = tuple[str, str]  # kind of account, mode
Rule = tuple[str, str]  # kind of limit, period


class Refusal(Exception):
    """The wallet should refuse with this error; *detail* is the additional data of the error."""

    def __init__(self, name: str, *detail: object) -> None:
        super().__init__(name, *detail)
        self.answer = (name, *detail)


@dataclass(frozen=True)
class Law:
    """The rules of a player's jurisdiction, and the house's limits in their currency."""

    deposits: tuple[int, int]  # the smallest and the largest
    smallest_withdrawal: int
    one_person_to: int  # larger withdrawals of a day need two people
    free_money: int  # the amount up to which free money is refilled
    may_cancel: bool
    required: frozenset[Rule] = frozenset()
    month_deposit: int | None = None


@dataclass
class LimitState:
    """One source's limit of one kind and period. ``holds`` applies while ``asked`` ``waits``."""

    holds: int | None = None
    asked: int | None = None
    waits: bool = False


@dataclass
class Payment:
    """A deposit in progress."""

    amount: int
    state: str = "waiting"


@dataclass
class Withdrawal:
    """A withdrawal in progress."""

    amount: int
    takes_two: bool
    status: str = "requested"


@dataclass
class Adjustment:
    """A requested adjustment of a cash account."""

    mode: str
    amount: int
    status: str = "waiting"


@dataclass
class Round:
    """The stakes and payouts of a round by player and account.

    It counts on the day of the round in each player's time zone; the day of one may be over before
    another's.
    """

    staked: dict[tuple["Book", Where], int]
    paid: dict[tuple["Book", Where], int] = field(default_factory=dict)
    days: dict["Book", date] = field(init=False)

    def __post_init__(self) -> None:
        self.days = {book: book.today for book, _ in self.staked}

    def settle(self, paid: dict[tuple["Book", Where], int]) -> None:
        self.paid = paid
        for (book, where), amount in paid.items():
            book.balances[where] += amount
            if where[1] == REAL:
                book.count(self.days[book], "paid", amount)

    def void(self) -> int:
        """Void the round and return the house's share.

        A player who has spent the winnings returns what is free on their other account in this
        money. The house covers the rest.
        """
        net = {at: self.paid.get(at, 0) - amount for at, amount in self.staked.items()}
        shortfall = 0
        for (book, (kind, mode)), gained in net.items():
            missing = gained - book.free((kind, mode))
            other = (PURSE if kind == CASH else CASH, mode)
            if missing > 0 and (book, other) not in net:
                found = max(min(missing, book.free(other)), 0)
                book.balances[other] -= found
                book.balances[kind, mode] += found
                missing -= found
            if missing > 0:
                book.balances[kind, mode] += missing
                shortfall += missing
        for (book, where), gained in net.items():
            book.balances[where] -= gained
            if where[1] == REAL:
                book.count(self.days[book], "staked", -self.staked[book, where])
                book.count(self.days[book], "paid", -self.paid.get((book, where), 0))
        return shortfall


@dataclass(eq=False)
class Book:
    """All data of one player."""

    law: Law
    today: date
    balances: Counter[Where] = field(default_factory=Counter)
    pending: int = 0
    refund: int = 0
    holds: dict[tuple[int, Where], int] = field(default_factory=dict)  # by round number
    days: dict[date, Counter[str]] = field(default_factory=dict)
    limits: dict[tuple[str, Rule], LimitState] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    withdrawals: list[Withdrawal] = field(default_factory=list)
    adjustments: list[Adjustment] = field(default_factory=list)

    def held(self, where: Where) -> int:
        return sum(amount for (_, there), amount in self.holds.items() if there == where)

    def free(self, where: Where) -> int:
        return self.balances[where] - self.held(where)

    def count(self, day: date, what: str, amount: int) -> None:
        self.days.setdefault(day, Counter())[what] += amount

    # Limits

    def strictest(self) -> dict[Rule, int]:
        found: dict[Rule, int] = {}
        for (_, rule), state in self.limits.items():
            if state.holds is not None:
                found[rule] = min(found.get(rule, state.holds), state.holds)
        if self.law.month_deposit is not None:
            rule = ("deposit", "month")
            found[rule] = min(found.get(rule, self.law.month_deposit), self.law.month_deposit)
        return found

    def used(self, kind: str, period: str) -> int:
        first = {
            "day": self.today,
            "week": self.today - timedelta(days=self.today.weekday()),
            "month": self.today.replace(day=1),
        }[period]
        days = [counts for day, counts in self.days.items() if first <= day <= self.today]
        if kind == "deposit":
            begun = sum(payment.amount for payment in self.payments if payment.state == "waiting")
            return begun + sum(counts["deposited"] for counts in days)
        held = sum(self.held(where) for where in ((CASH, REAL), (PURSE, REAL)))
        staked = held + sum(counts["staked"] for counts in days)
        return staked if kind == "stake" else staked - sum(counts["paid"] for counts in days)

    def room(self, *kinds: str) -> tuple[int, str, str, int] | None:
        """Return what the strictest limit leaves, with the limit; None without a limit."""
        rooms = [
            (limit - self.used(kind, period), kind, period, limit)
            for (kind, period), limit in self.strictest().items()
            if kind in kinds
        ]
        return min(rooms, default=None)

    def refuse_beyond(self, amount: int, *kinds: str) -> None:
        room = self.room(*kinds)
        if room is not None and amount > room[0]:
            left, kind, period, limit = room
            raise Refusal("LimitReached", kind, period, limit, max(left, 0))

    def set_limit(self, source: str, rule: Rule, amount: int | None) -> None:
        if amount is None and source == "player" and rule in self.law.required:
            raise Refusal("LimitRequired")
        state = self.limits.get((source, rule), LimitState())
        if amount == state.asked:
            raise Refusal("NothingChanges")
        looser = state.holds is not None and (amount is None or amount > state.holds)
        waits = source == "player" and looser
        self.limits[source, rule] = LimitState(state.holds if waits else amount, amount, waits)

    def withdraw_limit_change(self, rule: Rule) -> None:
        state = self.limits.get(("player", rule))
        if state is None or not state.waits:
            raise Refusal("NothingChanges")
        self.limits["player", rule] = LimitState(state.holds, state.holds)

    # Deposits

    def begin(self, amount: int) -> None:
        smallest, largest = self.law.deposits
        if amount < smallest:
            raise Refusal("DepositTooSmall")
        if amount > largest:
            raise Refusal("DepositTooLarge")
        self.refuse_beyond(amount, "deposit")
        self.payments.append(Payment(amount))

    def hear(self, payment: Payment, said: str, amount: int) -> str:
        """Handle a provider's message: "credited", "declined" or "abandoned". Return the result."""
        if amount != payment.amount:
            return "mismatched"
        if payment.state in ("credited", "held"):
            return "repeated" if said == "credited" else "contradicted"
        if payment.state == said or (payment.state, said) == ("expired", "abandoned"):
            return "repeated"
        if payment.state not in ("waiting", "expired"):
            return "contradicted"
        is_over = payment.state == "expired"
        payment.state = "expired"  # its room is free now
        if said != "credited":
            payment.state = said
        elif is_over or self.exceeds(amount):
            payment.state = "held"
            self.refund += amount
        else:
            payment.state = said
            self.balances[CASH, REAL] += amount
            self.count(self.today, "deposited", amount)
        return payment.state

    def exceeds(self, amount: int) -> bool:
        """Return whether *amount* would exceed a deposit limit, not counting other pending deposits."""
        begun = sum(each.amount for each in self.payments if each.state == "waiting")
        return any(
            amount + self.used(kind, period) - begun > limit
            for (kind, period), limit in self.strictest().items()
            if kind == "deposit"
        )

    # Withdrawals

    def request(self, amount: int) -> None:
        has = self.free((CASH, REAL))
        if amount > has:
            raise Refusal("NotEnough")
        if amount < min(self.law.smallest_withdrawal, has):
            raise Refusal("TooSmall")
        lately = sum(each.amount for each in self.withdrawals if each.status in (*OPEN, "paid"))
        self.withdrawals.append(Withdrawal(amount, amount + lately > self.law.one_person_to))
        self.balances[CASH, REAL] -= amount
        self.pending += amount

    def give_back(self, withdrawal: Withdrawal, status: str) -> None:
        withdrawal.status = status
        self.pending -= withdrawal.amount
        self.balances[CASH, REAL] += withdrawal.amount

    def cancel(self, withdrawal: Withdrawal) -> None:
        if withdrawal.status == "cancelled":
            return
        if not self.law.may_cancel or withdrawal.status != "requested":
            raise Refusal("MayNotCancel")
        self.give_back(withdrawal, "cancelled")

    def approve(self, withdrawal: Withdrawal) -> None:
        if withdrawal.status == "seconding":
            raise Refusal("AskedTwice")
        if withdrawal.status != "requested":
            raise Refusal("NotOpen")
        withdrawal.status = "seconding" if withdrawal.takes_two else "approved"

    def refuse(self, withdrawal: Withdrawal) -> None:
        if withdrawal.status != "requested":
            raise Refusal("NotOpen")
        self.give_back(withdrawal, "refused")

    def second(self, withdrawal: Withdrawal, *, yes: bool) -> None:
        if withdrawal.status != "seconding":
            raise Refusal("AlreadyDecided")
        if yes:
            withdrawal.status = "approved"
        else:
            self.give_back(withdrawal, "refused")

    def send(self, withdrawal: Withdrawal) -> bool:
        is_due = withdrawal.status == "approved"
        if is_due:
            withdrawal.status = "sending"
        return is_due

    def bank_says(self, withdrawal: Withdrawal, said: str) -> str:
        """Handle the bank's message, "paid" or "returned". Return the result."""
        if withdrawal.status == said:
            return "nothing new"
        if withdrawal.status != "sending":
            return "contradicts what was decided"
        if said == "returned":
            self.give_back(withdrawal, "returned")
        else:
            withdrawal.status = "paid"
            self.pending -= withdrawal.amount
            self.count(self.today, "withdrawn", withdrawal.amount)
        return said

    # Adjustments: no limit and no daily total counts them

    def ask_to_adjust(self, mode: str, amount: int) -> None:
        if amount == 0 or self.free((CASH, mode)) + amount < 0:
            raise Refusal("CannotAdjust")
        if any(each.status == "waiting" for each in self.adjustments):
            raise Refusal("AskedTwice")
        self.adjustments.append(Adjustment(mode, amount))

    def decide_to_adjust(self, asked: Adjustment, *, yes: bool) -> None:
        if asked.status != "waiting":
            raise Refusal("AlreadyDecided")
        if yes and self.free((CASH, asked.mode)) + asked.amount < 0:
            raise Refusal("CannotExecute")
        if yes:
            self.balances[CASH, asked.mode] += asked.amount
        asked.status = "approved" if yes else "refused"

    # Purse and free money

    def rebuy(self, mode: str, amount: int) -> None:
        if amount > self.free((CASH, mode)):
            raise Refusal("MoreThanBalance")
        self.balances[CASH, mode] -= amount
        self.balances[PURSE, mode] += amount

    def leave(self, mode: str) -> int:
        """Empty the purse except for holds."""
        amount = self.free((PURSE, mode))
        self.balances[PURSE, mode] -= amount
        self.balances[CASH, mode] += amount
        return amount

    def top_up(self) -> None:
        if self.balances[CASH, FREE] >= self.law.free_money:
            raise Refusal("NothingToTopUp")
        self.balances[CASH, FREE] = self.law.free_money

    # Rounds

    def hold(self, number: int, where: Where, amount: int) -> int:
        was = self.holds.get((number, where), 0)
        if amount - was > self.free(where):
            raise Refusal("InsufficientFunds")
        if where[1] == REAL and amount > was:
            self.refuse_beyond(amount - was, "stake", "loss")
        self.holds[number, where] = amount
        if not amount:
            del self.holds[number, where]
        return self.free(where)

    def stake(self, where: Where, amount: int, paid: int) -> Round:
        """Stake and settle a round at once; limits are checked before the payout."""
        if amount > self.free(where):
            raise Refusal("InsufficientFunds")
        if where[1] == REAL:
            self.refuse_beyond(amount, "stake", "loss")
        self.balances[where] -= amount
        if where[1] == REAL:
            self.count(self.today, "staked", amount)
        played = Round({(self, where): amount})
        played.settle({(self, where): paid})
        return played


def held_for(books: list[Book], number: int) -> dict[tuple[Book, Where], int]:
    """Return what is held for a round, by player and account."""
    found = {}
    for book in books:
        for (held_for, where), amount in list(book.holds.items()):
            if held_for == number:
                found[book, where] = amount
    return found


def release(books: list[Book], number: int) -> int:
    """Release all holds of a round. Return the number of accounts."""
    held = held_for(books, number)
    for book, where in held:
        del book.holds[number, where]
    return len(held)


def settle_holds(books: list[Book], number: int, paid: dict[tuple[Book, Where], int]) -> Round:
    """Turn all holds of a round into stakes and pay it; nothing is refused."""
    held = held_for(books, number)
    for (book, where), amount in held.items():
        del book.holds[number, where]
        book.balances[where] -= amount
        if where[1] == REAL:
            book.count(book.today, "staked", amount)
    played = Round(held)
    played.settle(paid)
    return played
