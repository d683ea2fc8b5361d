"""Registration of the games with the audit and the ledger when the project starts: the approval of a
void, invariants, hourly counts, the kinds of significant events of randomness and returns, and the
texts of events in the report of alterations.

``games_verify_rounds`` verifies the invariants of `ROUNDS`, with each range of journals
(`wallet.invariants.verify`).
"""

from dataclasses import replace
from typing import Final

from django.utils.translation import gettext_noop

from audit import approvals, hours
from audit.models import Category, Weight
from audit.reports import alterations
from audit.reports.alterations import Change, Data, became, changed
from audit.significant import detection
from games.fairness import hourly_totals
from games.fairness.randomness import hourly_counts as randomness_counts
from games.fairness.randomness import judgement
from games.fairness.returns import monitor as returns_counts
from games.reports import reconciliation
from games.shared import malfunction
from wallet.invariants import Invariant, verify
from wallet.ledger import hourly_totals as ledger_totals

ROUNDS: Final = (
    Invariant(
        "journals_have_rounds",
        "every stake and every payout is for a round that is stored or in progress",
    ),
    Invariant(
        "rounds_pay_what_they_say",
        "what the ledger moves for a round is what each player's participation has staked and been paid",
    ),
    Invariant(
        "wagers_are_sums",
        "a participation is the sum of its wagers",
    ),
    Invariant(
        "payouts_follow_the_paytable",
        "no wager pays more than the rules of the round's version pay for it on the round's outcome",
    ),
)

HOLDS: Final = Invariant(
    "holds_are_bets",
    "what is held for a round of a shared table is what its players have bet, and nothing once it is over",
    """
    SELECT format('round %s: account %s holds %s, its bets are %s',
                  h.round_id, h.account_id, h.amount, coalesce(b.staked, 0))
    FROM wallet_hold AS h
    JOIN games_liveround AS r ON r.id = h.round_id
    JOIN games_livetable AS t ON t.id = r.live_table_id
    JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    LEFT JOIN (
        SELECT s.round_id, s.account_id, sum(bet.stake::bigint) AS staked
        FROM games_liveseat AS s CROSS JOIN LATERAL jsonb_each_text(s.stakes) AS bet (code, stake)
        GROUP BY s.round_id, s.account_id
    ) AS b ON b.round_id = h.round_id AND b.account_id = h.account_id
    WHERE h.amount IS DISTINCT FROM b.staked OR r.phase NOT IN ('betting', 'closed', 'dealt')
    UNION ALL
    SELECT format('round %s: nothing is held for the bets %s of account %s', r.id, s.stakes, s.account_id)
    FROM games_liveround AS r
    JOIN games_livetable AS t ON t.id = r.live_table_id
    JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    JOIN games_liveseat AS s ON s.round_id = r.id AND s.stakes <> '{}'
    WHERE r.phase IN ('betting', 'closed', 'dealt')
      AND NOT EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = r.id AND h.account_id = s.account_id)
    """,
)


def register_voids() -> None:
    """Register the approval of the void of a round."""
    approvals.register(
        malfunction.KIND,
        title=gettext_noop("void of a round"),
        then=gettext_noop(
            "All stakes are returned, all payouts are reversed, the shoe is retired and the players are informed."
        ),
        execute=malfunction.execute,
        permission=malfunction.PERMISSION,
        describe=malfunction.describe,
    )


def register_hours() -> None:
    """Register the hourly totals, and after these the reconciliation, which reads them."""
    hours.register(
        hourly_totals.HOURLY_TOTALS,
        roll=hourly_totals.roll,
        first=hourly_totals.first_played,
        differences=hourly_totals.differences,
    )
    hours.register(reconciliation.HOURS, roll=reconciliation.reconcile_hour, first=ledger_totals.first)


def register_invariants() -> None:
    """Have the verification of the ledger name these too."""
    verify.register(*ROUNDS, HOLDS)


def register_randomness() -> None:
    """Register the hourly counts of cards and shuffles, and the alarms as significant events."""
    hours.register(
        randomness_counts.CARDS,
        roll=randomness_counts.roll_cards,
        first=randomness_counts.first,
        differences=randomness_counts.card_differences,
    )
    hours.register(
        randomness_counts.SHUFFLES,
        roll=randomness_counts.roll_shuffles,
        first=randomness_counts.first,
        differences=randomness_counts.shuffle_differences,
    )
    detection.register_kinds(
        {judgement.ALARM: (Category.RETURNS, Weight.ALERT, gettext_noop("Randomness test failed"))}
    )
    detection.register_ordinary([judgement.TESTED])


