"""Re-encryption of stored data with the first key of its setting, during operation, so that older
keys can be retired.

Rows are read in small batches without locks. Each batch is written with one statement by the owner.
It changes a row only if it is still what was read, and skips rows that are locked; those come in
the next pass. So every row can be decrypted at any time with the two keys, and an interrupted run
can be repeated. Decrypted values stay in this process: PostgreSQL and the log receive only
ciphertext and numbers.

Only the owner of the tables can do this (`DATABASE_OWNER_URL`). The login role of web and workers
cannot change an encrypted row of a document, a bank account or a partner's key; and values that it
could swap cannot be decrypted in another place.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from allauth.mfa.models import Authenticator
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.db import connections, transaction

from audit import log
from ops.backup import pg_tools
from players import encryption, key_rotation
from players.identity import duplicates
from players.login import second_factor
from players.models import Ground, Player, Trait
from wallet import webhooks
from wallet.models import PayoutAccount
from wallet.payouts import accounts as payout_accounts
from wallet.seamless_wallet import signing

PASSES: Final = 20
PAUSE: Final = 0.5  # seconds between two passes: longer than a request holds a lock
SETTINGS: Final = ("SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY")
HASHES_ONLY: Final = (Ground.PICTURE, Ground.PERSON)  # of values that are not kept


@dataclass
class Pass:
    """Result of a pass: rows *changed*, *held* (locked by others), and *lost* (no key decrypts them)."""

    changed: int = 0
    held: int = 0
    lost: int = 0

    def add(self, other: "Pass") -> None:
        """Add the result of another pass."""
        self.changed += other.changed
        self.held += other.held
        self.lost += other.lost


@dataclass(frozen=True)
class Shelf:
    """Encrypted rows of a table: key column, encrypted column, columns bound as associated data,
    filter, and batch size. *resealed* takes the bound columns and the ciphertext.
    """

    what: str
    table: str
    number: str
    sealed: str
    bound: tuple[str, ...]
    resealed: Callable[..., bytes | None]
    which: str = "true"
    at_once: int = 500


DOCUMENT_OWNER: Final = (
    "(SELECT coalesce(submission.player_id, about.player_id) FROM players_document AS document"
    " LEFT JOIN players_submission AS submission ON submission.id = document.submission_id"
    " LEFT JOIN players_requested_document AS asked ON asked.id = document.request_id"
    " LEFT JOIN players_case AS about ON about.id = asked.case_id"
    " WHERE document.id = players_documentcontent.document_id)"
)
SHELVES: Final[Mapping[str, tuple[Shelf, ...]]] = {
    "DOCUMENT_KEY": (
        Shelf(
            *("documents", "players_documentcontent", "document_id", "sealed", (DOCUMENT_OWNER, "document_id")),
            partial(encryption.resealed, encryption.Purpose.DOCUMENT),
            at_once=4,  # of up to eight megabytes each
        ),
        Shelf(
            *("mail", "players_mail", "id", "sealed_body", ("address", "template")),
            encryption.resealed_mail,
            "sealed_body <> ''",
        ),
    ),
    "PARTNER_KEY": (
        Shelf("secrets of partners", "wallet_partner_key", "id", "sealed", ("partner_id", "name"), signing.resealed),
        Shelf("secrets of webhooks", "wallet_webhook", "id", "sealed", ("key_name",), webhooks.resealed),
        Shelf(
            *("replaced secrets of webhooks", "wallet_webhook", "id", "previous_sealed", ("previous_key_name",)),
            webhooks.resealed,
            "previous_sealed IS NOT NULL",
        ),
    ),
}
# A row is unchanged if the hash of its ciphertext is the same. Locked rows are skipped, because
# waiting for them could block play.
WRITE: Final = """
    WITH given AS (SELECT * FROM unnest(%s::{kind}[], %s::bytea[], %s::bytea[]) AS row (number, old, new)),
    free AS (
        SELECT it.{number} AS number, given.new FROM {table} AS it JOIN given ON given.number = it.{number}
        WHERE sha256(it.{sealed}) = given.old FOR UPDATE OF it SKIP LOCKED
    )
    UPDATE {table} AS it SET {sealed} = free.new FROM free WHERE it.{number} = free.number
