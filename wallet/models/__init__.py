"""Tables about money, one module for each subject."""

from wallet.models.adjustments import Adjustment, Why
from wallet.models.days import Day, Reserved
from wallet.models.holds import Hold
from wallet.models.ledger import Account, AccountKind, Currency, Entry, Journal, Mode, PostingKey
from wallet.models.moved import Moved, Standing
from wallet.models.payments import NoticePath, Payment, PaymentNotice, PaymentState
from wallet.models.provider_statements import (
    DepositNote,
    Difference,
    DifferenceKind,
    DifferenceStep,
    LineKind,
    LineStatus,
    ProviderStatement,
    StatementDraft,
    StatementLine,
    Verdict,
)
from wallet.models.sandbox_bank import BankNotice, BankOrder, Behaviour, OrderState
from wallet.models.stops import HouseStop
from wallet.models.withdrawals import (
    BankPayout,
    BankPayoutNotice,
    PayoutAccount,
    PayoutNotice,
    Withdrawal,
    WithdrawalStatus,
    WithdrawalStep,
)

__all__ = [
    "Account",
    "AccountKind",
    "Adjustment",
    "BankNotice",
    "BankOrder",
    "BankPayout",
    "BankPayoutNotice",
    "Behaviour",
    "Currency",
    "Day",
    "DepositNote",
    "Difference",
    "DifferenceKind",
    "DifferenceStep",
    "Entry",
    "Hold",
    "HouseStop",
    "Journal",
    "LineKind",
    "LineStatus",
    "Mode",
    "Moved",
    "NoticePath",
    "OrderState",
    "Payment",
    "PaymentNotice",
    "PaymentState",
    "PayoutAccount",
    "PayoutNotice",
    "PostingKey",
    "ProviderStatement",
    "Reserved",
    "Standing",
    "StatementDraft",
    "StatementLine",
    "Verdict",
    "Why",
    "Withdrawal",
    "WithdrawalStatus",
    "WithdrawalStep",
]
