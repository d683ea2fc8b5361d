"""Staff pages of national rules: the rules of each jurisdiction, the history, and requests for a change.

Every staff role reads them. One person requests a change and another decides it under Approvals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import models
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_safe

from audit import approvals
from audit.reports.kinds import Column, Form
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from games.change_requests.differences import country
from players.access import StaffRequest, staff_required
from players.models import Jurisdiction, NationalRuleChange, RuleSource
from players.protection import national_rules
from players.protection.national_rules import ASK, FIXED, READ, RULES
from players.staff import access_log
from wallet.cashier import MoneyField

YES: Final = "yes"


@dataclass(frozen=True)
class Cell:
    """A rule in one jurisdiction. *source* is its mark, "" where there is no such rule."""

    where: Jurisdiction
    text: str
    source: str
    meaning: str
    is_asked: bool  # a change is requested


@dataclass(frozen=True)
class Row:
    """A rule in all jurisdictions."""

    rule: str
    label: str
    may_change: bool
    cells: tuple[Cell, ...]


class TextListField(forms.CharField):
    """A list of texts, separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        """Join the texts."""
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        """Return the texts, each once."""
        return list(dict.fromkeys(text.strip() for text in super().clean(value).split(",") if text.strip()))


class ChangeForm(forms.Form):
    """Request for another value or source of a rule."""

    def __init__(self, *args: Any, where: Jurisdiction, rule: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["value"] = _field(where, rule)
        self.fields["source"] = forms.TypedChoiceField(
            choices=[(each.value, f"{each.value}: {each.label}") for each in RuleSource], coerce=RuleSource
        )
        self.fields["reason"] = forms.CharField(
            max_length=300, strip=True, error_messages={"required": gettext("Enter a reason. It is recorded.")}
        )


class HistoryForm(ListForm):
    """Filter of changes by jurisdiction."""

    jurisdiction = forms.ModelChoiceField(
        Jurisdiction.objects.order_by("pk"),
        label=gettext_lazy("Jurisdiction"),
        required=False,
        empty_label=gettext_lazy("any"),
    )


class History(StaffList):
    """Changes of national rules by two people."""

    model = NationalRuleChange
    name = gettext_noop("Changes")
    players = ("approval__reason",)
    form_class = HistoryForm
    columns = (
        Column("at", "When", Form.TIME),
        Column("jurisdiction_id", "Jurisdiction"),
        Column("rule", "Rule"),
        Column("before", "Before"),
        Column("after", "After"),
        Column("source", "Source"),
        Column("approval__by", "Requested by"),
        Column("approval__decision__by", "Approved by"),
        Column("approval__reason", "Reason"),
    )
    accounts = ("approval__by", "approval__decision__by")
    empty = gettext_noop("No rule has been changed since the house was opened.")
    unmatched = gettext_noop("No rule of this jurisdiction has been changed.")

    def found(self) -> QuerySet[NationalRuleChange]:
        """Return the changes of the filter."""
        found = NationalRuleChange.objects.filter(approval__isnull=False)
        if where := self.asked.get("jurisdiction"):
            found = found.filter(jurisdiction=where)
        return found.select_related("jurisdiction", "approval__decision")

    def of_rule(self, change: NationalRuleChange) -> str:
        """Return the name of the rule."""
        return national_rules.label(change.rule)

    def of_before(self, change: NationalRuleChange) -> str:
        """Return the value before."""
        return national_rules.written(change.jurisdiction, change.rule, change.before)

    def of_after(self, change: NationalRuleChange) -> str:
        """Return the value after."""
        return national_rules.written(change.jurisdiction, change.rule, change.after)


@staff_required(READ)
@access_log.listed("national rules")
@require_safe
def staff_rules(request: StaffRequest) -> HttpResponse:
    """Show the rules of all jurisdictions, and the changes."""
    jurisdictions = list(Jurisdiction.objects.order_by("pk"))
    context = {
        "jurisdictions": [(where, country(where.pk)) for where in jurisdictions],
        "rows": _rows(jurisdictions),
        "marks": RuleSource,
        "may_ask": request.user.has_perm(ASK),
    }
    return History(request).answer("staff/national_rules.html", context)


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_rule_change(request: StaffRequest, code: str, rule: str) -> HttpResponse:
    """Request a change of one rule."""
    where = get_object_or_404(Jurisdiction, pk=code)
    if rule not in RULES or rule in FIXED:
        raise Http404
    source = national_rules.source_of(where, rule)
    initial = {"value": _initial(getattr(where, rule)), "source": source}
    form = ChangeForm(request.POST or None, where=where, rule=rule, initial=initial)
    if form.is_valid():
        try:
            asked = national_rules.ask(where=where, rule=rule, by=request.staff, **form.cleaned_data)
        except national_rules.BadValue as error:
            form.add_error("value", str(error))
        except (national_rules.NothingChanges, approvals.AskedTwice) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("Change requested. A second person must approve it under Approvals."))
            return redirect("staff_approval", asked.pk)
    context = {
        "form": form,
        "where": where,
        "country": country(where.pk),
        "label": national_rules.label(rule),
        "now": national_rules.written(where, rule, getattr(where, rule)),
        "source": source,
    }
    return render(request, "staff/national_rule_change.html", context)


def _rows(jurisdictions: list[Jurisdiction]) -> list[Row]:
    sources = national_rules.sources()
    asked = set(approvals.waiting().filter(kind=national_rules.KIND).values_list("on", flat=True))
    return [
        Row(
            rule,
            national_rules.label(rule),
            rule not in FIXED,
            tuple(_cell(where, rule, sources, f"rule:{where.pk}:{rule}" in asked) for where in jurisdictions),
        )
        for rule in RULES
    ]


def _cell(where: Jurisdiction, rule: str, sources: Mapping[tuple[str, str], RuleSource], is_asked: bool) -> Cell:
    value = getattr(where, rule)
    source = sources.get((where.pk, rule), None if value is None else RuleSource.CHOICE)
    code, meaning = (source.value, str(source.label)) if source else ("", "")
    return Cell(where, national_rules.written(where, rule, value), code, meaning, is_asked)


def _initial(value: Any) -> Any:
    return (YES if value else "no") if isinstance(value, bool) else value


def _field(where: Jurisdiction, rule: str) -> forms.Field:
    """Return the form field of a rule."""
    field = RULES[rule]
    given: dict[str, Any] = {"label": gettext("Value"), "required": not field.null}
    if isinstance(field, models.BooleanField):
        choices = [(YES, gettext("yes")), ("no", gettext("no"))]
        return forms.TypedChoiceField(choices=choices, coerce=lambda text: text == YES, **given)
    if field.choices:
        return forms.ChoiceField(choices=[(value, value) for value, _label in field.flatchoices], **given)
    if isinstance(field, models.BigIntegerField):
        hint = gettext("Leave empty if there is no such rule.") if field.null else ""
        amount = MoneyField(
            help_text=(
                gettext("In %(currencies)s. %(hint)s") % {"currencies": where.currencies[0], "hint": hint}
            ).strip(),
            **given,
        )
        amount.currency = where.currencies[0]
        return amount
    if isinstance(field, models.IntegerField):
        return forms.IntegerField(min_value=0, help_text=field.help_text, **given)
    if isinstance(field, models.JSONField):
        return TextListField(help_text=gettext("Separated by commas."), **given)
    return forms.CharField(max_length=field.max_length, **given)
