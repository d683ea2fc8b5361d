"""The Hypothesis machine of the wallet: actions, and the expectations of its model; see
test_machine.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from payments import PaymentStatus

from audit import approvals
from audit.models import Approval, Decision
from players.models import LimitKind, LimitSource, Period
from players.protection import limits
from tests.wallet import holds, model, voiding
from tests.wallet.faults import Way
from tests.wallet.model import CASH, FREE, PURSE, REAL, Book, Round
from tests.wallet.money_moves import write
from tests.wallet.settling import settle_all
from tests.wallet.stepping import Stepping
from wallet import cashier, ledger, payouts, withdrawals
from wallet.ledger import accounts, adjustments, purse
from wallet.models import AccountKind, Mode, NoticePath, PaymentState, Why, Withdrawal
from wallet.payments import notifications
from wallet.payments.deposits import begin
from wallet.payments.providers import StatusReport

WORDS = {
    "credited": PaymentStatus.CONFIRMED,
    "declined": PaymentStatus.REJECTED,
    "abandoned": PaymentStatus.CANCELLED,
}
Result = TypeVar("Result")

who = st.integers(0, 2)
which = st.integers(0, 7)  # index among the existing ones, modulo their number
modes = st.sampled_from([REAL, REAL, FREE])
positions = st.tuples(st.sampled_from([CASH, CASH, PURSE]), modes)
faults = st.sampled_from([None, None, None, *Way])
money = st.sampled_from([0, 1, 99, 700, 10_000, 25_000, 1_000_000])
near = st.sampled_from([None, None, -1, 0, 1])  # distance from the limit; None: the amount as it is


def whole(call: Callable[[], Result]) -> Callable[[], Result]:
    """Return the call in a transaction, if it does not open its own."""
    return transaction.atomic(call)


class WalletMachine(Stepping):
    """All movements of money in any order, refused or not, with faults at every statement."""

    def end(self) -> None:
        """Release all holds."""
        for number, round_id in self.tables.items():
            holds.release_all(round_id)
            model.release(self.books, number)

    # Deposits

    @rule(who=who, amount=money, near=near, fault=faults)
    def begin_deposit(self, who: int, amount: int, near: int | None, fault: Way | None) -> None:
        book, player, key = self.books[who], self.scene.players[who], uuid4()
        room = book.room("deposit")
        if near is not None and room:
            amount = room[0] + near
        begun = self.step(lambda: begin(player=player, amount=amount, key=key), lambda: book.begin(amount), fault=fault)
        if begun:
            self.payments.append((begun.pk, book, book.payments[-1]))

    @precondition(operator.attrgetter("payments"))
    @rule(which=which, said=st.sampled_from(["credited", *WORDS]), extra=st.sampled_from([0, 0, 0, 1]), fault=faults)
    def hear_of_a_payment(self, which: int, said: str, extra: int, fault: Way | None) -> None:
        key, book, payment = self.payments[which % len(self.payments)]
        amount = payment.amount + extra

        @transaction.atomic
        def hear() -> str:
            locked = notifications.locked(key)
            status_report = StatusReport(WORDS[said], amount, locked.currency, "A1" if said == "credited" else "", 0)
            return notifications.on_notice(locked, status_report, NoticePath.CALLBACK, b"raw").value

        self.step(hear, lambda: book.hear(payment, said, amount), read=str, fault=fault)

    @precondition(operator.attrgetter("payments"))
    @rule(which=which, fault=faults)
    def give_a_payment_up(self, which: int, fault: Way | None) -> None:
        key, _, payment = self.payments[which % len(self.payments)]

        @transaction.atomic
        def give_up() -> None:
            locked = notifications.locked(key)
            if locked.is_open:
                notifications.close(locked, PaymentState.EXPIRED, because="nobody decided")

        def predict() -> None:
            payment.state = "expired" if payment.state == "waiting" else payment.state

        self.step(give_up, predict, fault=fault)

    # Withdrawals

    @rule(who=who, amount=money, near=near, fault=faults)
    def withdraw(self, who: int, amount: int, near: int | None, fault: Way | None) -> None:
        book, player, key = self.books[who], self.scene.players[who], uuid4()
        amount = max(amount if near is None else book.free((CASH, REAL)) + near, 1)
        account = self.scene.accounts[who]
        asked = self.step(
            lambda: withdrawals.request(player=player, amount=amount, account=account, key=key),
            lambda: book.request(amount),
            fault=fault,
        )
        if asked:
            self.withdrawals.append((asked.pk, book, book.withdrawals[-1]))

    @precondition(operator.attrgetter("withdrawals"))
    @rule(which=which, action=st.sampled_from(["cancel", "approve", "approve", "refuse"]), fault=faults)
    def decide_a_withdrawal(self, which: int, action: str, fault: Way | None) -> None:
        key, book, asked = self.withdrawals[which % len(self.withdrawals)]
        player, clerk = self.scene.players[self.books.index(book)], self.scene.staff[0]
        calls: dict[str, Callable[[], Any]] = {
            "cancel": lambda: withdrawals.cancel(player=player, withdrawal_id=key),
            "approve": lambda: withdrawals.approve(
                withdrawal_id=key, by=str(clerk), person=clerk.person, reason="all in order"
            ),
            "refuse": lambda: withdrawals.refuse(withdrawal_id=key, by=str(clerk), code="details", note="a test"),
        }
        self.step(calls[action], lambda: getattr(book, action)(asked), fault=fault, again=action == "cancel")

    @precondition(lambda self: any(each.status == "seconding" for _, _, each in self.withdrawals))
    @rule(yes=st.booleans(), fault=faults)
    def decide_as_the_second(self, yes: bool, fault: Way | None) -> None:
        key, book, asked = next(each for each in self.withdrawals if each[2].status == "seconding")
        approval, second = Approval.objects.get(on=f"withdrawal:{key}"), self.scene.staff[1]
        self.step(
            lambda: approvals.decide(
                approval_id=approval.pk, yes=yes, by=str(second), person=second.person, reason="seen", may=bool
            ),
            lambda: book.second(asked, yes=yes),
            fault=fault,
            again=False,
        )

    @precondition(operator.attrgetter("withdrawals"))
    @rule(which=which, said=st.sampled_from(["send", "send", "paid", "paid", "returned"]), fault=faults)
    def at_the_bank(self, which: int, said: str, fault: Way | None) -> None:
        key, book, asked = self.withdrawals[which % len(self.withdrawals)]
        if said == "send":
            self.step(
                lambda: (withdrawals.send(key, provider="test"),),
                lambda: book.send(asked),
                read=operator.itemgetter(0),
                fault=fault,
            )
        else:

            def hear():
                return payouts.hear(self._word(key, said), provider="test", path="callback", raw=b"raw").value

            self.step(hear, lambda: book.bank_says(asked, said), read=str, fault=fault)

    def _word(self, withdrawal_id: int, said: str) -> payouts.BankAnswer:
        asked = Withdrawal.objects.get(pk=withdrawal_id)
        state = {"paid": "paid", "returned": "refused"}[said]
        return payouts.BankAnswer(
            asked.reference, state, asked.amount, asked.currency, number="SP1", reason="account_closed"
        )

    # Adjustments

    @rule(who=who, mode=modes, amount=money, near=near, sign=st.sampled_from([1, -1, -1]), fault=faults)
    def ask_to_adjust(self, who: int, mode: str, amount: int, near: int | None, sign: int, fault: Way | None) -> None:
        book, player = self.books[who], self.scene.players[who]
        amount = sign * (amount if near is None else max(book.free((CASH, mode)) + near, 0))

        def call() -> Approval:
            by = self.scene.support
            return adjustments.ask(player=player, mode=Mode(mode), amount=amount, why=Why.ROUND, reason="a test", by=by)

        asked = self.step(call, lambda: book.ask_to_adjust(mode, amount), fault=fault, again=False)
        if asked:
            self.adjustments.append((asked.pk, book, book.adjustments[-1]))

    @precondition(operator.attrgetter("adjustments"))
    @rule(which=which, yes=st.sampled_from([True, True, False]), fault=faults)
    def decide_to_adjust(self, which: int, yes: bool, fault: Way | None) -> None:
        key, book, asked = self.adjustments[-1 - which % len(self.adjustments)]
        clerk = self.scene.staff[0]

        def call() -> Decision:
            return approvals.decide(
                approval_id=key, yes=yes, by=str(clerk), person=clerk.person, reason="seen", may=clerk.user.has_perm
            )

        self.step(call, lambda: book.decide_to_adjust(asked, yes=yes), fault=fault, again=False)

    # Purse and free money

    @rule(who=who, mode=modes, amount=money.filter(bool), near=near, fault=faults)
    def rebuy(self, who: int, mode: str, amount: int, near: int | None, fault: Way | None) -> None:
        book, player, key = self.books[who], self.scene.players[who], uuid4()
        amount = max(amount if near is None else book.free((CASH, mode)) + near, 1)

        def call():
            return purse.rebuy(player=player, mode=Mode(mode), amount=amount, key=key)

        self.step(call, lambda: book.rebuy(mode, amount), fault=fault)

    @rule(who=who, mode=modes, fault=faults)
    def leave(self, who: int, mode: str, fault: Way | None) -> None:
        book, player, key = self.books[who], self.scene.players[who], uuid4()

        def call():
            return purse.leave(player=player, mode=Mode(mode), key=key)

        self.step(call, lambda: book.leave(mode), read=operator.attrgetter("amount"), fault=fault)

    @rule(who=who, fault=faults)
    def top_up(self, who: int, fault: Way | None) -> None:
        book, player, key = self.books[who], self.scene.players[who], uuid4()
        self.step(lambda: cashier.top_up_free(player=player, key=key), book.top_up, fault=fault)

    # Limits

    @rule(
        who=who,
        rule=st.tuples(st.sampled_from(model.MONEY), st.sampled_from(model.PERIODS)),
        amount=money | st.none(),
        near=near,
        source=st.sampled_from(["player", "player", "house"]),
        fault=faults,
    )
    def set_a_limit(
        self, who: int, rule: model.Rule, amount: int | None, near: int | None, source: str, fault: Way | None
    ) -> None:
        book, player = self.books[who], self.scene.players[who]
        kind, period = rule
        if near is not None and amount is not None:
            amount += max(book.used(*rule), 0)  # so that part of it is left

        def call():
            return limits.set_limit(
                player=player,
                kind=LimitKind(kind),
                period=Period(period),
                amount=amount,
                by="test",
                source=LimitSource(source),
            )

        self.step(call, lambda: book.set_limit(source, rule, amount), fault=fault, again=False)

    @rule(who=who, which=which, fault=faults)
    def withdraw_a_limit_change(self, who: int, which: int, fault: Way | None) -> None:
        book, player = self.books[who], self.scene.players[who]
        own = [rule for source, rule in book.limits if source == "player"]
        waiting = [rule for rule in own if book.limits["player", rule].waits]
        kind, period = (waiting or own)[which % len(waiting or own)]
        self.step(
            lambda: limits.withdraw_change(player=player, kind=LimitKind(kind), period=Period(period), by="test"),
            lambda: book.withdraw_limit_change((kind, period)),
            fault=fault,
            again=False,
        )

    # Rounds

    @rule(who=who, table=which, where=positions, amount=money, near=near, fault=faults)
    def hold(self, who: int, table: int, where: model.Where, amount: int, near: int | None, fault: Way | None) -> None:
        book, number = self.books[who], list(self.tables)[table % len(self.tables)]
        account, round_id = self._account(who, where), self.tables[number]
        if near is not None:
            amount = max(self._edge(book, where) + book.holds.get((number, where), 0) + near, 0)
        call = whole(lambda: (holds.hold(round_id, account, amount),))
        self.step(call, lambda: book.hold(number, where, amount), read=operator.itemgetter(0), fault=fault)

    @precondition(lambda self: any(book.holds for book in self.books))
    @rule(table=which, fault=faults)
    def release_a_round(self, table: int, fault: Way | None) -> None:
        number = list(self.tables)[table % len(self.tables)]
        round_id = self.tables[number]
        call = whole(lambda: (holds.release_all(round_id),))
        self.step(call, lambda: model.release(self.books, number), read=operator.itemgetter(0), fault=fault)

    @precondition(lambda self: any(book.holds for book in self.books))
    @rule(table=which, times=st.integers(0, 3), fault=faults)
    def settle(self, table: int, times: int, fault: Way | None) -> None:
        self._settle(list(self.tables)[table % len(self.tables)], times, fault)

    def _settle(self, number: int, times: int, fault: Way | None) -> None:
        """Turn the holds of a table into stakes and pay a multiple of them; the table continues with another round."""
        round_id, played = self.tables[number], []
        staked = model.held_for(self.books, number)
        if not staked:
            return
        paid = {at: amount * times for at, amount in staked.items() if times}
        payouts = {self._account(self.books.index(book), where): amount for (book, where), amount in paid.items()}
        self.step(
            whole(lambda: settle_all(round_id, payouts)),
            lambda: played.append(model.settle_holds(self.books, number, paid)),
            fault=fault,
            again=False,
        )
        del self.tables[number]
        self.tables[max([number, *self.tables]) + 1] = uuid4()
        self.settled.append((round_id, played[0]))

    @rule(who=who, where=positions, amount=money.filter(bool), near=near, times=st.integers(0, 3), fault=faults)
    def play(self, who: int, where: model.Where, amount: int, near: int | None, times: int, fault: Way | None) -> None:
        book, round_id = self.books[who], uuid4()
        if near is not None:
            amount = max(self._edge(book, where) + near, 1)
        paid = {(book, where): amount * times} if times else {}
        lines = self._lines(book, where, -amount, amount)
        staked = ledger.Journal(uuid4(), "stake", lines, round_id)
        journals = self._settlement(round_id, Round({(book, where): amount}), paid)
        played: list[Round] = []
        if self.step(
            whole(lambda: write(staked, *journals)),
            lambda: played.append(book.stake(where, amount, amount * times)),
            fault=fault,
        ):
            self.settled.append((round_id, played[0]))

    @precondition(operator.attrgetter("settled"))
    @rule(which=which, fault=faults)
    def void(self, which: int, fault: Way | None) -> None:
        round_id, round_ = self.settled.pop(which % len(self.settled))
        voiding.store_round(round_id, self.scene.table)
        self.step(
            lambda: voiding.void_stored(round_id, self.scene.table),
            round_.void,
            read=lambda undone: sum(each.shortfall for each in undone),
            fault=fault,
            again=False,
        )

    # Helpers of rounds

    def _edge(self, book: Book, where: model.Where) -> int:
        """Return the largest possible stake from this account."""
        room = book.room("stake", "loss") if where[1] == REAL else None
        return min(book.free(where), room[0]) if room else book.free(where)

    def _account(self, who: int, where: model.Where) -> int:
        kind, mode = where
        return accounts.player_account(self.scene.players[who].pk, Mode(mode), AccountKind(kind))

    def _lines(self, book: Book, where: model.Where, into: int, escrow: int) -> tuple[ledger.Line, ...]:
        number = self.books.index(book)
        currency, mode = self.scene.players[number].currency, where[1]
        amounts = (
            (self._account(number, where), into),
            (accounts.house_account(AccountKind.ESCROW, currency, mode), escrow),
            (accounts.house_account(AccountKind.HOUSE, currency, mode), -into - escrow),
        )
        return tuple(ledger.Line(account, currency, mode, amount) for account, amount in amounts if amount)

    def _settlement(
        self, round_id: UUID, round_: Round, paid: dict[tuple[Book, model.Where], int]
    ) -> list[ledger.Journal]:
        return [
            ledger.Journal(uuid4(), "settle", self._lines(book, where, paid.get((book, where), 0), -amount), round_id)
            for (book, where), amount in round_.staked.items()
        ]
