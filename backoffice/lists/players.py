"""Lists of players and their accounts, apart from money and play.

Identity, addresses and messages of players are on pages of their own, never in a list.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import ClassVar

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext

from audit.reports.files import MINOR_UNITS
from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists.actions import Action, Plan
from backoffice.lists.filters import Filter, Find, Option, called, chosen, number, unique_id
from backoffice.lists.staff_list import NO_PLAYERS
from backoffice.lists.view import StaffListView
from players.api import tokens
from players.login import sessions
from players.login.current_user import actor_of
from players.models import (
    AccountLock,
    Agreement,
    ApiToken,
    Closure,
    ClosureState,
    Ended,
    Exclusion,
    ExclusionKind,
    Jurisdiction,
    LimitChange,
    LimitKind,
    Mail,
    Outcome,
    Player,
    RegisterCheck,
    ScreeningEntry,
    ScreeningReading,
    Session,
    Submission,
    SubmissionStatus,
)
from players.protection.limits import LIMIT_KINDS
from players.search import IDENTITY, SESSIONS
from players.staff import Section

SEE = "players.view_player"
EXCLUDE = "players.exclude_player"
SUSPICIONS = "audit.handle_significant"
NUMBER = Column("id", "No.", Form.NUMBER)
PLAYER = Column("player", "Player")
AT = Column("at", "When", Form.TIME)
BY_NUMBER = Find("number", "pk", number)
BY_PLAYER = Find("player:12", "player", called("player"))


def _jurisdictions() -> Iterable[Option]:
    return [(code, code) for code in Jurisdiction.objects.order_by("pk").values_list("pk", flat=True)]


def _closures() -> Iterable[Option]:
    yield "leaving", gettext("Closing, closed or erased")


class Players(StaffListView):
    """List of all players."""

    model = Player
    section = Section.PEOPLE
    name = gettext_noop("Players")
    purpose = gettext_noop("Player accounts: jurisdiction, currency and registration.")
    readers = (SEE,)
    players = ("pk",)
    columns = (
        Column("self", "Player"),
        Column("jurisdiction_id", "Jurisdiction"),
        Column("currency", "Currency"),
        Column("user__created_at", "Registered", Form.TIME),
        Column("user__is_active", "Can log in"),
        Column("user__is_demo", "Demo account"),
    )
    finds = (BY_NUMBER, Find("player:12", "pk", called("player")))
    filters = (
        Filter("jurisdiction", "Jurisdiction", _jurisdictions, lambda code: Q(jurisdiction=code)),
        # Closing, closed and erased accounts all have a closure in this state first. Locked
        # accounts are in their own list.
        Filter("status", "Status", _closures, lambda _: Q(closure__state=ClosureState.CLOSING)),
    )
    period = "user__created_at"
    related = ("user",)
    timed = ("self",)
    sorts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "jurisdiction_id": ("jurisdiction_id", "id"),
        "currency": ("currency", "id"),
    }

    def urls_of(self, row: Player) -> Mapping[str, str]:
        """Return the address of the player's own page."""
        return {"self": reverse("staff_player", args=[row.pk])}


def _running() -> Iterable[Option]:
    yield "running", pgettext("of a session", "Running")


RUNNING = Filter("status", "Status", _running, lambda _: Q(ended_at=None), is_few=True)


def _end(session: Session) -> Plan:
    if session.ended_at:
        return Plan(gettext("Already ended."), is_skipped=True)
    if not hasattr(session.user, "player"):
        return Plan(gettext("Staff session: it ends when the account is disabled."), is_skipped=True)
    return Plan(gettext("%(player)s will have to log in again in this browser.") % {"player": session.user.player})


