"""Periodic Celery tasks of the ledger, payments, withdrawals and the operator wallet."""

from celery import shared_task

from audit import id_ranges
from wallet import limits, payouts, webhooks
from wallet.operator_wallet import bets, queue
from wallet.payments import held_deposits, notifications
from wallet.sandbox_bank import orders
from wallet.sandbox_bank import payouts as sandbox_payouts


@shared_task
def keep_months() -> None:
    """Create the monthly partitions that journals and entries will need."""
    # Entries come first. Journals use a new month as soon as its partition exists, and their
    # entries carry their ids. A journal's id is drawn when its posting key is written,
    # so `door` is the table of these keys.
    id_ranges.keep("wallet_entry")
    id_ranges.keep("wallet_journal", door="wallet_posting_key")


@shared_task
def count_months() -> None:
    """Update the planner statistics of the partitioned journals and entries."""
    id_ranges.count("wallet_entry")
    id_ranges.count("wallet_journal")


@shared_task
def remind_of_limits() -> None:
    """Remind players of their limits where the jurisdiction demands it."""
    limits.remind_due()


@shared_task
def ask_undecided_payments() -> None:
    """Query providers about deposits that have no result yet."""
    notifications.ask_undecided()


@shared_task
def return_held_deposits() -> None:
    """Have providers send held deposits back."""
    held_deposits.return_due()


@shared_task
def send_bank_notices() -> None:
    """Send the sandbox bank's due webhooks."""
    orders.send_due()


@shared_task
def send_payouts() -> None:
    """Send approved withdrawals to the bank, and query those it has not decided."""
    payouts.send_due()


@shared_task
def work_at_the_sandbox_bank() -> None:
    """Decide the sandbox bank's due payout orders and send their webhooks."""
    sandbox_payouts.decide_due()


@shared_task
def send_operator_messages() -> None:
    """Send operators the due messages about wins and rollbacks."""
    queue.send_due()


@shared_task
def send_webhooks() -> None:
    """Announce events to the operator's own systems."""
    webhooks.send_due()


@shared_task
def give_up_operator_bets() -> None:
    """Give up bets at operators whose response is overdue."""
    bets.sweep()