def register_returns() -> None:
    """Register the hourly counts and the kinds of significant events."""
    hours.register(
        returns_counts.HOURLY_TOTALS,
        roll=returns_counts.roll,
        first=hourly_totals.first_played,
        differences=returns_counts.differences,
    )
    detection.register_kinds(
        {
            "returns.alarm": (Category.ERROR, Weight.ALERT, gettext_noop("RTP outside the expected range")),
            "returns.stop_policy": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Effect of an RTP alarm")),
        }
    )


def register_alterations() -> None:
    """Register the event kinds of games with the report of significant events and alterations."""
    alterations.register(
        gettext_noop("Tables"),
        {
            "table.opened": (gettext_noop("Table opened"), changed("closed", "open")),
            "table.paused": (gettext_noop("Table paused"), changed("open", "paused")),
            "table.went_on": (
                gettext_noop("Table resumed after a pause"),
                changed("paused", "open"),
            ),
            "table.closed": (gettext_noop("Table closed"), _closed),
            "table.version": (gettext_noop("Rules, limits or timing of a table"), _version),
            "table.scheduled": (gettext_noop("Rules, limits or timing of a table scheduled"), _scheduled),
            "table.schedule_withdrawn": (
                gettext_noop("Scheduled change withdrawn"),
                changed("waiting", "withdrawn"),
            ),
            "table.schedule_failed": (
                gettext_noop("Scheduled change failed"),
                changed("waiting", "failed"),
            ),
            "rules.stored": (gettext_noop("Game rules changed with a release"), alterations.said),
            "table.chat_language": (gettext_noop("Chat language of a table"), alterations.said),
            "table.reopened": (
                gettext_noop("Table resumed after a stop"),
                changed("stopped", "in play"),
            ),
            "table.broken_up": (gettext_noop("Table broken up"), became("in play", "players")),
            "incident.opened": (gettext_noop("Table stopped by an incident"), _incident),
            "incident.ruled": (
                gettext_noop("Ruling on an incident"),
                became("awaits a ruling", "ruling"),
            ),
        },
    )
    alterations.register(
        gettext_noop("Rounds"),
        {
            "round.cancelled": (gettext_noop("Round cancelled before the deal"), _cancelled),
            "round.voided": (gettext_noop("Round voided"), _voided),
        },
    )
    alterations.register(
        gettext_noop("Chat"),
        {
            "chat.named": (gettext_noop("Chat name chosen"), changed(None, None)),
            "chat.name_taken": (
                gettext_noop("Chat name removed"),
                changed("in use", "removed"),
            ),
            "chat.removed": (
                gettext_noop("Chat message removed"),
                changed("visible", "removed"),
            ),
            "chat.retained": (
                gettext_noop("Reported chat message kept"),
                changed("reported", "visible"),
            ),
            "chat.banned": (
                gettext_noop("Chat ban, all tables or one table"),
                alterations.added("ban", "length", "live_table"),
            ),
            "chat.ban_lifted": (gettext_noop("Chat ban lifted"), _ban_lifted),
        },
    )
    alterations.register(
        gettext_noop("RTP"), {"returns.stop_policy": (gettext_noop("Effect of RTP alarms"), alterations.said)}
    )
    alterations.register(
        gettext_noop("Collusion reports"),
        {"play.report_decided": (gettext_noop("Collusion report decided"), became("open", "finding"))},
    )


def _version(data: Data) -> Change:
    return replace(alterations.said(data), asked_by=str(data.get("asked_by", "")))


def _closed(data: Data) -> Change:
    return Change(data.get("before", "open"), "closed", str(data.get("reason", "")))


def _scheduled(data: Data) -> Change:
    return Change("requested", {"due": data.get("due")}, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _incident(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("incident", "kind", "done")}
    return Change("in play", parts, str(data.get("cause", "")))


def _voided(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("cards", "count", "sha256")}
    return Change("played" if data.get("cards") else "not dealt", {"voided": True} | parts, str(data.get("reason", "")))


def _ban_lifted(data: Data) -> Change:
    return Change({"ban": data.get("ban")}, None)


def _cancelled(data: Data) -> Change:
    return Change(data.get("phase"), "cancelled", str(data.get("reason", "")))
