"""Data export for a player: a ZIP with each kind of record as JSON and CSV.

Every table that refers to a player or a user is either a part here or listed with a reason in
`LEFT_OUT`. A test compares both with the models. Rows are read and written in batches, so that a
long history neither fills memory nor delays the answer.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db.models import BinaryField, Model, Q
from django.db.models.query import QuerySet

from audit.models import Event as LoggedEvent
from audit.models import Personal
from audit.verification.export import zipped
from games import models as games
from players import models as people
from players.encryption import Purpose, unseal
from players.identity import verification
from players.models import Player
from players.staff.access_log import ACCESSED
from wallet import models as wallet
from wallet.payouts.accounts import reveal

BATCH: Final = 1000  # rows
FEW: Final = 4  # documents, which are large
NOT_DISCLOSED: Final = "significant"  # in a page's name: the access itself would reveal a suspicion
OF_TWO: Final = ("duplicate.found", "duplicate.resolved")  # events that also concern another player, as in `LEFT_OUT`
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One kind of record: the rows of *model* that belong to the player.

    *owner_path* is the lookup from the row to the player, or to the user if it ends in ``user``. *more*
    lists columns of related tables. Columns in *without* are left out. Rows that do not match
    *only* are left out.
    """

    name: str
    model: type[Model]
    owner_path: str = "player"
    more: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    only: tuple[tuple[str, object], ...] = ()

    def rows(self, player: Player) -> Iterator[Row]:
        """Yield the player's rows, oldest first."""
        owner = player.user_id if self.owner_path.split("__")[-1] == "user" else player.pk
        found: QuerySet[Model, Any] = self.model._default_manager.filter(**{self.owner_path: owner}, **dict(self.only))
        return found.order_by("pk").values(*self.columns).iterator(chunk_size=BATCH)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the exported columns."""
        fields = self.model._meta.concrete_fields
        own = (f.attname for f in fields if not isinstance(f, BinaryField) and f.attname not in self.without)
        return (*own, *self.more)


OF_AN_ENTRY = ("account__kind", "journal__kind", "journal__at", "journal__round_id")
PARTS: Final = (
    Part("profile", Player, "pk", ("user__email", "user__language", "user__created_at", "user__last_login")),
    Part("agreements", people.Agreement),
    Part("sessions", people.Session, "user"),
    Part("API tokens", people.ApiToken, "user"),
    Part("second factors", Authenticator, "user", without=("data",)),
    Part("e-mail addresses", EmailAddress, "user"),
    Part("API calls", people.ApiCall, "token__user"),
    Part("mail", people.Mail, "user"),
    Part("identity", people.Submission),
    Part("confirmations of the identity", people.Identity),
    Part("documents", people.Document, "submission__player", without=("request_id",)),
    Part("documents requested", people.RequestedDocument, "case__player", without=("case_id",)),
    Part(
        "documents about the source of funds",
        people.Document,
        "request__case__player",
        without=("part", "submission_id"),
    ),
    Part("limits", people.LimitChange),
    Part("limits offered", people.LimitOffer),
    Part("reminders of limits", people.LimitReminder),
    Part("exclusions", people.Exclusion),
    Part("locks of the account", people.AccountLock),
    Part("marks of borrowed money", people.BorrowedMoney),
    Part("register checks", people.RegisterCheck),
    Part("reality checks", people.RealityCheck),
    Part("time at play", people.PlayTime),
    Part("visits", people.PlaySession),
    Part("markers of harm", people.Case, without=("holds",), only=(("kind", people.CaseKind.MARKER),)),
    Part("handling of markers", people.CaseEntry, "case__player", only=(("case__kind", people.CaseKind.MARKER),)),
    Part("what markers were seen in", people.Sighting, "case__player"),
    Part("contacts about markers", people.Contact, "case__player"),
    Part("notes of staff", people.Note, only=(("restricted", False),), without=("restricted",)),
    Part("tags", people.PlayerTag, more=("tag__name",)),
    Part("customer service", people.Conversation),
    Part("customer service messages", people.ServiceMessage, "conversation__player"),
    Part("complaints", people.Case, without=("holds",), only=(("kind", people.CaseKind.COMPLAINT),)),
    Part("handling of complaints", people.CaseEntry, "case__player", only=(("case__kind", people.CaseKind.COMPLAINT),)),
    Part("closing", people.Closure),
    Part("accounts", wallet.Account, "owner", without=("lock_only",)),
    Part("movements", wallet.Entry, "account__owner", OF_AN_ENTRY),
    Part("days", wallet.Day),
    Part("deposits", wallet.Payment, without=("token", "extra_data")),
    Part("reserved", wallet.Reserved),
    Part("bank accounts", wallet.PayoutAccount),
    Part("withdrawals", wallet.Withdrawal),
    Part("steps of withdrawals", wallet.WithdrawalStep, "withdrawal__player"),
    Part("studios played with", wallet.StudioPlayer, more=("partner__name",)),
    Part("game sessions with studios", wallet.GameSession, "studio_player__player"),
    Part(
        "bets and wins with studios",
        wallet.StudioTransaction,
        "studio_player__player",
        ("partner__name",),
        without=("bet_key", "win_key"),
    ),
    Part("operator played for", wallet.OperatorPlayer),
    Part("visits from the operator", wallet.OperatorLaunch, "operator_player__player", without=("token",)),
    Part("bets at the operator", wallet.OperatorBet),
    Part("messages to the operator", wallet.OperatorMessage, "bet__player", without=("settled_by_id", "note")),
    Part("seats at solo tables", games.SoloSeat),
    Part("open table", games.OpenTable),
    Part("last game begun", games.LastGame),
    Part("seats at live tables", games.LiveSeat),
    Part("random numbers added to shoes", games.ShoeChance),
    Part("cards turned at live tables", games.Squeeze),
    Part("favourite bets", games.FavouriteBet),
    Part("favourite tables", games.FavouriteTable),
    Part("chips", games.ChipSet),
    Part("name in the chat", games.ChatName),
    Part("names in the chat taken away", games.ChatNameTaken),
    Part("chat", games.ChatMessage),
    Part("players not read in the chat", games.ChatBlock, "player", ("blocked__chatname__name",), ("blocked_id",)),
    Part("reports of chat messages", games.ChatReport),
    Part("times without chat", games.ChatBan),
    Part("rounds", games.Participation, "player", ("round__code", "round__cards", "round__outcome", "table__name")),
    Part("bets", games.Wager, "participation__player", ("participation__round__code",)),
    Part("voided rounds", games.VoidPart),
    Part("letters about rounds", games.LetterCopy, "player", ("letter__kind", "letter__round_id", "letter__at")),
    Part("seats at Chemin de Fer tables", games.CheminSeat),
    Part("banks held", games.CheminTenure, "seat__player"),
    Part("coups as banker", games.CheminCoup, "banker_player"),
    Part("stakes in coups", games.CheminStake),
    Part("decisions in coups", games.CheminMove, "seat__player", without=("events",)),
    Part("reports of other players", games.PlayReport, "reporter", without=("finding", "note", "decided_by")),
)

# Tables that refer to a player or a user and are not exported, each with its reason.
LEFT_OUT: Final[Mapping[type[Model], str]] = {
    people.Staff: "staff are no players",
    people.StaffChange: "what was changed of accounts of staff, who are no players",
    people.Trait: "a keyed digest of values in the profile; nothing can be read from it",
    people.SearchWord: "the words of the identity again, in the form that searches use",
    games.PlayerHourlyTotal: "sums of the rounds, which the export lists one by one",
    people.Duplicate: "a suspicion about two people, whose other half is somebody else's",
}


def export(player: Player) -> Iterator[bytes]:
    """Return a ZIP of all data of the player, in chunks."""
    return zipped(_files(player))


def _files(player: Player) -> Iterator[tuple[str, Iterable[bytes]]]:
    for name, columns, make in _contents(player):
        yield f"{name}.json", _as_json(make())
        yield f"{name}.csv", _as_csv(columns, make())
    sealed = people.DocumentContent.objects.filter(verification.of_player(player))
    for content in sealed.iterator(FEW):
        yield f"documents/{content.pk}", [unseal(Purpose.DOCUMENT, player.pk, content.pk, bytes(content.sealed))]


def _contents(player: Player) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    for part in PARTS:
        yield part.name, part.columns, lambda part=part: part.rows(player)
    yield "bank account numbers", ("id", "iban"), lambda: bank_account_numbers(player)
    yield "events", ("id", "at", "kind", "by", "on", "body", "personal"), lambda: events(player)


def bank_account_numbers(player: Player) -> Iterator[Row]:
    """Yield the player's bank account numbers, decrypted, unless they have been erased."""
    for account in wallet.PayoutAccount.objects.filter(player=player).exclude(sealed=b"").order_by("at", "pk"):
        yield {"id": account.pk, "iban": reveal(account)}


