"""Reports on players, and what the report of alterations shows of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Final

from django.utils.translation import gettext_noop

from audit import log
from audit.reports import kinds
from audit.reports.alterations import Change, ReportEvent, added, became, changed, count, read_events, register, said
from audit.reports.alterations import Data as AlterationData
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Row
from players.models import ExclusionKind, LimitKind, Marker, Player
from players.protection.limits import LIMIT_KINDS

Data = Mapping[str, log.Json]
FOR_GOOD: Final = "permanent"

COLUMNS: Final = (
    Column("at", "When", Form.TIME),
    Column("player", "Player"),
    Column("subject", "Subject"),
    Column("what", "Event"),
    Column("which", "Details"),
    Column("before", "Value before"),
    Column("after", "Value after"),
    Column("begun", "Start", Form.TIME),
    Column("ended", "End", Form.TIME),
    Column("reason", "Reason"),
    Column("by", "By"),
    Column("event", "Event number", Form.ID),
)


@dataclass(frozen=True)
class Said:
    """The details of an event: subject, value before and after, period of validity, reason."""

    which: str = ""
    before: str | Decimal = ""  # Decimal: an amount in the player's currency
    after: str | Decimal = ""
    begun: log.Json = None
    ended: log.Json = None
    reason: str = ""


@dataclass(frozen=True)
class Kind:
    """How a kind of event is shown in the report."""

    subject: str
    what: str
    said: Callable[[ReportEvent], Said]


def answer(asked: Asked) -> Answer:
    """Return all events in order of time, and their totals."""
    subject = asked.choices.get("subject", "")
    chosen = [kind for kind, reads in KINDS.items() if subject in ("", reads.subject)]
    seen: Counter[tuple[str, str]] = Counter()
    return Answer(
        rows=_rows(read_events(chosen, asked.interval), seen),
        of=count(chosen, asked.interval),
        totals=lambda: [_total(*key, number) for key, number in sorted(seen.items())],
    )


def _rows(events: Iterable[ReportEvent], seen: Counter[tuple[str, str]]) -> Iterator[Row]:
    currency_of = cache(_currency)  # one cache per report
    for event in events:
        reads = KINDS[event.kind]
        said = reads.said(event)
        values = (said.before, said.after)
        seen[reads.subject, reads.what] += 1
        yield (
            event.at.astimezone(UTC).isoformat(),
            event.on,
            reads.subject,
            reads.what,
            said.which,
            *(f"{value} {currency_of(event.on)}" if isinstance(value, Decimal) else value for value in values),
            _moment(said.begun),
            _moment(said.ended),
            said.reason,
            ", ".join(who for who in (str(event.data.get("asked_by", "")), event.by) if who),
            event.number,
        )


def _total(subject: str, what: str, number: int) -> Row:
    return (None, "", subject, what, f"{number} in total", "", "", None, None, "", "", None)


def _exclusion(event: ReportEvent) -> Said:
    data = event.data
    kind = ExclusionKind(str(data["kind"])).label
    after = FOR_GOOD if data.get("until") is None else ""
    return Said(
        f"{kind}, number {data['exclusion']}", "", after, data["begun"], data.get("until"), _text(data, "reason")
    )


def _lifted(event: ReportEvent) -> Said:
    number = f"number {event.data['exclusion']}"
    return Said(number, ended=event.at.isoformat(), reason=_text(event.data, "reason"))


def _limit(event: ReportEvent) -> Said:
    data = event.data
    which = f"{data['kind']} a {data['period']}, set by the {data['source']}"
    before, after = (_amount(str(data["kind"]), data.get(when)) for when in ("before", "after"))
    return Said(which, before, after, data.get("effective_at"), None, _text(data, "reason"))


def _amount(kind: str, amount: log.Json) -> str | Decimal:
    """Format a limit; return a limit of money as a number, still without its currency."""
    if not isinstance(amount, int):
        return "none"
    unit = LIMIT_KINDS[LimitKind(kind)].unit
    return Decimal(amount).scaleb(-2) if unit is None else f"{Decimal(amount) / unit.size:.2f} {unit.name}"


def _currency(player: str) -> str:
    """Return the currency of a player. It never changes."""
    return Player.objects.values_list("currency", flat=True).get(pk=int(player.partition(":")[2]))


def _interval(event: ReportEvent) -> Said:
    before, after = event.data.get("minutes_before"), event.data.get("minutes")
    return Said("reality check", f"every {before} minutes", f"every {after} minutes", event.at.isoformat())


def _answered(event: ReportEvent) -> Said:
    data = event.data
    goes_on = "continues" if data.get("goes_on") else "stops"
    return Said(f"shown after {data.get('seconds')} seconds of play", "", goes_on)


def _marker(event: ReportEvent) -> Said:
    data = event.data
    which = f"{Marker(str(data['marker'])).label}, case {data['case']}"
    return Said(which, "", "", data.get("began"), data.get("ended"))


def _closed_marker(event: ReportEvent) -> Said:
    data = event.data
    return Said(f"{Marker(str(data['subject'])).label}, case {data['case']}", "", _text(data, "to"))


def _contact(event: ReportEvent) -> Said:
    data = event.data
    looked = f"staff follow-up on {data['next_look']}" if data.get("next_look") else ""
    return Said(f"case {data['case']}", "", f"by {data['way']}", data.get("made_at"), None, looked)


def _check(event: ReportEvent) -> Said:
    data = event.data
    return Said(str(data["register"]), "", str(data["outcome"]), None, data.get("until"))


def _nothing(event: ReportEvent) -> Said:
    return Said()


def _text(data: Data, name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _moment(value: log.Json) -> str | None:
    return datetime.fromisoformat(value).astimezone(UTC).isoformat() if isinstance(value, str) else None


EXCLUSIONS: Final = "Exclusions and pauses"
LIMITS: Final = "Limits"
CHECKS: Final = "Reality checks"
MARKERS: Final = "Markers of harm"
REGISTERS: Final = "Registers"
KINDS: Final[Mapping[str, Kind]] = {
    "player.excluded": Kind(EXCLUSIONS, "Exclusion or pause started", _exclusion),
    "exclusion.lifted": Kind(EXCLUSIONS, "Exclusion lifted", _lifted),
    "limits.changed": Kind(LIMITS, "Limit set, changed or removed", _limit),
    "limits.withdrawn": Kind(LIMITS, "Pending change withdrawn", _limit),
    "limits.declined": Kind(LIMITS, "Offer of limits declined", _nothing),
    "limits.reminded": Kind(LIMITS, "Reminder of limits sent", _nothing),
    "limits.reviewed": Kind(LIMITS, "Limits reviewed", _nothing),
    "limits.contact_due": Kind(LIMITS, "Limit requires contact", _limit),
    "reality_check.chosen": Kind(CHECKS, "Interval chosen", _interval),
    "reality_check.answered": Kind(CHECKS, "Check shown and answered", _answered),
    "marker.flagged": Kind(MARKERS, "Marker raised", _marker),
    "marker.worsened": Kind(MARKERS, "Marker more severe than before", _marker),
    "marker.contact": Kind(MARKERS, "Contact recorded", _contact),
    "marker.closed": Kind(MARKERS, "Marker closed", _closed_marker),
    "register.checked": Kind(REGISTERS, "Register checked", _check),
}


def _subjects() -> Sequence[tuple[str, str]]:
    return tuple((subject, subject) for subject in (EXCLUSIONS, LIMITS, CHECKS, MARKERS, REGISTERS))


KIND: Final = kinds.Kind(
    name="responsible_play",
    title=gettext_noop("Responsible gambling register"),
    purpose=gettext_noop(
        "Exclusions, pauses, limits, reality checks, markers of harm with contacts, and self-exclusion register checks."
    ),
    clause="",
    columns=COLUMNS,
    answer=answer,
    choices=(Choice("subject", "Subject", _subjects),),
    names_players=True,
)


def register_alterations() -> None:
    """Register the events of this app with the report of events and alterations."""
    register(
        "Accounts",
        {
            "player.registered": ("Player registered", added("jurisdiction", "currency", "terms")),
            "terms.agreed": ("Terms accepted", became(None, "terms")),
            "staff.employed": ("Staff account created", _employed),
            "staff.roles_changed": ("Staff roles changed", said),
            "staff.disabled": ("Staff account disabled", said),
            "staff.suspended": ("Staff account suspended", changed("active", "suspended")),
            "staff.suspension_refused": ("Suspension of a staff account refused", changed("suspended", "active")),
            "staff.enabled": ("Staff account enabled", said),
            "staff.factors_reset": ("Staff second factors reset", said),
            "account.closing": ("Account closure started", changed("open", "closing")),
            "account.locked": ("Account locked", changed("open", "locked")),
            "account.unlocked": ("Account unlocked", changed("locked", "open")),
            "borrowed.marked": ("Borrowed money marked", changed("none", "borrowed")),
            "borrowed.removed": ("Mark of borrowed money removed", changed("borrowed", "none")),
            "account.closed": ("Account closed", changed("closing", "closed")),
            "account.let_in": ("Closed account allowed to log in", changed("closed", "closed, may log in")),
            "login.unlocked": ("Log-in unlocked", changed("locked", "open", reason="by")),
            "password.changed": ("Password changed", changed("another password", "a password")),
            "password.reset": ("Password reset", changed("another password", "a password")),
            "address.changed": ("E-mail address changed", changed("another address", "an address")),
            "authenticator.added": ("Authenticator app added", changed(None, "an authenticator app")),
            "authenticator.removed": ("Authenticator app removed", changed("an authenticator app", None)),
            "passkey.added": ("Passkey added", changed(None, "a passkey")),
            "passkey.removed": ("Passkey removed", changed("a passkey", None)),
            "recovery_codes.made": ("Recovery codes generated", changed("other codes", "codes")),
            "token.made": ("API token created", added("token", "scopes", "days")),
            "staff.token_made": ("Staff API token created", added("token", "scopes", "days")),
            "token.revoked": ("API token revoked", changed("holds", "revoked")),
            "service.forgotten": ("Conversation deleted by retention", added("conversation", "topic")),
        },
    )
    register(
        "KYC",
        {
            "identity.submitted": ("Identity documents submitted", added("submission", "document", "parts")),
            "identity.verified": ("Identity verified", changed("submitted", "verified")),
            "identity.confirmed": ("Identity confirmed by a register", added("submission", "register")),
            "identity.stated": ("Identity stated by the player", added("submission")),
            "identity.refused": ("Identity refused", changed("submitted", "refused")),
            "duplicate.resolved": ("Possible duplicate resolved", became("open", "resolution")),
        },
    )
    register(
        "Limits",
        {
            "limits.changed": ("Limit set, changed or removed", _altered_limit),
            "limits.withdrawn": ("Pending limit change withdrawn", _altered_limit),
            "limits.declined": ("Limit offer declined", changed("offered", "declined")),
            "reality_check.chosen": ("Reality check interval", _altered_interval),
        },
    )
    register(
        "Exclusions",
        {
            "player.excluded": ("Player excluded or paused", added("kind", "begun", "until")),
            "exclusion.lifted": ("Exclusion lifted", _altered_lifted),
        },
    )
    register("National rules", {"national_rule.changed": ("National rule changed", said)})
    register("Markers of harm", {"marker.closed": ("Marker closed", became("open", "to"))})


def _altered_limit(data: AlterationData) -> Change:
    change = said(data)
    which = {name: data.get(name) for name in ("source", "kind", "period")}
    after = which | {"limit": _or_none(change.after), "from": data.get("effective_at")}
    return Change(which | {"limit": _or_none(change.before)}, after, change.reason)


def _or_none(limit: object) -> str:
    return "none" if limit is None else str(limit)


def _altered_interval(data: AlterationData) -> Change:
    return Change({"minutes": data.get("minutes_before")}, {"minutes": data.get("minutes")})


def _employed(data: AlterationData) -> Change:
    now = {"roles": data.get("roles"), "person": data.get("person")}
    return Change(None, now, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _altered_lifted(data: AlterationData) -> Change:
    number = {"exclusion": data.get("exclusion")}
    return Change(number, None, str(data.get("reason", "")), str(data.get("asked_by", "")))
