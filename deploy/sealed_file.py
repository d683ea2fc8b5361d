"""Encrypt PostgreSQL's write-ahead log and base backups, so that a stolen copy cannot be read.

    sealed_file.py seal RECIPIENTS TARGET SOURCE         encrypt a file: for archive_command
    sealed_file.py seal-output RECIPIENTS TARGET COMMAND…  encrypt the output: for pg_basebackup
    sealed_file.py open IDENTITIES SOURCE TARGET         decrypt a file; TARGET "-" is the terminal

RECIPIENTS is a file of age public keys, one per line; IDENTITIES one of secret keys, as
`age-keygen` writes it. The files have the age format (https://age-encryption.org/v1), so the
program age opens them too. An existing TARGET is never overwritten, and no partial TARGET is left.

The script needs Python and pyrage, but no other module of the house: the user of the server runs it
for every segment of the log.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Final

import pyrage

NOT_THERE: Final = 1  # for PostgreSQL: the archive ends here
CANNOT: Final = 200  # above 125: PostgreSQL stops and does not treat the data so far as complete


def main(arguments: Sequence[str]) -> int:
    """Execute the arguments and return the exit status for PostgreSQL."""
    match arguments:
        case ["seal", recipients, target, source]:
            with Path(source).open("rb") as plain:
                _seal(plain, Path(target), Path(recipients))
        case ["seal-output", recipients, target, *command] if command:
            _seal_output(command, Path(target), Path(recipients))
        case ["open", identities, source, target]:
            return _open(Path(source), target, Path(identities))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def _seal(plain: IO[bytes], target: Path, recipients: Path, check: Callable[[], None] = lambda: None) -> None:
    """Encrypt *plain* to a new file; call *check* before the file gets its name."""
    readers: list[Any] = [pyrage.x25519.Recipient.from_str(line) for line in _lines(recipients)]

    def write(file: IO[bytes]) -> None:
        pyrage.encrypt_io(plain, file, readers)  # type: ignore[arg-type]  # it asks for reading and writing alone
        check()

    _written(target, write)


def _seal_output(command: Sequence[str], target: Path, recipients: Path) -> None:
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:

        def check() -> None:
            if running.wait():
                raise SystemExit(f"{command[0]} failed, and {target} is not written.")

        _seal(running.stdout, target, recipients, check)  # type: ignore[arg-type]  # PIPE makes one


def _open(source: Path, target: str, identities: Path) -> int:
    if source.parent.is_dir() and not source.exists():
        print(f"{source} is not there.", file=sys.stderr)
        return NOT_THERE
    try:
        keys: list[Any] = [pyrage.x25519.Identity.from_str(line) for line in _lines(identities)]
        with source.open("rb") as sealed:
            if target == "-":
                pyrage.decrypt_io(sealed, sys.stdout.buffer, keys)  # type: ignore[arg-type]  # as above
            else:
                Path(target).unlink(missing_ok=True)  # PostgreSQL reuses the name
                _written(Path(target), lambda file: pyrage.decrypt_io(sealed, file, keys))  # type: ignore[arg-type]
    except (pyrage.DecryptError, pyrage.IdentityError, OSError, ValueError) as error:
        print(f"{source} cannot be opened: it is damaged, or {identities} has other keys ({error})", file=sys.stderr)
        return CANNOT
    return 0


def _written(target: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Let *write* fill a new file, and name it when it is completely on disk.

    Raises FileExistsError.
    """
    draft = target.with_name(f"{target.name}.part")
    try:
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lines(file: Path) -> list[str]:
    """Return the keys in a file, without comment lines that start with #."""
    lines = (line.strip() for line in file.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
