"""Pages and queries of the ledger: journals, one journal, one account. Read only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django import forms
from django.core.validators import RegexValidator
from django.db import connection
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_safe

from audit import id_ranges
from audit.reports.kinds import Column, Form, Interval
from audit.reports.requests import clock
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import OLDEST, ORDER, ListForm
from backoffice.lists.paging import BEFORE, Order, Page
from backoffice.lists.staff_list import StaffList
from backoffice.lists.totals import Sums
from games.models.rounds import round_code
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.ledger import adjustments
from wallet.ledger.hourly_totals import BEGINNING, Sum, read_totals
from wallet.ledger.statements import BANKS, NAMES, OTHER, liabilities, movement_name
from wallet.models import Account, AccountKind, Adjustment, Entry, Journal, Payment, PostingKey, WithdrawalStep
from wallet.money import format_signed_money

FOR_EVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
LAST: Final = 2**63 - 1  # greater than every number
OWN: Final = (AccountKind.CASH, AccountKind.PURSE, AccountKind.PENDING, AccountKind.REFUND)  # a player has few of them
STAFF_NAMES: Final[Mapping[str, Promise]] = {
    "held_stake": gettext_lazy("Stake at a shared table"),
    "seat_funded": gettext_lazy("House player funded"),
    "void_shortfall": gettext_lazy("Shortfall of a voided round"),
    "void_transfer": gettext_lazy("Transfer of a voided round"),
}
"""Names for staff: of kinds of journals that players never read, and of one that they read as a stake."""
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
SELECT found.journal_id
FROM unnest(%(accounts)s::bigint[], %(newest_versions)s::bigint[]) AS account (id, mark)
CROSS JOIN LATERAL (
    SELECT entry.journal_id
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


def journal_name(kind: str) -> str:
    """Return the name of a kind of journal for staff: as players read it, where staff have no other."""
    return str(STAFF_NAMES[kind] if kind in STAFF_NAMES else NAMES.get(kind, kind))


def kinds() -> list[str]:
    """Return every kind of journal that may exist."""
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


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

    def __init__(self, label: Any) -> None:
        widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
        super().__init__(required=False, label=label, widget=widget)

    def clean(self, value: object) -> datetime | None:
        """Read the picked moment as UTC, whatever the server's time zone."""
        moment: datetime | None = super().clean(value)
        return moment and moment.replace(tzinfo=UTC)


class JournalFilter(ListForm):
    """Filter of journals. Invalid fields find none."""

    journal = forms.CharField(required=False, max_length=40, label=gettext_lazy("Number or key"))
    round = forms.UUIDField(
        required=False,
        label=gettext_lazy("Code or id of the round"),
        error_messages={"invalid": gettext_lazy("No finished round has this code or id.")},
    )
    player = forms.CharField(required=False, max_length=25, label=gettext_lazy("Player’s number"), validators=[PLAYER])
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        choices=lambda: [("", gettext_lazy("any")), *((each, journal_name(each)) for each in kinds())],
    )
    since = MomentField(gettext_lazy("From (UTC)"))
    until = MomentField(gettext_lazy("Until (UTC)"))

    def clean_journal(self) -> int | None:
        """Return the number of the journal with this number or key."""
        typed = self.cleaned_data["journal"].strip()
        number = find_journal(typed) if typed else None
        if typed and number is None:
            raise forms.ValidationError(gettext("No journal has this number or key."))
        return number

    def clean_player(self) -> int | None:
        """Return the player's number."""
        typed = self.cleaned_data["player"]
        return int(typed.removeprefix("player:")) if typed else None

    def clean(self) -> dict[str, Any]:
        """Refuse the one order that no index serves."""
        asked = super().clean() or {}
        if asked.get("player") and not asked.get("round") and asked.get(ORDER) == OLDEST:
            self.add_error(ORDER, gettext("A player’s journals are listed newest first only."))
        return asked


class AccountFilter(forms.Form):
    """Moment of the total of a house account."""

    at = MomentField(gettext_lazy("As of (UTC)"))


