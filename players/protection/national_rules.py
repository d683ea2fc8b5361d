"""Rules of each jurisdiction: their texts, the source of each, and changes by two people.

A rule is a field of `Jurisdiction`. PostgreSQL executes a change and checks its approval
(``sql/functions/national_rules.sql``). Every request reads the rules from the database, so a change
holds at once in every process. Error messages are for staff, in English.
"""

import json
from collections.abc import Mapping
from copy import copy
from decimal import Decimal
from typing import Any, Final

from babel.numbers import format_decimal, get_currency_precision
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, transaction
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from audit import approvals, log
from audit.models import Approval, Event
from audit.raw_rows import sqlstate
from audit.staff_text import in_sentence, word
from players.models import Jurisdiction, NationalRuleChange, RuleSource, Staff

KIND: Final = "national_rule.change"
CHANGED: Final = "national_rule.changed"
SHIPPED: Final = "national_rules.shipped"
READ: Final = "players.work"
ASK: Final = "players.ask_national_rules"
DECIDE: Final = "players.decide_national_rules"
RULES: Final[Mapping[str, "models.Field[Any, Any]"]] = {
    field.name: field for field in Jurisdiction._meta.concrete_fields if field.name not in ("code", "licence")
}
# Amounts and days that are stored already count in them, and texts exist in the languages of the release.
FIXED: Final = ("language", "currencies", "time_zone")
NOT_AGREED: Final = "SB143"  # SQLSTATEs of players_change_national_rule
NOT_AS_ASKED: Final = "SB144"
STALE: Final = gettext_lazy("The rule or its source has changed since this was requested. Request the change again.")
IMPOSSIBLE: Final = gettext_lazy("The database does not accept this value. Request another one.")


class NationalRuleError(Exception):
    """Nothing was requested. The message is a sentence for staff."""


class FixedRule(NationalRuleError):
    """The rule comes with the release."""


class BadValue(NationalRuleError):
    """The rule cannot have this value."""


class NothingChanges(NationalRuleError):
    """The rule has this value and this source already."""


def label(rule: str) -> str:
    """Return the name of a rule, or its field's name if this release does not have it."""
    return str(capfirst(RULES[rule].verbose_name)) if rule in RULES else rule


def written(where: Jurisdiction, rule: str, value: Any) -> str:
    """Return a value of a rule as text: ``24 h``, ``yes``, ``10,000.00 SEK``, ``none``."""
    if value is None:
        return gettext("none")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(word(str(each)) for each in value)
    field = RULES.get(rule)
    if field and (label := dict(field.flatchoices).get(value)):
        return in_sentence(label)
    if isinstance(field, models.BigIntegerField):
        currency = where.currencies[0]
        amount = Decimal(value).scaleb(-get_currency_precision(currency))
        return f"{format_decimal(amount, '#,##0.00', locale='en')} {currency}"
    return f"{value} {field.help_text if field else ''}".strip()


def sources() -> dict[tuple[str, str], RuleSource]:
    """Return the source of each rule that is not our choice, by jurisdiction and rule."""
    newest = NationalRuleChange.objects.order_by("jurisdiction", "rule", "-pk").distinct("jurisdiction", "rule")
    found = newest.values_list("jurisdiction", "rule", "source")
    return {(where, rule): RuleSource(source) for where, rule, source in found if source != RuleSource.CHOICE}


def source_of(where: Jurisdiction, rule: str) -> RuleSource:
    """Return the source of one rule."""
    return sources().get((where.pk, rule), RuleSource.CHOICE)


@transaction.atomic
def record_shipped() -> None:
    """Record the rules of each jurisdiction as they came with a release, so that they can be compared with the log.

    Each rule is recorded once: one that was changed past two people is not recorded as shipped.
    """
    spoken = {
        (event.on, rule)
        for event in Event.objects.filter(kind=SHIPPED)
        for rule in json.loads(bytes(event.body))["data"]["rules"]
    }
    shipped = NationalRuleChange.objects.filter(approval=None)
    known = {(each.jurisdiction_id, each.rule): each.source for each in shipped}
    for where in Jurisdiction.objects.order_by("pk"):
        on = f"jurisdiction:{where.pk}"
        rules: dict[str, log.Json] = {
            rule: {"value": getattr(where, rule), "source": known.get((where.pk, rule), RuleSource.CHOICE.value)}
            for rule in RULES
            if (on, rule) not in spoken
        }
        if rules:
            log.record(SHIPPED, by="system", on=on, data={"rules": rules})


