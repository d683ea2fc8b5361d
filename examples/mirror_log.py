#!/usr/bin/env python3
"""Mirror the public event log of a Sabot house into a folder, and verify everything against the house's signatures.

    python examples/mirror_log.py https://casino.example FOLDER --keys KEYS

No token is needed. KEYS is a file with the public keys of the log, a line each: `name+8 hex digits+base64`. You have
them from the house by another way than this one, since keys that come with a log prove nothing. Needs Python 3.11 and
`cryptography`. Run it again, say every hour, and it fetches what is new; where it was stopped, it goes on.

What it proves each time, of every entry, the ones fetched long ago included:

    entries → leaves → tiles → root → checkpoint → key         (RFC 6962; C2SP tlog-tiles, signed-note)

and that the log still begins with the one whose checkpoint it kept the last time. It also asks again for up to COMPARE
tiles that it has, chosen by chance, with their entries: the house must still show what it showed. So nothing that was
signed once can be changed, left out or moved without status 1 and a sentence that begins with WRONG. Nothing is kept
before it is proven. Status 2: the house or the folder could not be read. FOLDER is a log by itself, static files that
any web server can serve, which `verify.py` of any export checks as well, and which any program for such logs reads.
"""

import argparse
import base64
import hashlib
import random
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WIDTH, HASH = 256, 32  # hashes in a whole tile, bytes of each
SIGNS_LOGS = 1  # the kind of a key (C2SP signed-note)


class Wrong(Exception):
    """The log is not what was signed; the message says where."""


class Unreadable(Exception):
    """Something is not there, or not what it should be, and nothing is known of the log; the message says what."""


class Signed(NamedTuple):
    """A checkpoint whose signature was checked: the tree it speaks of."""

    origin: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"the tree of {self.size} events of {self.origin} with the root {base64.b64encode(self.root).decode()}"


def read_checkpoint(note: str, vkeys: Sequence[str]) -> Signed:
    """Read a checkpoint. Raises Wrong where none of the keys, as C2SP writes them, has signed it; Unreadable."""
    text, _, signatures = note.rpartition("\n\n")
    if not re.match(r"[^\n]+\n[0-9]+\n[^\n]+(\n|$)", text):
        raise Unreadable("what should be a checkpoint is none")
    origin, size, root = text.split("\n")[:3]
    for vkey in vkeys:
        name, key_hash, key = vkey.split("+", 2)
        kind, public = base64.b64decode(key)[0], base64.b64decode(key)[1:]
        for line in signatures.splitlines():
            _dash, signer, signature = line.split(" ")
            signed = base64.b64decode(signature)
            if kind == SIGNS_LOGS and name == origin == signer and signed[:4].hex() == key_hash:
                try:
                    Ed25519PublicKey.from_public_bytes(public).verify(signed[4:], f"{text}\n".encode())
                except InvalidSignature:
                    raise Wrong(f"the signature of {name} on the checkpoint of {size!r} events is wrong") from None
                return Signed(origin, int(size), base64.b64decode(root))
    raise Wrong(f"no key given has signed the checkpoint of {size!r} events of {origin!r}")


