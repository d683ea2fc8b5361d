"""Work of the ledger and the cashier that beat asks for."""

from celery import shared_task

from audit import log, partitions
from wallet import payouts
from wallet.invariants import verify
from wallet.ledger import account_snapshots
from wallet.operator_wallet import bets, queue
from wallet.payments import status_queries
from wallet.sandbox_bank import payouts as sandbox_payouts
from wallet.sandbox_bank import webhooks


@shared_task
def verify_ledger() -> None:
    """Check every invariant of the ledger and put the answer on record."""
    broken = {check.invariant.name: list(check.rows) for check in verify.run() if check.rows}
    if broken:
        log.record("ledger.broken", by="system", on="ledger", data=broken)
    else:
        log.record("ledger.verified", by="system", on="ledger", data={"invariants": len(verify.INVARIANTS)})


@shared_task
def keep_months() -> None:
    """See to it that journals and entries have a month to be written into."""
    # Entries first: they bear the ids of journals, which begin a month as soon as they have one. A journal's number is
    # drawn when its key is written.
    partitions.keep("wallet_entry")
    partitions.keep("wallet_journal", door="wallet_posting_key")


@shared_task
def count_months() -> None:
    """Have the planner know how journals and entries are spread over months."""
    partitions.count("wallet_entry")
    partitions.count("wallet_journal")


@shared_task
def look_at_accounts() -> None:
    """Write down how players' accounts stand."""
    account_snapshots.look()


@shared_task
def ask_undecided_payments() -> None:
    """Ask providers about payments of which nothing is heard."""
    status_queries.ask_undecided()


@shared_task
def send_bank_notices() -> None:
    """Send the messages that the sandbox bank owes."""
    webhooks.send_due()


@shared_task
def send_payouts() -> None:
    """Give approved withdrawals to the bank, and ask about those it has not decided."""
    payouts.send_due()


@shared_task
def work_at_the_sandbox_bank() -> None:
    """Decide the sandbox bank's orders to pay whose moment has come, and send the messages it owes for them."""
    sandbox_payouts.decide_due()


@shared_task
def tell_operators() -> None:
    """Tell operators what rounds of their players came to, and what plays none."""
    queue.send_due()


@shared_task
def give_up_remote_bets() -> None:
    """Give up bets at operators whose answer nobody waits for any more."""
    bets.sweep()