class Sessions(StaffListView):
    """List of sessions. IP address and browser are on the player's page."""

    model = Session
    section = Section.PEOPLE
    name = gettext_noop("Sessions")
    purpose = gettext_noop("Log-in sessions of players and staff: start, last action, end and reason.")
    readers = SESSIONS
    players = ("user__player",)
    key = ("began_at", "id")
    columns = (
        Column("id", "Session"),
        Column("who", "User"),
        Column("began_at", "Started", Form.TIME),
        Column("acted_at", "Last action", Form.TIME),
        Column("ended_at", "Ended", Form.TIME),
        Column("why", "Ended because"),
    )
    finds = (Find("session", "pk", unique_id), Find("player:12", "user__player", called("player")))
    filters = (RUNNING,)
    period = "began_at"
    related = ("user__player", "user__staff")
    actions: ClassVar[tuple[Action, ...]] = (
        Action(
            name="end",
            label=gettext_lazy("End sessions"),
            permission=EXCLUDE,
            meaning=gettext_lazy("The players must log in again in these browsers. Accepted bets remain valid."),
            plan=_end,
            do=lambda session, reason, by: sessions.end(session_id=session.pk, why=Ended.HOUSE, by=by, reason=reason),
        ),
    )

    def of_who(self, session: Session) -> str:
        """Return the user's name in events."""
        return actor_of(session.user)


def _revoke(token: ApiToken) -> Plan:
    if token.revoked_at:
        return Plan(gettext("Already revoked."), is_skipped=True)
    if not hasattr(token.user, "player"):
        return Plan(gettext("Staff token: revoke it on the page API tokens."), is_skipped=True)
    return Plan(gettext("Will be revoked: no API client of %(player)s can use it.") % {"player": token.user.player})


class Tokens(StaffListView):
    """List of API tokens, including old ones.

    Their labels and IP addresses are on their owner's page.
    """

    model = ApiToken
    section = Section.PEOPLE
    name = gettext_noop("API tokens")
    purpose = gettext_noop("API tokens of players and staff: scopes, expiry, last use, revocation.")
    readers = SESSIONS
    players = ("user__player",)
    columns = (
        NUMBER,
        Column("who", "Owner"),
        Column("start", "Prefix"),
        Column("scopes", "Scopes"),
        Column("made_at", "Created", Form.TIME),
        Column("ends_at", "Expires", Form.TIME),
        Column("used_at", "Last used", Form.TIME),
        Column("revoked_at", "Revoked", Form.TIME),
    )
    finds = (BY_NUMBER, Find("player:12", "user__player", called("player")))
    period = "made_at"
    related = ("user__player", "user__staff")
    actions: ClassVar[tuple[Action, ...]] = (
        Action(
            name="revoke",
            label=gettext_lazy("Revoke tokens"),
            permission=EXCLUDE,
            meaning=gettext_lazy("All further calls with these tokens are refused. Accepted bets remain valid."),
            plan=_revoke,
            do=lambda token, reason, by: tokens.revoke(token_id=token.pk, by=by, reason=reason),
        ),
    )

    def of_who(self, token: ApiToken) -> str:
        """Return the owner's name in events."""
        return actor_of(token.user)

    def of_scopes(self, token: ApiToken) -> str:
        """Return the scopes of the token."""
        return ", ".join(token.scopes)


class Exclusions(StaffListView):
    """List of pauses, time-outs and exclusions."""

    model = Exclusion
    section = Section.COMPLIANCE
    name = gettext_noop("Exclusions")
    purpose = gettext_noop("Pauses, time-outs and exclusions: player, start, end and who set them.")
    readers = (EXCLUDE,)
    players = ("player_id",)
    columns = (
        NUMBER,
        PLAYER,
        Column("kind", "Kind"),
        Column("begun", "Started", Form.TIME),
        Column("until", "Until", Form.TIME),
        Column("by", "By"),
    )
    finds = (BY_NUMBER, BY_PLAYER)
    filters = (chosen("kind", "Kind", ExclusionKind),)
    period = "begun"
    related = ("player",)


