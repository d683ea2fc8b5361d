"""Pages and queries of the ledger: journals, one journal, one account. Read only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.core.validators import RegexValidator
from django.db import connection
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from audit import id_ranges
from audit.reports.kinds import Column, Form, Interval
from audit.reports.requests import clock
from backoffice.lists import cells
from backoffice.lists.staff_list import StaffList
from games.models.rounds import round_code
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.ledger import adjustments
from wallet.ledger.hourly_totals import BEGINNING, Sum, read_totals
from wallet.ledger.statements import BANKS, NAMES, OTHER, liabilities, movement_name
from wallet.models import Account, AccountKind, Adjustment, Entry, Journal, Payment, PostingKey, WithdrawalStep
from wallet.money import format_signed_money

PAGE: Final = 20
FOR_EVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
LAST: Final = 2**63 - 1  # greater than every number
OWN: Final = (AccountKind.CASH, AccountKind.PURSE, AccountKind.PENDING)  # a player has few of them
OF_THE_HOUSE: Final = (
    AccountKind.CASHIER,
    AccountKind.HOUSE,
    AccountKind.ESCROW,
    AccountKind.MINT,
    AccountKind.ADJUSTED,
    AccountKind.OPERATOR,
    AccountKind.STUDIO,
)
MOST_BANKS: Final = 20  # of one player, newest first

# All kinds, read one after the other from the index of rare kinds. The other kinds are half of all
# journals.
KINDS = """
WITH RECURSIVE rare (kind) AS (
    SELECT min(kind) FROM wallet_journal WHERE kind NOT IN ('stake', 'settle')
    UNION ALL
    SELECT (SELECT min(kind) FROM wallet_journal WHERE kind > rare.kind AND kind NOT IN ('stake', 'settle'))
    FROM rare WHERE rare.kind IS NOT NULL
)
SELECT kind::text FROM rare WHERE kind IS NOT NULL UNION VALUES ('stake'), ('settle') ORDER BY kind
"""
# The newest entries of each account, older than its own mark. Each account is one range of the
# index of entries.
OF_ACCOUNTS = """
SELECT found.journal_id, found.account_id, found.version
FROM unnest(%(accounts)s::bigint[], %(newest_versions)s::bigint[]) AS account (id, mark)
CROSS JOIN LATERAL (
    SELECT entry.journal_id, entry.account_id, entry.version
    FROM wallet_entry AS entry JOIN wallet_journal AS journal ON journal.id = entry.journal_id
    WHERE entry.account_id = account.id AND entry.version < account.mark
      AND (%(kind)s = '' OR journal.kind = %(kind)s)
      AND journal.at >= %(since)s AND journal.at < %(until)s
    ORDER BY entry.version DESC
    LIMIT %(limit)s
) AS found
"""
XID = "SELECT xid::text FROM wallet_journal WHERE id = %s"


@dataclass(frozen=True)
class Wanted:
    """Search for journals.

    Journals of a kind ("" for any), from *since* and before *until*, on a player's own accounts, of
    a round.
    """

    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None
    player: int | None = None
    round_id: UUID | None = None

    @property
    def interval(self) -> Interval:
        """The interval asked for. A missing end is unbounded."""
        return Interval(self.since or BEGINNING, self.until or FOR_EVER)


@dataclass(frozen=True)
class JournalPage:
    """A page of journals with their entries, newest first, and the cursor of older ones ("": none)."""

    journals: tuple[Journal, ...] = ()
    older: str = ""


@dataclass(frozen=True)
class Whole:
    """A journal and everything that belongs to it.

    ``sums`` is the sum of its entries in each currency and mode, which is zero.
    """

    journal: Journal
    entries: tuple[Entry, ...]
    xid: str  # of the transaction that wrote it
    reversed_by: Journal | None
    payment: Payment | None
    step: WithdrawalStep | None
    adjustment: Adjustment | None
    sums: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class HouseAccount:
    """The total of a house account at a moment, by kind of journal."""

    at: datetime
    balance: int
    sums: tuple[Sum, ...] = field(default=())


def kinds() -> list[str]:
    """Return every kind of journal that may exist."""
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


def journals(wanted: Wanted, *, before: str = "") -> JournalPage:
    """Return a page of journals older than the cursor *before*. An invalid cursor is ignored."""
    if wanted.player is not None and wanted.round_id is None:
        return _of_player(wanted, before)
    found = Journal.objects.order_by("-pk")
    if wanted.round_id is not None:
        found = found.filter(round_id=wanted.round_id)
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.since or wanted.until:
        among = id_ranges.ids("wallet_journal", wanted.interval)
        found = found.filter(pk__gte=among.start, pk__lt=among.stop)
        found = found.filter(at__gte=wanted.interval.since, at__lt=wanted.interval.until)
    if before.isdecimal():
        found = found.filter(pk__lt=min(int(before), LAST))
    rows = tuple(found.prefetch_related(_entries())[: PAGE + 1])
    return JournalPage(rows[:PAGE], str(rows[PAGE - 1].pk) if len(rows) > PAGE else "")


def _of_player(wanted: Wanted, before: str) -> JournalPage:
    """Merge the newest entries of each of the player's own accounts.

    The cursor has a mark per account.
    """
    own = Account.objects.filter(owner=wanted.player, kind__in=OWN).order_by("pk").values_list("pk", flat=True)
    given = _versions(before)
    newest_versions = {account: given.get(account, LAST) for account in own}
    asked: dict[str, Any] = {
        "accounts": list(newest_versions),
        "newest_versions": list(newest_versions.values()),
        "kind": wanted.kind,
        "since": wanted.interval.since,
        "until": wanted.interval.until,
        "limit": PAGE + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(OF_ACCOUNTS, asked)
        rows = cursor.fetchall()
    numbers = sorted({journal for journal, _account, _version in rows}, reverse=True)
    page = set(numbers[:PAGE])
    for journal, account, version in rows:
        if journal in page:
            newest_versions[account] = min(newest_versions[account], version)
    journals = Journal.objects.filter(pk__in=page).order_by("-pk").prefetch_related(_entries())
    older = (
        ",".join(f"{account}:{newest_version}" for account, newest_version in newest_versions.items())
        if len(numbers) > PAGE
        else ""
    )
    return JournalPage(tuple(journals), older)


def _versions(text: str) -> Mapping[int, int]:
    pairs = (pair.partition(":")[::2] for pair in text.split(","))
    return {
        int(account): min(int(newest_version), LAST)
        for account, newest_version in pairs
        if account.isdecimal() and newest_version.isdecimal()
    }


def _entries() -> "Prefetch[str]":
    return Prefetch("entry_set", Entry.objects.select_related("account").order_by("line"))


def find_journal(text: str) -> int | None:
    """Return the number of the journal with this number or idempotency key, None if there is none."""
    if text.isdecimal() and int(text) <= LAST:
        number = int(text)
        return number if Journal.objects.filter(pk=number).exists() else None
    try:
        key = UUID(text)
    except ValueError:
        return None
    return PostingKey.objects.filter(key=key).values_list("journal_id", flat=True).first()


def whole(journal_id: int) -> Whole:
    """Return a journal with its entries and everything it belongs to.

    Raises Journal.DoesNotExist.
    """
    journal = Journal.objects.get(pk=journal_id)
    entries = tuple(Entry.objects.filter(journal=journal_id).select_related("account").order_by("line"))
    with connection.cursor() as cursor:
        cursor.execute(XID, [journal_id])
        (xid,) = cursor.fetchone()
    sums: dict[tuple[str, str], int] = {}
    for entry in entries:
        sums[entry.currency, entry.mode] = sums.get((entry.currency, entry.mode), 0) + entry.amount
    owners = {entry.account.owner_id for entry in entries} - {None}
    return Whole(
        journal=journal,
        entries=entries,
        xid=xid,
        reversed_by=Journal.objects.filter(reverses=journal_id).first(),
        payment=Payment.objects.filter(player__in=owners, journal=journal_id).first(),
        step=_step(owners, journal_id),
        adjustment=adjustments.of_journal(journal) if journal.kind == "adjustment" else None,
        sums=sums,
    )


def _step(owners: Iterable[int | None], journal_id: int) -> WithdrawalStep | None:
    found = WithdrawalStep.objects.filter(withdrawal__player__in=owners, journal=journal_id)
    return found.select_related("withdrawal").first()


def house_account(account: Account, at: datetime) -> HouseAccount:
    """Return the total of a house account before the moment *at*.

    House accounts carry no balance. The total is the sum of their entries, mostly from hourly
    totals.
    """
    sums = tuple(
        each
        for each in read_totals(Interval(BEGINNING, at))
        if (each.account_kind, each.currency, each.mode) == (account.kind, account.currency, account.mode)
    )
    return HouseAccount(at, sum(each.amount for each in sums), sums)


def accounts_of(player_id: int) -> tuple[Account, ...]:
    """Return a player's accounts: their own, then the newest of their banks."""
    found = Account.objects.filter(owner=player_id)
    banks = found.filter(kind=AccountKind.BANK).order_by("-pk")[:MOST_BANKS]
    return (*found.filter(kind__in=OWN).order_by("-mode", "kind", "pk"), *banks)


