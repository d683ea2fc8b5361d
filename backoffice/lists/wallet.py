"""Lists of accounts, journals, payments and other movements of money."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import Q
from django.utils.translation import gettext, gettext_noop

from audit.reports.kinds import Column, Form
from backoffice.lists.filters import Filter, Find, called, chosen, number, subject, unique_id
from backoffice.lists.staff_list import NO_PLAYERS
from backoffice.lists.totals import Sums
from backoffice.lists.view import Part, StaffListView
from backoffice.money.ledger import journal_name, kinds
from backoffice.money.provider_statements import READERS as STATEMENT_READERS
from players.staff import Section
from wallet.models import (
    Account,
    AccountKind,
    Adjustment,
    Journal,
    Partner,
    Payment,
    PaymentNotice,
    PaymentState,
    PayoutNotice,
    StatementLine,
    StudioTransaction,
    Verdict,
)
from wallet.seamless_wallet.partners import READERS as PARTNER_READERS

SEE = ("wallet.view_ledger",)
NUMBER = Column("id", "No.", Form.NUMBER)
AT = Column("at", "When", Form.TIME)
AMOUNT = Column("amount", "Amount", Form.MONEY)
CURRENCY = Column("currency", "Currency")
BY_NUMBER = Find("number", "pk", number)
BY_PLAYER = Find("player:12", "player", called("player"))


class Accounts(StaffListView):
    """List of ledger accounts. House accounts have no balance: it is the sum of their entries."""

    model = Account
    section = Section.MONEY
    name = gettext_noop("Accounts")
    purpose = gettext_noop("Ledger accounts: owner, kind and balance.")
    readers = SEE
    players = ("owner_id",)
    columns = (
        NUMBER,
        Column("owner", "Player"),
        Column("kind", "Kind"),
        CURRENCY,
        Column("mode", "Money"),
        Column("balance", "Account balance", Form.MONEY),
        Column("held", "Held", Form.MONEY),
        Column("version", "Changes", Form.NUMBER),
    )
    finds = (BY_NUMBER, Find("player:12", "owner", called("player")))
    filters = (chosen("kind", "Kind", AccountKind),)
    related = ("owner",)


RARE = Filter(
    "kind",
    "Kind, without stakes and settlements",
    lambda: [(kind, journal_name(kind)) for kind in kinds() if kind not in ("stake", "settle")],
    lambda kind: Q(kind=kind) & ~Q(kind__in=["stake", "settle"]),  # same condition as the partial index
)


class Journals(StaffListView):
    """List of journals, with their entries."""

    model = Journal
    section = Section.MONEY
    name = gettext_noop("Journals")
    purpose = gettext_noop("Every transaction with its entries, which sum to zero.")
    readers = SEE
    players = NO_PLAYERS  # in the entries
    columns = (
        NUMBER,
        AT,
        Column("kind", "Kind"),
        Column("round_id", "Round"),
        Column("reverses_id", "Reverses", Form.NUMBER),
    )
    more = (Column("key_id", "Key"),)
    finds = (BY_NUMBER, Find("round id", "round_id", unique_id))
    filters = (RARE,)
    period = "at"
    links = {"reverses_id": ("staff_ledger_journal", "journal_id", "reverses_id")}

    def show_kind(self, journal: Journal) -> str:
        """Return the kind in the reader's language."""
        return journal_name(journal.kind)

    def of_round_id(self, journal: Journal) -> str:
        """Return the name of the round ("": none)."""
        return f"round:{journal.round_id}" if journal.round_id else ""

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the entries of the journal."""
        columns = (
            Column("line", "Line", Form.NUMBER),
            Column("account", "Account"),
            Column("owner", "Player"),
            Column("kind", "Kind"),
            AMOUNT,
            CURRENCY,
            Column("mode", "Money"),
            Column("after", "Balance after", Form.MONEY),
        )
        entries = list(row.entry_set.select_related("account__owner").order_by("line"))
        return [
            Part(
                gettext("Entries"),
                columns,
                [
                    (
                        entry.line,
                        f"account:{entry.account_id}",
                        str(entry.account.owner or ""),
                        entry.account.get_kind_display(),
                        entry.amount,
                        entry.currency,
                        entry.account.get_mode_display(),
                        entry.balance_after,
                    )
                    for entry in entries
                ],
                {entry.account.owner_id for entry in entries if entry.account.owner_id},
            )
        ]


class Deposits(StaffListView):
    """List of deposits. Names, addresses and raw messages of the provider are not shown."""

    model = Payment
    section = Section.MONEY
    name = gettext_noop("Deposits")
    purpose = gettext_noop("Deposits: amount, state and the provider’s authorisation.")
    readers = SEE
    players = ("player_id",)
    key = ("begun_at", "id")
    columns = (
        Column("id", "Deposit"),
        Column("player", "Player"),
        Column("begun_at", "Started", Form.TIME),
        AMOUNT,
        CURRENCY,
        Column("state", "State"),
        Column("decided_at", "Decided", Form.TIME),
        Column("is_disputed", "Disputed"),
    )
    more = (
        Column("variant", "Provider"),
        Column("authorisation", "Authorisation"),
        Column("journal_id", "Journal", Form.NUMBER),
    )
    links = {"journal_id": ("staff_ledger_journal", "journal_id", "journal_id")}
    finds = (Find("deposit", "pk", unique_id), BY_PLAYER)
    filters = (chosen("state", "State", PaymentState),)
    period = "begun_at"
    related = ("player",)
    sums = Sums({"Amount": "amount"})
    sorts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "player": ("player_id", "begun_at", "id"),
        "amount": ("amount", "id"),
        "state": ("state", "begun_at", "id"),
    }

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the provider's messages about the deposit."""
        columns = (
            NUMBER,
            AT,
            Column("path", "Source"),
            Column("word", "Status"),
            Column("is_authentic", "Authenticated"),
            Column("decision", "Processing result"),
        )
        said = PaymentNotice.objects.filter(payment=row.pk).order_by("pk")
        return [
            Part(
                gettext("Provider messages"),
                columns,
                [
                    (
                        notice.pk,
                        notice.at.isoformat(),
                        notice.get_path_display(),
                        notice.said,
                        gettext("yes") if notice.is_authentic else gettext("no"),
                        notice.result,
                    )
                    for notice in said
                ],
            )
        ]


