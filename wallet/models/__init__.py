"""Tables about money, one module for each subject."""

from wallet.models.adjustments import Adjustment, Why
from wallet.models.daily_totals import Day, Reserved
from wallet.models.holds import Hold
from wallet.models.hourly_totals import Moved, Standing
from wallet.models.house_stop import HouseStop
from wallet.models.ledger import Account, AccountKind, Currency, Entry, Journal, Mode, PostingKey, Reversal
from wallet.models.operator_wallet import (
    BetState,
    MessageKind,
    MessageState,
    RemoteBet,
    RemoteLaunch,
    RemoteMessage,
    RemotePlayer,
)
from wallet.models.partners import (
    GameSession,
    Operation,
    Partner,
    PartnerKey,
    PartnerKind,
    StudioPlayer,
    StudioTransaction,
)
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
    "BetState",
    "Currency",
    "Day",
    "DepositNote",
    "Difference",
    "DifferenceKind",
    "DifferenceStep",
    "Entry",
    "GameSession",
    "Hold",
    "HouseStop",
    "Journal",
    "LineKind",
    "LineStatus",
    "MessageKind",
    "MessageState",
    "Mode",
    "Moved",
    "NoticePath",
    "Operation",
    "OrderState",
    "Partner",
    "PartnerKey",
    "PartnerKind",
    "Payment",
    "PaymentNotice",
    "PaymentState",
    "PayoutAccount",
    "PayoutNotice",
    "PostingKey",
    "ProviderStatement",
    "RemoteBet",
    "RemoteLaunch",
    "RemoteMessage",
    "RemotePlayer",
    "Reserved",
    "Reversal",
    "Standing",
    "StatementDraft",
    "StatementLine",
    "StudioPlayer",
    "StudioTransaction",
    "Verdict",
    "Why",
    "Withdrawal",
    "WithdrawalStatus",
    "WithdrawalStep",
]
