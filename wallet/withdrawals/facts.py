"""Facts about a payout: what staff read before they approve or release one, the same on every page.

Holds are facts that stop a payout until two people release it: a locked account, an open case that holds payouts, an
open duplicate, a bank account that other players have too. The database finds them
(`wallet_payout_holds`) and enforces them. Texts are in English, for staff.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from django.db import connection
from django.db.models import Count, Q, Sum
from django.utils.translation import get_language, gettext, gettext_lazy

from audit.models import Significant
from audit.staff_text import translated
from players.identity.verification import verified_among
from players.models import AccountLock, Case, CaseKind, Duplicate
from wallet.models import Day, Withdrawal, WithdrawalStatus
from wallet.money import format_money
from wallet.payouts.accounts import History, histories

HOLDS: Final = """
SELECT w.id, h.fact FROM wallet_withdrawal AS w CROSS JOIN LATERAL wallet_payout_holds(w.player_id, w.account_id) AS h
WHERE w.id = ANY (%s) ORDER BY w.id, h.fact
"""
UNRELEASED: Final = "SELECT w.id FROM wallet_withdrawal AS w WHERE w.id = ANY (%s) AND wallet_payout_is_held(w)"


@dataclass(frozen=True)
class Line:
    """A fact: its name, its text, and whether staff have to notice it.

    *suspicion* is what a case is about. Only those read it who decide whether the payout is released (ADR 101).
    """

    name: str
    text: str
    is_alarm: bool = False
    suspicion: str = ""

    @property
    def whole(self) -> str:
        """The text with the suspicion."""
        return f"{self.text}: {self.suspicion}" if self.suspicion else self.text


@dataclass(frozen=True)
class PayoutFacts:
    """The facts of a withdrawal. *holds* are named as the database names them: "lock:3", "case:7"."""

    is_verified: bool
    holds: tuple[str, ...]
    is_held: bool  # at least one of *holds* is not released
    lines: tuple[Line, ...]


def facts_of(withdrawals: Collection[Withdrawal]) -> Mapping[int, PayoutFacts]:
    """Return the facts of each withdrawal, by its id."""
    players = {each.player_id for each in withdrawals}
    verified, totals, earlier = verified_among(players), _totals(players), _earlier(players)
    past, holds, held = histories([each.account for each in withdrawals]), _holds(withdrawals), _held(withdrawals)
    words = _words({hold for each in holds.values() for hold in each})
    found = {}
    for each in withdrawals:
        mine = holds.get(each.pk, ())
        found[each.pk] = PayoutFacts(
            each.player_id in verified,
            mine,
            each.pk in held,
            (
                *_account(each, past[each.account_id]),
                Line(gettext("Jurisdiction"), each.player.jurisdiction_id),
                Line(
                    "KYC", *((gettext("verified"),) if each.player_id in verified else (gettext("not verified"), True))
                ),
                *_money(each, totals.get(each.player_id, {}), earlier.get(each.player_id, 0)),
                *(words[hold] for hold in mine),
            ),
        )
    return found


def holds_of(withdrawal: Withdrawal) -> tuple[str, ...]:
    """Return the facts that speak against a payout, released or not."""
    return _holds([withdrawal]).get(withdrawal.pk, ())


def _holds(withdrawals: Collection[Withdrawal]) -> Mapping[int, tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(HOLDS, [[each.pk for each in withdrawals]])
        rows = cursor.fetchall()
    return {number: tuple(fact for _number, fact in found) for number, found in groupby(rows, key=lambda row: row[0])}


def _held(withdrawals: Collection[Withdrawal]) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(UNRELEASED, [[each.pk for each in withdrawals]])
        return {number for (number,) in cursor.fetchall()}


def _words(holds: Collection[str]) -> Mapping[str, Line]:
    """Return each hold as a line."""
    numbers: dict[str, list[int]] = {}
    suspicions: dict[str, str] = {}
    for hold in holds:
        kind, _, number = hold.partition(":")
        numbers.setdefault(kind, []).append(int(number))
    found = {}
    for lock in AccountLock.objects.filter(pk__in=numbers.get("lock", ())):
        found[f"lock:{lock.pk}"] = gettext("locked since %(at)s UTC: %(reason)s") % {
            "at": f"{lock.at:%Y-%m-%d %H:%M}",
            "reason": lock.reason,
        }
    cases = list(Case.objects.filter(pk__in=numbers.get("case", ())))
    subjects = [int(case.subject.partition(":")[2]) for case in cases if case.kind == CaseKind.AML]
    alerts = {f"significant:{each.pk}": each for each in Significant.objects.filter(pk__in=subjects)}
    for case in cases:
        alert = alerts.get(case.subject)
        why = f": {gettext(alert.title)}. {translated(alert.because)}" if alert else ""
        if case.closed_at is None:
            found[f"case:{case.pk}"] = gettext("%(case)s, open") % {"case": case.pk}
        else:  # a confirmed match of the screening; how it ended is part of the suspicion
            found[f"case:{case.pk}"], why = str(case.pk), f": {case.get_outcome_display()}"
        suspicions[f"case:{case.pk}"] = f"{case.get_kind_display()}{why}"
    for flag in Duplicate.objects.filter(pk__in=numbers.get("duplicate", ())):
        found[f"duplicate:{flag.pk}"] = gettext(
            "player:%(first_id)s and player:%(second_id)s have the same %(names)s"
        ) % {"first_id": flag.first_id, "second_id": flag.second_id, "names": NAMES[flag.ground]}
    for player_id in numbers.get("shared", ()):
        found[f"shared:{player_id}"] = gettext("player:%(player_id)s has a bank account of this player too") % {
            "player_id": player_id
        }
    return {
        hold: Line(str(TITLES[hold.partition(":")[0]]), found[hold], is_alarm=True, suspicion=suspicions.get(hold, ""))
        for hold in holds
    }


def described(holds: Collection[str]) -> Sequence[Line]:
    """Return facts that speak against a payout as lines, by their names in the database."""
    words = _words(holds)
    return [words[hold] for hold in holds]


TITLES: Final = {
    "lock": gettext_lazy("Account"),
    "case": gettext_lazy("Case"),
    "duplicate": gettext_lazy("Possible duplicate"),
    "shared": gettext_lazy("Shared bank account"),
}
NAMES: Final = {
    "name": gettext_lazy("name and date of birth"),
    "address": gettext_lazy("address and date of birth"),
    "number": gettext_lazy("document number"),
    "picture": gettext_lazy("picture of a document"),
    "phone": gettext_lazy("telephone number"),
    "payout": gettext_lazy("bank account"),
    "person": gettext_lazy("national number"),
}


def _account(withdrawal: Withdrawal, past: History) -> Sequence[Line]:
    account = withdrawal.account
    since = gettext("%(account)s, used since %(at)s UTC") % {"account": account, "at": f"{account.at:%Y-%m-%d %H:%M}"}
    lines = [
        Line(
            gettext("Bank account"),
            since if past.paid else (gettext("%(since)s; no payout to it yet") % {"since": since}),
            not past.paid,
        ),
        Line(gettext("Account holder"), gettext("the player (own statement; not confirmed by the bank)")),
    ]
    if step := past.last_return:
        why = str(past.why)
        amount = format_money(step.withdrawal.amount, step.withdrawal.currency, get_language() or "en")
        latest = gettext("latest") if past.is_returned_last else gettext("paid since; latest")
        text = gettext("%(returned)s; %(latest)s %(at)s UTC, %(amount)s: %(why)s") % {
            "returned": past.returned,
            "latest": latest,
            "at": f"{step.at:%Y-%m-%d %H:%M}",
            "amount": amount,
            "why": why,
        }
        lines.append(Line(gettext("Returned payouts"), text, is_alarm=True))
    return lines


def _money(withdrawal: Withdrawal, totals: Mapping[str, int], earlier: int) -> Sequence[Line]:
    def money(name: str) -> str:
        return format_money(totals.get(name, 0), withdrawal.currency, get_language() or "en")

    return (
        Line(gettext("Total deposits"), money("deposited")),
        Line(
            gettext("Total payouts"),
            (gettext("%(value)s in %(earlier)s") % {"value": money("withdrawn"), "earlier": earlier}),
        ),
        Line(gettext("Total stakes"), money("staked")),
        Line(gettext("Total winnings"), money("paid")),
        Line(gettext("Approval by"), gettext("two people") if withdrawal.takes_two else gettext("one person")),
    )


def _totals(players: Collection[int]) -> Mapping[int, Mapping[str, int]]:
    names = ("deposited", "withdrawn", "staked", "paid")
    sums = Day.objects.filter(player_id__in=players).values("player_id")
    rows = sums.annotate(*(Sum(name) for name in names)).values_list("player_id", *(f"{name}__sum" for name in names))
    return {player_id: dict(zip(names, amounts, strict=True)) for player_id, *amounts in rows}


def _earlier(players: Collection[int]) -> Mapping[int, int]:
    paid = Withdrawal.objects.filter(Q(player_id__in=players), status=WithdrawalStatus.PAID)
    return dict(paid.values("player_id").annotate(times=Count("pk")).values_list("player_id", "times"))
