"""Keys of a demo: generated once and kept in ``var/keys``, readable only by the owner. Production
keys come from the environment.
"""

import base64
import os
import secrets
from pathlib import Path


def demo_key(var_dir: Path, name: str) -> str:
    """Return the key called *name* (32 random bytes, URL-safe base64), generating it on first use.
    Concurrent processes get the same key.
    """
    folder = var_dir / "keys"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / name
    if not path.exists():
        _write_once(path, base64.urlsafe_b64encode(secrets.token_bytes(32)))
    return path.read_text()


def _write_once(path: Path, key: bytes) -> None:
    """Write *key* to a temporary file and link it into place, so that the first process wins and no
    key is partial.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