class Journals(StaffList):
    """Journals with their entries.

    Those of a player are merged from the newest entries of each of the player's own accounts; their
    cursor has a mark for each account.
    """

    model = Journal
    name = gettext_noop("Journals")
    players = ("entry_set__account__owner_id",)
    form_class = JournalFilter
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "When", Form.TIME),
        Column("kind", "Kind"),
        Column("round", "Round"),
        Column("entries", "Entries"),
    )
    file_columns = (*columns[:3], Column("reverses_id", "Reverses", Form.NUMBER), *columns[3:])
    timed = ("at",)
    links = {"id": ("staff_ledger_journal", "journal_id", "pk")}
    empty = gettext_noop("No activity.")
    unmatched = gettext_noop("No journals match this search.")

    def __init__(self, request: StaffRequest, of: Any = None) -> None:
        """Read the query. The journals of a player have one order."""
        super().__init__(request, of)
        self.may_sort = not self.is_of_player

    @property
    def is_of_player(self) -> bool:
        """True if the journals of a player are asked for."""
        return self.asked.get("player") is not None and self.asked.get("round") is None

    @property
    def interval(self) -> Interval:
        """The time asked for. A missing end is unbounded."""
        return Interval(self.asked.get("since") or BEGINNING, self.asked.get("until") or FOR_EVER)

    def found(self) -> QuerySet[Journal]:
        """Return the journals of the filter, of all players."""
        found, asked = Journal.objects.all(), self.asked
        if asked.get("round") is not None:
            found = found.filter(round_id=asked["round"])
        if asked.get("kind"):
            found = found.filter(kind=asked["kind"])
        if asked.get("since") or asked.get("until"):
            among = id_ranges.ids("wallet_journal", self.interval)
            found = found.filter(pk__gte=among.start, pk__lt=among.stop)
            found = found.filter(at__gte=self.interval.since, at__lt=self.interval.until)
        return found.prefetch_related(_entries())

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Journal]:
        """Return journals; those of a player beyond the marks *start* of their accounts."""
        if not self.is_of_player:
            return super().read(order, start, most)
        marks = dict.fromkeys(self.own, LAST) | dict(start)
        asked: dict[str, Any] = {
            "accounts": self.own,
            "newest_versions": [marks[account] for account in self.own],
            "kind": self.asked.get("kind", ""),
            "since": self.interval.since,
            "until": self.interval.until,
            "limit": most,
        }
        with connection.cursor() as cursor:
            cursor.execute(OF_ACCOUNTS, asked)
            numbers = sorted({number for (number,) in cursor.fetchall()}, reverse=True)
        return list(Journal.objects.filter(pk__in=numbers[:most]).order_by("-pk").prefetch_related(_entries()))

    def key_of(self, cursor: str) -> Sequence[Any]:
        """Return the key of a journal, or the marks of the player's accounts."""
        return tuple(_versions(cursor).items()) if self.is_of_player else super().key_of(cursor)

    def cursor_after(self, rows: Sequence[Journal]) -> str:
        """Return the cursor after *rows*: for a player, the oldest version seen of each account."""
        if not self.is_of_player:
            return super().cursor_after(rows)
        marks = dict(self.key_of(self.request.GET.get(BEFORE, "")))
        for entry in (entry for journal in rows for entry in journal.entry_set.all()):
            if entry.account_id in self.own and entry.version is not None:
                marks[entry.account_id] = min(marks.get(entry.account_id, LAST), entry.version)
        return ",".join(f"{account}:{version}" for account, version in marks.items())

    @cached_property
    def page(self) -> Page[Journal]:
        """The page of journals. For a player it has only a page of older ones."""
        if not self.is_of_player:
            return super().page
        start = self.key_of(self.request.GET.get(BEFORE, ""))
        found = self.read(self.order, start, self.size + 1)
        shown, is_more = found[: self.size], len(found) > self.size
        return Page(shown, older=self.cursor_after(shown) if is_more else "", is_first=not start)

    @cached_property
    def own(self) -> list[int]:
        """The player's own accounts."""
        found = Account.objects.filter(owner=self.asked["player"], kind__in=OWN)
        return list(found.order_by("pk").values_list("pk", flat=True))

    def of_round(self, journal: Journal) -> str:
        """Return the id of the round, or of the bank."""
        return str(journal.round_id or "")

    def of_entries(self, journal: Journal) -> str:
        """Return the entries in one line."""
        return "; ".join(self._entries_of(journal))

    def show_kind(self, journal: Journal) -> str:
        """Return the kind, and which journal this one reverses."""
        return (
            (
                gettext("%(kind)s (reverses %(reverses_id)s)")
                % {"kind": journal_name(journal.kind), "reverses_id": journal.reverses_id}
            )
            if journal.reverses_id
            else journal_name(journal.kind)
        )

    def show_round(self, journal: Journal) -> str:
        """Return the round with a link, or the id of the bank."""
        return _round(journal, format_html("Bank<br><code>{}</code>", journal.round_id))

    def show_entries(self, journal: Journal) -> str:
        """Return the entries as a list."""
        said = [(cells.linked(line, self.request.user),) for line in self._entries_of(journal)]
        lines = format_html_join("", "<li>{}</li>", said)
        return format_html("<ul>{}</ul>", lines)

    def _entries_of(self, journal: Journal) -> Iterator[str]:
        for entry in journal.entry_set.all():
            account = entry.account
            owner = f"player:{account.owner_id}, " if account.owner_id else ""
            amount = format_signed_money(entry.amount, entry.currency, get_language() or "en")
            kind, mode = in_sentence(account.get_kind_display()), in_sentence(account.get_mode_display())
            yield f"{amount} {owner}{kind} ({mode})"


