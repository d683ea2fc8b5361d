"""Deposit, loss and stake limits: what remains of them, reservations for deposits, and the limits page.

The database checks every stake and deposit in the statement that moves the money
(``sql/functions/limits.sql``). The functions here check earlier, so that nothing begins that would
be refused. Call them in the same transaction as the stake or deposit, with the player's account
locked.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import connection, transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, override, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from players import mail
from players.access import PlayerRequest, page_after, player_required
from players.datetime_format import written_moment
from players.models import LimitChange, LimitKind, LimitSource, Period, Player
from players.protection import eligibility, limits
from players.protection.limits import LAW, LIMIT_KINDS, Limit, Unit, limits_of, pending, period_ends
from wallet import ledger
from wallet.cashier import STALE, MoneyField, MoneyForm
from wallet.ledger import LimitReached
from wallet.money import format_money

logger = logging.getLogger(__name__)


def check_stake(player: Player, amount: int) -> None:
    """Raise LimitReached if a real-money stake of *amount* minor units exceeds a limit.

    Both stake limits and loss limits are checked.
    """
    refuse_beyond(stake_room(player), amount)


def check_deposit(player: Player, amount: int) -> None:
    """Raise LimitReached if a deposit of *amount* minor units would exceed a limit.

    Pending deposits count.
    """
    refuse_beyond(ledger.room(player.pk, "deposit"), amount)


def stake_room(player: Player) -> LimitReached | None:
    """Return the limit that leaves least for real-money stakes, as LimitReached, or None."""
    return ledger.room(player.pk, "stake")


def refuse_beyond(room: LimitReached | None, amount: int) -> None:
    """Raise *room* if it leaves less than *amount*."""
    if room is not None and amount > room.left:
        raise room


@transaction.atomic
def reserve_deposit(*, player: Player, key: UUID, amount: int) -> None:
    """Reserve *amount* under the deposit limits for a deposit that begins at a provider.

    Raises LimitReached.

    *key* is the idempotency key of its future journal. That journal is posted even if limits change
    in between, because the money has left the bank. A repeated key does nothing.
    """
    with ledger.refusals(), connection.cursor() as cursor:
        cursor.execute("SELECT wallet_reserve(%s::uuid, %s::bigint, %s::bigint)", [key, player.pk, amount])


def release_deposit(*, key: UUID) -> None:
    """Release the reservation of a refused or abandoned deposit.

    If it is authorised later, it is still credited.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_release(%s::uuid)", [key])


def usage(player: Player) -> dict[tuple[LimitKind, Period], int]:
    """Return what counts against each money limit in the current period, in minor units.

    Kinds without a limit are included. A net win counts as a negative loss.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, period, wallet_used(%s::bigint, kind, period, wallet_today(%s::bigint))"
            " FROM unnest(%s::text[]) AS kind, unnest(%s::text[]) AS period",
            [
                player.pk,
                player.pk,
                [kind.value for kind, each in LIMIT_KINDS.items() if each.unit is None],
                Period.values,
            ],
        )
        return {(LimitKind(kind), Period(period)): used for kind, period, used in cursor}


BATCH = 100  # players who are reminded before the next are looked for
PERIOD_LABELS = {
    Period.DAY: gettext_lazy("Per day"),
    Period.WEEK: gettext_lazy("Per week"),
    Period.MONTH: gettext_lazy("Per month"),
}


class UnitField(forms.IntegerField):
    """A whole number of a unit that is not money. The cleaned value is in stored parts of the unit."""

    def __init__(self, *, unit: Unit, most: int, **kwargs: Any) -> None:
        attributes = {"inputmode": "numeric", "autocomplete": "off", "maxlength": 3}
        super().__init__(widget=forms.TextInput(attrs=attributes), **kwargs)
        self.unit, self.most = unit, most

    def prepare_value(self, value: Any) -> Any:
        """Show stored parts as units. Typed text stays as it is."""
        return value // self.unit.size if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Parse the number."""
        text = (value or "").strip()
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= self.most):
            raise forms.ValidationError(str(self.unit.error), code=self.unit.name, params={"most": self.most})
        return int(text) * self.unit.size


