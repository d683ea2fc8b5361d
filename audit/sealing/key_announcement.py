"""Announcement of new signing keys: an event, signed by the old keys, that names them."""

from typing import Final

from django.db import transaction

from audit import log
from audit.sealing import checkpoints, signing
from audit.verification.verify import signers_of

ANNOUNCED: Final = "log.keys_announced"


class NothingNew(Exception):
    """Either every trusted key signs already, or none does."""


@transaction.atomic
def announce() -> list[str]:
    """Record which keys of ``AUDIT_KEYS`` are new to the log and which sign it now; return the new
    ones in C2SP format. Raises NothingNew, and Unproven where the setting is invalid.
    """
    believed, last = signing.known(), checkpoints.last()
    if last is None:
        raise NothingNew("No key of AUDIT_KEYS has signed a checkpoint: there is nobody to announce them to.")
    mine = [key for key in believed if key.name == signing.origin(believed)]
    signers = signers_of(last.note)  # an invalid signature of a trusted key would have invalidated the checkpoint
    signs = [key for key in mine if (key.name, key.hash) in signers]
    new = [key.vkey for key in mine if key not in signs]
    if not new:
        raise NothingNew("AUDIT_KEYS names no key that does not sign already: add the lines of the new ones to it.")
    log.record(ANNOUNCED, by="system", on="log", data={"keys": [*new], "signs": [key.vkey for key in signs]})
    return new
