"""The signer: a separate process that holds the keys of the log, without Django and without the
database.

It remembers the last tree that it signed, and signs another one only with a proof that it extends
that one. So neither the owner of the database nor any other process of the system can get a second
history signed. It writes down what it signs before it answers. It does not start with keys but no
history, or a history but no keys. It refuses to sign at a time before its last signature, and a
tree that has grown by more than a limit: otherwise anyone who can connect could get a tree signed
that can never be extended.

``python -m audit.sealing.signer --folder F --socket S --name N`` creates keys and history on its
first start. The folder then contains

- ``log.key``, ``time.key``: the private keys, readable only by the signer, in the format of Go's ``note`` package
- ``keys``: the public keys, a line each (C2SP signed-note), to be given to auditors
- ``latest``: the last checkpoint, signed
- ``history``: a line for each signature: number of leaves, root in base64, Unix time; never shortened

A checkpoint gets two signatures: the log's, and one with the time (C2SP tlog-cosignature). If there
are new keys, ``log.new.key`` and ``time.new.key``, it gets theirs as well. Anyone who knows either
pair can verify it, so that keys can be replaced without interrupting the log. ``--make-keys``
creates new keys while the signer runs, which uses them from its next start; ``--retire-keys``
replaces the old ones by them and deletes the old private keys.
"""

import argparse
import errno
import os
import re
import socket
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit.key_folder import CannotStart, listen, lock, open_folder, read_private, replace, sync
from audit.sealing.signing import LONGEST, SECONDS
from audit.verification.verify import (
    EMPTY,
    LOG,
    TIME,
    Checkpoint,
    Key,
    Tree,
    Unproven,
    demand_extended,
    hashes_of,
    time_message,
)

MOST: Final = 10_000_000  # default limit for the growth of a tree between two signatures, in leaves
PAUSE: Final = 0.1  # seconds before accepting again after an error such as too many open files
KINDS: Final = {"log": LOG, "time": TIME}
DRAFT: Final = re.compile(r"(latest|keys|(log|time)(\.new)?\.key)\.[0-9a-f]{16}")


@dataclass(frozen=True)
class Pen:
    """A key pair."""

    key: Key
    private: Ed25519PrivateKey

    @classmethod
    def of(cls, name: str, kind: int, private: Ed25519PrivateKey) -> Self:
        """Build the pair of a private key under a name."""
        return cls(Key(name, kind, private.public_key().public_bytes_raw()), private)

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse the output of `text`. Raises CannotStart."""
        try:
            *_words, name, known, data = text.strip().split("+", 4)
            kind, *seed = b64decode(data, validate=True)
            pen = cls.of(name, kind, Ed25519PrivateKey.from_private_bytes(bytes(seed)))
        except ValueError as error:
            raise CannotStart("a key is no key") from error
        if pen.key.hash.hex() != known:
            raise CannotStart(f"the key of {name} is not the one its hash speaks of")
        return pen

    @property
    def text(self) -> str:
        """The private key in the signer's file format."""
        data = b64encode(bytes([self.key.kind]) + self.private.private_bytes_raw()).decode()
        return f"PRIVATE+KEY+{self.key.name}+{self.key.hash.hex()}+{data}\n"

    def line(self, text: str, at: int) -> str:
        """Sign the text of a checkpoint at a Unix time; return the signature line of the note."""
        if self.key.kind == LOG:
            return f"{self.key.line(self.private.sign(text.encode()))}\n"
        return f"{self.key.line(at.to_bytes(8, 'big') + self.private.sign(time_message(text, at)))}\n"