class LimitChanges(StaffListView):
    """List of changes of players' limits."""

    model = LimitChange
    section = Section.COMPLIANCE
    name = gettext_noop("Limit changes")
    purpose = gettext_noop("Requested limit changes: before, after, effective date and requester.")
    readers = ("players.set_limits",)
    players = ("player_id",)
    columns = (
        NUMBER,
        PLAYER,
        Column("source", "Set by"),
        Column("limit", "Limit"),
        Column("was", "Before"),
        Column("now", "After"),
        Column("asked_at", "Requested", Form.TIME),
        Column("effective_at", "Effective from", Form.TIME),
        Column("requester", "By"),
    )
    finds = (BY_NUMBER, BY_PLAYER)
    period = "asked_at"
    related = ("player",)

    def of_requester(self, change: LimitChange) -> str:
        """Return who requested the change, in short where it is the player."""
        return gettext("the player") if change.asked_by == str(change.player) else change.asked_by

    def of_limit(self, change: LimitChange) -> str:
        """Return the kind and the period of the limit."""
        limit = {"kind": change.get_kind_display(), "period": in_sentence(change.get_period_display())}
        return gettext("%(kind)s per %(period)s") % limit

    def of_was(self, change: LimitChange) -> str:
        """Return the previous limit, with its unit."""
        return self._in_words(change, change.before)

    def of_now(self, change: LimitChange) -> str:
        """Return the requested limit, with its unit."""
        return self._in_words(change, change.amount)

    def _in_words(self, change: LimitChange, amount: int | None) -> str:
        if amount is None:
            return gettext("no limit")
        unit = LIMIT_KINDS[LimitKind(change.kind)].unit
        if unit is not None:
            return f"{amount / unit.size:g} {unit.name}"
        return f"{Decimal(amount) / MINOR_UNITS:,.2f} {change.player.currency}"


class Submissions(StaffListView):
    """List of identity submissions. Their content is on their own pages."""

    model = Submission
    section = Section.PEOPLE
    name = gettext_noop("KYC submissions")
    purpose = gettext_noop("Submitted identity documents and the decisions on them, without the contents.")
    readers = ("players.review_identity",)
    players = ("player_id",)
    columns = (
        NUMBER,
        PLAYER,
        Column("sent_at", "Submitted", Form.TIME),
        Column("document_kind", "Document"),
        Column("status", "Status"),
        Column("reviewed_by", "Reviewed by"),
        Column("reviewed_at", "Reviewed", Form.TIME),
        Column("reason", "Reason for refusal"),
    )
    finds = (BY_NUMBER, BY_PLAYER)
    filters = (chosen("status", "Status", SubmissionStatus),)
    period = "sent_at"
    related = ("player", "reviewed_by")
    links = {"id": ("staff_identity_case", "submission_id", "pk")}


class RegisterChecks(StaffListView):
    """List of checks against exclusion registers."""

    model = RegisterCheck
    section = Section.COMPLIANCE
    name = gettext_noop("Register checks")
    purpose = gettext_noop("Answers of exclusion registers about players.")
    readers = (EXCLUDE,)
    players = ("player_id",)
    columns = (
        NUMBER,
        PLAYER,
        Column("register", "Exclusion register"),
        Column("outcome", "Answer"),
        Column("until", "Excluded until", Form.TIME),
        AT,
    )
    finds = (BY_NUMBER, BY_PLAYER)
    filters = (chosen("outcome", "Answer", Outcome, without=[Outcome.CLEAR]),)
    period = "at"
    related = ("player",)


class ScreeningReadings(StaffListView):
    """List of the readings of sanctions and PEP lists."""

    model = ScreeningReading
    section = Section.COMPLIANCE
    name = gettext_noop("Screening lists")
    purpose = gettext_noop("Imports of sanctions and PEP lists: date of the list, entries and errors.")
    readers = (SUSPICIONS,)
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("list", "List"),
        Column("published", "Date of the list", Form.TEXT),
        Column("entries", "Entries", Form.NUMBER),
        Column("reason", "Could not be read"),
        AT,
    )
    finds = (BY_NUMBER,)
    period = "at"