def house_accounts() -> tuple[Account, ...]:
    """Return the accounts of the house: one for each kind, currency and mode."""
    found = Account.objects.filter(owner=None, kind__in=OF_THE_HOUSE)
    return tuple(found.order_by("-mode", "kind", "currency"))


READ = "wallet.view_ledger"
PICKER = {"type": "datetime-local", "step": "60"}
PLAYER = RegexValidator(r"^(?:player:)?[0-9]{1,18}$", "Enter a player number, such as 12.")


class MomentField(forms.DateTimeField):
    """Optional moment in UTC, picked to the minute."""

    def __init__(self, label: str) -> None:
        widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
        super().__init__(required=False, label=label, widget=widget)

    def clean(self, value: object) -> datetime | None:
        """Read the picked moment as UTC, whatever the server's time zone."""
        moment: datetime | None = super().clean(value)
        return moment and moment.replace(tzinfo=UTC)


class JournalFilter(forms.Form):
    """Filter of journals, with the cursor from the previous page."""

    journal = forms.CharField(required=False, max_length=40, label="Number or key")
    round = forms.UUIDField(
        required=False,
        label="Code or id of the round",
        error_messages={"invalid": "No finished round has this code or id."},
    )
    player = forms.CharField(required=False, max_length=25, label="Player's number", validators=[PLAYER])
    kind = forms.ChoiceField(required=False, choices=lambda: [("", "any"), *((each, each) for each in kinds())])
    since = MomentField("From (UTC)")
    until = MomentField("Until (UTC)")
    before = forms.CharField(required=False, max_length=600, widget=forms.HiddenInput)

    def wanted(self) -> Wanted:
        """Return the search. Invalid fields are left out."""
        asked = self.cleaned_data
        return Wanted(
            kind=asked.get("kind", ""),
            since=asked.get("since"),
            until=asked.get("until"),
            player=int(asked["player"].removeprefix("player:")) if asked.get("player") else None,
            round_id=asked.get("round"),
        )