class PayoutNotices(StaffListView):
    """List of messages from payout providers."""

    model = PayoutNotice
    section = Section.MONEY
    name = gettext_noop("Payout messages")
    purpose = gettext_noop("Messages of payout providers.")
    readers = SEE
    players = NO_PLAYERS
    columns = (
        NUMBER,
        AT,
        Column("withdrawal_id", "Withdrawal", Form.NUMBER),
        Column("provider", "Provider"),
        Column("path", "Source"),
        Column("outcome", "Outcome"),
    )
    finds = (BY_NUMBER,)
    period = "at"


class StatementLines(StaffListView):
    """List of the lines of provider statements."""

    model = StatementLine
    section = Section.MONEY
    name = gettext_noop("Statement lines")
    purpose = gettext_noop("Lines of provider statements and whether they match our payments.")
    readers = STATEMENT_READERS
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("statement", "Provider statement"),
        Column("number", "Line", Form.NUMBER),
        Column("day", "Day"),
        Column("kind", "Kind"),
        AMOUNT,
        CURRENCY,
        Column("status", "Status"),
        Column("subject", "Payment"),
        Column("verdict", "Match"),
    )
    more = (Column("reference", "Reference"), Column("authorisation", "Authorisation"))
    finds = (
        BY_NUMBER,
        Find("statement:3", "statement", called("statement")),
        Find("withdrawal:12, payment:…", "subject", subject),
    )
    filters = (chosen("verdict", "Match", Verdict),)
    related = ("statement",)
    links = {"statement": ("staff_statement", "statement_id", "statement_id")}


class Adjustments(StaffListView):
    """List of balance adjustments, which take two people."""

    model = Adjustment
    section = Section.MONEY
    name = gettext_noop("Adjustments")
    purpose = gettext_noop("Balance adjustments approved by two people: player, amount and reason.")
    readers = SEE
    players = ("account__owner_id",)
    key = ("approval_id",)
    columns = (
        Column("approval_id", "Approval", Form.NUMBER),
        Column("approval__at", "Requested", Form.TIME),
        Column("account__owner", "Player"),
        AMOUNT,
        Column("account__currency", "Currency"),
        Column("account__mode", "Money"),
        Column("why", "Text for the player"),
        Column("approval__by", "Requested by"),
    )
    more = (Column("approval__reason", "Reason"), Column("key", "Journal key"))
    finds = (Find("number of the approval", "pk", number), Find("player:12", "account__owner", called("player")))
    period = "approval__at"
    related = ("approval", "account__owner")


OF_PARTNER = Filter(
    "partner",
    "Studio",
    lambda: [(str(pk), name) for pk, name in Partner.objects.order_by("name").values_list("pk", "name")],
    lambda partner: Q(partner=partner),
)


class StudioTransactions(StaffListView):
    """List of studios' operations on players' balances."""

    model = StudioTransaction
    section = Section.MONEY
    name = gettext_noop("Studio transactions")
    purpose = gettext_noop("Bets, wins and rollbacks of studio games on our players’ balances.")
    readers = PARTNER_READERS
    players = ("studio_player__player_id",)
    columns = (
        NUMBER,
        AT,
        Column("partner__name", "Studio"),
        Column("studio_player__player", "Player"),
        Column("operation", "Operation"),
        Column("bet", "Bet", Form.MONEY),
        Column("win", "Win", Form.MONEY),
        CURRENCY,
        Column("mode", "Money"),
        Column("transaction", "Transaction"),
    )
    more = (
        Column("game", "Game"),
        Column("round", "Round"),
        Column("takes_back", "Reverses"),
        Column("balance", "Balance after", Form.MONEY),
        Column("bet_key", "Journal key of the bet"),
        Column("win_key", "Journal key of the win"),
    )
    finds = (BY_NUMBER, Find("player:12", "studio_player__player", called("player")))
    filters = (OF_PARTNER,)
    period = "at"
    related = ("partner", "studio_player__player")
