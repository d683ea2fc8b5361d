"""Queries that tell beat whether a frequent task has work: one cheap statement per task.

A task without work costs a message, a worker thread and more statements. A query may return rows
although the task then finds nothing, because the task decides itself. It must never return none
where the task would find work. The module uses no models, so that beat need not load them.
"""

from collections.abc import Mapping
from typing import Final

# A table without a dealt round advances only while it is open and not stopped.
SHARED_TABLES: Final = """
SELECT FROM games_livetable AS live
JOIN games_table AS seat ON seat.id = live.table_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE seat.shape = 'shared' AND (round.id IS NULL OR round.deadline <= clock_timestamp())
    AND (round.phase = 'dealt' OR live.stopped_by_id IS NULL
        AND (seat.status = 'open' OR round.phase IN ('betting', 'closed')))
"""
# With a seated player there is more to check than deadlines: ended sessions and absent players.
GUESTS_TABLES: Final = """
SELECT FROM games_cheminseat WHERE left_at IS NULL
UNION ALL
SELECT FROM games_chemintable WHERE deadline <= clock_timestamp() OR state ->> 'phase' = 'shoe'
"""
VERSIONS: Final = """
SELECT FROM games_scheduledversion AS version WHERE due_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM games_scheduleending AS ending WHERE ending.approval_id = version.approval_id)
"""
PAYOUTS: Final = "SELECT FROM wallet_withdrawal WHERE status IN ('approved', 'sending')"
UNDECIDED_PAYMENTS: Final = "SELECT FROM wallet_payment WHERE state = 'waiting' OR is_disputed"
SANDBOX_PAYOUTS: Final = """
SELECT FROM wallet_bank_payout WHERE state = 'accepted' AND due_at <= clock_timestamp()
UNION ALL
SELECT FROM wallet_bank_payout_notice WHERE sent_at IS NULL AND due_at <= clock_timestamp()
"""
SANDBOX_NOTICES: Final = "SELECT FROM wallet_bank_notice WHERE sent_at IS NULL AND due_at <= clock_timestamp()"
OPERATORS: Final = "SELECT FROM wallet_remote_message WHERE state = 'waiting' AND due_at <= clock_timestamp()"
BETS_AT_OPERATORS: Final = "SELECT FROM wallet_remote_bet WHERE state = 'asked'"
# Leaves without a checkpoint are included: they are signed later where the signer was unavailable.
EVENTS: Final = """
SELECT FROM audit_pending
UNION ALL
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(max(size), 0) FROM audit_checkpoint)
"""
"""Events that are not sealed and signed yet."""
# The same task sets the pulse that is used to find a standstill of two minutes.
SIGNIFICANT: Final = """
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(min(leaves), 0) FROM audit_cursor)
UNION ALL
SELECT WHERE NOT EXISTS (
    SELECT FROM audit_pulse WHERE who = 'workers' AND at > clock_timestamp() - interval '45 seconds'
)
"""
# New hourly totals have no row yet: they are summed up when beat restarts with them.
SUMS: Final = """
SELECT FROM audit_rolled GROUP BY sums
HAVING max(hour) + interval '1 hour' < date_trunc('hour', audit_settled(), 'UTC')
"""
ALERTS: Final = "SELECT FROM audit_significant WHERE weight = 2 AND mailed_at IS NULL"
# The task also ends an active alarm.
LAG: Final = """
SELECT FROM audit_pending
UNION ALL
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(max(size), 0) FROM audit_checkpoint)
UNION ALL
SELECT WHERE (SELECT max(id) FROM audit_event WHERE kind = 'log.lags')
    > (SELECT coalesce(max(id), 0) FROM audit_event WHERE kind = 'log.caught_up')
"""
PURSES: Final = "SELECT FROM wallet_account WHERE kind = 'purse' AND balance > 0"
ROUNDS_TO_VERIFY: Final = "SELECT FROM games_replaydue"
LETTERS: Final = """
SELECT FROM games_incidentletter AS letter
WHERE NOT EXISTS (SELECT FROM games_letterend AS ending WHERE ending.letter_id = letter.id)
"""
APPROVAL_NEWS: Final = "SELECT FROM players_approval_news"
EXPIRED_APPROVALS: Final = """
SELECT FROM audit_approval AS approval WHERE expires_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM audit_decision AS decision WHERE decision.approval_id = approval.id)
"""
REPORTS: Final = "SELECT FROM audit_report WHERE state IN ('waiting', 'making')"
MAIL: Final = "SELECT FROM players_mail WHERE next_try_at <= clock_timestamp()"
SESSIONS: Final = "SELECT FROM players_session WHERE ended_at IS NULL"
# A closed account whose owner may log in again counts as open.
CLOSURES: Final = """
SELECT FROM players_closure AS closing WHERE state = 'closing' AND NOT EXISTS (
    SELECT FROM players_closure AS closed
    JOIN players_player AS player ON player.id = closed.player_id
    JOIN players_user AS login ON login.id = player.user_id
    WHERE closed.player_id = closing.player_id AND closed.state = 'closed' AND NOT login.is_active)
UNION ALL
SELECT FROM players_closure AS closed
JOIN wallet_account AS account ON account.owner_id = closed.player_id
WHERE closed.state = 'closed' AND account.kind = 'cash' AND account.mode = 'real' AND account.balance > 0
"""

QUESTIONS: Final[Mapping[str, str]] = {
    "games.tasks.tick": SHARED_TABLES,
    "games.tasks.tick_guests": GUESTS_TABLES,
    "games.tasks.put_versions_live": VERSIONS,
    "wallet.tasks.send_payouts": PAYOUTS,
    "wallet.tasks.ask_undecided_payments": UNDECIDED_PAYMENTS,
    "wallet.tasks.work_at_the_sandbox_bank": SANDBOX_PAYOUTS,
    "wallet.tasks.send_bank_notices": SANDBOX_NOTICES,
    "wallet.tasks.tell_operators": OPERATORS,
    "wallet.tasks.give_up_remote_bets": BETS_AT_OPERATORS,
    "audit.tasks.seal": EVENTS,
    "audit.tasks.find_significant": SIGNIFICANT,
    "audit.tasks.sum_up": SUMS,
    "players.tasks.mail_alerts": ALERTS,
    "audit.tasks.watch_the_seal": LAG,
    "games.tasks.return_idle_purses": PURSES,
    "games.tasks.replay_finished_rounds": ROUNDS_TO_VERIFY,
    "games.tasks.write_letters": LETTERS,
    "players.tasks.mail_approvals": APPROVAL_NEWS,
    "audit.tasks.expire_approvals": EXPIRED_APPROVALS,
    "audit.tasks.make_reports": REPORTS,
    "players.tasks.send_mail": MAIL,
    "players.tasks.end_idle_sessions": SESSIONS,
    "accounts.tasks.finish_closing": CLOSURES,
}
"""Query by task: returns rows if the task has work."""