class LimitsForm(MoneyForm):
    """The limits of one kind."""

    kind = forms.ChoiceField(choices=LimitKind.choices, widget=forms.HiddenInput, error_messages=STALE)

    def __init__(
        self, *args: Any, kind: LimitKind, currency: str, holding: Mapping[Period, int], **kwargs: Any
    ) -> None:
        initial = {"kind": kind.value} | {period.value: amount for period, amount in holding.items()}
        super().__init__(*args, currency=currency, initial=initial, prefix=kind.value, auto_id="id_%s", **kwargs)
        self.holding = holding
        for period in Period:
            self.fields[period.value] = self._field(kind, period)

    def _field(self, kind: LimitKind, period: Period) -> forms.Field:
        unit = LIMIT_KINDS[kind].unit
        if unit is not None:
            return UnitField(unit=unit, most=unit.most[period], label=PERIOD_LABELS[period], required=False)
        field = MoneyField(required=False, label=PERIOD_LABELS[period])
        field.currency = self.currency
        return field

    def changed(self) -> Mapping[Period, int | None]:
        """Return the requested limits that differ from the current ones."""
        asked = {period: self.cleaned_data[period.value] for period in Period}
        return {period: amount for period, amount in asked.items() if amount != self.holding.get(period)}


class FirstLimitsForm(MoneyForm):
    """The deposit limits that are asked for with the first deposit: all of them where the law requires them."""

    def __init__(self, *args: Any, player: Player, is_required: bool, **kwargs: Any) -> None:
        super().__init__(*args, currency=player.currency, prefix="first", auto_id="%s", **kwargs)
        self.is_required = is_required
        for period in map(Period, player.jurisdiction.deposit_periods):
            field = MoneyField(required=is_required, label=PERIOD_LABELS[period])
            field.currency = player.currency
            self.fields[period.value] = field

    @property
    def sets_any(self) -> bool:
        """True if a valid form has a limit, and does not decline the offer."""
        return any(amount is not None for amount in self.cleaned_data.values())

    @transaction.atomic
    def set_for(self, player: Player) -> None:
        """Set the limits of a valid form. A form without any declines the offer."""
        amounts = {Period(name): amount for name, amount in self.cleaned_data.items() if amount is not None}
        if not amounts:
            limits.decline_offer(player=player)
        for period, amount in amounts.items():
            with suppress(limits.NothingChanges):
                limits.set_limit(player=player, kind=LimitKind.DEPOSIT, period=period, amount=amount, by=str(player))


def first_limits(
    player: Player, found: eligibility.Ineligibility | None, sent: Mapping[str, Any] | None = None
) -> FirstLimitsForm | None:
    """Return the form of the deposit limits that the player has to set or is offered before play; None if none are.

    *found* is what prevents a deposit now. Limits are asked for once nothing else has to be done before. What a page
    has *sent* that did not show the form is no answer to it.
    """
    if found is None or found.code not in (eligibility.Code.LIMITS, eligibility.Code.OFFER):
        return None
    is_required = found.code is eligibility.Code.LIMITS
    answered = FirstLimitsForm(sent, player=player, is_required=is_required)
    if sent is None or any(answered.add_prefix(name) in sent for name in answered.fields):
        return answered
    return FirstLimitsForm(player=player, is_required=is_required)


class WithdrawForm(forms.Form):
    """The pending change to withdraw or confirm."""

    kind = forms.ChoiceField(choices=LimitKind.choices, error_messages=STALE)
    period = forms.ChoiceField(choices=Period.choices, error_messages=STALE)


PERIOD_NAMES = {
    Period.DAY: pgettext_lazy("a limit's period", "Day"),
    Period.WEEK: pgettext_lazy("a limit's period", "Week"),
    Period.MONTH: pgettext_lazy("a limit's period", "Month"),
}
WHOSE = {
    LimitSource.PLAYER.value: pgettext_lazy("whose limit", "You"),
    LimitSource.HOUSE.value: pgettext_lazy("whose limit", "The casino"),
    LAW: pgettext_lazy("whose limit", "Law"),
}

NO_LIMIT_IF_EMPTY = gettext_lazy("Leave a field empty for no limit.")
REQUIRED = gettext_lazy("This limit is required in your country. You can change it, but not remove it.")


@dataclass(frozen=True)
class Row:
    """One kind and period, formatted."""

    period: Period
    name: str | Promise
    limit: str  # empty if there is none
    source: str
    whose: str | Promise
    used: str
    left: str
    ends: str
    change: str  # the pending change, or empty
    may_confirm: bool  # the pending change waits for the player's confirmation alone
    note: str  # set if another limit makes this one ineffective


@dataclass(frozen=True)
class Table:
    """One kind of limit."""

    kind: LimitKind
    title: str | Promise
    meaning: str | Promise
    hint: str | Promise  # what to enter
    rows: Sequence[Row]


def tables(player: Player) -> list[Table]:
    """Return all limits of a player, by kind."""
    holding, coming, counted = limits_of(player), pending(player), used(player)
    ends = {period: _moment(player, end) for period, end in period_ends(player).items()}
    return [
        Table(
            kind,
            texts.title,
            texts.meaning,
            NO_LIMIT_IF_EMPTY if texts.unit is None else texts.unit.hint,
            [
                _row(
                    player,
                    kind,
                    period,
                    holding,
                    coming.get((kind, period)),
                    counted.get((kind, period), 0),
                    ends[period],
                )
                for period in Period
            ],
        )
        for kind, texts in LIMIT_KINDS.items()
    ]