class Signer:
    """Keys and history in one folder, locked against other processes."""

    def __init__(self, folder: Path, name: str, most: int = MOST) -> None:
        """Open *folder*, or create it with keys that sign as *name*; a tree may grow by *most*
        leaves at once. Raises CannotStart.
        """
        if not name or "+" in name or any(map(str.isspace, name)):
            raise CannotStart(f"{name!r} is no name: it has to be without spaces and plus signs")
        open_folder(folder)
        self._folder, self._most = folder, most
        self._lock = lock(folder / "lock", "signer")
        try:
            self._open(name)
        except ValueError as error:  # undecodable bytes or invalid numbers
            raise CannotStart(f"a file in {folder} is damaged: {error}") from error

    def _open(self, name: str) -> None:
        """Read keys and history, or create them. Raises CannotStart, ValueError."""
        folder = self._folder
        _remove_drafts(folder)
        self._make_what_is_not_there(name)
        self._name, self._pens = name, [*_pens(folder, name).values(), *_pens(folder, name, ".new").values()]
        self._write_keys(self._pens)
        self._last, self._at, self._note = self._remembered()

    def retire_keys(self) -> None:
        """Replace the old keys by the new ones. Can be repeated after an interruption. Raises
        CannotStart where there are no new keys, or the last checkpoint lacks their signatures:
        nobody could verify the change.
        """
        new = _pens(self._folder, self._name, ".new")
        if not new:
            raise CannotStart(f"{self._folder} has no new keys")
        stay = _pens(self._folder, self._name) | new
        try:
            Checkpoint.of(self._note, [pen.key for pen in stay.values()])
        except Unproven as reason:
            raise CannotStart(
                f"the new keys have not signed the last checkpoint yet ({reason}): start the signer and wait for one"
            ) from reason
        for file in new:
            (self._folder / f"{file}.new.key").replace(self._folder / f"{file}.key")
            sync(self._folder)
        self._pens = list(stay.values())
        self._write_keys(self._pens)

    def _write_keys(self, pens: Iterable[Pen]) -> None:
        replace(self._folder / "keys", "".join(f"{pen.key.vkey}\n" for pen in pens).encode())

    def close(self) -> None:
        """Release the folder to other processes."""
        os.close(self._lock)

    def answer(self, question: bytes) -> bytes:
        """Answer one request; see `audit.sealing.signing` for the protocol. Raises OSError where
        the signature cannot be written down.
        """
        try:
            if len(question) > LONGEST:
                raise Unproven(f"longer than {LONGEST} bytes")
            return self._sign(question.decode()).encode()
        except ValueError:  # undecodable bytes, or numbers that are too long
            return b"refused this is no question\n"
        except Unproven as reason:
            return f"refused {' '.join(str(reason).split())}\n".encode()

    def _sign(self, question: str) -> str:
        if question == "last":
            return self._said_last
        head, separator, body = question.partition("\n\n")
        first, *proof = head.split("\n")
        word, _, old = first.partition(" ")
        if word != "old" or not separator or not (old.isascii() and old.isdecimal()):
            raise Unproven("this is no question")
        tree = Tree.of(body)
        if tree.body != body:
            raise Unproven("a checkpoint here has three lines")
        if tree.origin != self._name:
            raise Unproven(f"{tree.origin!r} is another log than {self._name!r}")
        if not tree.size:
            raise Unproven("there are no leaves")
        if int(old) != self._last.size:
            return self._said_last
        demand_extended(
            old=self._last.size, size=tree.size, proof=hashes_of(proof), old_root=self._last.root, root=tree.root
        )
        if tree.size - self._last.size > self._most:
            grown = tree.size - self._last.size
            raise Unproven(f"{grown} leaves more than the last tree has; {self._most} are the most at once")
        at = int(time.time())
        if at < self._at:
            raise Unproven(f"the signer's clock says {at}, and the last signature is of {self._at}")
        signatures = "".join(pen.line(body, at) for pen in self._pens)
        self._remember(tree, at, f"{body}\n{signatures}")
        return signatures

    @property
    def _said_last(self) -> str:
        return f"last {self._last.size}\n\n{self._note}"

    def _remember(self, tree: Tree, at: int, note: str) -> None:
        """Write down what is about to be signed. After a crash, the next start adds to ``history``
        what is only in ``latest``.
        """
        replace(self._folder / "latest", note.encode())
        self._last, self._at, self._note = tree, at, note
        _append(self._folder / "history", _entry(tree, at))

    def _remembered(self) -> tuple[Tree, int, str]:
        """Return the last signed tree, its time and its note; an empty tree, 0 and "" if none was
        signed. Raises CannotStart, and ValueError where a file is damaged.
        """
        note = (self._folder / "latest").read_text()
        history = _end(self._folder / "history")
        last = history.splitlines()[-1].split() if history.strip() else []
        if not note:
            if last:
                raise CannotStart(f"{self._folder} has lost the last checkpoint, of {last[0]} leaves")
            return Tree(self._name, 0, EMPTY), 0, ""
        try:
            signed = Checkpoint.of(note, [pen.key for pen in self._pens])
        except Unproven as reason:
            raise CannotStart(f"the last checkpoint in {self._folder} is not one: {reason}") from reason
        tree, at = signed.tree, signed.seconds
        if at is None:
            raise CannotStart(f"the last checkpoint in {self._folder} does not say when it was signed")
        if last and int(last[0]) > tree.size:
            raise CannotStart(f"{self._folder} has an old checkpoint as its last: one of {last[0]} leaves was signed")
        if last[:2] != _entry(tree, 0).split()[:2]:
            _append(
                self._folder / "history", ("\n" if history and not history.endswith("\n") else "") + _entry(tree, at)
            )
        return tree, at, note

    def _make_what_is_not_there(self, name: str) -> None:
        """Create the history, then the keys, so that an interrupted first start can continue and
        keys never exist without a history. Raises CannotStart where something was removed.
        """
        missing = [
            (file, kind) for file, kind in (("log.key", LOG), ("time.key", TIME)) if not _has(self._folder, file)
        ]
        if not _has(self._folder, "latest"):
            if len(missing) < 2:
                raise CannotStart(f"{self._folder} has keys, but no memory of what they signed")
            _append(self._folder / "history", "")
            replace(self._folder / "latest", b"")
        if missing and (self._folder / "latest").read_bytes():
            raise CannotStart(f"{self._folder} has signed, and its keys are gone")
        for file, kind in missing:
            replace(self._folder / file, Pen.of(name, kind, Ed25519PrivateKey.generate()).text.encode())