@transaction.atomic
def ask(*, where: Jurisdiction, rule: str, value: Any, source: RuleSource, reason: str, by: Staff) -> Approval:
    """Request another value or another source of a rule. Another person decides.

    Raises FixedRule, BadValue, NothingChanges, approvals.AskedTwice; KeyError for an unknown rule.
    """
    if rule in FIXED:
        raise FixedRule(gettext("This rule comes with the release and cannot be changed here."))
    value, before, source_before = _cleaned(where, rule, value), getattr(where, rule), source_of(where, rule)
    if (value, source) == (before, source_before):
        raise NothingChanges(gettext("The rule already has this value and this source."))
    request: dict[str, log.Json] = {
        "jurisdiction": where.pk,
        "rule": rule,
        "before": before,
        "after": value,
        "source_before": source_before.value,
        "source": source.value,
    }
    subject = f"rule:{where.pk}:{rule}"
    return approvals.ask(kind=KIND, on=subject, request=request, by=str(by), person=by.person, reason=reason)


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Change the rule as approved. Raises approvals.CannotExecute if it has changed since, or cannot be so."""
    try:
        with transaction.atomic():
            change = NationalRuleChange.objects.raw(
                "SELECT * FROM players_change_national_rule(%s::bigint)", [verdict.approval_id]
            )[0]
    except DatabaseError as error:
        state = sqlstate(error) or ""
        if state == NOT_AGREED:
            raise approvals.CannotExecute(approvals.NOT_THEIRS) from error
        if state == NOT_AS_ASKED:
            raise approvals.CannotExecute(STALE) from error
        if state[:2] in ("22", "23"):  # a value of another type, or one that a constraint refuses
            raise approvals.CannotExecute(IMPOSSIBLE) from error
        raise
    asked = Approval.objects.get(pk=verdict.approval_id)
    data: dict[str, log.Json] = {
        "approval": asked.pk,
        "asked_by": asked.by,
        "reason": asked.reason,
        "before": {"value": request["before"], "source": request["source_before"]},
        "after": {"value": request["after"], "source": request["source"]},
    }
    log.record(CHANGED, by=verdict.by, on=str(change), data=data)


def describe(request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe a request to staff."""
    where, rule = Jurisdiction.objects.get(pk=request["jurisdiction"]), str(request["rule"])
    before, after = (written(where, rule, request[name]) for name in ("before", "after"))
    was, becomes = (str(RuleSource(str(request[name])).label) for name in ("source_before", "source"))
    facts = [
        (gettext("Jurisdiction"), where.pk),
        (gettext("Rule"), label(rule)),
        (gettext("Value"), _change(before, after)),
    ]
    return approvals.Description(
        (gettext("%(rule)s in %(where)s: %(after)s") % {"rule": label(rule), "where": where.pk, "after": after}),
        [*facts, (gettext("Source"), _change(was, becomes))],
    )


def current_facts(request: Mapping[str, log.Json]) -> approvals.Facts:
    """Return the rule as it is now."""
    where, rule = Jurisdiction.objects.get(pk=request["jurisdiction"]), str(request["rule"])
    now = written(where, rule, getattr(where, rule, None))
    return [(gettext("Currently in force"), f"{now} ({source_of(where, rule).label})")]


def register() -> None:
    """Register changes of national rules with the approvals."""
    approvals.register(
        KIND,
        title=gettext_noop("change of a national rule"),
        then=gettext_noop("The rule applies from now on to every player of the jurisdiction."),
        execute=execute,
        permission=DECIDE,
        describe=describe,
        current_facts=current_facts,
    )


def _cleaned(where: Jurisdiction, rule: str, value: Any) -> Any:
    """Return the value as stored. Raises BadValue."""
    changed = copy(where)
    setattr(changed, rule, value)
    try:
        if value is not None or not RULES[rule].null:
            changed.clean_fields(exclude={"code", *RULES} - {rule})
        changed.validate_constraints()
    except ValidationError as error:
        raise BadValue(" ".join(error.messages)) from error
    return getattr(changed, rule)


def _change(before: str, after: str) -> str:
    return f"{before} → {after}" if before != after else (gettext("%(before)s (unchanged)") % {"before": before})
