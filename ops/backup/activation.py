"""Activation of a copy of the database, after a restore or on another server, and the identity of the activated one.

The copy is older than its source, and the house may have played on in between. So the cards
committed to in the copy may be known: the next round of each solo seat and the rest of each shoe.
A player who saw them would know the next cards. None of them is ever dealt. Seats commit again,
shoes are retired, undealt rounds of live tables are cancelled, and dealt rounds are settled by
their cards. All log-in sessions end and all API tokens are revoked.

The cards of a dealt round determine its result, however long ago, so it is settled. At Chemin de
Fer the croupier decides by the rule for a player who is still asked, as for every absent one.
The seeds of retired shoes are published if the dealer still has them.

Every step can be repeated, and must be after an interruption: only the last one lets the house
open.

The identity is the server, its timeline and the database in which the system was first started or last activated. It is
stored in the comment of the database, which archives do not contain and which a copy on the same server does not get. A
copy of the server's files contains it, but gets another timeline once it is written to. So a production system
recognizes a copy that was not activated, however it was made (``sabot.E017``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import psycopg
from allauth.mfa.models import Authenticator
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.sql import SQL, Identifier, Literal

from audit import log
from audit.models import Event
from audit.sealing import sealer, signing
from games.chemin import shoes as chemin_shoes
from games.chemin import stop, tick
from games.models import (
    OPEN_PHASES,
    CheminSeat,
    CheminTable,
    LiveRound,
    LiveTable,
    Phase,
    Shape,
    Shoe,
    ShoeEnding,
    SoloSeat,
)
from games.shared import malfunction, phases, shoes
from games.tables import clock
from ops.backup import pg_tools
from ops.backup.pg_tools import OWNER, WrongKey
from players.api import tokens
from players.encryption import Purpose, unseal
from players.login import second_factor, sessions
from players.models import BrowserSession, DocumentContent, Ended, Session
from wallet.models import PartnerKey, Payment, PaymentState, PayoutAccount, Withdrawal
from wallet.models.payments import OPEN
from wallet.payouts import accounts
from wallet.seamless_wallet.signing import secret_of

STEPS: Final = 60  # more than a coup takes
FEW = 20  # rows to try: a single damaged one must not decide


def demand_right() -> list[str]:
    """Return sentences about which keys were tried. Raises WrongKey."""
    return [
        _message("SECOND_FACTOR_KEY", "the secrets of second factors", [*_factors()]),
        _message("DOCUMENT_KEY", "players' documents and bank accounts", [*_documents(), *_accounts()]),
        _message("PARTNER_KEY", "the secrets shared with partners", [*_partners()]),
    ]


def _message(key: str, what: str, opened: list[bool]) -> str:
    if opened and not any(opened):
        raise WrongKey(
            f"{key} is not the right key: it cannot decrypt {what}. Set the right key and run"
            " manage.py after_restore. Nothing was changed, and the system cannot start."
        )
    return f"{key} is the right key." if opened else f"{key} could not be tested: nothing in the backup uses it."


def _factors() -> Iterator[bool]:
    found = Authenticator.objects.filter(type=Authenticator.Type.TOTP).order_by("-pk")
    for each in found[:FEW]:
        try:
            second_factor.secret_of(each)
        except InvalidTag:
            yield False
        else:
            yield True


def _documents() -> Iterator[bool]:
    related = ("document__submission__player", "document__request__case__player")
    for each in DocumentContent.objects.select_related(*related).order_by("-pk")[:FEW]:
        owner = each.document.player.pk
        try:
            unseal(Purpose.DOCUMENT, owner, each.pk, bytes(each.sealed))
        except InvalidTag:
            yield False
        else:
            yield True


def _accounts() -> Iterator[bool]:
    for each in PayoutAccount.objects.exclude(sealed=b"").order_by("-pk")[:FEW]:
        try:
            accounts.reveal(each)
        except InvalidTag:
            yield False
        else:
            yield True


def _partners() -> Iterator[bool]:
    for each in PartnerKey.objects.order_by("-pk")[:FEW]:
        try:
            secret_of(each)
        except InvalidTag:
            yield False
        else:
            yield True


BY: Final = "system"
WHY: Final = "Restored from a backup."

# The number of a transaction is the server's own. Those in a copy are another server's, and this one's will come to
# them: a transaction would pass for the one that wrote a row years ago. Moved up by 2^48, at each copy once more,
# they stay apart and no server ever comes to them.
FURTHER: Final = 1 << 48
AHEAD: Final = "SELECT EXISTS (SELECT FROM {table} WHERE xid >= pg_current_xact_id() AND xid < '{further}'::xid8)"
MOVE_UP: Final = "ALTER TABLE {table} ALTER COLUMN xid TYPE xid8 USING (xid::text::numeric + {further})::text::xid8"
WITH_NUMBERS: Final = ("wallet_journal", "players_staff_change", "games_soloseat")


@dataclass(frozen=True)
class Settled:
    """Result of settling a copy: what was done, and sentences about tables that wait for a ruling."""

    until: str  # time of the last event in it
    waiting: list[str]


def settle(say: Callable[[str], object]) -> Settled:
    """Make the house of a copy, saying each step. Raises NotReady, WrongKey."""
    pg_tools.demand_owner()
    pg_tools.demand_alone()
    call_command("migrate", verbosity=0, interactive=False)  # and the rights of this program
    for message in demand_right():
        say(message)
    newest = Event.objects.order_by("-pk").first()
    until = f"{newest.at:%Y-%m-%d %H:%M:%S} UTC" if newest else "never"
    say(f"The last event in the backup is from {until}. Later events are not included.")
    _set_numbers_apart()
    ended = _end_sessions()
    say(f"Sessions ended: {ended}.")
    revoked = tokens.revoke_every(by=BY, reason=WHY)  # the copy does not know which have been revoked since
    say(f"API tokens revoked: {revoked}.")
    committed = forget_commitments()
    say(f"Solo seats whose next round is replaced when the table is opened: {committed}.")
    cleared = clear_tables(by=BY, why=WHY)
    say(
        f"At live tables: {cleared.settled} rounds settled that were dealt, {cleared.cancelled} cancelled that were"
        f" not, {cleared.retired} shoes retired."
    )
    say(_money())
    say(_signed())
    data: dict[str, log.Json] = {
        "cancelled": cleared.cancelled,
        "leaves": sealer.leaves(),
        "seats": committed,
        "sessions": ended,
        "settled": cleared.settled,
        "shoes": cleared.retired,
        "tokens": revoked,
        "until": until,
    }
    log.record("house.restored", by=BY, on="house", data=data)
    settle_in(connections[pg_tools.OWNER])
    return Settled(until, cleared.waiting)


def _set_numbers_apart() -> None:
    with transaction.atomic(using=pg_tools.OWNER), connections[pg_tools.OWNER].cursor() as cursor:
        for table in WITH_NUMBERS:
            cursor.execute(AHEAD.format(table=table, further=FURTHER))
            (are_ahead,) = cursor.fetchone()
            if are_ahead:
                cursor.execute(MOVE_UP.format(table=table, further=FURTHER))


def _end_sessions() -> int:
    """End every session, and forget by what log-ins were known, with the demo games of visitors."""
    running = list(Session.objects.filter(ended_at=None).order_by("pk").values_list("pk", flat=True))
    ended = sum(sessions.end(session_id=each, why=Ended.HOUSE, by=BY, reason=WHY) for each in running)
    BrowserSession.objects.all().delete()
    return ended


def _money() -> str:
    """Say what may have gone on at the providers."""
    deposits = Payment.objects.filter(state=PaymentState.WAITING).count()
    withdrawals = Withdrawal.objects.filter(status__in=OPEN).count()
    return (
        f"In progress in the backup: {deposits} deposits, {withdrawals} withdrawals. The provider is queried for each"
        " automatically. Payments started later are known only to the provider: import "
        "its statement under /staff/statements/."
    )


def _signed() -> str:
    """Say whether the signer has signed more than the copy holds."""
    try:
        signed = signing.last(Path(settings.AUDIT_SIGNER))
    except signing.SignerAway:
        return "The signer does not answer, so signed events that are missing cannot be detected."
    leaves = sealer.leaves()
    if signed > leaves:
        return (
            f"The signer has signed {signed} events and the backup holds {leaves}: the log "
            "with this name has ended. Start"
            " a new log (docs/operating.md, “Begin a new log”)."
        )
    return f"No signed events are missing: {signed} events of {leaves}."


@dataclass
class Cleared:
    """Number of rounds settled and cancelled and of shoes retired, and sentences about tables that
    wait for a ruling.
    """

    settled: int = 0
    cancelled: int = 0
    retired: int = 0
    waiting: list[str] = field(default_factory=list)


def clear_tables(*, by: str, why: str) -> Cleared:
    """End the round and the shoe of every live table."""
    cleared = Cleared()
    for live_table in LiveTable.objects.select_related("table").order_by("pk"):
        is_chemin, shoe = live_table.table.shape == Shape.CHEMIN, _shoe_in_play(live_table)
        found = _round_of(live_table)
        if found is None:
            pass
        elif found.phase != Phase.DEALT:
            malfunction.cancel(round_id=found.pk, reason=why, by=by)
            cleared.cancelled += 1
        else:
            (_play_out if is_chemin else _settle_round)(live_table, found)
            cleared.settled += _round_of(live_table) is None
        if waits := _round_of(live_table):
            cleared.waiting.append(
                f"{live_table.table} is stopped over round {waits.code}, which is dealt and awaits a ruling."
            )
            continue
        if is_chemin and CheminSeat.objects.filter(live_table=live_table, left_at=None).exists():
            stop.break_up(live_table_id=live_table.pk, reason=why, by=by)
        cleared.retired += _retire(live_table, shoe, is_chemin=is_chemin)
    return cleared


def _round_of(live_table: LiveTable) -> LiveRound | None:
    return LiveRound.objects.filter(live_table=live_table, phase__in=OPEN_PHASES).first()


def _settle_round(live_table: LiveTable, found: LiveRound) -> None:
    """Settle at once: nobody watches the cards being revealed."""
    LiveRound.objects.using(pg_tools.OWNER).filter(pk=found.pk).update(deadline=clock.now())
    phases.advance(live_table.pk)


def _play_out(live_table: LiveTable, found: LiveRound) -> None:
    """Let each decision time out, so that the croupier decides for the player."""
    for _ in range(STEPS):
        late = clock.now() - timedelta(seconds=settings.LIVE_LATE_SECONDS + 1)
        CheminTable.objects.using(pg_tools.OWNER).filter(pk=live_table.pk, deadline__isnull=False).update(deadline=late)
        is_dealt = LiveRound.objects.filter(pk=found.pk, phase=Phase.DEALT).exists()
        if not (is_dealt and tick.advance(live_table.pk)):
            return


def _shoe_in_play(live_table: LiveTable) -> Shoe | None:
    return live_table.shoe if live_table.shoe and live_table.shoe.ended_at is None else None


@transaction.atomic
def _retire(live_table: LiveTable, before: Shoe | None, *, is_chemin: bool) -> int:
    """Retire the shoe on a table; return how many were retired, with the one there *before* its round ended."""
    live_table.refresh_from_db()
    shoe = _shoe_in_play(live_table)
    if shoe is not None:
        (chemin_shoes if is_chemin else shoes).end(shoe, ShoeEnding.RETIRED)
    ended = {each.pk for each in (before, shoe) if each is not None}
    return Shoe.objects.filter(pk__in=ended, ending=ShoeEnding.RETIRED).count()


def forget_commitments() -> int:
    """Make the rounds that seats at solo tables are committed to impossible to deal; return the number of seats.

    A seat commits to another round when its player opens the table. Its bets are kept.
    """
    return SoloSeat.objects.using(OWNER).update(rules_digest="", sealed_seed=b"")


# PostgreSQL names WAL files by the timeline in their first eight digits.
HERE: Final = """
    SELECT format('Sabot is at home here: server %s, timeline %s, database %s',
        (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8), oid)
    FROM pg_database WHERE datname = current_database()
