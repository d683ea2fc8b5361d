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
from audit.staff_text import marked, register_findings
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
TOTALS: Final = "hourly totals match their sums"
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
A_DAY: Final = timedelta(days=1)

TEXTS: Final = (
    marked("finding", "exchange rates match the log"),
    marked("finding", "rate of %(currency)s on %(day)s"),
    marked("finding", "rate %(rate)s of %(currency)s on %(day)s"),
    marked("finding", "rate"),
    marked("finding", "is imported"),
    marked("finding", "journals match the log"),
    marked("finding", "journals have events"),
    marked("finding", "liability matches the log"),
    marked("finding", "withdrawals match the log"),
    marked("finding", "house stops match the log"),
    marked("finding", "hourly totals match their sums"),
    marked("finding", "journal %(journal)s"),
    marked("finding", "journal %(journal)s line %(line)s"),
    marked("finding", "journal %(journal)s line %(line)s on account %(account)s"),
    marked("finding", "journals %(first)s to %(last)s"),
    marked(
        "finding",
        "%(what)s: their digest is %(digest)s; event %(event)s (leaf %(leaf)s), which was written after they "
        "were verified, says %(said)s",
    ),
    marked("finding", "no event records this %(kind)s of %(entries)s"),
    marked("finding", "%(amount)s on account %(account)s"),
    marked("finding", "accounts at %(at)s"),
    marked(
        "finding", "the stored values are balance %(balance)s, held %(held)s; event %(event)s says %(said)s, %(also)s"
    ),
    marked("finding", "no event records them"),
    marked("finding", "house stop %(stop)s"),
    marked("finding", "step %(step)s"),
    marked("finding", "step %(step)s to %(status)s"),
    marked("finding", "is %(status)s; its newest event says %(said)s"),
    marked("finding", "bank account"),
    marked("finding", "currency"),
    marked("finding", "handler"),
    marked("finding", "method"),
    marked("finding", "journal"),
    marked("finding", "balance after"),
    marked("finding", "requested"),
    marked("finding", "seconding"),
    marked("finding", "sending"),
    marked("finding", "paid"),
    marked("finding", "returned"),
    marked("finding", "cancelled"),
    marked("finding", "account %(account)s"),
    marked("finding", "balance %(balance)s"),
    marked("finding", "balance %(balance)s, held %(held)s"),
    marked("finding", "held %(held)s, holds sum to %(sum)s"),
    marked("finding", "balance %(balance)s, entries sum to %(sum)s"),
    marked("finding", "version %(version)s, %(count)s entries"),
    marked("finding", "reversed %(count)s times"),
    marked("finding", "is not the opposite of journal %(journal)s"),
    marked("finding", "reversed by journal %(journal)s, and could be reversed again"),
    marked("finding", "does not reverse journal %(journal)s, but is recorded as its reversal"),
    marked("finding", "this adjustment was not approved"),
    marked("finding", "this %(kind)s is not an adjustment"),
    marked("finding", "approval %(approval)s"),
    marked("finding", "its adjustment is not in the ledger"),
    marked("finding", "this %(kind)s is not between the cash and the purse of one player"),
    marked("finding", "player %(player)s"),
    marked("finding", "%(money)s pending, open withdrawals sum to %(sum)s"),
    marked("finding", "withdrawal %(withdrawal)s is %(status)s, its journals are %(kinds)s"),
    marked("finding", "round %(round)s"),
    marked("finding", "journal %(journal)s is not reversed, others are"),
    marked("finding", "this %(kind)s is for a round that is not taken back"),
    marked("finding", "payment %(payment)s"),
    marked("finding", "%(state)s, but journal %(journal)s does not record it"),
    marked("finding", "moves %(count)s payments"),
    marked("finding", "%(money)s to be sent back, held payments sum to %(sum)s"),
    marked("finding", "%(guard)s: missing, changed or not in force"),
    marked("finding", "coup %(round)s"),
    marked("finding", "%(money)s left of its stakes"),
    marked("finding", "journal %(journal)s gives account %(account)s %(amount)s, which staked %(staked)s"),
    marked("finding", "journal %(journal)s is of %(count)s banks"),
    marked("finding", "bank %(bank)s"),
    marked("finding", "journal %(journal)s is not the settlement of a coup"),
    marked("finding", "%(up)s was put up, %(home)s of it was returned"),
    marked("finding", "journal %(journal)s is a %(kind)s of %(amount)s"),
    marked("finding", "a %(kind)s account without an owner in %(mode)s"),
    marked("finding", "no transaction of a studio records this %(kind)s"),
    marked("finding", "this %(kind)s moves the account of studios"),
    marked("finding", "transaction %(transaction)s of partner %(partner)s"),
    marked("finding", "not in the ledger"),
    marked("finding", "a win without a bet"),
    marked("finding", "bet %(bet)s"),
    marked("finding", "is played, but its stake is not booked as recorded"),
    marked("finding", "message %(message)s"),
    marked("finding", "its win of %(amount)s is not booked as recorded"),
    marked("finding", "is %(state)s, but the operator was not notified"),
    marked("finding", "moves the operators’ account without a round of an operator"),
    marked("finding", "%(amount)s of an operator’s money is left with player %(player)s"),
    marked("finding", "is taken back, but the operator was not notified of both transactions"),
    marked("finding", "%(money)s left in escrow: %(sum)s"),
    marked("finding", "%(money)s sums to %(sum)s"),
    marked("finding", "there is no such journal"),
    marked("finding", "has no entries"),
    marked("finding", "%(money)s on account %(account)s, which is %(due)s"),
    marked("finding", "lines %(first)s to %(last)s, %(count)s in all"),
    marked("finding", "the house keeps no balance there"),
    marked("finding", "%(amount)s was moved past its balance"),
    marked("finding", "a %(kind)s of %(at)s moves no %(account)s account like this: %(amount)s on account %(number)s"),
    marked("finding", "this %(kind)s moves %(amount)s on account %(account)s for no round"),
    marked("finding", "is dated %(at)s"),
    marked("finding", "its hash is not that of its contents"),
    marked("finding", "this %(kind)s has no posting key"),
    marked("finding", "this %(kind)s takes from account %(from)s and gives to account %(to)s"),
    marked("finding", "posting key %(key)s"),
    marked("finding", "has no journal %(journal)s"),
    marked("finding", "its posting key %(key)s is missing or names another journal"),
    marked("finding", "its hash is not that of posting key %(key)s"),
    marked("finding", "player %(player)s on %(day)s"),
    marked("finding", "counted %(counted)s, should be %(due)s"),
    marked("finding", "rows of journals below %(journal)s differ from those verified by %(at)s"),
    marked(
        "finding",
        "number %(number)s with balance %(balance)s, should be number %(due)s with balance %(due_balance)s",
    ),
    marked("finding", "there is no account %(account)s"),
)
"""Findings about the ledger, its invariants, withdrawals, house stops and exchange rates."""


def add() -> None:
    """Register the ledger as a part."""
    register_findings(TEXTS)
    house.register(house.Part(verify.PART, Ledger, tables=(JOURNALS, EVENTS, STEPS, WITHDRAWALS)))


class Ledger(Verifier):
    """Verifies the ledger in one run."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare journals, withdrawals and house stops with the events that speak of them."""
        yield from found_by("wallet_verify_logged_journals", first, end)
        yield from found_by("wallet_verify_logged_steps", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify the invariants, hourly totals and journals that have no event, and put a digest into the log."""
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
