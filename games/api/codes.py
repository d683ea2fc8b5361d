"""Which codes the calls at a table may be refused with, for the documentation."""

from typing import Final

AT_A_TABLE: Final = (
    "barred",
    "not-served",
    "other-money",
    "not-remotely",
    "other-currency",
    "table-closed",
    "table-changed",
)
SLIP: Final = (
    *AT_A_TABLE,
    "house-stopped",
    "table-paused",
    "table-waits",
    "stale",
    "balance-too-low",
    "nothing-to-repeat",
    "unknown-chip",
    "not-offered",
    "over-maximum",
    "bets-exclude",
    "main-bet-missing",
    "bet-refused",
)
DEALING: Final = (*SLIP, "slip-changed", "limit-reached", "visit-over", "nothing-staked", "under-minimum", "off-step")