"""
SAID: Final = (
    "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = current_database()"
)
THERE_IS_A_LEDGER: Final = "SELECT to_regclass('public.wallet_journal') IS NOT NULL"
HAS_JOURNALS: Final = "SELECT EXISTS (SELECT FROM wallet_journal)"

Database = BaseDatabaseWrapper | psycopg.Connection


def is_home(database: Database) -> bool:
    """Return whether the system was started first or activated last in this database. True for one
    without journals: nothing that counts was ever committed to in it.
    """
    return _one(database, SAID) == _one(database, HERE) or not _has_journals(database)


def settle_in(database: Database) -> None:
    """Store the identity of this database; *database* is the owner's connection."""
    with database.cursor() as cursor:
        statement = SQL("COMMENT ON DATABASE {} IS {}").format(
            Identifier(str(_one(database, "SELECT current_database()"))), Literal(_one(database, HERE))
        )
        cursor.execute(statement.as_string(cursor.connection))


def settle_in_if_new(database: Database) -> None:
    """Store the identity if there are no journals yet; *database* is the owner's connection."""
    if not _has_journals(database):
        settle_in(database)


def _has_journals(database: Database) -> bool:
    return bool(_one(database, THERE_IS_A_LEDGER) and _one(database, HAS_JOURNALS))


def _one(database: Database, question: str) -> object:
    with database.cursor() as cursor:
        cursor.execute(question)
        row = cursor.fetchone()
        return row[0] if row else None
