"""Requests to the signer.

Each connection carries one request: ``old`` and the number of leaves of the last signed tree; the
hashes that prove that the new tree extends it, in base64, a line each; an empty line; the text of
the checkpoint. The client then closes its sending side. The response is the signature lines; or
``last``, the number of leaves of the tree that *was* signed last, an empty line and that
checkpoint; or ``refused`` and the reason. The request ``last`` gets the second response.
"""

import socket
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from audit.key_folder import short
from audit.verification.verify import LONGEST_NUMBER, Tree

LONGEST: Final = 8192  # bytes of a request; the longest possible proof is shorter
SECONDS: Final = 5.0  # timeout of a request or its response


class SignerAway(Exception):
    """The signer does not answer; the request can be repeated later."""


class SignerRefused(Exception):
    """The signer refuses to sign this tree for good; the message is its reason."""


class AnotherTreeWasLast(Exception):
    """The signer's last tree is another one: the proof has to start from it. It has `size` leaves;
    `note` is its checkpoint, "" where nothing was signed yet.
    """

    def __init__(self, size: int, note: str) -> None:
        super().__init__(f"the tree that was signed last has {size} leaves")
        self.size, self.note = size, note


def sign(at: Path, tree: Tree, *, old: int, proof: Sequence[bytes]) -> str:
    """Return *tree* as a signed note: its text, an empty line, and the signature lines. *at* is the
    signer's socket, *proof* the consistency proof from the tree of *old* leaves.

    Raises SignerAway, SignerRefused, AnotherTreeWasLast.
    """
    question = "\n".join([f"old {old}", *(b64encode(step).decode() for step in proof), "", tree.body])
    answer = _ask(at, question.encode())
    word, _, rest = answer.partition(" ")
    if word == "last":
        raise _last(answer)
    if word == "refused":
        raise SignerRefused(rest.strip())
    if word != "—":
        raise SignerAway(f"the signer answers {answer[:80]!r}")
    return f"{tree.body}\n{answer}"


def last(at: Path) -> int:
    """Return the number of leaves of the last signed tree. Raises SignerAway."""
    return _last(_ask(at, b"last")).size


def _last(answer: str) -> AnotherTreeWasLast:
    """Parse a ``last`` response. Raises SignerAway."""
    head, _, note = answer.partition("\n\n")
    word, _, size = head.partition(" ")
    if word != "last" or len(size) > LONGEST_NUMBER or not (size.isascii() and size.isdecimal()):
        raise SignerAway(f"the signer answers {answer[:80]!r}")
    return AnotherTreeWasLast(int(size), note)


def _ask(at: Path, question: bytes) -> str:
    try:
        with socket.socket(socket.AF_UNIX) as line, short(at) as name:
            line.settimeout(SECONDS)
            line.connect(name)
            line.sendall(question)
            line.shutdown(socket.SHUT_WR)
            with line.makefile(encoding="utf-8") as answer:
                return answer.read(LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise SignerAway(f"the signer does not answer at {at}: {error}") from error