class AccountFilter(forms.Form):
    """Moment of the total of a house account."""

    at = MomentField("As of (UTC)")


class Entries(StaffList):
    """Entries of one account with a balance, with the balance after each."""

    model = Entry
    name = "Entries"
    players = ("account__owner_id",)
    key = ("version",)
    columns = (
        Column("version", "Entry", Form.NUMBER),
        Column("journal__at", "When", Form.TIME),
        Column("transaction", "Transaction"),
        Column("journal_id", "Journal", Form.NUMBER),
        Column("journal__kind", "Kind"),
        Column("round", "Round"),
        Column("amount", "Amount", Form.MONEY),
        Column("balance_after", "Balance after", Form.MONEY),
    )
    file_columns = (*columns, Column("currency", "Currency"))
    currency = "currency"
    empty = "No activity."

    def found(self) -> QuerySet[Entry]:
        """Return the entries of the account, none without one."""
        found = Entry.objects.filter(account=self.of, version__isnull=False) if self.of else Entry.objects.none()
        return found.select_related("journal", "account")

    def of_transaction(self, entry: Entry) -> str:
        """Return the transaction as the player's statement calls it."""
        return str(NAMES.get(movement_name(entry.journal.kind, entry.amount), OTHER))

    def of_round(self, entry: Entry) -> str:
        """Return the code of the round, or that the entry is of a bank."""
        if entry.journal.kind in BANKS:
            return "bank"
        return round_code(entry.journal.round_id) if entry.journal.round_id else ""

    def show_journal_id(self, entry: Entry) -> str:
        """Return the journal, with a link for those who may see it."""
        address = reverse("staff_ledger_journal", args=[entry.journal_id])
        return cells.link(address, entry.journal_id) if self.request.user.has_perm(READ) else str(entry.journal_id)

    def show_round(self, entry: Entry) -> str:
        """Return the round with a link."""
        if entry.journal.kind in BANKS or not entry.journal.round_id:
            return self.of_round(entry) or cells.NOTHING
        address = f"{reverse('staff_rounds')}?{urlencode({'round': entry.journal.round_id})}"
        return cells.link(address, self.of_round(entry), "round-code")

    def show_amount(self, entry: Entry) -> str:
        """Return the amount with its sign."""
        return format_signed_money(entry.amount, entry.currency, "en")


