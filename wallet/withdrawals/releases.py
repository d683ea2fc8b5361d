"""Facts about a payout, and the release of withdrawals that some of them hold.

Staff read the facts before they approve or release a payout, the same on every page. Holds are facts that stop a payout
until two people release it: a locked account, an open case that holds payouts, an open duplicate, a bank account that
other players have too. The database finds them (`wallet_payout_holds`) and enforces them.

The approval is the release: two people decide that the facts do not stop the payout, and the database compares its
facts with those that it finds (`wallet_payout_is_held`). A fact that is found later holds the withdrawal again. Texts
are for staff.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from django.db import connection, transaction
from django.db.models import BooleanField, Count, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.utils.translation import get_language, gettext, gettext_lazy
from django.utils.translation import gettext as _

from audit import approvals, log
from audit.models import Approval, Significant
from audit.staff_text import translated
from players.identity.verification import verified_among
from players.models import AccountLock, Case, CaseKind, Duplicate, Staff
from wallet import withdrawals
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
            (gettext("%(value)s; withdrawals: %(earlier)s") % {"value": money("withdrawn"), "earlier": earlier}),
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


KIND: Final = "withdrawal.release"
RELEASE: Final = "wallet.release_withdrawal"
HELD_IN: Final = (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING, WithdrawalStatus.APPROVED)
GONE: Final = gettext_lazy("The withdrawal has changed since this request.")


# The open withdrawals that a fact may hold, found for all of them at once: never fewer than `wallet_payout_holds`
# finds for each, which takes a second for ten thousand.
SUSPECTED: Final = """wallet_withdrawal.id = ANY (ARRAY(
    WITH opened AS MATERIALIZED (
        SELECT id, player_id, account_id FROM wallet_withdrawal
        WHERE status IN ('requested', 'seconding', 'approved', 'sending'))
    SELECT id FROM opened WHERE player_id IN (
        SELECT player_id FROM players_accountlock
        UNION ALL SELECT player_id FROM players_case
            WHERE holds AND (closed_at IS NULL OR kind = 'screening' AND outcome <> 'other_person')
        UNION ALL SELECT unnest(ARRAY[first_id, second_id]) FROM players_duplicate WHERE resolution = '')
    UNION ALL
    SELECT opened.id FROM opened
    JOIN wallet_payout_account AS mine ON mine.id = opened.account_id
    JOIN wallet_payout_account AS theirs ON theirs.fingerprint = mine.fingerprint
        AND theirs.player_id <> opened.player_id
    UNION ALL
    SELECT opened.id FROM opened
    JOIN players_trait AS mine ON mine.player_id = opened.player_id AND mine.ground = 'payout'
    JOIN players_trait AS theirs ON theirs.ground = 'payout' AND theirs.fingerprint = mine.fingerprint
        AND theirs.player_id <> opened.player_id))"""


def held(found: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
    """Return those of *found*, open ones, that a fact holds which nobody has released them from."""
    suspected = RawSQL(SUSPECTED, (), BooleanField())  # noqa: S611  (ours)
    is_held = RawSQL("wallet_payout_is_held(wallet_withdrawal)", (), BooleanField())
    return found.filter(suspected, is_held)


@transaction.atomic
def ask(*, withdrawal_id: int, reason: str, by: Staff) -> Approval:
    """Request the release of a withdrawal from all facts that speak against it now.

    Raises withdrawals.NotOpen, and approvals.AskedTwice while another request is open.
    """
    found = withdrawals.lock(withdrawal_id)
    holds = holds_of(found)
    if found.status not in HELD_IN or not holds:
        raise withdrawals.NotOpen(gettext("Nothing holds this withdrawal."))
    request: dict[str, log.Json] = {
        "withdrawal": found.pk,
        "player": found.player_id,
        "amount": found.amount,
        "currency": found.currency,
        "facts": list(holds),
    }
    return approvals.ask(kind=KIND, on=str(found), request=request, by=str(by), person=by.person, reason=reason)


def execute(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Record the release. Raises approvals.CannotExecute if the withdrawal is not waiting any more."""
    found = withdrawals.lock(int(str(frozen["withdrawal"])))
    if found.status not in HELD_IN:
        raise approvals.CannotExecute(GONE)
    data: dict[str, log.Json] = {
        "player": str(found.player),
        "facts": frozen["facts"],
        "reason": verdict.reason,
        "method": f"approval {verdict.approval_id}",
    }
    log.record("withdrawal.released", by=verdict.by, on=str(found), data=data)


def describe(frozen: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the release for the approver."""
    amount = format_money(int(str(frozen["amount"])), str(frozen["currency"]), get_language() or "en")
    player = f"player:{frozen['player']}"
    released = described(_facts(frozen))
    return approvals.Description(
        gettext("Release the payout of %(amount)s to %(player)s") % {"amount": amount, "player": player},
        (
            (gettext("Withdrawal"), f"withdrawal:{frozen['withdrawal']}"),
            (gettext("Amount"), amount),
            (gettext("Player"), player),
            *((gettext("Released from"), f"{line.name}: {line.text}") for line in released),
        ),
    )


def current_facts(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return every fact that the first person saw who asked for the release, as it is now, and the facts that have come
    since, which it does not release.
    """
    now = _now(frozen)
    later = described([hold for hold in now.holds if hold not in _facts(frozen)])
    return [
        *((line.name, line.whole) for line in now.lines),
        *((_("Not released, found later"), f"{line.name}: {line.whole}") for line in later),
    ]


def facts_without_suspicion(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return every fact that the first person saw who approved the payout, as it is now."""
    return [(line.name, line.text) for line in _now(frozen).lines]


def _now(frozen: Mapping[str, log.Json]) -> PayoutFacts:
    found = Withdrawal.objects.select_related("account", "player").get(pk=int(str(frozen["withdrawal"])))
    return facts_of([found])[found.pk]


def _facts(frozen: Mapping[str, log.Json]) -> list[str]:
    """Return the names of the facts that a request speaks of."""
    return [str(each) for each in cast("list[log.Json]", frozen["facts"])]
