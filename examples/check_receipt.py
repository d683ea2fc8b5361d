#!/usr/bin/env python3
"""Compare a receipt of a Sabot house with a copy of its public event log: has the house kept its promise?

    python examples/check_receipt.py RECEIPT MIRROR --keys KEYS --dealer KEY

RECEIPT is a receipt (a signed note), a `.tlog-proof` of a round, the JSON of a receipt from the API, or the evidence
that the page Game logs saves. MIRROR is a folder that `mirror_log.py` has made. KEYS is the file with the public keys
of the log, KEY the public key of the dealer in hex; you have both by another way than from the person with the receipt.
Needs Python 3.11 and `cryptography`, and nothing of the house.

It verifies that the dealer signed the receipt, computes the root over all leaves of the mirror, compares it with the
signed checkpoint, and looks for the leaf that the receipt promises. Of a round that is the hash of its entry,
{"hash":"…"}; of bets at a shared table it is under the root in the public event `bets.sealed` of the round, and the
path to it is in the JSON of the receipt.

Status 0: the promise was kept. 1: it was broken, and the line after BROKEN says how; receipt and mirror are evidence of
it. 2: nothing can be said, and the line says why: another dealer signed the receipt, the time has not passed yet, or a
file cannot be read.
"""

import argparse
import base64
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HASH, WIDTH = 32, 256
SIGNS_LOGS, SIGNS_TIMES = 1, 4  # kinds of keys (C2SP signed-note)
NAME = "sabot.dealer"


class Broken(Exception):
    """The house has broken its promise; the message says how."""


class Unknown(Exception):
    """Nothing can be said; the message says why."""


class Receipt(NamedTuple):
    """A receipt and, of bets, where the house says that they are in the log."""

    note: str
    sealed: dict[str, Any] | None = None


