"""The wallet equals its model while months pass."""

from typing import Final

import psycopg
import pytest
from django.db import connections
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from audit import id_ranges
from ops.management.commands.migrate import BY_MONTHS
from tests import old_months
from tests.harness.sweeps import examples
from tests.old_months import beginning
from tests.wallet.machine import WalletMachine
from tests.wallet.test_machine import scene  # noqa: F401  (a fixture)

MONTHS: Final = [beginning(2026, 11), beginning(2026, 12), *(beginning(2027, month) for month in range(1, 11))]
"""Starts with the month of the scene: an account's entries follow each other through the months."""
SHORT: Final = settings(
    deadline=None,
    database=None,
    max_examples=examples(1, 6),
    stateful_step_count=30,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


class MonthsGoBy(WalletMachine):
    """All actions of the wallet machine, over a year."""

    @initialize()
    def make_the_months_to_come(self) -> None:
        self.now = 0
        for table in BY_MONTHS:
            for month in MONTHS:
                if self._owner().execute("SELECT to_regclass(%s)", [f"{table}_{month:%Y_%m}"]).fetchone() == (None,):
                    beyond = id_ranges.block(month) + (1 << id_ranges.SHIFT)
                    self._owner().execute("SELECT audit_open_month(%s, %s)", [table, beyond])

    @rule()
    def the_month_ends(self) -> None:

        if self.now + 1 < len(MONTHS):
            self.now += 1
            old_months.go_to(self._owner(), MONTHS[self.now])

    def _owner(self) -> psycopg.Connection:
        connections["owner"].ensure_connection()
        return connections["owner"].connection


@pytest.mark.sweep
def test_the_wallet_is_what_the_model_says_while_months_go(scene):  # noqa: F811
    MonthsGoBy.scene = scene
    run_state_machine_as_test(MonthsGoBy, settings=SHORT)