"""
KIND: Final = "SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"


def reseal(say: Callable[[str], object]) -> bool:
    """Re-encrypt everything with the first key of its setting and print the progress; return
    whether no older key is needed any more. Raises ops.backup.pg_tools.NotReady.
    """
    pg_tools.demand_owner()
    done = [_reseal(setting, say) for setting in SETTINGS]
    return all(done)


def _reseal(setting: str, say: Callable[[str], object]) -> bool:
    keys = len(key_rotation.keys_of(getattr(settings, setting)))
    changed, found = 0, Pass()
    for number in range(PASSES):
        if number:
            time.sleep(PAUSE)
        found = Pass()
        for what, walk in _walks(setting):
            one = walk()
            if one.changed or one.lost:
                say(f"{setting}: {what}: {one.changed} sealed again, {one.lost} that no key opens.")
            found.add(one)
        changed += found.changed
        if not (found.changed or found.held):
            break
    is_done = not (found.changed or found.held)
    say(_message(setting, keys, changed, found, is_done=is_done))
    if setting == "DOCUMENT_KEY" and keys > 1 and (lost := Trait.objects.filter(ground__in=HASHES_ONLY).count()):
        say(
            f"{setting}: hashes of {lost} pictures and national numbers"
            " cannot be made again, since pictures are not kept as they came, and numbers not at all:"
            " one that was sent in before is not known again without its key."
        )
    if changed:
        log.record("keys.resealed", by="system", on="house", data={"key": setting, "lost": found.lost, "rows": changed})
    return is_done


def _message(setting: str, keys: int, changed: int, found: Pass, *, is_done: bool) -> str:
    if not is_done:
        return f"{setting}: {changed} sealed again; {found.changed + found.held} were in use: run this again."
    lost = f" {found.lost} open with none of the keys." if found.lost else ""
    if keys == 1:
        which = "what is left" if found.lost else "all"
        return f"{setting} names one key, and {which} that is sealed opens with it.{lost}"
    return f"{setting}: {changed} sealed again. Nothing needs the older keys: take them out, on every machine.{lost}"


def _walks(setting: str) -> Iterator[tuple[str, Callable[[], Pass]]]:
    for shelf in SHELVES.get(setting, ()):
        yield shelf.what, lambda shelf=shelf: _walk(shelf)  # type: ignore[misc]
    if setting == "SECOND_FACTOR_KEY":
        yield "second factors", _factors
    if setting == "DOCUMENT_KEY":
        yield "bank accounts", _accounts
        yield "hashes by which duplicates are found", _traits


def _walk(shelf: Shelf) -> Pass:
    done, last = Pass(), None
    with connections[pg_tools.OWNER].cursor() as cursor:
        cursor.execute(KIND, [shelf.table, shelf.number])
        (kind,) = cursor.fetchone()
        names = {"table": shelf.table, "number": shelf.number, "sealed": shelf.sealed, "kind": kind}
        while True:
            cursor.execute(
                f"SELECT {shelf.number}, {', '.join(shelf.bound)}, {shelf.sealed} FROM {shelf.table}"  # noqa: S608  (constants)
                f" WHERE {shelf.which} AND (%s::{kind} IS NULL OR {shelf.number} > %s::{kind})"
                f" ORDER BY {shelf.number} LIMIT {shelf.at_once}",
                [last, last],
            )
            rows = cursor.fetchall()
            if not rows:
                return done
            last, given = rows[-1][0], []
            for number, *bound, sealed in rows:
                try:
                    new = shelf.resealed(*bound, bytes(sealed))
                except InvalidTag:
                    done.lost += 1
                else:
                    if new is not None:
                        given.append((number, sha256(bytes(sealed)).digest(), new))
            if given:
                cursor.execute(WRITE.format(**names), [list(column) for column in zip(*given, strict=True)])
                done.changed += cursor.rowcount
                done.held += len(given) - cursor.rowcount


def _factors() -> Pass:
    done = Pass()
    for found in Authenticator.objects.order_by("pk").iterator():
        try:
            if second_factor.resealed(found) is None:
                continue
            with transaction.atomic():
                held = Authenticator.objects.select_for_update(skip_locked=True).filter(pk=found.pk).first()
                new = second_factor.resealed(held) if held else None
                if held and new:
                    held.data = new
                    held.save(update_fields=["data"])
        except InvalidTag:
            done.lost += 1
        else:
            done.changed, done.held = done.changed + bool(new), done.held + (held is None)
    return done


def _accounts() -> Pass:
    done = Pass()
    accounts = PayoutAccount.objects.using(pg_tools.OWNER).exclude(sealed=b"").order_by("pk")
    for account in accounts.iterator(chunk_size=500):
        try:
            done.changed += payout_accounts.reseal(account)
        except InvalidTag:
            done.lost += 1
    return done


def _traits() -> Pass:
    done = Pass()
    if len(key_rotation.keys_of(settings.DOCUMENT_KEY)) == 1:
        return done  # only recomputing from the value shows which key made a hash
    players = Player.objects.filter(pk__in=Trait.objects.values("player")).order_by("pk")
    for player in players.iterator(chunk_size=500):
        ibans = []
        for account in PayoutAccount.objects.filter(player=player).exclude(sealed=b""):
            try:
                ibans.append(payout_accounts.reveal(account))
            except InvalidTag:
                continue  # counted as lost among the accounts
        done.changed += duplicates.reseal(player, payout_accounts.traits(ibans))
    return done
