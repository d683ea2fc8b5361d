"""Trusted public keys, from the settings. Keys stored in the database are not trusted.

The signer, which has no Django, does without this module.
"""

from collections.abc import Sequence

from django.conf import settings

from audit.verification.verify import LOG, Key, keys_of


def known() -> list[Key]:
    """Return the keys of ``AUDIT_KEYS``, in a demo those of its own signer; none before that has
    created them. Raises Unproven where they are invalid.
    """
    text = settings.AUDIT_KEYS
    if not text and settings.SIGNER_DIR and (settings.SIGNER_DIR / "keys").exists():
        text = (settings.SIGNER_DIR / "keys").read_text()
    return keys_of(text.replace(",", "\n"))


def origin(keys: Sequence[Key]) -> str:
    """Return the name of the log, which is the name of its key; "" without one."""
    return next((key.name for key in keys if key.kind == LOG), "")
