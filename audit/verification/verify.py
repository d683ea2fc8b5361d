"""Standalone verification of the event log: hashes, proofs and signatures, with only the Python
standard library (3.11 or newer). The application uses the same functions, and every export contains
this file:

    python3 -I verify.py EXPORT --keys KEYS [--checkpoint FILE] [--from LEAF] [--to LEAF]

The whole log has to be there, or the part that is named: a missing tile is a finding.

Hashes and proofs follow RFC 6962, section 2.1; signatures RFC 8032, section 5.1; tiles,
checkpoints, keys and proof files C2SP: tlog-tiles, tlog-checkpoint, signed-note, tlog-cosignature,
tlog-proof. Leaves are counted from 0.

Input is not trusted: no file is read beyond the largest size of its kind, and anything invalid is
reported as a sentence.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import bisect
import hashlib
import io
import json
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

HASH = 32  # bytes
LONGEST_NUMBER = 19  # digits of a number of leaves: they are counted in 64 bits
WIDTH = 256  # hashes in a whole tile
EMPTY = hashlib.sha256(b"").digest()
"""The root of a tree without leaves."""


SALT = 16
"""Length in bytes of the salt of an event or a personal value. It is fixed so that the start of what is hashed cannot
pass for salt.
"""
UNSALTED = bytes(SALT)
"""Takes the place of the salt in a file of events, where an event has none."""


class Unproven(Exception):
    """Something is not proven; the message tells the auditor what."""


UNREADABLE = (
    *(Unproven, OSError, EOFError, RuntimeError, ValueError, ArithmeticError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
"""Exceptions that reading an invalid file can raise. ValueError includes text that is not UTF-8 or
not JSON; RuntimeError includes JSON that is nested too deeply and an encrypted ZIP.
"""


def plain(text: str) -> str:
    """Return text with unprintable and terminal control characters escaped."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def entry_of(event: bytes, salt: bytes) -> bytes:
    """Return what the public log shows of an event: the event itself where it has no salt, else only
    the hash of salt and event.
    """
    return b'{"hash":"%s"}' % hashlib.sha256(salt + event).hexdigest().encode() if salt else event


def leaf_hash(entry: bytes) -> bytes:
    """Return the leaf hash of a log entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree with these leaf hashes, `EMPTY` where there are none."""
    if not hashes:
        return EMPTY
    level = list(hashes)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [hashlib.sha256(b"\x01" + left + right).digest() for left, right in pairs] + odd
    return level[0]


def demand_included(*, leaf: int, size: int, hashed: bytes, proof: Sequence[bytes], root: bytes) -> None:
    """Check that a leaf with this hash is at index *leaf* of the tree with *size* leaves and this
    root (RFC 9162, 2.1.3.2). Raises Unproven.
    """
    if not 0 <= leaf < size:
        raise Unproven(f"there is no leaf {leaf} in a tree of {size}")
    at, last, found = leaf, size - 1, hashed
    for step in proof:
        if last == 0:
            raise Unproven(f"the proof of leaf {leaf} is too long")
        if at % 2 or at == last:
            found = node_hash(step, found)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, step)
        at, last = at >> 1, last >> 1
    if last != 0 or found != root:
        raise Unproven(f"leaf {leaf} is not proven by the tree of {size} leaves")


def demand_extended(*, old: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> None:
    """Check that the tree with *size* leaves starts with the tree with *old* leaves (RFC 9162,
    2.1.4.2). Raises Unproven.
    """
    if old > size:
        raise Unproven(f"a tree of {size} leaves does not extend one of {old}")
    if old in (0, size):
        if proof or (old == size and old_root != root):
            raise Unproven(f"two different trees of {size} leaves" if old else "an empty tree needs no proof")
        return
    steps = list(proof) if old & (old - 1) else [old_root, *proof]
    if not steps:
        raise Unproven(f"nothing shows that the tree of {size} leaves extends the one of {old}")
    at, last = old - 1, size - 1
    while at % 2:
        at, last = at >> 1, last >> 1
    before = after = steps[0]
    for step in steps[1:]:
        if last == 0:
            raise Unproven(f"the proof from {old} to {size} leaves is too long")
        if at % 2 or at == last:
            before, after = node_hash(step, before), node_hash(step, after)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, step)
        at, last = at >> 1, last >> 1
    if last != 0 or before != old_root or after != root:
        raise Unproven(f"the tree of {size} leaves does not extend the one of {old}")