class ScreeningEntries(StaffListView):
    """List of the entries of sanctions and PEP lists."""

    model = ScreeningEntry
    section = Section.COMPLIANCE
    name = gettext_noop("Screening entries")
    purpose = gettext_noop(
        "People on sanctions and PEP lists that players are compared with. A changed entry is a new row."
    )
    readers = (SUSPICIONS,)
    players = NO_PLAYERS
    columns = (
        NUMBER,
        Column("list", "List"),
        Column("key", "Entry"),
        Column("topic", "Kind"),
        Column("name", "Name"),
        Column("born", "Date of birth"),
        Column("published", "On the list of", Form.TEXT),
        Column("removed_at", "Removed", Form.TIME),
    )
    finds = (BY_NUMBER,)


class Agreements(StaffListView):
    """List of players' agreements to terms."""

    model = Agreement
    section = Section.PEOPLE
    name = gettext_noop("Agreements")
    purpose = gettext_noop("Accepted terms: player, version and time.")
    readers = (SEE,)
    players = ("player_id",)
    columns = (NUMBER, PLAYER, Column("terms_version", "Terms"), AT)
    finds = (BY_NUMBER, BY_PLAYER)
    period = "at"
    related = ("player",)


class Closures(StaffListView):
    """List of accounts that are closing or closed."""

    model = Closure
    section = Section.PEOPLE
    name = gettext_noop("Closed accounts")
    purpose = gettext_noop("Closing, closed and erased accounts.")
    readers = (SEE,)
    players = ("player_id",)
    columns = (NUMBER, PLAYER, Column("state", "State"), Column("by", "By"), AT)
    finds = (BY_NUMBER, BY_PLAYER)
    filters = (chosen("state", "State", ClosureState),)
    period = "at"
    related = ("player",)


class AccountLocks(StaffListView):
    """List of account locks and unlocks by staff."""

    model = AccountLock
    section = Section.PEOPLE
    name = gettext_noop("Account locks")
    purpose = gettext_noop("Accounts locked or unlocked by staff, with the reason. A player’s newest row applies.")
    readers = ("players.lock_player",)
    players = ("player_id",)
    columns = (NUMBER, PLAYER, AT, Column("locks", "Locked"), Column("reason", "Reason"), Column("by", "By"))
    finds = (BY_NUMBER, BY_PLAYER)
    period = "at"
    related = ("player", "by")


def _mail_states() -> Iterable[Option]:
    yield "waiting", gettext("Waiting")
    yield "given-up", gettext("Undeliverable")


MAILS = {"waiting": Q(next_try_at__isnull=False), "given-up": Q(sent_at=None, next_try_at=None)}


class Mails(StaffListView):
    """List of mails and their delivery. It shows neither content nor address."""

    model = Mail
    section = Section.PEOPLE
    name = gettext_noop("E-mail")
    purpose = gettext_noop("E-mails to players: recipient, template and delivery, without the text.")
    readers = (IDENTITY,)
    players = ("user__player",)
    columns = (
        NUMBER,
        Column("who", "Recipient"),
        Column("template", "Template"),
        Column("language", "Language"),
        Column("written_at", "Queued", Form.TIME),
        Column("sent_at", "Sent", Form.TIME),
        Column("attempts", "Attempts", Form.NUMBER),
        Column("last_error", "Last error"),
    )
    finds = (BY_NUMBER, Find("player:12", "user__player", called("player")))
    filters = (Filter("status", "Status", _mail_states, MAILS.__getitem__, is_few=True),)
    period = "written_at"
    related = ("user__player", "user__staff")

    def of_who(self, mail: Mail) -> str:
        """Return the recipient's name in events, "" if the address belongs to no user."""
        return actor_of(mail.user) if mail.user else ""
