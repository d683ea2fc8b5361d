"""Valid checkpoints: those signed by the trusted keys of the settings. Other rows of the table are
ignored, because anyone who can write to it could have added them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from django.conf import settings
from django.db import transaction

from audit import log
from audit.models import Checkpoint
from audit.verification.checking import is_signed, origin
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify import Key, Unproven, keys_of, signers_of

KEYS_ANNOUNCED: Final = "log.keys_announced"
FEW: Final = 50
MOST: Final = 1000  # rows to search at most: where so many are invalid, the rest will be too, and the table may be long


@dataclass(frozen=True)
class Unsigned:
    """An invalid row above all valid checkpoints: the leaves it claims, and what is wrong with it."""

    size: int
    reason: str


def last() -> Checkpoint | None:
    """Return the largest valid checkpoint; None if there is none, or no key is known."""
    return next(counting(_downwards()), None)


def size() -> int:
    """Return the number of leaves under the last checkpoint, 0 without one."""
    found = last()
    return found.size if found else 0


def latest(most: int, *, below: int | None = None) -> list[Checkpoint]:
    """Return the last *most* checkpoints, largest first; only those with fewer leaves than *below* if given."""
    return list(islice(counting(_downwards(below)), most))


def unsigned() -> Unsigned | None:
    """Return the largest row if it is not a valid checkpoint; None if it is valid or no key is known."""
    row, believed = next(_downwards(), None), house_keys()
    if row is None or not believed:
        return None
    try:
        _demand_signed(row, believed)
    except Unproven as wrong:
        return Unsigned(row.size, f"the last checkpoint in the database is none: {wrong}")
    return None


def counting(rows: Iterable[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield the *rows* that are valid checkpoints."""
    believed = house_keys()
    for row in rows:
        try:
            _demand_signed(row, believed)
        except Unproven:
            continue
        yield row


def _demand_signed(row: Checkpoint, believed: list[Key]) -> None:
    """Check that the note is signed by the keys and matches the row. Raises Unproven."""
    tree = Signed.of(row.note, believed, is_signed).tree
    if (tree.origin, tree.size, tree.root) != (origin(believed), row.size, bytes(row.root)):
        raise Unproven(f"the row of {row.size} leaves has the note of another tree, of {tree.size}")


def _downwards(below: int | None = None) -> Iterator[Checkpoint]:
    """Yield the rows, largest first; more than one is read only if the first one does not suffice."""
    rows = Checkpoint.objects.order_by("-size")
    if below is not None:
        rows = rows.filter(size__lt=below)
    found = list(rows[:1])
    for _ in range(MOST // FEW):
        yield from found
        if not found:
            return
        found = list(rows.filter(size__lt=found[-1].size)[:FEW])


def trusted_keys() -> list[Key]:
    """Return the public keys of ``AUDIT_KEYS``, in a demo those of its own signer; none before that
    has created them. Raises Unproven where they are invalid.

    Keys stored in the database are not trusted.
    """
    text = settings.AUDIT_KEYS
    if not text and settings.SIGNER_DIR and (settings.SIGNER_DIR / "keys").exists():
        text = (settings.SIGNER_DIR / "keys").read_text()
    return keys_of(text.replace(",", "\n"))


def house_keys() -> list[Key]:
    """Return the trusted keys, none where the setting is invalid (the page of the log reports that)."""
    try:
        return trusted_keys()
    except Unproven:
        return []


class NothingNew(Exception):
    """Either every trusted key signs already, or none does."""


@transaction.atomic
def announce_keys() -> list[str]:
    """Record which keys of ``AUDIT_KEYS`` are new to the log and which sign it now; return the new
    ones in C2SP format. Raises NothingNew, and Unproven where the setting is invalid.
    """
    believed, newest = trusted_keys(), last()
    if newest is None:
        raise NothingNew("No key of AUDIT_KEYS has signed a checkpoint: there is nobody to announce them to.")
    mine = [key for key in believed if key.name == origin(believed)]
    signers = signers_of(newest.note)  # an invalid signature of a trusted key would have invalidated the checkpoint
    signs = [key for key in mine if (key.name, key.hash) in signers]
    new = [key.vkey for key in mine if key not in signs]
    if not new:
        raise NothingNew("AUDIT_KEYS names no key that does not sign already: add the lines of the new ones to it.")
    log.record(KEYS_ANNOUNCED, by="system", on="log", data={"keys": [*new], "signs": [key.vkey for key in signs]})
    return new
