"""Timeline of a player: everything of a kind that the reader may see, newest first, from the tables that have it. Tags
of players, and the list of them that compliance keeps.

Rounds are summed per session: a player may have a million. Each page reads at most its own rows of each kind.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, gettext_noop, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.raw_rows import sqlstate
from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import BETWEEN, Order
from backoffice.lists.staff_list import StaffList
from backoffice.players.cases import READERS as CASE_READERS
from backoffice.players.cases import kinds_of, text_of, title_of
from backoffice.players.facts import SEE_FLAGS, may, summaries
from players import staff
from players.access import StaffRequest, may_open, staff_required
from players.models import (
    AccountLock,
    CaseEntry,
    Closure,
    Exclusion,
    LimitChange,
    LimitKind,
    Period,
    Player,
    PlayerTag,
    PlaySession,
    ServiceMessage,
    Session,
    Submission,
    Tag,
)
from players.search import IDENTITY, SEE, SESSIONS
from players.staff import VISIBLE_TO_PLAYER, access_log
from wallet.limits import what, written
from wallet.models import Payment, Withdrawal, WithdrawalStep
from wallet.money import format_money

SUSPICIONS: Final = "audit.handle_significant"
PROTECTING: Final = ("players.set_limits", "players.exclude_player", SEE_FLAGS)
TIES: Final = 20  # more rows of a kind that are read, for those of the very moment of the cursor


@dataclass(frozen=True)
class Happening:
    """One line: when, a unique name, its kind, what happened, details, and who did it as events name them."""

    at: datetime
    ref: str
    kind: str
    title: str
    detail: str = ""
    by: str = ""
    url: str = ""


@dataclass(frozen=True)
class Source:
    """Rows of one kind: their name, who may see them, the field of the time, the rows of a player, and their line."""

    name: str | Promise
    permissions: tuple[str, ...]
    at: str
    found: Callable[["StaffRequest", Player], QuerySet[Any]]
    line: Callable[[Any, Player], tuple[str, str, str, str]]  # title, detail, actor, address


def _amount(player: Player, amount: int) -> str:
    return format_money(amount, player.currency, get_language() or "en")


def _play(row: PlaySession, player: Player) -> tuple[str, str, str, str]:
    rounds = ngettext("%(count)s round", "%(count)s rounds", row.rounds) % {"count": row.rounds}
    sums = _("staked %(staked)s, paid back %(paid)s") % {
        "staked": _amount(player, row.staked_real),
        "paid": _amount(player, row.paid_real),
    }
    return _("Play"), f"{rounds}, {sums}", str(player), ""


def _deposit(row: Payment, player: Player) -> tuple[str, str, str, str]:
    detail = f"{_amount(player, row.amount)}, {in_sentence(row.get_state_display())}"
    return _("Deposit"), detail, str(player), reverse("staff_deposit", args=[row.pk])


def _withdrawal(row: Withdrawal, player: Player) -> tuple[str, str, str, str]:
    detail = f"{_amount(player, row.amount)}, {in_sentence(row.get_status_display())}"
    return _("Withdrawal"), detail, str(player), reverse("staff_withdrawal", args=[row.pk])


def _step(row: WithdrawalStep, player: Player) -> tuple[str, str, str, str]:
    title = _("Withdrawal: %(state)s") % {"state": in_sentence(row.get_after_display())}
    detail = f"{_amount(player, row.withdrawal.amount)}{f', {row.reason}' if row.reason else ''}"
    return title, detail, row.by, reverse("staff_withdrawal", args=[row.withdrawal_id])


def _limit(row: LimitChange, player: Player) -> tuple[str, str, str, str]:
    kind = LimitKind(row.kind)
    amount = _("none") if row.amount is None else written(player, kind, row.amount)
    return _("Limit"), f"{what(kind, Period(row.period))}: {amount}", row.asked_by, ""


def _exclusion(row: Exclusion, _player: Player) -> tuple[str, str, str, str]:
    until = f"{row.until:%Y-%m-%d %H:%M} UTC" if row.until else _("permanent")
    return str(row.get_kind_display()), f"{until}{f', {row.reason}' if row.reason else ''}", row.by, ""


def _lock(row: AccountLock, _player: Player) -> tuple[str, str, str, str]:
    return _("Account locked") if row.locks else _("Account unlocked"), row.reason, f"staff:{row.by_id}", ""


def _closure(row: Closure, _player: Player) -> tuple[str, str, str, str]:
    return _("Account: %(state)s") % {"state": in_sentence(row.get_state_display())}, "", row.by, ""


def _documents(row: Submission, player: Player) -> tuple[str, str, str, str]:
    state = in_sentence(row.get_status_display())
    return _("Documents"), state, str(player), reverse("staff_identity_case", args=[row.pk])


def _message(row: ServiceMessage, player: Player) -> tuple[str, str, str, str]:
    title = _("Message %(number)s: %(topic)s") % {
        "number": row.conversation_id,
        "topic": row.conversation.get_topic_display(),
    }
    by = f"staff:{row.staff_id}" if row.staff_id else str(player)
    return title, row.text, by, reverse("staff_service_thread", args=[row.conversation_id])


def _note(row: Any, player: Player) -> tuple[str, str, str, str]:
    return _("Note"), row.text, f"staff:{row.by_id}", reverse("staff_player_notes", args=[player.pk])


def _case_entry(row: CaseEntry, _player: Player) -> tuple[str, str, str, str]:
    title = f"{title_of(row.case)}: {row.get_action_display()}"
    return title, text_of(row.case, row.text), row.by, reverse("staff_case", args=[row.case_id])


def _session(row: Session, player: Player) -> tuple[str, str, str, str]:
    ended = _("until %(end)s") % {"end": f"{row.ended_at:%Y-%m-%d %H:%M} UTC"} if row.ended_at else _("running")
    return _("Log-in"), ended, str(player), ""


def _tag(row: PlayerTag, _player: Player) -> tuple[str, str, str, str]:
    removed = _("removed %(moment)s UTC") % {"moment": f"{row.removed_at:%Y-%m-%d %H:%M}"} if row.removed_at else ""
    return _("Tag: %(name)s") % {"name": row.tag.name}, removed, f"staff:{row.by_id}", ""


def _notes(request: StaffRequest, player: Player) -> QuerySet[Any]:
    return staff.notes(player, restricted_too=request.user.has_perm(SUSPICIONS))


def _entries(request: StaffRequest, player: Player) -> QuerySet[CaseEntry]:
    return CaseEntry.objects.filter(case__player=player, case__kind__in=kinds_of(request.user)).select_related("case")


SOURCES: Final[Mapping[str, Source]] = {
    "play": Source(
        gettext_lazy("Play"),
        (SEE,),
        "began",
        lambda _r, who: PlaySession.objects.filter(player=who, rounds__gt=0),
        _play,
    ),
    "deposits": Source(
        gettext_lazy("Deposits"), (SEE,), "begun_at", lambda _r, who: Payment.objects.filter(player=who), _deposit
    ),
    "withdrawals": Source(
        gettext_lazy("Withdrawals"), (SEE,), "at", lambda _r, who: Withdrawal.objects.filter(player=who), _withdrawal
    ),
    "payouts": Source(
        gettext_lazy("Steps of withdrawals"),
        (SEE,),
        "at",
        lambda _r, who: WithdrawalStep.objects.filter(withdrawal__player=who).select_related("withdrawal"),
        _step,
    ),
    "limits": Source(
        gettext_lazy("Limits"), PROTECTING, "asked_at", lambda _r, who: LimitChange.objects.filter(player=who), _limit
    ),
    "exclusions": Source(
        gettext_lazy("Exclusions"),
        PROTECTING,
        "begun",
        lambda _r, who: Exclusion.objects.filter(player=who),
        _exclusion,
    ),
    "locks": Source(
        gettext_lazy("Locks"),
        ("players.lock_player",),
        "at",
        lambda _r, who: AccountLock.objects.filter(player=who),
        _lock,
    ),
    "account": Source(
        gettext_lazy("Closing of the account"),
        (SEE,),
        "at",
        lambda _r, who: Closure.objects.filter(player=who),
        _closure,
    ),
    "identity": Source(
        gettext_lazy("Documents"),
        (IDENTITY,),
        "sent_at",
        lambda _r, who: Submission.objects.filter(player=who),
        _documents,
    ),
    "messages": Source(
        gettext_lazy("Messages"),
        ("players.answer_service",),
        "at",
        lambda _r, who: ServiceMessage.objects.filter(conversation__player=who).select_related("conversation"),
        _message,
    ),
    "notes": Source(gettext_lazy("Notes"), (staff.PERMISSION,), "at", _notes, _note),
    "cases": Source(gettext_lazy("Cases"), CASE_READERS, "at", _entries, _case_entry),
    "tags": Source(
        gettext_lazy("Tags"),
        (SEE,),
        "at",
        lambda _r, who: PlayerTag.objects.filter(player=who).select_related("tag"),
        _tag,
    ),
    "sessions": Source(
        gettext_lazy("Sessions"),
        SESSIONS,
        "began_at",
        lambda _r, who: Session.objects.filter(user=who.user_id),
        _session,
    ),
}


class TimelineForm(ListForm):
    """Choice of kinds and dates."""

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), required=False)
    since = forms.DateField(
        label=gettext_lazy("From (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=gettext_lazy("Until (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, asked: Mapping[str, Any], kinds: Mapping[str, Source]) -> None:
        super().__init__(asked)
        choices = [("", _("All kinds")), *((name, source.name) for name, source in kinds.items())]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]


class Timeline(StaffList):
    """Everything about a player, of the kinds that the reader may see."""

    model = Player
    name = gettext_noop("Timeline")
    players = ("title", "detail", "by")
    key = ("at", "ref")
    columns = (
        Column("at", "When", Form.TIME),
        Column("kind", "Kind"),
        Column("title", "What"),
        Column("detail", "Details"),
        Column("by", "By"),
    )
    accounts = ("by",)
    empty = gettext_noop("Nothing here yet.")
    unmatched = gettext_noop("No entries of this kind in these days.")

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events."""
        return "players.timeline"

    @property
    def sources(self) -> Mapping[str, Source]:
        """The kinds that the reader may see."""
        return {name: each for name, each in SOURCES.items() if may(self.request.user, each.permissions)}

    def make_form(self) -> TimelineForm:
        """Return the choice of kinds and dates."""
        return TimelineForm(self.request.GET, self.sources)

    def about(self) -> Sequence[tuple[str, str]]:
        """Return the player, for the heading of a file."""
        return [("Player", str(self.of))]

    def key_of(self, cursor: str) -> Sequence[Any]:
        """Return the time and the name of the line after which a page begins."""
        moment, _between, ref = cursor.partition(BETWEEN)
        try:
            at = parse_datetime(moment)
        except ValueError:
            return ()
        return (at, ref) if at and at.tzinfo and ref else ()

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Happening]:
        """Return the lines beyond *start* of all chosen kinds, at most *most*."""
        chosen = self.asked.get("kind")
        lines: list[Happening] = []
        for name, source in self.sources.items():
            if chosen in (None, "", name):
                lines += self._lines(name, source, order, start, most + TIES)
        lines.sort(key=lambda each: (each.at, each.ref), reverse=not order.is_rising)
        if start:
            edge = tuple(start)
            lines = [
                each
                for each in lines
                if ((each.at, each.ref) > edge if order.is_rising else (each.at, each.ref) < edge)
            ]
        return lines[:most]

    def _lines(self, name: str, source: Source, order: Order, start: Sequence[Any], most: int) -> Iterator[Happening]:
        """Yield the lines of one kind, from the moment of *start* on."""
        found = source.found(self.request, self.of)
        if start:
            found = found.filter(**{f"{source.at}__{'gte' if order.is_rising else 'lte'}": start[0]})
        if since := self.asked.get("since"):
            found = found.filter(**{f"{source.at}__gte": datetime.combine(since, time(), UTC)})
        if until := self.asked.get("until"):
            found = found.filter(**{f"{source.at}__lt": datetime.combine(until, time(), UTC) + timedelta(days=1)})
        way = "" if order.is_rising else "-"
        for row in found.order_by(f"{way}{source.at}", f"{way}pk")[:most]:
            at, (title, detail, by, url) = getattr(row, source.at), source.line(row, self.of)
            yield Happening(at, f"{name}:{row.pk}", str(source.name), title, detail, by, url)

    def show_title(self, each: Happening) -> str:
        """Return what happened, with a link if the reader may follow it."""
        return cells.link(each.url, each.title) if each.url and may_open(self.request.user, each.url) else each.title

    def show_detail(self, each: Happening) -> str:
        """Return the details, whole."""
        return cells.breaking(each.detail) or cells.NOTHING