def events(player: Player) -> Iterator[Row]:
    """Yield the events on or by the player, with the personal values that belong to them.

    Left out are accesses to significant events about the player, as anti-money-laundering law
    requires, and events that also concern another player.
    """
    who = str(player)
    since_id = 0
    while True:
        theirs = LoggedEvent.objects.filter(Q(on=who) | Q(by=who), pk__gt=since_id).exclude(kind__in=OF_TWO)
        found = theirs.order_by("pk")[:BATCH]
        batch = list(found.values("id", "at", "kind", "by", "on", "body"))
        values: dict[int, dict[str, str]] = {}
        event_ids = [
            row["id"] for row in batch if row["kind"] != ACCESSED
        ]  # IP addresses of access events belong to staff
        personal_values = Personal.objects.filter(event__in=event_ids).values_list("event_id", "field", "value")
        for event_id, field, value in personal_values:
            values.setdefault(event_id, {})[field] = value
        for row in batch:
            body = bytes(row["body"]).decode()
            if row["kind"] != ACCESSED or NOT_DISCLOSED not in json.loads(body)["data"]["page"]:
                yield row | {"body": body, "personal": values.get(row["id"], {})}
        if len(batch) < BATCH:
            return
        since_id = batch[-1]["id"]


def _as_json(rows: Iterator[Row]) -> Iterator[bytes]:
    yield b"["
    for number, row in enumerate(rows):
        text = json.dumps({name: _plain(value) for name, value in row.items()}, ensure_ascii=False)
        yield f"{',' if number else ''}\n{text}".encode()
    yield b"\n]\n"


def _as_csv(columns: tuple[str, ...], rows: Iterator[Row]) -> Iterator[bytes]:
    yield _line(columns)
    for row in rows:
        yield _line(_cell(row[name]) for name in columns)


def _line(cells: Iterable[object]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    # A spreadsheet would read such a text as a formula.
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else _plain(value)


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | str | dict | list) else str(value)
