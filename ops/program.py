"""Identity of the running program: a digest of the code and of the schema, compared with the release's.

`make release` writes the file `RELEASE`: a signed note (C2SP signed-note) whose text is a line
``Sabot <version>`` and a line ``<SHA-256>  <path>`` for each file, as ``sha256sum`` writes and checks
them. ``RELEASE_SIGNER`` has the public key that must have signed it. One of the files, `wallet/guards.txt`,
lists the guards of the schema, with which the database is compared.

Web and workers record at their start what they run, and a worker does so daily (GLI-19, 2.3.2). A
third party needs no program of ours to check the files (2.3.3).
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from platform import node
from typing import Final

import structlog
from celery import shared_task
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils.translation import gettext

from audit import log
from audit.verification.verify import Key, Unproven, is_signed, keys_of, signatures_of
from wallet.invariants import guards

FILE: Final = "RELEASE"
FOLDERS: Final = (
    *("accounts", "audit", "backoffice", "casino", "games", "ops", "players", "realtime", "wallet"),
    *("fragments", "locale", "static", "templates"),
)
FILES: Final = ("manage.py", "requirements.txt")
MADE: Final = (".pyc", ".mo")  # made from the others on the machine itself
NAMED: Final = 20  # differences named in an event

SCHEMA: Final = "wallet/guards.txt"
DIFFERS: Final = "program.differs"
NO_RELEASE: Final = "no release"  # a checkout, or a house that was built by hand

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Program:
    """The running program: the SHA-256 of each file by path, and the guards of the database in force."""

    files: Mapping[str, str]
    schema: Sequence[str]

    @classmethod
    def here(cls, top: Path | None = None) -> "Program":
        """Read the files below *top*, the project's folder if None, and the database."""
        return cls(dict(hashed(top or settings.BASE_DIR)), guards.in_force())

    @property
    def code(self) -> str:
        """SHA-256, in hex, of `manifest`."""
        return hashlib.sha256(manifest(self.files).encode()).hexdigest()

    @property
    def schema_digest(self) -> str:
        """SHA-256, in hex, of the guards in force, a line each."""
        return hashlib.sha256(_lines(self.schema).encode()).hexdigest()

    def differences(self, release: "Release") -> list[str]:
        """Return what is missing, changed or not of the release: files, then guards of the database."""
        paths = sorted(self.files.keys() | release.files.keys())
        due = set(release.schema)
        return [
            *(f"{path}: {_said(self.files, release.files, path)}" for path in paths
              if self.files.get(path) != release.files.get(path)),
            *(f"{line}: missing in the database" for line in release.schema if line not in self.schema),
            *(f"{line}: not of the release" for line in self.schema if line not in due),
        ]  # fmt: skip


def _said(ours: Mapping[str, str], released: Mapping[str, str], path: str) -> str:
    if path not in ours:
        return "missing"
    return "changed" if path in released else "not of the release"


@dataclass(frozen=True)
class Release:
    """A release: name and version, files and the guards of its schema."""

    name: str
    files: Mapping[str, str]
    schema: Sequence[str]

    @classmethod
    def of(cls, note: str, keys: Sequence[Key], schema: str) -> "Release":
        """Parse a signed note; *schema* is the text of the release's ``wallet/guards.txt``.

        Raises Unproven where none of the *keys* has signed it, or it speaks of another schema.
        """
        text, signatures = signatures_of(note)
        signed = [
            is_signed(key.public, text.encode(), signature)
            for key in keys
            for signature in signatures.get((key.name, key.hash), [])
        ]
        if not signed or not all(signed):
            raise Unproven(f"{FILE} is signed by no key of RELEASE_SIGNER")
        name, *lines = text.splitlines()
        files = {path: hashed for hashed, _, path in (line.partition("  ") for line in lines)}
        if files.get(SCHEMA) != hashlib.sha256(schema.encode()).hexdigest():
            raise Unproven(f"{SCHEMA} is not that of {FILE}")
        return cls(name, files, schema.splitlines())


def name() -> str:
    """Return name and version of the release that is installed, as every page says it (GLI-19, 2.6.2)."""
    return _name(Path(settings.BASE_DIR)) or gettext("Sabot, no release")


@cache
def _name(top: Path) -> str:
    file = top / FILE
    return file.read_text().partition("\n")[0] if file.exists() else ""


def manifest(files: Mapping[str, str]) -> str:
    """Return *files* as ``sha256sum`` writes them, by path."""
    return _lines(f"{hashed}  {path}" for path, hashed in sorted(files.items()))


def _lines(lines: Sequence[str] | Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def hashed(top: Path) -> Iterator[tuple[str, str]]:
    """Yield path and SHA-256, in hex, of each file of the program below *top*."""
    paths = [path for folder in FOLDERS for path in (top / folder).rglob("*") if path.suffix not in MADE]
    for path in (*(top / name for name in FILES), *paths):
        if path.is_file():
            yield path.relative_to(top).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()


def verify(process: str) -> list[str]:
    """Record what runs in *process*, and return how it differs from the release.

    Without a file `RELEASE` there is nothing to differ from. Raises DatabaseError.
    """
    top = Path(settings.BASE_DIR)
    program, release, found = Program.here(top), NO_RELEASE, list[str]()
    if (top / FILE).exists():
        try:
            known = Release.of((top / FILE).read_text(), keys_of(settings.RELEASE_SIGNER), (top / SCHEMA).read_text())
            release, found = known.name, program.differences(known)
        except (OSError, UnicodeError, Unproven) as error:
            release, found = "unproven", [str(error)]
    elif settings.RELEASE_SIGNER:
        release, found = "missing", [f"{FILE} is missing, and RELEASE_SIGNER is set"]
    data: dict[str, log.Json] = {
        "process": process,
        "host": node(),
        "code": program.code,
        "files": len(program.files),
        "schema": program.schema_digest,
        "release": release,
    }
    log.record("program.verified", by="system", on="program", data=data)
    if found:
        more: dict[str, log.Json] = {"differences": len(found), "first": list[log.Json](found[:NAMED])}
        log.record(DIFFERS, by="system", on="program", data=data | more)
    return found


def verify_in_thread(process: str) -> None:
    """Verify in a thread of its own, so that nobody waits for it. An error is logged."""

    def work() -> None:
        try:
            verify(process)
        except DatabaseError as error:
            logger.warning("program_not_verified", error=str(error).strip())
        finally:
            close_old_connections()

    threading.Thread(target=work, name="verify-program", daemon=True).start()


def on_worker(**_: object) -> None:
    """Verify at the start of a worker; Celery's signal calls it."""
    verify_in_thread("worker")


@shared_task
def verify_program() -> None:
    """Verify daily what the worker that has this task runs."""
    verify("worker")
