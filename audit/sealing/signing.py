"""How the signer (`audit.sealing.signer`) is asked for signatures, over its unix socket. Django has no part in it.

One question to a connection. It begins with ``old`` and the number of leaves of the tree that was signed last; then
come the hashes that show that the new tree extends that one, in base64, a line each; an empty line; and the text of the
checkpoint. The asker closes its half, and is answered the lines of signatures, or ``last`` and the number of leaves of
the tree that *was* signed last, an empty line and that checkpoint, or ``refused`` and the reason. The question ``last``
is answered so, too.
"""

import os
import socket
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audit.verification.verify import LONGEST_NUMBER, Tree

LONGEST: Final = 8192  # bytes of a question; the longest proof there can be takes less
SECONDS: Final = 5.0  # that a question or its answer may take


class SignerAway(Exception):
    """Nobody signs now: the signer does not answer. Asking again later is all there is to do."""


class SignerRefused(Exception):
    """The signer does not sign this tree, and never will; the message is its reason."""


class AnotherTreeWasLast(Exception):
    """The signer signed a tree since: the proof has to begin with that one, of `size` leaves. `note` is its checkpoint,
    "" where nothing was signed yet.
    """

    def __init__(self, size: int, note: str) -> None:
        super().__init__(f"the tree that was signed last has {size} leaves")
        self.size, self.note = size, note


def sign(at: Path, tree: Tree, *, old: int, proof: Sequence[bytes]) -> str:
    """Return *tree* as a signed note: its text, an empty line, and the signer's lines. *at* is the signer's socket,
    *proof* the consistency proof from the tree of *old* leaves.

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
    """Return how many leaves the tree has that was signed last. Raises SignerAway."""
    return _last(_ask(at, b"last")).size


def _last(answer: str) -> AnotherTreeWasLast:
    """Read which tree was signed last. Raises SignerAway."""
    head, _, note = answer.partition("\n\n")
    word, _, size = head.partition(" ")
    if word != "last" or len(size) > LONGEST_NUMBER or not (size.isascii() and size.isdecimal()):
        raise SignerAway(f"the signer answers {answer[:80]!r}")
    return AnotherTreeWasLast(int(size), note)


@contextmanager
def short(path: Path) -> Iterator[str]:
    """Name a unix socket so that the name fits: it may be 107 bytes long, however deep the folder lies.

    Raises FileNotFoundError without the folder.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


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