def path(level: int | str, number: int, width: int) -> str:
    """Return where a tile lies: tile/0/x001/067, with .p/ and its width where it is not whole."""
    groups = [f"{number % 1000:03}"]
    while number := number // 1000:
        groups.insert(0, f"x{number % 1000:03}")
    return f"tile/{level}/{'/'.join(groups)}" + (f".p/{width}" if width < WIDTH else "")


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of a tree over at least one hash."""
    while len(hashes) > 1:
        pairs = [node(*hashes[at : at + 2]) for at in range(0, len(hashes) - 1, 2)]
        hashes = [*pairs, *hashes[len(pairs) * 2 :]]
    return hashes[0]


def root_from(tile: Callable[[int, int], Sequence[bytes]], size: int) -> bytes:
    """Return the root over the first *size* leaves, from the tiles at the right edge of that tree."""
    found, level = b"", 0
    while count := size >> 8 * level:
        number, width = divmod(count, WIDTH)
        hashes = tile(level, number)[:width] if width else []
        while width:  # the complete subtrees at the edge, smallest first
            width &= width - 1
            peak, hashes = root_of(hashes[width:]), hashes[:width]
            found = node(peak, found) if found else peak
        level += 1
    return found or hashlib.sha256(b"").digest()


def split(bundle: bytes) -> Iterator[bytes]:
    """Yield the entries of a bundle, each of which follows its length in two bytes."""
    while bundle:
        end = 2 + int.from_bytes(bundle[:2], "big")
        yield bundle[2:end]
        bundle = bundle[end:]


def read_keys(file: Path) -> list[str]:
    """Return the public keys in a file. Raises Unreadable where a line is none, or there is no line."""
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise Unreadable(f"the file of keys, {file}: {error}") from error
    vkeys = [line for line in lines if line and not line.startswith("#")]
    for vkey in vkeys:
        _name, _, rest = vkey.partition("+")
        key_hash, _, key = rest.partition("+")
        if not re.fullmatch("[0-9a-f]{8}", key_hash) or not re.fullmatch("([A-Za-z0-9+/]{4}){11}", key):
            raise Unreadable(f"the file of keys, {file}: {vkey!r} is no key, which is name+8 hex digits+base64")
    if not vkeys:
        raise Unreadable(f"the file of keys, {file}: there is no key in it")
    return vkeys


class Mirror:
    """A folder that holds what a house has shown, as far as it is proven."""

    def __init__(self, house: str, folder: Path) -> None:
        self._log, self._folder = f"{house.rstrip('/')}/log/", folder
        self._size = 0  # events of the tree that is looked at
        self._used: set[str] = set()  # names of its files
        self._proven: dict[tuple[int, int], Sequence[bytes]] = {}  # tiles above the leaves, and all at its edge
        self._stored: set[str] = set()  # names of the files that were here before
        self.fetched = 0  # entries

    def fetch(self, name: str) -> bytes:
        """Ask the house, and again after a while where it asks for that."""
        request = urllib.request.Request(  # noqa: S310  (the user names the house)
            self._log + name, headers={"Cache-Control": "no-cache"}
        )
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                    return bytes(answer.read())
            except urllib.error.HTTPError as refused:
                if refused.code != HTTPStatus.TOO_MANY_REQUESTS:
                    raise Unreadable(f"the house answers {refused.code} to {name}: {refused.reason}") from refused
                time.sleep(float(refused.headers.get("Retry-After", "60")))

    def keep(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all."""
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        part = self._folder / ".part"
        part.write_bytes(data)
        part.replace(self._folder / name)

    def prove(self, signed: Signed, last: Signed | None) -> None:
        """Fetch the missing part of a tree, and verify all of it against its root; *last* is the tree that was proven
        the last time. Raises Wrong.
        """
        if last and last != signed and (last.origin != signed.origin or last.size >= signed.size):
            raise Wrong(f"it was {last} the last time, which {signed} does not go on from")
        self._size, edge = signed.size, {}
        for level in range(8):
            number, width = divmod(signed.size >> 8 * level, WIDTH)
            if width:
                edge[level, number] = self._read(level, number, self.fetch)
        if root_from(lambda *tile: edge[tile], signed.size) != signed.root:
            raise Wrong(f"the tiles at the edge do not lead to the root of {signed.size} events that was signed")
        for tile, hashes in edge.items():
            self._take(*tile, hashes)
        if last and root_from(self.tile, last.size) != last.root:
            raise Wrong(f"the log does not begin with the {last.size} events that it had the last time")
        for number in range(-(-signed.size // WIDTH)):
            self._prove_entries(number, self.tile(0, number))
            self._proven.pop((0, number))
        for name in self._used:  # what a tile held when there was less of it is the beginning of it
            for stored in self._narrower(name).values():
                if not (self._folder / name).read_bytes().startswith(stored.read_bytes()):
                    raise Wrong(
                        f"{stored.relative_to(self._folder).as_posix()}, as it was kept, is not what was signed"
                    )

    def compare(self, most: int) -> int:
        """Ask again for up to *most* of the files that were here already, and return how many are what they were.
        Raises Wrong.
        """
        names = random.sample(sorted(self._stored), min(most, len(self._stored)))
        for name in names:
            shown, kept = self.fetch(name), (self._folder / name).read_bytes()
            if shown != kept:
                others = enumerate(zip(split(kept), split(shown), strict=False)) if "/entries/" in name else ()
                place = next((f"entry {at} of " for at, (one, other) in others if one != other), "")
                raise Wrong(f"{place}{name}, as it is shown, is not what was signed and is kept here")
        return len(names)

    def tile(self, level: int, number: int) -> Sequence[bytes]:
        """Return the hashes of a tile, proven by the tiles above it. Raises Wrong."""
        if (level, number) not in self._proven:
            hashes = self._read(level, number, self._have)
            if root_of(hashes) != self.tile(level + 1, number // WIDTH)[number % WIDTH]:
                raise Wrong(f"{self._whose(path(level, number, WIDTH))} does not lead to the root that was signed")
            self._take(level, number, hashes)
        return self._proven[level, number]

    def _narrower(self, name: str) -> dict[int, Path]:
        """Return what is kept of a tile from when the tree had less of it, by its width."""
        whole = self._folder / name
        folder = whole.parent if whole.parent.suffix == ".p" else whole.with_name(f"{whole.name}.p")
        return {int(file.name): file for file in folder.glob("*") if file.name.isdecimal() and file != whole}

    def tidy(self) -> None:
        """Remove the narrower tiles of earlier trees, which this one has wider."""
        for file in (self._folder / "tile").rglob("*"):
            if file.is_file() and file.relative_to(self._folder).as_posix() not in self._used:
                file.unlink()

    def _have(self, name: str) -> bytes:
        """Return a file of the log, as it is here or as the house has it."""
        stored = self._folder / name
        return stored.read_bytes() if stored.exists() else self.fetch(name)

    def _whose(self, name: str) -> str:
        return f"{name}, as it {'was kept' if (self._folder / name).exists() else 'is shown'},"

    def _read(self, level: int, number: int, get: Callable[[str], bytes]) -> Sequence[bytes]:
        width = min(WIDTH, (self._size >> 8 * level) - WIDTH * number)
        data = get(path(level, number, width))
        if len(data) != width * HASH:
            raise Wrong(f"{path(level, number, width)} does not hold {width} hashes")
        return [data[at : at + HASH] for at in range(0, len(data), HASH)]

    def _keep_new(self, name: str, data: bytes) -> bool:
        self._used.add(name)
        is_new = not (self._folder / name).exists()
        if is_new:
            self.keep(name, data)
        elif (self._folder / name).read_bytes() != data:
            raise Wrong(f"{self._whose(name)} is not what was signed")
        else:
            self._stored.add(name)
        return is_new

    def _take(self, level: int, number: int, hashes: Sequence[bytes]) -> None:
        self._proven[level, number] = hashes
        self._keep_new(path(level, number, len(hashes)), b"".join(hashes))

    def _prove_entries(self, number: int, leaves: Sequence[bytes]) -> None:
        name = path("entries", number, len(leaves))
        data, at = self._have(name), 0
        for leaf, hashed in enumerate(leaves, start=number * WIDTH):
            begin, at = at + 2, at + 2 + int.from_bytes(data[at : at + 2], "big")
            if hashlib.sha256(b"\x00" + data[begin:at]).digest() != hashed:
                raise Wrong(f"event {leaf} in {self._whose(name)} is not the one that was signed")
        if at != len(data):
            raise Wrong(f"{self._whose(name)} holds more than {len(leaves)} events")
        before = max((width for width in self._narrower(name) if width < len(leaves)), default=0)
        self.fetched += (len(leaves) - before) * self._keep_new(name, data)


def main() -> int:
    """Mirror what the command line names, and say what was proven."""
    parser = argparse.ArgumentParser(description="Mirror the event log of a house, and prove it.")
    parser.add_argument("house", help="its address: https://casino.example")
    parser.add_argument("folder", type=Path, help="where the mirror lies")
    parser.add_argument("--keys", type=Path, required=True, help="the keys of the log, from elsewhere than the house")
    parser.add_argument("--compare", type=int, default=1000, help="how many stored files to ask for again (1000)")
    given = parser.parse_args()
    try:
        vkeys = read_keys(given.keys)
        mirror = Mirror(given.house, given.folder)
        note = mirror.fetch("checkpoint")
        signed, stored = read_checkpoint(note.decode(), vkeys), given.folder / "checkpoint"
        last = read_checkpoint(stored.read_text(), vkeys) if stored.exists() else None
        mirror.prove(signed, last)
        again = mirror.compare(given.compare) if last else 0
        mirror.keep(f"checkpoints/{signed.size}", note)
        mirror.keep("checkpoint", note)
        mirror.tidy()
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        return 1
    except Unreadable as unreadable:
        print(f"Cannot be read: {unreadable}")
        return 2
    except urllib.error.URLError as error:
        print(f"Cannot be read: the house at {given.house}: {error.reason}")
        return 2
    except (OSError, HTTPException, ValueError, IndexError) as error:
        print(f"Cannot be read: what the house shows, or a file in {given.folder}: {error}")
        return 2
    print(f"{signed.origin}: {signed.size} events, all as they were signed; {mirror.fetched} of them are new here.")
    if last:
        print(f"The first {last.size} are those of the last time; {again} of their files were asked for again.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
