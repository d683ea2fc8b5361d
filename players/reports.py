"""Reports on players, and what the report of alterations shows of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Final

from django.utils.translation import gettext, gettext_noop

from audit import log
from audit.reports import kinds
from audit.reports.alterations import Change, ReportEvent, added, became, changed, count, read_events, register, said
from audit.reports.alterations import Data as AlterationData
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Row
from audit.staff_text import Stored, marked, sentence
from players.models import ContactWay, ExclusionKind, LimitKind, LimitSource, Marker, Player
from players.protection.limits import LIMIT_KINDS

Data = Mapping[str, log.Json]
FOR_GOOD: Final = marked("report", "permanent")

# Codes of limits, which are the words of the report.
LIMIT_CODES: Final = (
    marked("report", "deposit"),
    marked("report", "loss"),
    marked("report", "stake"),
    marked("report", "time"),
    marked("report", "day"),
    marked("report", "week"),
    marked("report", "month"),
)
LIMITS_OF: Final = {
    LimitSource.PLAYER: gettext_noop("%(kind)s per %(period)s, set by the player"),
    LimitSource.HOUSE: gettext_noop("%(kind)s per %(period)s, set by the house"),
}
EVERY: Final = gettext_noop("every %(minutes)s minutes")
CONTACT_BY: Final = {
    ContactWay.MESSAGE: marked("report", "by message"),
    ContactWay.EMAIL: marked("report", "by email"),
    ContactWay.PHONE: marked("report", "by phone"),
    ContactWay.NONE: marked("report", "no contact needed"),
}

COLUMNS: Final = (
    Column("at", "When", Form.TIME),
    Column("player", "Player"),
    Column("subject", "Subject", Form.WORD),
    Column("what", "Event", Form.WORD),
    Column("which", "Details", Form.WORD),
    Column("before", "Value before", Form.WORD),
    Column("after", "Value after", Form.WORD),
    Column("begun", "Start", Form.TIME),
    Column("ended", "End", Form.TIME),
    Column("reason", "Reason", Form.WORD),
    Column("by", "By"),
    Column("event", "Event number", Form.ID),
)


@dataclass(frozen=True)
class Said:
    """The details of an event: subject, value before and after, period of validity, reason."""

    which: str | Stored = ""
    before: str | Stored | Decimal = ""  # Decimal: an amount in the player's currency
    after: str | Stored | Decimal = ""
    begun: log.Json = None
    ended: log.Json = None
    reason: str | Stored = ""


@dataclass(frozen=True)
class Kind:
    """Presentation of a kind of event in the report."""

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
    return (
        None,
        "",
        subject,
        what,
        sentence(gettext_noop("%(count)s in total"), count=number),
        "",
        "",
        None,
        None,
        "",
        "",
        None,
    )


def _exclusion(event: ReportEvent) -> Said:
    data = event.data
    kind = ExclusionKind(str(data["kind"])).label
    which = sentence(gettext_noop("%(kind)s, number %(number)s"), kind=[str(kind), {}], number=data["exclusion"])
    after = FOR_GOOD if data.get("until") is None else ""
    return Said(which, "", after, data["begun"], data.get("until"), _text(data, "reason"))


def _lifted(event: ReportEvent) -> Said:
    number = sentence(gettext_noop("number %(number)s"), number=event.data["exclusion"])
    return Said(number, ended=event.at.isoformat(), reason=_text(event.data, "reason"))


def _limit(event: ReportEvent) -> Said:
    data = event.data
    text = LIMITS_OF[LimitSource(str(data["source"]))]
    which = sentence(text, kind=[data["kind"], {}], period=[data["period"], {}])
    before, after = (_amount(str(data["kind"]), data.get(when)) for when in ("before", "after"))
    return Said(which, before, after, data.get("effective_at"), None, _text(data, "reason"))


def _amount(kind: str, amount: log.Json) -> str | Decimal:
    """Format a limit; return a limit of money as a number, still without its currency."""
    if not isinstance(amount, int):
        return marked("report", "none")
    unit = LIMIT_KINDS[LimitKind(kind)].unit
    return Decimal(amount).scaleb(-2) if unit is None else f"{Decimal(amount) / unit.size:.2f} {unit.name}"


def _currency(player: str) -> str:
    """Return the currency of a player. It never changes."""
    return Player.objects.values_list("currency", flat=True).get(pk=int(player.partition(":")[2]))


def _interval(event: ReportEvent) -> Said:
    before, after = event.data.get("minutes_before"), event.data.get("minutes")
    was, now = (sentence(EVERY, minutes=each) for each in (before, after))
    return Said(marked("report", "reality check"), was, now, event.at.isoformat())


def _answered(event: ReportEvent) -> Said:
    data = event.data
    goes_on = marked("report", "continues") if data.get("goes_on") else marked("report", "stops")
    text = gettext_noop("shown after %(seconds)s seconds of play")
    return Said(sentence(text, seconds=data.get("seconds")), "", goes_on)


def _marker(event: ReportEvent) -> Said:
    data = event.data
    return Said(_case_of(data["marker"], data["case"]), "", "", data.get("began"), data.get("ended"))


def _closed_marker(event: ReportEvent) -> Said:
    data = event.data
    return Said(_case_of(data["subject"], data["case"]), "", _text(data, "to"))


def _contact(event: ReportEvent) -> Said:
    data = event.data
    text = gettext_noop("staff follow-up on %(day)s")
    next_check = sentence(text, day=data["next_look"]) if data.get("next_look") else ""
    which, way = sentence(gettext_noop("case %(case)s"), case=data["case"]), CONTACT_BY[ContactWay(str(data["way"]))]
    return Said(which, "", way, data.get("made_at"), None, next_check)


def _check(event: ReportEvent) -> Said:
    data = event.data
    return Said(str(data["register"]), "", str(data["outcome"]), None, data.get("until"))


def _case_of(marker: log.Json, case: log.Json) -> Stored:
    label = [str(Marker(str(marker)).label), {}]
    return sentence(gettext_noop("%(marker)s, case %(case)s"), marker=label, case=case)


def _nothing(event: ReportEvent) -> Said:
    return Said()


def _text(data: Data, name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _moment(value: log.Json) -> str | None:
    return datetime.fromisoformat(value).astimezone(UTC).isoformat() if isinstance(value, str) else None


EXCLUSIONS: Final = gettext_noop("Exclusions and pauses")
LIMITS: Final = gettext_noop("Limits")
CHECKS: Final = gettext_noop("Reality checks")
MARKERS: Final = gettext_noop("Markers of harm")
REGISTERS: Final = gettext_noop("Registers")
KINDS: Final[Mapping[str, Kind]] = {
    "player.excluded": Kind(EXCLUSIONS, gettext_noop("Exclusion or pause started"), _exclusion),
    "exclusion.lifted": Kind(EXCLUSIONS, gettext_noop("Exclusion lifted"), _lifted),
    "limits.changed": Kind(LIMITS, gettext_noop("Limit set, changed or removed"), _limit),
    "limits.withdrawn": Kind(LIMITS, gettext_noop("Pending change withdrawn"), _limit),
    "limits.declined": Kind(LIMITS, gettext_noop("Offer of limits declined"), _nothing),
    "limits.reminded": Kind(LIMITS, gettext_noop("Reminder of limits sent"), _nothing),
    "limits.reviewed": Kind(LIMITS, gettext_noop("Limits reviewed"), _nothing),
    "limits.contact_due": Kind(LIMITS, gettext_noop("Limit requires contact"), _limit),
    "reality_check.chosen": Kind(CHECKS, gettext_noop("Interval chosen"), _interval),
    "reality_check.answered": Kind(CHECKS, gettext_noop("Check shown and answered"), _answered),
    "marker.flagged": Kind(MARKERS, gettext_noop("Marker raised"), _marker),
    "marker.worsened": Kind(MARKERS, gettext_noop("Marker more severe than before"), _marker),
    "marker.contact": Kind(MARKERS, gettext_noop("Contact recorded"), _contact),
    "marker.closed": Kind(MARKERS, gettext_noop("Marker closed"), _closed_marker),
    "register.checked": Kind(REGISTERS, gettext_noop("Register checked"), _check),
}


def _subjects() -> Sequence[tuple[str, str]]:
    return tuple((subject, gettext(subject)) for subject in (EXCLUSIONS, LIMITS, CHECKS, MARKERS, REGISTERS))


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
        gettext_noop("Accounts"),
        {
            "player.registered": (gettext_noop("Player registered"), added("jurisdiction", "currency", "terms")),
            "terms.agreed": (gettext_noop("Terms accepted"), became(None, "terms")),
            "staff.employed": (gettext_noop("Staff account created"), _employed),
            "staff.roles_changed": (gettext_noop("Staff roles changed"), said),
            "staff.disabled": (gettext_noop("Staff account disabled"), said),
            "staff.suspended": (
                gettext_noop("Staff account suspended"),
                changed("active", "suspended"),
            ),
            "staff.suspension_refused": (
                gettext_noop("Suspension of a staff account refused"),
                changed("suspended", "active"),
            ),
            "staff.enabled": (gettext_noop("Staff account enabled"), said),
            "staff.factors_reset": (gettext_noop("Staff second factors reset"), said),
            "account.closing": (
                gettext_noop("Account closure started"),
                changed("open", "closing"),
            ),
            "account.locked": (gettext_noop("Account locked"), changed("open", "locked")),
            "account.unlocked": (
                gettext_noop("Account unlocked"),
                changed("locked", "open"),
            ),
            "borrowed.marked": (
                gettext_noop("Borrowed money marked"),
                changed("none", "borrowed"),
            ),
            "borrowed.removed": (
                gettext_noop("Mark of borrowed money removed"),
                changed("borrowed", "none"),
            ),
            "account.closed": (
                gettext_noop("Account closed"),
                changed("closing", "closed"),
            ),
            "account.let_in": (
                gettext_noop("Closed account allowed to log in"),
                changed("closed", "closed, may log in"),
            ),
            "login.unlocked": (
                gettext_noop("Log-in unlocked"),
                changed("locked", "open", reason="by"),
            ),
            "password.changed": (
                gettext_noop("Password changed"),
                changed("another password", "a password"),
            ),
            "password.reset": (
                gettext_noop("Password reset"),
                changed("another password", "a password"),
            ),
            "address.changed": (
                gettext_noop("E-mail address changed"),
                changed("another address", "an address"),
            ),
            "authenticator.added": (
                gettext_noop("Authenticator app added"),
                changed(None, "an authenticator app"),
            ),
            "authenticator.removed": (
                gettext_noop("Authenticator app removed"),
                changed("an authenticator app", None),
            ),
            "passkey.added": (gettext_noop("Passkey added"), changed(None, "a passkey")),
            "passkey.removed": (gettext_noop("Passkey removed"), changed("a passkey", None)),
            "recovery_codes.made": (
                gettext_noop("Recovery codes generated"),
                changed("other codes", "codes"),
            ),
            "token.made": (gettext_noop("API token created"), added("token", "scopes", "days")),
            "staff.token_made": (gettext_noop("Staff API token created"), added("token", "scopes", "days")),
            "token.revoked": (
                gettext_noop("API token revoked"),
                changed("holds", "revoked"),
            ),
            "service.forgotten": (gettext_noop("Conversation deleted by retention"), added("conversation", "topic")),
        },
    )
    register(
        gettext_noop("KYC"),
        {
            "identity.submitted": (
                gettext_noop("Identity documents submitted"),
                added("submission", "document", "parts"),
            ),
            "identity.verified": (
                gettext_noop("Identity verified"),
                changed("submitted", "verified"),
            ),
            "identity.confirmed": (gettext_noop("Identity confirmed by a register"), added("submission", "register")),
            "identity.stated": (gettext_noop("Identity stated by the player"), added("submission")),
            "identity.refused": (
                gettext_noop("Identity refused"),
                changed("submitted", "refused"),
            ),
            "duplicate.resolved": (
                gettext_noop("Possible duplicate resolved"),
                became("open", "resolution"),
            ),
        },
    )
    register(
        gettext_noop("Limits"),
        {
            "limits.changed": (gettext_noop("Limit set, changed or removed"), _altered_limit),
            "limits.withdrawn": (gettext_noop("Pending limit change withdrawn"), _altered_limit),
            "limits.declined": (
                gettext_noop("Limit offer declined"),
                changed("offered", "declined"),
            ),
            "reality_check.chosen": (gettext_noop("Reality check interval"), _altered_interval),
        },
    )
    register(
        gettext_noop("Exclusions"),
        {
            "player.excluded": (gettext_noop("Player excluded or paused"), added("kind", "begun", "until")),
            "exclusion.lifted": (gettext_noop("Exclusion lifted"), _altered_lifted),
        },
    )
    register(gettext_noop("National rules"), {"national_rule.changed": (gettext_noop("National rule changed"), said)})
    register(
        gettext_noop("Markers of harm"),
        {"marker.closed": (gettext_noop("Marker closed"), became("open", "to"))},
    )


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
