"""The public keys that this house believes: those it was given. What the database says of keys counts for nothing."""

from collections.abc import Sequence

from django.conf import settings

from audit.verification.verify import LOG, Key, keys_of


def known() -> list[Key]:
    """Return the keys of ``AUDIT_KEYS``, in a demo those of its own signer; none before that has made them. Raises
    Unproven where they are no keys.
    """
    text = settings.AUDIT_KEYS
    if not text and settings.SIGNER_DIR and (settings.SIGNER_DIR / "keys").exists():
        text = (settings.SIGNER_DIR / "keys").read_text()
    return keys_of(text.replace(",", "\n"))


def origin(keys: Sequence[Key]) -> str:
    """Return what the log is called: the name of its key, "" without one."""
    return next((key.name for key in keys if key.kind == LOG), "")