@dataclass(frozen=True)
class Tree:
    """The content of a checkpoint (C2SP tlog-checkpoint)."""

    origin: str
    size: int
    root: bytes

    @classmethod
    def of(cls, body: str) -> Tree:
        """Parse the text of a checkpoint. Raises Unproven."""
        lines = body.split("\n")
        if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
            raise Unproven("a checkpoint has an origin, a size and a root, a line each")
        origin, size, root = lines[:3]
        return cls(origin, _number(size), decoded(root, HASH))

    @property
    def body(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def decoded(text: str, length: int | None = None) -> bytes:
    """Decode base64, of *length* bytes if given. Raises Unproven."""
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unproven(f"{text[:80]!r} is no base64") from error
    if length is not None and len(value) != length:
        raise Unproven(f"{text[:80]!r} is not {length} bytes")
    return value


def hashes_of(lines: Iterable[str]) -> list[bytes]:
    """Parse a proof: one base64 hash per line. Raises Unproven."""
    return [decoded(line, HASH) for line in lines]


def _number(text: str) -> int:
    if len(text) > LONGEST_NUMBER or not text.isdecimal() or str(int(text)) != text:
        raise Unproven(f"{text[:80]!r} is no number of leaves")
    return int(text)


# Ed25519: the curve -x² + y² = 1 + D x² y² modulo PRIME. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z and xy = T/Z.
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT_OF_MINUS_ONE = pow(2, (PRIME - 1) // 4, PRIME)
Point = tuple[int, int, int, int]
ZERO: Point = (0, 1, 1, 0)


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the 64 bytes of *signature* are an Ed25519 signature of *message* under the 32
    bytes of *public* (RFC 8032, 5.1.7). Takes some milliseconds.
    """
    key, base = _point(public), _point((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))
    factor = int.from_bytes(signature[32:], "little")
    if key is None or base is None or len(signature) != 64 or factor >= ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    minus_key = (-key[0] % PRIME, key[1], 1, -key[3] % PRIME)
    terms = (ZERO, base, minus_key, _sum(base, minus_key))
    found = ZERO  # computes factor · base - challenge · key, from the highest bit down
    for bit in reversed(range(253)):
        found = _sum(_sum(found, found), terms[(factor >> bit & 1) | (challenge >> bit & 1) << 1])
    inverse = pow(found[2], -1, PRIME)
    x, y = found[0] * inverse % PRIME, found[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


def _sum(one: Point, other: Point) -> Point:
    """Add two points (RFC 8032, 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0])
    b = (one[1] + one[0]) * (other[1] + other[0])
    c = 2 * D * one[3] * other[3]
    d = 2 * one[2] * other[2]
    e, f, g, h = (b - a) % PRIME, (d - c) % PRIME, (d + c) % PRIME, (b + a) % PRIME
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def _point(encoded: bytes) -> Point | None:
    """Decode a point (RFC 8032, 5.1.3); None where it is not on the curve."""
    y = int.from_bytes(encoded, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * ROOT_OF_MINUS_ONE % PRIME
    if len(encoded) != 32 or y >= PRIME or x * x % PRIME != square or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = PRIME - x
    return x, y, 1, x * y % PRIME


LAST_SECOND = 253_370_764_800  # the start of the year 9999: datetime cannot represent much later times
LOG = 1  # a key that signs the text of a note (C2SP signed-note)
TIME = 4  # a key whose signatures include their time (C2SP tlog-cosignature, cosignature/v1)


@dataclass(frozen=True)
class Key:
    """A public key and its name; *kind* is `LOG` or `TIME`."""

    name: str
    kind: int
    public: bytes

    @classmethod
    def of(cls, vkey: str) -> Key:
        """Parse ``name+hash+base64`` (C2SP signed-note, verifier keys). Raises Unproven."""
        name, hashed, data = vkey.split("+", 2) if vkey.count("+") >= 2 else ("", "", "")
        public = decoded(data)
        if not name or name.split() != [name] or len(public) != 33 or public[0] not in (LOG, TIME):
            raise Unproven(f"{vkey!r} is no key that this program knows")
        key = cls(name, public[0], public[1:])
        if key.hash.hex() != hashed:
            raise Unproven(f"{vkey!r} does not have the hash {key.hash.hex()} of its key")
        return key

    @property
    def hash(self) -> bytes:
        """The four-byte key ID that identifies the key among those of the same name."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    @property
    def vkey(self) -> str:
        """The key as text, in the format that `of` parses."""
        return f"{self.name}+{self.hash.hex()}+{base64.b64encode(bytes([self.kind]) + self.public).decode()}"

    def line(self, signature: bytes) -> str:
        """Return a signature as a line of a note, without the line end. The signature of a `TIME`
        key starts with its time (eight bytes, big-endian).
        """
        return f"— {self.name} {base64.b64encode(self.hash + signature).decode()}"

    def __str__(self) -> str:
        return f"{self.name} ({self.hash.hex()})"


def time_message(body: str, seconds: int) -> bytes:
    """Return the message that a `TIME` key signs for a checkpoint's text; *seconds* is Unix time."""
    return f"cosignature/v1\ntime {seconds}\n{body}".encode()


def keys_of(text: str) -> list[Key]:
    """Parse keys, one per line; empty lines and lines that start with # are ignored. Raises Unproven."""
    lines = (line.strip() for line in text.splitlines())
    return [Key.of(line) for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True)
class Checkpoint:
    """A signed tree; *seconds* is the Unix time of signing by the signer's clock, None where no
    known key gives it.
    """

    tree: Tree
    seconds: int | None

    def __str__(self) -> str:
        when = f", signed at {moment(self.seconds)}" if self.seconds is not None else ""
        return f"the tree of {self.tree.size} leaves of {self.tree.origin}{when}"

    @classmethod
    def of(cls, note: str, keys: Sequence[Key], check: Callable[[bytes, bytes, bytes], bool] = is_signed) -> Checkpoint:
        """Parse and verify a signed note. One of the *keys* with the log's name must have signed
        it, and a `TIME` key as well if there is any among *keys*. One wrong signature of a known
        key invalidates the note. Raises Unproven.
        """
        body, signatures = signatures_of(note)
        tree, logged, times = Tree.of(body), False, []
        for key in keys:
            for signature in signatures.get((key.name, key.hash), []):
                timed = key.kind == TIME
                seconds = int.from_bytes(signature[:8], "big") if timed else 0
                message = time_message(body, seconds) if timed else body.encode()
                if not check(key.public, message, signature[8:] if timed else signature):
                    raise Unproven(f"the signature of {key} on the tree of {tree.size} leaves is wrong")
                if timed and seconds > LAST_SECOND:
                    raise Unproven(f"the tree of {tree.size} leaves is signed at no time: {seconds}")
                if timed:
                    times.append(seconds)
                logged = logged or (not timed and key.name == tree.origin)
        if not logged:
            names = ", ".join(f"{name} ({hashed.hex()})" for name, hashed in signatures) or "nobody"
            raise Unproven(
                f"no key given for {tree.origin} has signed the tree of {tree.size} leaves; it is signed by {names}"
            )
        if not times and any(key.kind == TIME for key in keys):
            raise Unproven(f"the tree of {tree.size} leaves bears no time of a key given")
        return cls(tree, min(times, default=None))


def signers_of(note: str) -> set[tuple[str, bytes]]:
    """Return the name and hash of each key that a note lists as signer, without verifying (see
    `Checkpoint.of`). Raises Unproven.
    """
    return set(signatures_of(note)[1])


def signatures_of(note: str) -> tuple[str, dict[tuple[str, bytes], list[bytes]]]:
    """Return the text of a note and its signatures, by name and hash of the key."""
    text, parted, lines = note.rpartition("\n\n")
    if not parted or not lines.endswith("\n") or any(sign < " " and sign != "\n" for sign in note):
        raise Unproven("a signed note is text, an empty line, and signatures")
    signatures: dict[tuple[str, bytes], list[bytes]] = {}
    for line in lines[:-1].split("\n"):
        dash, name, data = line.split(" ") if line.count(" ") == 2 else ("", "", "")
        signature = decoded(data)
        if dash != "—" or not name or len(signature) < 5:
            raise Unproven(f"{line[:80]!r} is no signature")
        signatures.setdefault((name, signature[:4]), []).append(signature[4:])
    return text + "\n", signatures


def tile_path(level: int | str, number: int, width: int = WIDTH) -> str:
    """Return the path of a tile of hashes of *level*, or of ``"entries"`` (C2SP tlog-tiles):
    ``tile/0/x001/067``, with ``.p/`` and its *width* for a partial tile.
    """
    digits = str(number).zfill(-(-len(str(number)) // 3) * 3)
    *before, last = (digits[at : at + 3] for at in range(0, len(digits), 3))
    path = "/".join([*(f"x{group}" for group in before), last])
    return f"tile/{level}/{path}" + ("" if width == WIDTH else f".p/{width}")


def events_path(number: int, width: int = WIDTH) -> str:
    """Return the path of the file with the events of a tile of entries, each with its salt."""
    return tile_path("entries", number, width).replace("tile/entries/", "events/")


@dataclass(frozen=True)
class Proof:
    """A proof that an entry is a leaf of a signed tree (C2SP tlog-proof): leaf, hashes up to the root, checkpoint. Its
    extra data is the salt with which the event is hashed into the entry, if it has one.
    """

    leaf: int
    hashes: list[bytes]
    note: str
    salt: bytes = b""

    @classmethod
    def of(cls, text: str) -> Proof:
        """Parse a proof. Raises Unproven."""
        head, _, note = text.partition("\n\n")
        salt, lines = b"", head.split("\n")
        if "".join(lines[1:2]).startswith("extra "):
            salt = decoded(lines.pop(1)[len("extra ") :], SALT)
        if lines[0] != "c2sp.org/tlog-proof@v1" or not "".join(lines[1:2]).startswith("index "):
            raise Unproven("a proof begins with c2sp.org/tlog-proof@v1 and the index of its leaf")
        return cls(_number(lines[1][len("index ") :]), hashes_of(lines[2:]), note, salt)


def split(hashes: bytes) -> list[bytes]:
    """Split a tile into its hashes."""
    return [hashes[at : at + HASH] for at in range(0, len(hashes), HASH)]


def root_from(tiles: Callable[[int, int], list[bytes]], size: int) -> bytes:
    """Return the root over the first *size* leaves. *tiles* returns the hashes of a tile by level
    and number; it may return more than needed. Raises Unproven where it returns fewer.
    """
    found, level = b"", 0
    while count := size >> 8 * level:
        number, width = divmod(count, WIDTH)
        hashes = tiles(level, number)[:width] if width else []
        if len(hashes) < width:
            raise Unproven(f"{tile_path(level, number, width)} is missing: the root over {size} leaves needs it")
        while width:  # the complete subtrees at the right edge, smallest first
            width &= width - 1
            peak, hashes = root_of(hashes[width:]), hashes[:width]
            found = node_hash(peak, found) if found else peak
        level += 1
    return found or EMPTY


LONGEST = 600
"""Maximum age in seconds of an event relative to the checkpoint before its leaf. An event is dated
when it is written and sealed after its transaction ends. No transaction lasts minutes, and a
signature follows within seconds of the last sealing. This also covers the difference between the
clocks.
"""


class Times:
    """Time bounds of each leaf's event, from the times at which checkpoints were signed."""

    def __init__(self, checkpoints: Iterable[Checkpoint]) -> None:
        known = sorted({(each.tree.size, each.seconds) for each in checkpoints if each.seconds is not None})
        self._sizes = [size for size, _ in known]
        self._earliest = ["", *(moment(seconds - LONGEST) for _, seconds in known)]
        self._latest = [*(moment(seconds + LONGEST) for _, seconds in known), "~"]

    def of(self, leaf: int) -> tuple[str, str]:
        """Return the earliest and latest possible time, in the format of events. Where a bound is
        unknown, it is a string that sorts before, or after, every time.
        """
        at = bisect.bisect_right(self._sizes, leaf)
        return self._earliest[at], self._latest[at]


def moment(seconds: int) -> str:
    """Format a time as events do, so that the two can be compared as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


NOTE = 64 * 1024  # bytes; the longest note, proof or key file that is read, and longer than any event
ENTRIES = WIDTH * (2 + 65535)  # bytes of the longest tile of entries
LINE = 1024 * 1024  # bytes of the longest line of personal values
MANY = 1000  # invalid lines of personal values after which reading stops: a ZIP can unpack to any number
HASHED = b'{"hash":'  # start of an entry that shows only the hash of an event
NAMED = 20  # missing files that are named
COMPANIONS = frozenset({"README.txt", "verify.py", "keys"})
"""Files of every export that prove nothing."""


def read(path: Path) -> str:
    """Return the text of a note or key file. Raises OSError, UnicodeDecodeError, and Unproven where
    it is too long.
    """
    with path.open("rb") as file:
        return _whole(file, str(path), NOTE).decode()


def _whole(file: IO[bytes], name: str, most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise Unproven(f"{name} is longer than {most} bytes")
    return content


class Export:
    """Checks an export (folder or ZIP) with trusted keys and checkpoints that were kept elsewhere.
    It has to hold the events from leaf *first* up to and excluding *end*, to the last one where
    that is None. After `check`, `right` and `wrong` hold sentences about the result.

    Raises one of `UNREADABLE` where there is nothing to read.
    """

    def __init__(
        self,
        path: Path,
        keys: Sequence[Key],
        checkpoints: Sequence[Checkpoint] = (),
        *,
        first: int = 0,
        end: int | None = None,
    ) -> None:
        self._keys, self._checkpoints, self._path = keys, checkpoints, path
        self._first, self._end = first, end
        self._missing: list[str] = []
        self._zip = None if path.is_dir() else zipfile.ZipFile(path)
        files = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        names = [name for name in (self._zip.namelist() if self._zip else files) if not name.endswith("/")]
        self._twice = sorted(name for name, times in Counter(names).items() if times > 1)
        self._names = set(names)
        self.right: list[str] = []
        self.wrong: list[str] = []

    def check(self) -> None:
        """Check everything in the export: a log, or a single event."""
        if self._twice:  # it would be unclear which of the two is checked and which is read
            self.wrong.extend(f"{name} is in the ZIP more than once" for name in self._twice)
            return
        try:
            if "event.tlog-proof" in self._names:
                self._check_event(Proof.of(self._read("event.tlog-proof", NOTE).decode()))
            else:
                self._check_log(self._checkpoint("checkpoint"))
        except UNREADABLE as error:
            self.wrong.append(f"{error}" or type(error).__name__)

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._names:
            raise Unproven(f"{name} is missing")
        if self._zip is None:
            return (self._path / name).open("rb")
        packed = self._zip.getinfo(name)
        if packed.flag_bits & 1 or packed.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unproven(f"{name} is encrypted, or packed in another way than exports are")
        return self._zip.open(packed)

    def _read(self, name: str, most: int) -> bytes:
        """Return the content of a file. Raises one of `UNREADABLE`; Unproven where it is longer than *most* bytes."""
        with self._open(name) as file:
            return _whole(file, name, most)

    def _checkpoint(self, name: str) -> Checkpoint:
        return Checkpoint.of(self._read(name, NOTE).decode(), self._keys)

    def _tile(self, size: int, level: int, number: int) -> list[bytes]:
        """Return the hashes of a tile, cut to a tree of *size* leaves."""
        width = min(WIDTH, (size >> 8 * level) - WIDTH * number)
        name = tile_path(level, number, width)
        hashes = split(self._read(name, WIDTH * HASH))
        if len(hashes) != width or len(hashes[-1]) != HASH:
            raise Unproven(f"{name} does not hold {width} hashes")
        return hashes

    def _expect(self, names: Iterable[str]) -> None:
        """Report files that were not checked: nothing proves them."""
        for name in sorted(self._names - COMPANIONS - set(names)):
            self.wrong.append(f"{name} does not belong to such an export: nothing here proves it")

    def _check_event(self, proof: Proof) -> None:
        signed = Checkpoint.of(proof.note, self._keys)
        hashed, size = leaf_hash(entry_of(self._read("event.json", NOTE), proof.salt)), signed.tree.size
        demand_included(leaf=proof.leaf, size=size, hashed=hashed, proof=proof.hashes, root=signed.tree.root)
        self.right.append(f"The event is leaf {proof.leaf} of {signed}.")
        for checkpoint in self._checkpoints:
            if checkpoint.tree.size == size and checkpoint.tree != signed.tree:
                self.wrong.append(f"{checkpoint}, which was kept, has another root")
            elif checkpoint.tree.size != size:
                self.right.append(f"Whether it agrees with {checkpoint}, which was kept, takes an export of the log.")
        self._expect(["event.json", "event.tlog-proof"])

    def _check_log(self, signed: Checkpoint) -> None:
        size = signed.tree.size
        if size >> 16 > len(self._names):  # prevents a signed tree of 2⁶⁰ leaves from making this loop over all of them
            raise Unproven(f"{signed} has more tiles above its leaves than there are files here")
        tiles = lru_cache(WIDTH)(partial(self._tile, size))
        if root_from(tiles, size) != signed.tree.root:
            raise Unproven(f"the root that follows from the tiles is not that of {signed}")
        end = size if self._end is None else min(self._end, size)
        if not 0 <= self._first < end:
            raise Unproven(f"leaves from {self._first} up to {end} are no part of {signed}")
        part = range(self._first // WIDTH, -(-end // WIDTH))
        agree = [signed, *self._agreeing(signed, tiles)]
        self.right.append(f"The tiles are those of {signed}; {len(agree) - 1} other checkpoints agree with them.")
        self._check_tiles(size, tiles, part)
        self._check_entries(size, tiles, part, Times(agree))
        self.wrong.extend(f"{name} is missing" for name in self._missing[:NAMED])
        if len(self._missing) > NAMED:
            self.wrong.append(f"{len(self._missing) - NAMED} more files are missing")
        self._expect(_names_of(size, (name for name in self._names if name.startswith("checkpoints/"))))

    def _agreeing(self, signed: Checkpoint, tiles: Callable[[int, int], list[bytes]]) -> Iterator[Checkpoint]:
        """Yield the other checkpoints, from the export and kept elsewhere, that agree with the log;
        report the rest.
        """
        named = sorted(name for name in self._names if name.startswith("checkpoints/"))
        for each in [*map(self._checkpoint, named), *self._checkpoints]:
            if each.tree.origin != signed.tree.origin:
                self.wrong.append(f"{each} is of another log")
            elif each.tree.size > signed.tree.size:
                self.wrong.append(f"the log was {each} already: {signed} is an older state, or leaves are missing")
            elif root_from(tiles, each.tree.size) != each.tree.root:
                self.wrong.append(f"the root that follows from the tiles is not that of {each}")
            else:
                yield each

    def _check_tiles(self, size: int, tiles: Callable[[int, int], list[bytes]], part: range) -> None:
        """Check that the full tiles hash to the tiles above them, up to the root. Only tiles of
        level 0 outside the *part* may be missing.
        """
        for level in range(1, 8):
            for place in range(size >> 8 * level):
                below = tile_path(level - 1, place)
                if below not in self._names:
                    if level > 1 or place in part:
                        self._missing.append(below)
                elif root_of(tiles(level - 1, place)) != tiles(level, place // WIDTH)[place % WIDTH]:
                    self.wrong.append(f"{below} does not lead to what stands above it")

    def _check_entries(self, size: int, tiles: Callable[[int, int], list[bytes]], part: range, times: Times) -> None:
        personal, shown, whole = self._personal(), [], 0
        for number in range(-(-size // WIDTH)):
            width = min(WIDTH, size - WIDTH * number)
            path = tile_path("entries", number, width)
            if path in self._names:
                shown.append(number)
                proven = dict(self._proven(path, number, tiles(0, number)))
                for leaf, event, name in self._events(number, width, proven):
                    whole += 1
                    self._check_event_of(f"{name}: leaf {leaf}", event, times.of(leaf), personal.pop(leaf, []))
            elif number in part:
                self._missing.append(path)
        for leaf in sorted(personal):
            self.wrong.append(f"personal: leaf {leaf} is not among the events that are proven here")
        if shown:
            last = min(size, max(shown) * WIDTH + WIDTH) - 1
            self.right.append(
                f"Leaves {min(shown) * WIDTH} to {last} are here, of leaves 0 to {size - 1} there are; {whole} events"
                " are whole, and the others hashed."
            )

    def _events(self, number: int, width: int, proven: dict[int, bytes]) -> Iterator[tuple[int, bytes, str]]:
        """Yield leaf, event and file of the *proven* entries whose event is here: in the file of
        events, or else in the entry itself. Report events that are not those of their entries.
        """
        path = events_path(number, width)
        if path not in self._names:
            name = tile_path("entries", number, width)
            yield from ((leaf, entry, name) for leaf, entry in proven.items() if not entry.startswith(HASHED))
            return
        events = _entries(path, self._read(path, ENTRIES))
        if len(events) != width:
            self.wrong.append(f"{path} holds {len(events)} events, not {width}")
        for leaf, salted in enumerate(events, WIDTH * number):
            salt, event = salted[:SALT], salted[SALT:]
            if leaf in proven and entry_of(event, b"" if salt == UNSALTED else salt) == proven[leaf]:
                yield leaf, event, path
            else:
                self.wrong.append(f"{path}: leaf {leaf}: the event is not that of its entry")

    def _check_event_of(self, name: str, body: bytes, span: tuple[str, str], values: list[Value]) -> None:
        """Check the date of a proven event, and the personal values given for it."""
        try:
            event = json.loads(body)
            at, hashed = event["at"], event.get("personal", {})
            if not isinstance(at, str) or not isinstance(hashed, dict):
                raise TypeError
        except (*UNREADABLE, LookupError, TypeError, AttributeError):
            self.wrong.append(f"{name}: it is what was sealed, but no event")
            return
        earliest, latest = span
        if not earliest <= at <= latest:
            why = f"it is dated {at}, not between {earliest or 'the beginning'} and {latest}"
            self.wrong.append(f"{name}: {why}")
        for field, salt, value in values:
            if hashlib.sha256(salt + value).hexdigest() != hashed.get(field):
                self.wrong.append(
                    f"personal: {name.rpartition(': ')[2]}: {field} is not what the event was written with"
                )

    def _proven(self, path: str, number: int, hashes: list[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the entries of a tile that match their leaf hash; report the rest."""
        entries = _entries(path, self._read(path, ENTRIES))
        if len(entries) != len(hashes):
            self.wrong.append(f"{path} holds {len(entries)} entries, not {len(hashes)}")
        for at, (entry, hashed) in enumerate(zip(entries, hashes, strict=False)):
            leaf, found = WIDTH * number + at, leaf_hash(entry)
            if found == hashed:
                yield leaf, entry
            elif found in hashes:
                self.wrong.append(
                    f"{path}: leaf {leaf}: the entry of leaf {WIDTH * number + hashes.index(found)} is there"
                )
            else:
                self.wrong.append(f"{path}: leaf {leaf}: the entry is not the one that was sealed")

    def _personal(self) -> dict[int, list[Value]]:
        """Return personal values by leaf, if the export has any."""
        found: dict[int, list[Value]] = {}
        wrong = 0
        if "personal" not in self._names:
            return found
        with self._open("personal") as file:
            for number, line in enumerate(iter(partial(file.readline, LINE), b""), 1):
                try:
                    leaf, value = _value(json.loads(line))
                except (*UNREADABLE, TypeError):
                    self.wrong.append(f"personal: line {number} is no leaf, field, salt of {SALT} bytes and text")
                    wrong += 1
                    if wrong == MANY:
                        self.wrong.append("personal: what comes after that line was not read")
                        break
                else:
                    found.setdefault(leaf, []).append(value)
        return found


Value = tuple[str, bytes, bytes]
"""A personal value: field, salt, text."""


def _value(line: Any) -> tuple[int, Value]:
    """Parse a line of personal values. Raises ValueError or TypeError."""
    leaf, field, salt, text = line
    if type(leaf) is not int or not isinstance(field, str) or len(bytes.fromhex(salt)) != SALT:
        raise ValueError
    return leaf, (field, bytes.fromhex(salt), str.encode(text))


def _names_of(size: int, checkpoints: Iterable[str]) -> Iterator[str]:
    """Yield the file names that an export of a log of *size* leaves may contain."""
    yield from ("checkpoint", "personal", *checkpoints)
    for level in range(8):
        hashes = size >> 8 * level
        for number in range(-(-hashes // WIDTH)):
            width = min(WIDTH, hashes - WIDTH * number)
            yield tile_path(level, number, width)
            if not level:
                yield tile_path("entries", number, width)
                yield events_path(number, width)


def _entries(path: str, bundle: bytes) -> list[bytes]:
    """Split a tile of entries; each is preceded by its length (two bytes, big-endian). Raises
    Unproven where the last entry does not end the tile.
    """
    entries, at = [], 0
    while at < len(bundle):
        begin, at = at + 2, at + 2 + int.from_bytes(bundle[at : at + 2], "big")
        entries.append(bundle[begin:at])
    if at != len(bundle):
        raise Unproven(f"{path} does not end where its last entry says that it ends")
    return entries


def main() -> int:
    """Check the export on the command line and print the result. Return 0 if valid, 1 if not, 2 if unreadable."""
    parser = argparse.ArgumentParser(description="Check an export of the event log, or of one event.")
    parser.add_argument("export", type=Path, help="a folder or a zip")
    parser.add_argument("--keys", type=Path, required=True, help="the keys to believe, from elsewhere than the export")
    parser.add_argument("--checkpoint", type=Path, action="append", default=[], help="a checkpoint that you kept")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first leaf of a part of the log")
    parser.add_argument("--to", dest="end", type=int, help="the first leaf after that part")
    given = parser.parse_args()
    try:
        keys = keys_of(read(given.keys))
        checkpoints = [Checkpoint.of(read(file), keys) for file in given.checkpoint]
        export = Export(given.export, keys, checkpoints, first=given.first, end=given.end)
    except UNREADABLE as error:
        print(plain(f"Cannot be checked: {error}"))
        return 2
    export.check()
    for sentence in export.right:
        print(plain(sentence))
    for sentence in export.wrong:
        print(plain(f"WRONG: {sentence}"))
    print("Something is wrong." if export.wrong else "All that is here is proven.")
    return 1 if export.wrong else 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