def note_parts(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return the text of a note, and its signatures with their names. Raises Unknown."""
    text, gap, lines = note.rpartition("\n\n")
    found = [line.split(" ") for line in lines.splitlines()]
    if not gap or any(len(each) != 3 or each[0] != "—" for each in found):
        raise Unknown("this is not a signed note")
    return f"{text}\n", [(name, base64.b64decode(data)) for _dash, name, data in found]


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Return the hash of a key that its signatures begin with."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def is_signed(public: bytes, text: str, signature: bytes) -> bool:
    """Return whether a signature is of a text."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True


def read_receipts(file: Path) -> Iterator[Receipt]:
    """Yield the receipts in a file. Raises Unknown."""
    text = file.read_text(encoding="utf-8")
    if text.startswith("c2sp.org/tlog-proof@v1\nextra "):
        yield Receipt(base64.b64decode(text.split("\n")[1].removeprefix("extra ")).decode())
    elif text.startswith("sabot receipt v1\n"):
        yield Receipt(text)
    else:
        said = json.loads(text)
        for each in said.get("rounds", [said]):
            sealed = each.get("sealed") or (each.get("said") or {}).get("sealed")
            for note in each.get("kept", []) or [each["receipt"]]:
                yield Receipt(note, sealed)


def fields_of(receipt: Receipt, dealer: bytes) -> dict[str, str]:
    """Return what a receipt says. Raises Unknown unless the dealer signed it."""
    text, signatures = note_parts(receipt.note)
    begins = key_id(NAME, SIGNS_LOGS, dealer)
    mine = [data[4:] for name, data in signatures if name == NAME and data[:4] == begins]
    if not any(is_signed(dealer, text, signature) for signature in mine):
        raise Unknown("this dealer has not signed the receipt")
    first, *lines = text.splitlines()
    if first != "sabot receipt v1":
        raise Unknown("the dealer signed something that is no receipt")
    return dict(line.split("=", 1) for line in lines)


class Mirror:
    """A copy of the log, whose leaves lead to a root that the keys signed."""

    def __init__(self, folder: Path, vkeys: Sequence[str]) -> None:
        self._folder = folder
        text, signatures = note_parts((folder / "checkpoint").read_text())
        self.origin, size, root = text.split("\n")[:3]
        self.size, self.at = int(size), None
        is_of_log = False
        for name, key, kind in [self._key(vkey) for vkey in vkeys]:
            for signer, data in signatures:
                if (signer, data[:4]) != (name, key_id(name, kind, key)) or name != self.origin:
                    continue
                signed = data[4:]
                if kind == SIGNS_LOGS:
                    is_of_log = is_of_log or is_signed(key, text, signed)
                elif is_signed(key, f"cosignature/v1\ntime {int.from_bytes(signed[:8], 'big')}\n{text}", signed[8:]):
                    self.at = datetime.fromtimestamp(int.from_bytes(signed[:8], "big"), UTC)
        if not is_of_log or self.at is None:
            raise Unknown("the keys have not signed the checkpoint of the mirror, or not its time")
        self.leaves = list(self._leaves())
        if root_of(self.leaves) != base64.b64decode(root):
            raise Unknown("the leaves of the mirror do not lead to its root: make another mirror")

    @staticmethod
    def _key(vkey: str) -> tuple[str, bytes, int]:
        name, _hash, data = vkey.strip().split("+", 2)
        bytes_of = base64.b64decode(data)
        return name, bytes_of[1:], bytes_of[0]

    def _leaves(self) -> Iterator[bytes]:
        for number in range(-(-self.size // WIDTH)):
            data = self._tile("0", number)
            yield from (data[at : at + HASH] for at in range(0, len(data), HASH))

    def _tile(self, level: str, number: int) -> bytes:
        groups = [f"{number % 1000:03}"]
        rest = number // 1000
        while rest:
            groups.insert(0, f"x{rest % 1000:03}")
            rest //= 1000
        width = min(WIDTH, self.size - WIDTH * number)
        part = f".p/{width}" if width < WIDTH else ""
        return (self._folder / f"tile/{level}/{'/'.join(groups)}{part}").read_bytes()

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """Yield the entries with their places."""
        for number in range(-(-self.size // WIDTH)):
            data, place = self._tile("entries", number), number * WIDTH
            while data:
                end = 2 + int.from_bytes(data[:2], "big")
                yield place, data[2:end]
                data, place = data[end:], place + 1


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def leaf(entry: bytes) -> bytes:
    """Return the leaf of an entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root over leaves."""
    while len(hashes) > 1:
        pairs = [node(*hashes[at : at + 2]) for at in range(0, len(hashes) - 1, 2)]
        hashes = [*pairs, *hashes[len(pairs) * 2 :]]
    return hashes[0] if hashes else hashlib.sha256(b"").digest()


def climb(place: int, size: int, start: bytes, path: Sequence[bytes]) -> bytes | None:
    """Return the root to which a path leads from the leaf at a place; None if it has another length."""
    if size <= 1:
        return None if path else start
    if not path:
        return None
    left = 1 << (size - 1).bit_length() - 1
    if place < left:
        below = climb(place, left, start, path[:-1])
        return below and node(below, path[-1])
    below = climb(place - left, size - left, start, path[:-1])
    return below and node(path[-1], below)


def in_time(fields: dict[str, str], mirror: Mirror, what: str) -> Exception:
    """Return Broken where the promise was due when the mirror was signed, else Unknown."""
    due = datetime.fromisoformat(fields.get("closes", fields["at"])) + timedelta(seconds=int(fields["within"]))
    if mirror.at is None or mirror.at < due:
        return Unknown(f"{what}, but the house has time until {due:%Y-%m-%d %H:%M} UTC: mirror the log again then")
    return Broken(f"{what}, although it was promised until {due:%Y-%m-%d %H:%M} UTC")


def check_bets(fields: dict[str, str], sealed: dict[str, Any] | None, mirror: Mirror) -> str:
    """Return a sentence. Raises Broken, Unknown."""
    if not fields["stakes"]:
        return "it says that all bets were taken back: there is nothing to look for"
    name = f'"kind":"bets.sealed","on":"round:{fields["round"]}"}}'.encode()
    place, entry = next((found for found in mirror.entries() if found[1].endswith(name)), (0, b""))
    if not entry:
        raise in_time(fields, mirror, "the log does not have the bets of the round")
    if leaf(entry) != mirror.leaves[place]:
        raise Unknown(f"entry {place} of the mirror is not the one that was signed")
    data = json.loads(entry)["data"]
    names = ("round", "salt", "currency", "stakes")
    mine = leaf("".join(["sabot bet v1\n", *(f"{name}={fields[name]}\n" for name in names)]).encode())
    root = f"the root {data['root']} of {data['bets']} players' bets, entry {place} of the log"
    if not sealed:
        raise Unknown(f"the house has to show a path from {mine.hex()} to {root}; the JSON of the receipt has it")
    if climb(sealed["place"], data["bets"], mine, [bytes.fromhex(each) for each in sealed["path"]]) != bytes.fromhex(
        data["root"]
    ):
        raise Broken(f"the bets of this receipt are not under {root}; only the last receipt of a round counts")
    return f"the bets are under {root}"


def check(receipt: Receipt, mirror: Mirror, dealer: bytes) -> str:
    """Return a sentence about a receipt whose promise was kept. Raises Broken, Unknown."""
    fields = fields_of(receipt, dealer)
    about = f"round {fields['code']} ({fields['round']}), {fields['stakes'] or 'no bets'} {fields['currency']}"
    try:
        if fields["of"] == "bet":
            return f"{about}: {check_bets(fields, receipt.sealed, mirror)}"
        wanted = leaf(f'{{"hash":"{fields["entry"]}"}}'.encode())
        if wanted not in mirror.leaves:
            raise in_time(fields, mirror, f"the log of {mirror.size} events does not have the entry {fields['entry']}")
        return f"{about}: entry {mirror.leaves.index(wanted)} of the log"
    except (Broken, Unknown) as found:
        raise type(found)(f"{about}: {found}") from None


def main() -> int:
    """Check what the command line names."""
    parser = argparse.ArgumentParser(description="Hold a receipt against a copy of the public log.")
    parser.add_argument("receipt", type=Path, help="the file with the receipt, or with several")
    parser.add_argument("mirror", type=Path, help="the folder that mirror_log.py has made")
    parser.add_argument("--keys", type=Path, required=True, help="the keys of the log, from elsewhere than the house")
    parser.add_argument("--dealer", required=True, help="the public key of the dealer, in hex")
    given = parser.parse_args()
    status = 0
    try:
        mirror = Mirror(given.mirror, [line for line in given.keys.read_text().splitlines() if line.strip()])
        for receipt in read_receipts(given.receipt):
            try:
                print(f"Kept: {check(receipt, mirror, bytes.fromhex(given.dealer))}.")
            except Broken as broken:
                print(f"BROKEN: {broken}.")
                status = 1
            except Unknown as unknown:
                print(f"Nothing can be said: {unknown}.")
                status = status or 2
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, Unknown) as error:
        print(f"Nothing can be said: {error}.")
        return status or 2
    return status


if __name__ == "__main__":
    sys.exit(main())
