#!/usr/bin/env python3
"""A witness of event logs (C2SP tlog-witness): cosigns each tree of a log that goes on from the last one it cosigned.

    python examples/witness.py FOLDER --name friend.example/witness --log KEYS [--listen 127.0.0.1:8099]

Run it on a machine that the operator of the log does not control, behind a web server with TLS. KEYS is a file with the
public keys of a log, a line each, from its operator by another way than the log; --log may be repeated. The first line
that it prints is its own public key, for the operator. Needs Python 3.11 and `cryptography`. FOLDER holds its key and
the last checkpoint of each log: never restore an older copy of it, or it would cosign a second history. A log that
shows it another history, or a shorter one, gets no cosignature, and the witness prints that.
"""

import argparse
import base64
import hashlib
import os
import re
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519, COSIGNATURE = 1, 4  # kinds of keys (C2SP signed-note, tlog-cosignature)
MOST = 64 * 1024  # bytes of a request
REQUEST = re.compile(
    r"old (?P<old>0|[1-9][0-9]{0,18})\n(?P<proof>(?:[A-Za-z0-9+/]{43}=\n){0,63})\n"
    r"(?P<text>(?P<origin>[^\n]+)\n(?P<size>[1-9][0-9]{0,18})\n(?P<root>[A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n"
    r"(?P<signatures>(?:— [^ \n]+ [A-Za-z0-9+/]+={0,2}\n)+)"
)  # a log signs no empty tree
CONFLICT = 409


class Refused(Exception):
    """No cosignature, with the status and the text of the answer."""


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Return the four bytes that a signature line begins with."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees (RFC 6962)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def extends(old: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> bool:
    """Return whether the tree of *size* leaves begins with the one of *old*, at least 1 (RFC 9162, 2.1.4.2)."""
    if old == size:
        return not proof and old_root == root
    steps = list(proof) if old & (old - 1) else [old_root, *proof]
    if not steps:
        return False
    at, last = old - 1, size - 1
    while at % 2:
        at, last = at >> 1, last >> 1
    before = after = steps[0]
    for step in steps[1:]:
        if not last:
            return False
        if at % 2 or at == last:
            before, after = node(step, before), node(step, after)
            while at and at % 2 == 0:
                at, last = at >> 1, last >> 1
        else:
            after = node(after, step)
        at, last = at >> 1, last >> 1
    return not last and before == old_root and after == root


class Witness:
    """Its key, the logs that it knows, and the last checkpoint of each."""

    def __init__(self, folder: Path, name: str, logs: Sequence[Path]) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, self._name, self._lock = folder, name, threading.Lock()
        key = folder / "key"
        if not key.exists():
            self._keep(key, Ed25519PrivateKey.generate().private_bytes_raw().hex().encode())
        self._key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(key.read_text()))
        public = self._key.public_key().public_bytes_raw()
        self._id = key_id(name, COSIGNATURE, public)
        self.vkey = f"{name}+{self._id.hex()}+{base64.b64encode(bytes([COSIGNATURE]) + public).decode()}"
        self._trusted: dict[str, dict[bytes, bytes]] = {}  # by origin: public keys by their id
        for line in "\n".join(log.read_text() for log in logs).split():
            origin, _, rest = line.partition("+")
            data = base64.b64decode(rest.partition("+")[2])
            keys = self._trusted.setdefault(origin, {})
            if data[0] == ED25519:
                keys[key_id(origin, ED25519, data[1:])] = data[1:]

    def add(self, request: str) -> str:
        """Cosign a checkpoint and return the line. Raises Refused, InvalidSignature; ValueError for no request."""
        found = REQUEST.fullmatch(request)
        if found is None or int(found["old"]) > int(found["size"]):
            raise ValueError
        origin, old, size = found["origin"], int(found["old"]), int(found["size"])
        proof, tree = [base64.b64decode(line) for line in found["proof"].split()], base64.b64decode(found["root"])
        self._demand_signed(origin, found["text"], found["signatures"])
        with self._lock:  # so that nothing comes between the comparison and what is written down
            log = hashlib.sha256(origin.encode()).hexdigest()
            last = self.last(log).split("\n")
            kept, kept_root = (int(last[1]), base64.b64decode(last[2])) if len(last) > 2 else (0, b"")
            if old != kept:
                raise Refused(CONFLICT, f"{kept}\n")
            if not (extends(kept, size, proof, kept_root, tree) if kept else not proof):
                raise Refused(422, f"the tree of {size} leaves does not go on from the one of {kept} that was cosigned")
            now = int(time.time())
            signature = self._key.sign(f"cosignature/v1\ntime {now}\n{found['text']}".encode())
            line = f"— {self._name} {base64.b64encode(self._id + now.to_bytes(8, 'big') + signature).decode()}\n"
            self._keep(self._folder / f"{log}.checkpoint", f"{found['text']}\n{found['signatures']}{line}".encode())
        return line

    def last(self, hashed: str) -> str:
        """Return the last checkpoint cosigned of the log whose origin has this SHA-256, "" without one."""
        file = self._folder / f"{hashed}.checkpoint"
        return file.read_text() if file.exists() else ""

    def _demand_signed(self, origin: str, text: str, signatures: str) -> None:
        if origin not in self._trusted:
            raise Refused(404, "this log is not known here")
        is_signed = False
        for _dash, name, data in (line.split(" ") for line in signatures.splitlines()):
            signature = base64.b64decode(data)
            public = self._trusted[origin].get(signature[:4])
            if name == origin and public:
                Ed25519PublicKey.from_public_bytes(public).verify(signature[4:], text.encode())
                is_signed = True
        if not is_signed:
            raise Refused(403, "no known key has signed this")

    def _keep(self, file: Path, data: bytes) -> None:
        """Write a file whole, and to the disk."""
        draft = file.with_suffix(".draft")
        draft.write_bytes(data)
        os.sync()
        draft.replace(file)
        os.sync()


class Handler(BaseHTTPRequestHandler):
    """Answers both kinds of requests."""

    witness: Witness
    timeout = 20

    def do_POST(self) -> None:
        """Cosign, or say why not."""
        try:
            length = int(self.headers.get("Content-Length", ""))
            if self.path != "/add-checkpoint" or not 0 < length <= MOST:
                raise Refused(404, "POST /add-checkpoint")
            self._answer(200, self.witness.add(self.rfile.read(length).decode()))
        except Refused as refusal:
            print("refused:", *refusal.args, flush=True)
            self._answer(*refusal.args)
        except InvalidSignature:
            self._answer(403, "a signature of a known key is wrong")
        except ValueError:
            self._answer(400, "this is no request")

    def do_GET(self) -> None:
        """Show the last checkpoint of a log."""
        found = re.fullmatch("/([0-9a-f]{64})/checkpoint", self.path)
        note = self.witness.last(found[1]) if found else ""
        self._answer(200 if note else 404, note or "there is no checkpoint")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/x.tlog.size" if status == CONFLICT else "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words: object) -> None:
        """Say nothing of requests that were answered."""


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where the witness keeps its key and its memory")
    parser.add_argument("--name", required=True, help="of this witness: friend.example/witness")
    parser.add_argument("--log", type=Path, action="append", required=True, help="a file with the keys of a log")
    parser.add_argument("--listen", default="127.0.0.1:8099", help="address and port")
    given = parser.parse_args()
    host, _, port = given.listen.rpartition(":")
    Handler.witness = Witness(given.folder, given.name, given.log)
    server = ThreadingHTTPServer((host, int(port)), Handler)
    print(f"{Handler.witness.vkey}\nlistening on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
