"""Create the secrets of a new house, one file each: ``python3 deploy/make_secrets.py [FOLDER]``.

FOLDER is deploy/secrets by default. An existing folder is kept: a lost key cannot be created again.
The hosts in the URLs are those of deploy/compose.yaml; edit them for external servers.
"""

import base64
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "secrets"
KEYS = ("second_factor_key", "document_key", "partner_key", "credentials_key")


def contents() -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each file."""
    superuser, web, owner, broker = (secrets.token_urlsafe(32) for _ in range(4))
    yield "secret_key", secrets.token_urlsafe(64)
    yield "secret_key_fallbacks", ""  # the previous key during a replacement
    for key in KEYS:
        yield key, base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    yield "superuser_password", superuser
    yield "database_superuser_url", f"postgresql://postgres:{superuser}@postgres/postgres"
    yield "database_url", f"postgresql://sabot_web:{web}@postgres/sabot"
    yield "database_owner_url", f"postgresql://sabot_owner:{owner}@postgres/sabot"
    yield "replica_url", ""  # optional: like database_url, with another host
    yield "broker_url", f"redis://:{broker}@valkey:6379/0"
    yield "cache_url", f"redis://:{broker}@valkey:6379/1"
    yield "valkey_conf", f"requirepass {broker}"
    yield "metrics_token", secrets.token_urlsafe(32)
    yield "dealer_keys", ""  # the dealer's file `dealer.pub`, after its first start
    yield "dealer_proof_key", ""  # and its file `proof.key`
    yield "audit_keys", ""  # the two lines of the signer's file `keys`, after its first start


def main() -> int:
    """Create all files or none."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    if folder.exists():
        print(f"{folder} is there already, and is kept as it is.")
        return 1
    folder.mkdir(parents=True, mode=0o700)
    for name, said in contents():
        path = folder / name
        path.write_text(f"{said}\n")
        # The user of the containers, which differs, must read them; on this machine others cannot
        # enter the folder. Files with a secret are read-only; empty ones are to be filled in.
        path.chmod(0o444 if said else 0o644)
    print(f"Made in {folder}. Keep a copy of it where the backups are not.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
