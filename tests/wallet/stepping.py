"""One step of the wallet and its model: with faults at every statement, then without, then
compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.db import Error, connection
from hypothesis.stateful import RuleBasedStateMachine, invariant

from audit import approvals
from games.models import Table
from players.models import Player, Staff
from players.protection import limits
from players.protection.limits import LimitsError
from tests.harness import databases
from tests.wallet import model, wholeness
from tests.wallet.faults import Way, fault_at
from tests.wallet.model import Book, Refusal, Round
from wallet import ledger
from wallet.cashier import CashierError
from wallet.ledger.adjustments import CannotAdjust
from wallet.ledger.purse import PurseError
from wallet.models import Account, Day, Payment, PayoutAccount, Withdrawal
from wallet.withdrawals import WithdrawalError

REFUSALS = (
    ledger.LedgerError,
    CashierError,
    PurseError,
    WithdrawalError,
    LimitsError,
    CannotAdjust,
    approvals.ApprovalError,
)


@dataclass(frozen=True)
class Scene:
    """The initial database of every example, and its people."""

    database: str
    players: tuple[Player, ...]
    accounts: tuple[PayoutAccount, ...]
    staff: tuple[Staff, Staff]
    support: Staff
    table: Table  # of the rounds that are voided
    begin: Callable[[], list[Book]]  # returns the initial state of the model


class Stepping(RuleBasedStateMachine):
    """A separate database for every example, the open work in it, and the step."""

    scene: Scene

    def __init__(self) -> None:
        super().__init__()
        self.clone = databases.clone("machine", like=self.scene.database)
        self.clone.__enter__()
        self.books = self.scene.begin()
        self.payments: list[tuple[UUID, Book, model.Payment]] = []
        self.withdrawals: list[tuple[int, Book, model.Withdrawal]] = []
        self.adjustments: list[tuple[int, Book, model.Adjustment]] = []
        self.tables: dict[int, UUID] = {number: uuid4() for number in range(3)}  # rounds with open bets
        self.settled: list[tuple[UUID, Round]] = []

    def teardown(self) -> None:
        try:
            self.end()
            broken = {check.invariant.name: check.rows for check in wholeness.checks() if check.rows}
            assert broken == {}
        finally:
            self.clone.__exit__(None, None, None)

    def end(self) -> None:
        """Finish all open work, so that all invariants can hold."""

    # Each step: with faults, once without, and possibly repeated

    def step(
        self,
        call: Callable[[], Any],
        predict: Callable[[], object],
        *,
        read: Callable[[Any], object] = lambda answer: None,
        fault: Way | None = None,
        again: bool = True,
    ) -> Any:
        """Execute an action and compare its result or refusal with the model.

        Return the result, or None if refused.

        With *fault*, each of its statements fails that way first. With *again*, it is repeated with
        the same key.
        """
        self._read_the_clock()
        result, got = self._with_faults(call, fault) if fault else self._attempt(call)
        if result is not None:
            got = read(result)
        try:
            want = predict()
        except Refusal as refusal:
            want = refusal.answer
            result = None
        assert got == want
        self.agree()
        if again and result is not None:
            repeated, got = self._attempt(call)
            assert repeated is not None, got
            self.agree()
        return result

    def _with_faults(self, call: Callable[[], Any], way: Way) -> tuple[Any, object]:
        rows = count_rows()
        for number in count(1):
            with fault_at(number, way) as struck:
                try:
                    result, refusal = self._attempt(call)
                except Error:
                    assert struck.happened
                    result, refusal = None, None
                else:
                    unnoticed = struck.happened and result is not None
                    assert not unnoticed, f"statement {number} of {struck.statements} went wrong unnoticed"
            if not struck.happened:
                return result, refusal
            self.agree()
            assert count_rows() == rows
        raise AssertionError

    def _attempt(self, call: Callable[[], Any]) -> tuple[Any, object]:
        try:
            return call() or True, None
        except ledger.LimitReached as reached:
            return None, ("LimitReached", reached.kind, reached.period, reached.limit, reached.left)
        except REFUSALS as refusal:
            return None, (type(refusal).__name__,)

    def _read_the_clock(self) -> None:
        for book, player in zip(self.books, self.scene.players, strict=True):
            with connection.cursor() as cursor:
                cursor.execute("SELECT wallet_today(%s::bigint)", [player.pk])
                (book.today,) = cursor.fetchone()

    @invariant()
    def agree(self) -> None:
        """Check that balances, holds, pending money, days, limits and states equal the model."""
        ids = {player.pk: number for number, player in enumerate(self.scene.players)}
        for owner, kind, mode, balance, held in Account.objects.filter(owner__in=ids).values_list(
            "owner_id", "kind", "mode", "balance", "held"
        ):
            book = self.books[ids[owner]]
            aside = {"pending": book.pending, "refund": book.refund}
            due = (aside[kind], 0) if kind in aside else (book.balances[kind, mode], book.held((kind, mode)))
            assert (balance, held) == due, f"{kind} {mode} of player {ids[owner]}"
        columns = ("deposited", "withdrawn", "staked", "paid")
        days = {(ids[p], day): counts for p, day, *counts in Day.objects.values_list("player_id", "day", *columns)}
        for number, book in enumerate(self.books):
            for day, counts in book.days.items():
                assert days.pop((number, day), [0] * 4) == [counts[each] for each in columns]
        assert not any(map(any, days.values()))
        for player, book in zip(self.scene.players, self.books, strict=True):
            found = {(str(kind), str(period)): each.amount for (kind, period), each in limits.limits_of(player).items()}
            assert found == book.strictest()
            begun = Payment.objects.filter(player=player).order_by("begun_at").values_list("amount", "state")
            assert list(begun) == [(each.amount, each.state) for each in book.payments]
            asked = Withdrawal.objects.filter(player=player).order_by("pk").values_list("amount", "takes_two", "status")
            assert list(asked) == [(each.amount, each.takes_two, each.status) for each in book.withdrawals]


TABLES = (
    "wallet_posting_key",
    "wallet_journal",
    "wallet_entry",
    "wallet_payment",
    "wallet_payment_notice",
    "wallet_withdrawal",
    "wallet_withdrawal_step",
    "wallet_hold",
    "wallet_reserved",
    "players_limitchange",
    "audit_approval",
    "audit_decision",
    "games_void",
    "games_incident",
)
COUNT_ROWS = "SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in TABLES)


def count_rows() -> tuple[int, ...]:
    """Return the row counts of all tables."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_ROWS)
        counts: tuple[int, ...] = cursor.fetchone()
    return counts