def announcement(player: Player, change: LimitChange) -> str:
    """Return the message about a change and when it takes effect."""
    at_once = change.effective_at <= change.asked_at
    values = {
        "what": what(LimitKind(change.kind), Period(change.period)),
        "amount": "" if change.amount is None else written(player, LimitKind(change.kind), change.amount),
        "when": _moment(player, change.effective_at),
    }
    if change.needs_confirmation:
        return _("%(what)s: you can confirm the change from %(when)s. The lower limit applies until you do.") % values
    if change.amount is None:
        if at_once:
            return _("%(what)s: your limit has been removed.") % values
        return _("%(what)s: your limit will be removed on %(when)s. It applies until then.") % values
    if at_once:
        return _("%(what)s: your limit is %(amount)s from now on.") % values
    return _("%(what)s: your limit will be %(amount)s from %(when)s. The lower limit applies until then.") % values


def what(kind: LimitKind, period: Period) -> str:
    """Return the label of a limit: "Deposit limit · Week"."""
    return f"{LIMIT_KINDS[kind].title} · {PERIOD_NAMES[period]}"


def written(player: Player, kind: LimitKind, amount: int) -> str:
    """Format an amount in the unit of the kind, in the active language."""
    unit = LIMIT_KINDS[kind].unit
    return format_money(amount, player.currency, get_language() or "en") if unit is None else unit.written(amount)


def _row(
    player: Player,
    kind: LimitKind,
    period: Period,
    holding: Mapping[tuple[LimitKind, Period], Limit],
    change: LimitChange | None,
    used: int,
    ends: str,
) -> Row:
    limit = holding.get((kind, period))
    return Row(
        period,
        PERIOD_NAMES[period],
        written(player, kind, limit.amount) if limit else "",
        limit.source if limit else "",
        WHOSE[limit.source] if limit else "",
        _amount_used(player, kind, used),
        written(player, kind, max(limit.amount - used, 0)) if limit else "",
        ends,
        _to_come(player, change) if change else "",
        change is not None and limits.may_confirm(change),
        _moot(kind, period, holding),
    )


def _to_come(player: Player, change: LimitChange) -> str:
    values = {"when": _moment(player, change.effective_at)}
    if change.needs_confirmation:
        amount = "" if change.amount is None else written(player, LimitKind(change.kind), change.amount)
        values |= {"amount": amount or _("no limit")}
        return _("%(amount)s, once you have confirmed it (possible from %(when)s)") % values
    if change.amount is None:
        return _("Will be removed on %(when)s") % values
    amount = written(player, LimitKind(change.kind), change.amount)
    return _("%(amount)s from %(when)s") % (values | {"amount": amount})


def _amount_used(player: Player, kind: LimitKind, used: int) -> str:
    if used < 0:  # only possible for losses
        return _("%(amount)s won") % {"amount": written(player, kind, -used)}
    return written(player, kind, used)


def _moot(kind: LimitKind, period: Period, holding: Mapping[tuple[LimitKind, Period], Limit]) -> str:
    """Return a note if a longer period's limit makes this one ineffective.

    That is so if the longer period's limit is no higher.
    """
    limit = holding.get((kind, period))
    longer = [each for each in Period if list(Period).index(each) > list(Period).index(period)]
    for each in longer:
        other = holding.get((kind, each))
        if limit and other and other.amount <= limit.amount:
            if each is Period.WEEK:
                return _("The weekly limit is not higher, so this limit has no effect.")
            return _("The monthly limit is not higher, so this limit has no effect.")
    return ""


def remind_due() -> int:
    """Remind every player whose reminder is due by mail, each once, and return how many.

    A reminder that fails is logged and left to the next run. It delays no other.
    """
    count = last = 0
    while due := limits.to_remind(last, BATCH):
        players = Player.objects.select_related("user", "jurisdiction").in_bulk(due)
        for player_id in due:
            try:
                count += _remind(players[player_id])
            except Exception:
                logger.exception("player:%s is not reminded of limits", player_id)
        last = due[-1]
    return count


@transaction.atomic
def _remind(player: Player) -> bool:
    if not limits.remind(player):
        return False
    with override(player.user.language):
        lines = [
            (what(kind, period), written(player, kind, limit.amount))
            for (kind, period), limit in limits_of(player).items()
        ]
    mail.write(user=player.user, template="limits_reminder", context={"lines": lines})
    return True


