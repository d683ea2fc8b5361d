"""The ledger as a part of the verification of the house (`audit.verification.house`).

Invariants hold (`wallet.invariants.verify`), journals are those of which events speak, and no deposit,
withdrawal, adjustment, transfer to a game, hourly snapshot of accounts, house stop or exchange rate is there of which
no event speaks. What was verified is put into the log as a digest (`DIGESTED`), so that a journal that is changed
afterwards contradicts the log, whatever its kind.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

from audit import hours, log
from audit.models import Event, VerificationRun
from audit.reports.kinds import Interval
from audit.verification import house
from audit.verification.house import Finding, Verifier, found_by
from wallet.invariants import verify
from wallet.invariants.verify import Check

JOURNALS, EVENTS = "wallet_journal", "audit_event"
STEPS, WITHDRAWALS = "wallet_withdrawal_step", "wallet_withdrawal"
DIGESTED: Final = "ledger.digested"  # event kind
VERIFIED: Final = "ledger.verified"  # event kind
TRIES: Final = 3
AT_ONCE: Final = 20_000  # ids of journals that one digest covers, so that a finding says where
TOTALS: Final = "hourly totals are sums"
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
A_DAY: Final = timedelta(days=1)


def add() -> None:
    """Register the ledger as a part."""
    house.register(house.Part(verify.PART, Ledger, tables=(JOURNALS, EVENTS, STEPS, WITHDRAWALS)))


class Ledger(Verifier):
    """Verifies the ledger in one run."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare journals, withdrawals and house stops with the events that speak of them."""
        yield from found_by("wallet_verify_logged_journals", first, end)
        yield from found_by("wallet_verify_logged_steps", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify the invariants, hourly totals and journals of which no event speaks, and put a digest into the log."""
        scope, found = self.scope, 0
        for check in self._checked():
            for row in check.rows:
                found += 1
                yield Finding(check.invariant.meaning, "ledger", f"{check.invariant.name}: {row}", is_recorded=True)
        rows = [*found_by("wallet_verify_unlogged_journals", scope.low[JOURNALS], scope.low[EVENTS])]
        yield from rows
        if scope.is_whole or _is_first_of_the_hour():
            yield from found_by("wallet_verify_snapshots", BEGINNING if scope.is_whole else datetime.now(UTC) - A_DAY)
        yield from found_by("wallet_verify_unlogged_steps", scope.low[STEPS], scope.low[WITHDRAWALS])
        yield from found_by("wallet_verify_exchange_rates")
        if scope.is_whole and not scope.first:
            for name, difference in hours.verify(Interval(BEGINNING, datetime.now(UTC))):
                yield Finding(TOTALS, f"hourly_totals:{name}", f"{name}: {difference}")
        if not found and not rows:
            write_digests()

    def _checked(self) -> list[Check]:
        """Verify the invariants: those of new journals each minute, all of new rows each hour, of all rows each day."""
        is_whole = self.scope.is_whole and not self.scope.first
        asks = is_whole or _is_first_of_the_hour()
        for _ in range(TRIES):
            with suppress(verify.VerificationEnded):  # another process verified the same journals
                checks = self._run(is_whole=is_whole, asks=asks)
                if asks and not any(check.rows for check in checks):
                    data: dict[str, log.Json] = {"invariants": len(checks), "is_whole": is_whole}
                    log.record(VERIFIED, by="system", on="ledger", data=data)
                return checks
        return self._run(is_whole=is_whole, asks=asks)

    def _run(self, *, is_whole: bool, asks: bool) -> list[Check]:
        return verify.run(
            is_whole=is_whole,
            from_start=self.scope.from_start,
            asks=asks,
            tell=lambda progress: self.scope.tell("journals", progress.next, progress.beyond),
        )


def _is_first_of_the_hour() -> bool:
    """Return whether no other run of what is new has begun since the full hour."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return VerificationRun.objects.filter(is_whole=False, began_at__gte=hour).count() <= 1


def write_digests() -> int:
    """Record the digests of journals that are verified and have none, and return their number."""
    written = 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_verified_until()")
        (until,) = cursor.fetchone()
        first = _digested_until()
        while first < until:
            # Ids of a month begin far above those of the month before.
            cursor.execute("SELECT min(id) FROM wallet_journal WHERE id >= %s AND id < %s", [first, until])
            (lowest,) = cursor.fetchone()
            beyond = until if lowest is None else min(lowest + AT_ONCE, until)
            cursor.execute("SELECT wallet_journals_digest(%s, %s)", [first, beyond])
            data: dict[str, log.Json] = {"first": first, "beyond": beyond, "sha256": cursor.fetchone()[0]}
            log.record(DIGESTED, by="system", on="ledger", data=data)
            first, written = beyond, written + 1
    return written


def _digested_until() -> int:
    last = Event.objects.filter(kind=DIGESTED).order_by("-pk").first()
    return int(json.loads(bytes(last.body))["data"]["beyond"]) if last else 0
