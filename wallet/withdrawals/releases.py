"""Release of held withdrawals: two people decide that the facts which speak against one do not stop it.

The approval is the release: the database compares its facts with those that it finds (`wallet_payout_is_held`). A fact
that is found later holds the withdrawal again. Error messages are for staff.
"""

from collections.abc import Mapping
from typing import Final, cast

from django.db import transaction
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import get_language, gettext, gettext_lazy
from django.utils.translation import gettext as _

from audit import approvals, log
from audit.models import Approval
from players.models import Staff
from wallet import withdrawals
from wallet.models import Withdrawal, WithdrawalStatus
from wallet.money import format_money
from wallet.withdrawals import facts

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
    holds = facts.holds_of(found)
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
    released = facts.described(_facts(frozen))
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
    later = facts.described([hold for hold in now.holds if hold not in _facts(frozen)])
    return [
        *((line.name, line.whole) for line in now.lines),
        *((_("Not released, found later"), f"{line.name}: {line.whole}") for line in later),
    ]


def facts_without_suspicion(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return every fact that the first person saw who approved the payout, as it is now."""
    return [(line.name, line.text) for line in _now(frozen).lines]


def _now(frozen: Mapping[str, log.Json]) -> facts.PayoutFacts:
    found = Withdrawal.objects.select_related("account", "player").get(pk=int(str(frozen["withdrawal"])))
    return facts.facts_of([found])[found.pk]


def _facts(frozen: Mapping[str, log.Json]) -> list[str]:
    """Return the names of the facts that a request speaks of."""
    return [str(each) for each in cast("list[log.Json]", frozen["facts"])]