def used(player: Player) -> Mapping[tuple[LimitKind, Period], int]:
    """Return what counts in each current period, whether a limit is set or not."""
    return usage(player) | limits.used_of_play(player)


def _moment(player: Player, at: datetime) -> str:
    return written_moment(at, get_language() or "en", player.jurisdiction.time_zone)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_page(request: PlayerRequest) -> HttpResponse:
    """Show all limits, and set those of one kind."""
    player = request.player
    if request.method != "POST":
        return _render(request)
    kind = next((kind for kind in LimitKind if request.POST.get(f"{kind.value}-kind") == kind.value), None)
    if kind is None:
        return _render(request)
    form = _form(player, kind, request)
    if not form.is_valid() or not _set_all(request, form, kind):
        return _render(request, form=form, kind=kind)
    after = page_after(request)
    if not after:
        return redirect("limits")
    is_due = limits.must_set_limits(player)
    return redirect(f"{reverse('limits')}?{urlencode({'next': after})}" if is_due else after)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_withdraw(request: PlayerRequest) -> HttpResponse:
    """Withdraw a pending change."""
    form = WithdrawForm(request.POST)
    if request.method == "POST" and form.is_valid():
        kind, period = LimitKind(form.cleaned_data["kind"]), Period(form.cleaned_data["period"])
        try:
            limits.withdraw_change(player=request.player, kind=kind, period=period, by=str(request.player))
        except limits.NothingChanges:
            messages.info(request, _("There is no pending change to cancel."))
        else:
            messages.success(
                request,
                _("%(what)s: the change is cancelled and your limit stays the same.") % {"what": what(kind, period)},
            )
    return redirect("limits")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_confirm(request: PlayerRequest) -> HttpResponse:
    """Confirm a looser limit whose wait is over."""
    form = WithdrawForm(request.POST)
    if request.method == "POST" and form.is_valid():
        kind, period, player = LimitKind(form.cleaned_data["kind"]), Period(form.cleaned_data["period"]), request.player
        try:
            change = limits.confirm_change(player=player, kind=kind, period=period, by=str(player))
        except limits.NothingChanges:
            messages.info(request, _("There is no change that you can confirm yet."))
        else:
            messages.success(request, announcement(player, change))
    return redirect("limits")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_decline(request: PlayerRequest) -> HttpResponse:
    """Record that the player declines the offer of deposit limits, and lead back to where it was made."""
    if request.method != "POST":
        return redirect("limits")
    limits.decline_offer(player=request.player)
    messages.info(request, _("You can set limits at any time on your account page."))
    return redirect(page_after(request) or "lobby")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_review(request: PlayerRequest) -> HttpResponse:
    """Record that the player has reviewed the limits and keeps them."""
    if request.method == "POST":
        limits.review(request.player)
        messages.success(request, _("Your limits stay as they are. You can change them at any time."))
    return redirect("limits")


def _set_all(request: PlayerRequest, form: LimitsForm, kind: LimitKind) -> bool:
    """Set the limits that differ from the current ones, with messages. Errors go into the form."""
    player, changes = request.player, list[LimitChange]()
    for period, amount in form.changed().items():
        try:
            changes.append(limits.set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player)))
        except limits.LimitRequired:
            form.add_error(period.value, REQUIRED)
        except limits.NothingChanges:
            continue
    for change in changes:
        messages.success(request, announcement(player, change))
    if changes:
        limits.review(player)
    if not changes and not form.errors:
        messages.info(request, _("Nothing was changed."))
    return not form.errors


def _form(player: Player, kind: LimitKind, request: PlayerRequest | None = None) -> LimitsForm:
    own = limits.own_limits(player)
    holding = {period: amount for (of, period), amount in own.items() if of is kind}
    return LimitsForm(request and request.POST, kind=kind, currency=player.currency, holding=holding)


def _render(request: PlayerRequest, *, form: LimitsForm | None = None, kind: LimitKind | None = None) -> HttpResponse:
    player = request.player
    required = {period for of, period in limits.required(player) if of is LimitKind.DEPOSIT}
    hours = player.jurisdiction.raise_after_hours
    context = {
        "kinds": [
            (table, form if form is not None and table.kind is kind else _form(player, table.kind))
            for table in tables(player)
        ],
        "must_set": limits.must_set_limits(player),
        "may_decline": limits.should_offer(player),
        "to_review": limits.should_review(player),
        "required": bool(required),
        "hours": hours,
        "days": hours // 24 if hours > 24 and hours % 24 == 0 else None,
        "after_period": player.jurisdiction.raise_after_period,
        "is_confirmed": player.jurisdiction.raise_confirmed,
        "next": page_after(request),
    }
    return render(request, "wallet/limits.html", context)
