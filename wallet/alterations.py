"""Report titles and before/after values for events about money outside play."""

from collections.abc import Callable

from audit.reports.alterations import Change, Data, added, moved, register
from wallet.models import WithdrawalStatus

TITLES = {
    WithdrawalStatus.REQUESTED: "A withdrawal was asked for",
    WithdrawalStatus.SECONDING: "A withdrawal was approved by the first of two people",
    WithdrawalStatus.APPROVED: "A withdrawal was approved",
    WithdrawalStatus.SENDING: "The bank was asked to pay a withdrawal",
    WithdrawalStatus.PAID: "A withdrawal was paid",
    WithdrawalStatus.RETURNED: "The bank returned a withdrawal",
    WithdrawalStatus.REFUSED: "A withdrawal was refused",
    WithdrawalStatus.CANCELLED: "A withdrawal was cancelled",
}


def ready() -> None:
    """Register these events with the report of events and alterations."""
    register("Balances", {"balance.adjusted": ("A balance was adjusted", _adjusted)})
    register(
        "The house",
        {
            "house.stopped": ("The whole house was stopped", moved("in play", "stopped")),
            "house.resumed": ("The house goes on", moved("stopped", "in play")),
        },
    )
    register(
        "Partners",
        {
            "partner.added": ("A partner was added", added("code")),
            "partner.key_made": ("A key of a partner was made", added("key")),
            "partner.key_ended": ("A key of a partner was ended", moved("in use", "ended")),
            "partner.switched_off": ("A partner was switched off", moved("on", "off")),
        },
    )
    register(
        "Operators",
        {"remote_message.settled": ("What an operator refused was settled by hand", moved("in doubt", "settled"))},
    )
    register("Bank accounts of players", {"payout_account.kept": ("A bank account was added", added("account"))})
    register("Withdrawals", {f"withdrawal.{status}": (title, _status(status)) for status, title in TITLES.items()})


def _adjusted(data: Data) -> Change:
    names = ("currency", "mode")
    before, after = (
        {"balance": data.get(f"balance_{end}")} | {name: data.get(name) for name in names}
        for end in ("before", "after")
    )
    return Change(before, after, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _status(status: WithdrawalStatus) -> Callable[[Data], Change]:
    return lambda data: Change(data.get("before"), status.value, str(data.get("reason", "")))
