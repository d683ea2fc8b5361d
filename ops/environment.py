"""Environment variables for the settings: each value can instead be in a file that a variable
names.

With ``SECRET_KEY_FILE=/run/secrets/secret_key`` the file contains the value of ``SECRET_KEY``, as
containers and systemd provide secrets. Variables are visible to anyone who may inspect the process;
a file is not.

A demo installation, which is not configured, creates its keys once, in ``var/keys``, readable by the owner only.
"""

import base64
import secrets
from pathlib import Path

from environ.environ import FileAwareEnv
from environ.fileaware_mapping import FileAwareMapping

from audit.key_folder import write_once


class Stripped(FileAwareMapping):
    """Mapping that strips white space around the content of files."""

    def __getitem__(self, key: str) -> str:
        """Return the value of a variable, or of its file. Raises KeyError, and OSError without the file."""
        return str(super().__getitem__(key)).strip()


class Environment(FileAwareEnv):
    """Reads variables, converted by type."""

    ENVIRON = Stripped(cache=False)


def demo_key(var_dir: Path, name: str) -> str:
    """Return the key called *name* (32 random bytes, URL-safe base64), generating it on first use.
    Concurrent processes get the same key.
    """
    folder = var_dir / "keys"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / name
    if not path.exists():
        write_once(path, base64.urlsafe_b64encode(secrets.token_bytes(32)))
    return path.read_text()