@require_safe
def ledger(request: HttpRequest) -> HttpResponse:
    """Show a page of journals.

    The calling view checks permissions and accepts the code of a round.
    """
    form = JournalFilter(request.GET)
    form.full_clean()
    if typed := form.cleaned_data.get("journal", "").strip():
        if (number := find_journal(typed)) is not None:
            return redirect("staff_ledger_journal", journal_id=number)
        form.add_error("journal", "No journal has this number or key.")
    wanted, before = form.wanted(), form.cleaned_data.get("before", "")
    page = JournalPage() if form.errors else journals(wanted, before=before)
    is_filtered = any(request.GET.get(name) for name in ("journal", "round", "player", "kind", "since", "until"))
    access_log.shown(
        request,
        wanted.player,
        *(entry.account.owner_id for journal in page.journals for entry in journal.entry_set.all()),
    )
    context = {
        "form": form,
        "page": page,
        "is_filtered": is_filtered,
        "player": wanted.player,
        "accounts": accounts_of(wanted.player) if wanted.player is not None else (),
        "liabilities": liabilities() if not is_filtered and not before else (),
        "is_first": not is_filtered and not before,
        "house": house_accounts() if not is_filtered and not before else (),
        "banks": BANKS,
    }
    return render(request, "staff/ledger.html", context)


@staff_required(READ)
@access_log.listed("a journal")
@require_safe
def staff_ledger_journal(request: StaffRequest, journal_id: int) -> HttpResponse:
    """Show one journal: its entries, and what it belongs to."""
    try:
        found = whole(journal_id)
    except Journal.DoesNotExist as error:
        raise Http404 from error
    access_log.shown(request, [entry.account for entry in found.entries], found.payment, found.step)
    return render(request, "staff/ledger_journal.html", {"whole": found, "journal": found.journal, "banks": BANKS})


@staff_required(READ)
@access_log.listed("an account")
@require_safe
def staff_ledger_account(request: StaffRequest, account_id: int) -> HttpResponse:
    """Show one account: its entries with the balance after each, or the total of a house account."""
    account = get_object_or_404(Account, pk=account_id)
    form = AccountFilter(request.GET)
    form.full_clean()
    access_log.shown(request, account)
    context = {"account": account, "form": form, "banks": BANKS}
    if account.balance is None:
        context["house"] = house_account(account, form.cleaned_data.get("at") or clock())
    else:
        return Entries(request, account).answer("staff/ledger_account.html", context)
    return render(request, "staff/ledger_account.html", context)