def make_keys(folder: Path, name: str) -> list[Key]:
    """Create new keys next to those in use and return the public ones; new keys that exist already
    are kept. Raises CannotStart where *folder* is not that of a signer, OSError.
    """
    if not _has(folder, "latest"):
        raise CannotStart(f"no signer has worked in {folder}")
    _pens(folder, name)
    for file, kind in KINDS.items():
        if not _has(folder, f"{file}.new.key"):
            replace(folder / f"{file}.new.key", Pen.of(name, kind, Ed25519PrivateKey.generate()).text.encode())
    return [pen.key for pen in _pens(folder, name, ".new").values()]


def _pens(folder: Path, name: str, which: str = "") -> dict[str, Pen]:
    """Read the existing keys in use, or the new ones if *which* is ".new". Raises CannotStart where
    a key has another name or kind than it should.
    """
    files = {file: folder / f"{file}{which}.key" for file in KINDS}
    pens = {file: Pen.read(read_private(path)) for file, path in files.items() if not which or path.exists()}
    for file, pen in pens.items():
        if (pen.key.name, pen.key.kind) != (name, KINDS[file]):
            raise CannotStart(f"the keys in {folder} sign as {pen.key.name}, not as {name}")
    return pens


def serve(listening: socket.socket, signer: Signer) -> None:
    """Answer requests one by one until the socket is closed. Raises OSError where a signature
    cannot be written down; after a restart the signer continues from its files.
    """
    while True:
        try:
            asker, _ = listening.accept()
        except OSError as error:
            if error.errno in (errno.EBADF, errno.EINVAL):
                return
            print(f"Nobody could be answered: {error}", file=sys.stderr, flush=True)
            time.sleep(PAUSE)  # for example too many open files; clients wait in the backlog
            continue
        with asker:
            question = _read(asker)
            if question is None:
                continue
            answer = signer.answer(question)
            try:
                asker.sendall(answer)
            except OSError:
                continue  # the client is gone; if it asks for this tree again, it is signed again


def _read(asker: socket.socket) -> bytes | None:
    """Read a request up to its end or the maximum length; None where it does not end in time."""
    deadline = time.monotonic() + SECONDS
    question = b""
    try:
        while len(question) <= LONGEST:
            asker.settimeout(max(deadline - time.monotonic(), 0.001))
            more = asker.recv(LONGEST + 1 - len(question))
            if not more:
                return question
            question += more
    except OSError:
        return None
    return question


def _entry(tree: Tree, at: int) -> str:
    return f"{tree.size} {b64encode(tree.root).decode()} {at}\n"


def _has(folder: Path, file: str) -> bool:
    return (folder / file).exists()


def _remove_drafts(folder: Path) -> None:
    """Remove temporary files of an earlier process that was killed."""
    for path in folder.iterdir():
        if DRAFT.fullmatch(path.name):
            path.unlink()


def _append(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(descriptor)
    sync(path.parent)


def _end(path: Path) -> str:
    """Return the end of a history file, which includes its last line."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - 1000, 0))
        return file.read().decode(errors="replace")


def main() -> None:
    """Run the command line interface."""
    parser = argparse.ArgumentParser(description="Signs the checkpoints of the event log.")
    parser.add_argument("--folder", type=Path, required=True, help="where keys and memory are, or will be")
    parser.add_argument("--socket", type=Path, help="where to listen")
    parser.add_argument("--name", required=True, help="what the log is called, such as casino.example/log")
    parser.add_argument("--group", default="", help="group whose members may ask, in addition to the signer's own user")
    parser.add_argument("--most", type=int, default=MOST, help="leaves that a tree may have more than the one before")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--make-keys", action="store_true", help="make new keys, show their public halves, and end")
    keys.add_argument("--retire-keys", action="store_true", help="have the new keys alone sign from here on, and end")
    asked = parser.parse_args()
    if asked.make_keys or asked.retire_keys:
        _change_keys(asked.folder, asked.name, is_retiring=asked.retire_keys)
        return
    if asked.socket is None:
        parser.error("the following arguments are required: --socket")
    try:
        signer = Signer(asked.folder, asked.name, asked.most)
        listening = listen(asked.socket, asked.group)
    except (CannotStart, OSError, KeyError) as error:
        sys.exit(f"The signer does not start: {error}")
    print(f"Signing as {asked.name} at {asked.socket}", flush=True)
    serve(listening, signer)


def _change_keys(folder: Path, name: str, *, is_retiring: bool) -> None:
    try:
        if is_retiring:
            signer = Signer(folder, name)
            signer.retire_keys()
            signer.close()
            print(
                f"From its next start the signer signs with these keys alone:\n{(folder / 'keys').read_text()}", end=""
            )
            return
        made = make_keys(folder, name)
    except (CannotStart, OSError, ValueError) as error:
        sys.exit(f"The keys stay as they are: {error}")
    print(*("From its next start the signer signs with these as well:", *(key.vkey for key in made)), sep="\n")


if __name__ == "__main__":
    main()
