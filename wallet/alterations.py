"""Report titles and before/after values for events about money outside play."""

from collections.abc import Callable

from audit.reports.alterations import Change, Data, added, changed, register
from wallet.models import WithdrawalStatus

TITLES = {
    WithdrawalStatus.REQUESTED: "Withdrawal requested",
    WithdrawalStatus.SECONDING: "Withdrawal approved by the first of two people",
    WithdrawalStatus.APPROVED: "Withdrawal approved",
    WithdrawalStatus.SENDING: "Payout sent to the bank",
    WithdrawalStatus.PAID: "Withdrawal paid",
    WithdrawalStatus.RETURNED: "Payout returned by the bank",
    WithdrawalStatus.REFUSED: "Withdrawal refused",
    WithdrawalStatus.CANCELLED: "Withdrawal cancelled",
}


def ready() -> None:
    """Register these events with the report of events and alterations."""
    register("Balances", {"balance.adjusted": ("Balance adjusted", _adjusted)})
    register(
        "House stop",
        {
            "house.stopped": ("House stop started", changed("in play", "stopped")),
            "house.resumed": ("House stop ended", changed("stopped", "in play")),
        },
    )
    register(
        "Partners",
        {
            "partner.added": ("Partner added", added("code")),
            "partner.key_made": ("Partner key created", added("key")),
            "partner.key_ended": ("Partner key revoked", changed("in use", "ended")),
            "partner.switched_off": ("Partner deactivated", changed("on", "off")),
        },
    )
    register(
        "Operators",
        {"remote_message.settled": ("Refused operator message settled manually", changed("refused", "settled"))},
    )
    register("Bank accounts of players", {"payout_account.kept": ("Bank account added", added("account"))})
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