@staff_required(SEE)
@require_safe
def staff_player_timeline(request: StaffRequest, player_id: int) -> HttpResponse:
    """Show the timeline of a player."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    listing = Timeline(request, player)
    if listing.is_file:
        return listing.file()
    access_log.note(request, player, what="timeline")
    head = {"subject": player, "summary": summaries([player.pk], request.user)[player.pk]}
    return listing.answer("staff/player_list.html", head)


REFUSALS: Final[Mapping[str, str | Promise]] = {
    "SB156": gettext_lazy("Your role may not do this."),
    "SB157": gettext_lazy(
        "A tag must have 2 to 30 characters and must not be on the list yet. Another person may have changed the list."
    ),
}


class TagForm(forms.Form):
    """New tag of the list."""

    name = forms.CharField(label=gettext_lazy("New tag"), min_length=2, max_length=30)


class ChangeForm(forms.Form):
    """A tag that is put on a player or removed."""

    tag = forms.ModelChoiceField(Tag.objects.all())
    is_on = forms.BooleanField(required=False)


def tags_of(player: Player) -> list[Tag]:
    """Return the tags that a player has, by name."""
    return list(Tag.objects.filter(playertag__player=player, playertag__removed_at=None).order_by("name"))


def tag_context(player: Player) -> Mapping[str, Any]:
    """Return the tags that a player has, and those that can be given."""
    own = tags_of(player)
    return {
        "tags": own,
        "offered": Tag.objects.filter(retired_at=None).exclude(pk__in=[each.pk for each in own]).order_by("name"),
        "visibility": VISIBLE_TO_PLAYER,
    }


@staff_required(staff.PERMISSION)
@require_POST
def staff_player_tag(request: StaffRequest, player_id: int) -> HttpResponse:
    """Put a tag on a player, or remove it."""
    player, form = get_object_or_404(Player, pk=player_id), ChangeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose a tag."))
    else:
        tag, is_on = form.cleaned_data["tag"], form.cleaned_data["is_on"]
        access_log.note(request, player, what="tags")
        done = _("Tagged: %(name)s.") if is_on else _("Tag removed: %(name)s.")
        values = [request.staff.pk, player.pk, tag.pk, is_on]
        _change(request, "SELECT players_tag_player(%s, %s, %s, %s)", values, done % {"name": tag.name})
    return redirect(f"{reverse('staff_player', args=[player.pk])}#notes")


@staff_required(SUSPICIONS)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_tags(request: StaffRequest) -> HttpResponse:
    """Show the list of tags. On POST, add one or take one off the list."""
    form = TagForm(request.POST if "name" in request.POST else None)
    if request.method == "POST":
        retired = Tag.objects.filter(
            pk=request.POST.get("retire", "") if request.POST.get("retire", "").isdecimal() else 0
        )
        if tag := retired.first():
            done = _("Removed from the list: %(name)s.") % {"name": tag.name}
            _change(request, "SELECT players_retire_tag(%s, %s)", [request.staff.pk, tag.pk], done)
            return redirect("staff_tags")
        if form.is_valid():
            name = form.cleaned_data["name"]
            done = _("Added to the list: %(name)s.") % {"name": name}
            _change(request, "SELECT players_make_tag(%s, %s)", [request.staff.pk, name], done)
            return redirect("staff_tags")
    tags = [(tag, tag.playertag_set.filter(removed_at=None).count()) for tag in Tag.objects.order_by("name")]
    return render(request, "staff/tags.html", {"form": form, "tags": tags})


def _change(request: StaffRequest, statement: str, values: Sequence[int | str], done: str) -> None:
    """Change tags with a function of the database, and say what was done or why not."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)
    except DatabaseError as error:
        refusal = REFUSALS.get(sqlstate(error) or "")
        if refusal is None:
            raise
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