def _round(journal: Journal, bank: str) -> str:
    """Return the round of a journal with a link, *bank* if it is of a bank."""
    if journal.kind in BANKS:
        return bank
    if not journal.round_id:
        return cells.NOTHING
    return cells.link(reverse("staff_round", args=[journal.round_id]), round_code(journal.round_id), "round-code")


class Entries(StaffList):
    """Entries of one account with a balance, with the balance after each."""

    model = Entry
    name = gettext_noop("Entries")
    players = ("account__owner_id",)
    key = ("version",)
    columns = (
        Column("version", "Entry", Form.NUMBER),
        Column("journal__at", "When", Form.TIME),
        Column("transaction", "Transaction"),
        Column("journal_id", "Journal", Form.NUMBER),
        Column("round", "Round"),
        Column("amount", "Amount", Form.MONEY),
        Column("balance_after", "Balance after", Form.MONEY),
    )
    file_columns = (*columns[:4], Column("journal__kind", "Kind"), *columns[4:], Column("currency", "Currency"))
    currency = "currency"
    sums = Sums({"Change": "amount"})
    empty = gettext_noop("No activity.")

    def found(self) -> QuerySet[Entry]:
        """Return the entries of the account, none without one."""
        found = Entry.objects.filter(account=self.of, version__isnull=False) if self.of else Entry.objects.none()
        return found.select_related("journal", "account")

    def about(self) -> Sequence[tuple[str, str]]:
        """Return the account and its owner."""
        return [(gettext("Account"), str(self.of.pk)), (gettext("Player"), str(self.of.owner or ""))] if self.of else []

    def players_of_subject(self) -> set[int]:
        """Return the owner of the account."""
        return {self.of.owner_id} if self.of and self.of.owner_id else set()

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
        return _round(entry.journal, "bank")

    def show_amount(self, entry: Entry) -> str:
        """Return the amount with its sign."""
        return format_signed_money(entry.amount, entry.currency, get_language() or "en")


@require_safe
def ledger(request: StaffRequest) -> HttpResponse:
    """Show a page of journals.

    The calling view checks permissions and accepts the code of a round.
    """
    listing = Journals(request)
    if listing.form.is_valid() and listing.asked["journal"]:
        return redirect("staff_ledger_journal", journal_id=listing.asked["journal"])
    if listing.is_file:
        return listing.file()
    player = listing.asked.get("player")
    access_log.shown(request, player)
    is_first = not listing.form.is_used and listing.page.is_first
    context = {
        "player": player,
        "accounts": accounts_of(player) if player is not None else (),
        "liabilities": liabilities() if is_first else (),
        "is_first": is_first,
        "house": house_accounts() if is_first else (),
    }
    return listing.answer("staff/ledger.html", context)


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
