"""The shoes of shared tables and of Chemin de Fer: their seeds, and what was dealt from each.

A shoe is a file of lines, each a JSON object, which is synced to disk before the dealer answers. So
shoes outlive a restart, and nothing is dealt twice after one. The first line has the seed: only the
dealer's user may read the file. No other program has the seed of a shoe before it has ended. The
file of a shoe that ended 30 days ago is deleted at the next start.

Cards leave a shoe in order, and only with a ticket of the database, which it gives when no more
bets are accepted. The dealer gives the same cards to the same ticket again, and to no other.
"""

import errno
import hmac
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from audit.key_folder import open_folder, sync
from games.dealer import DealtOtherwise, Expired, Foreign
from games.engine import card_tree
from games.engine.cards import Card
from games.engine.commitments import Binding, Purpose, ending_text, ticket_text
from games.engine.coup import TooFewCards
from games.engine.coup import deal as deal_coup
from games.engine.dealing import CUT_CARD, opening
from games.engine.shoe import SEED_BYTES, shuffle

CACHED: Final = 500  # shoes that are kept in memory; others are read again
KEPT: Final = 30 * 24 * 3600.0  # seconds after which the file of an ended shoe is deleted
ENDED: Final = {"ended": True}


@dataclass(frozen=True)
class Ticket:
    """The permission of the database to take cards out of a shoe."""

    round: str
    first: int  # number of cards that have left the shoe before
    count: int  # of cards; 0 for those of a whole round
    stakes: str  # digest

    def text(self, shoe: str) -> str:
        """Return the text that the database proves."""
        return ticket_text(shoe, self.round, self.first, self.count, self.stakes)


@dataclass
class Shoe:
    """A shoe. Its cards exist once it is cut."""

    binding: Binding
    seed: bytes = field(repr=False)
    value: str | None = None  # what went into the shuffle with the seed; None before it is cut
    cards: tuple[Card, ...] = field(default=(), repr=False)
    salts: tuple[bytes, ...] = field(default=(), repr=False)
    burned: int = 0
    cut: int = 0
    gone: int = 0
    dealt: dict[Ticket, int] = field(default_factory=dict)  # number of cards by ticket, in order
    is_ended: bool = False

    def shuffled(self, value: str) -> None:
        """Shuffle the decks."""
        self.value = value
        self.cards = shuffle(self.seed, self.binding.decks, value)
        self.salts = card_tree.salts(self.seed, len(self.cards), value)
        if self.binding.purpose is Purpose.SHOE:
            _, self.burned, self.cut = opening(self.cards)
        else:
            self.cut = len(self.cards) - CUT_CARD
        self.gone = self.burned

    @property
    def burn_card(self) -> str:
        """The first card of a shoe from which cards are burned."""
        return self.cards[0].code if self.burned else ""

    @property
    def leaves(self) -> tuple[bytes, ...]:
        """The leaves of all cards."""
        return card_tree.leaves(self.cards, self.salts)

    def note(self, ticket: Ticket, count: int) -> None:
        """Remember that cards have left the shoe."""
        self.dealt[ticket] = count
        self.gone = ticket.first + count

    def of_round(self, round_id: str) -> tuple[int, int]:
        """Return the position of the first card of a round and the number of its cards. Raises Foreign."""
        taken = [(ticket.first, count) for ticket, count in self.dealt.items() if ticket.round == round_id]
        if not taken:
            raise Foreign("nothing was dealt for this round")
        return taken[0][0], sum(count for _, count in taken)


class Shoes:
    """The shoes of a dealer, in a folder. *proof*: the key that it shares with the database."""

    def __init__(self, folder: Path, proof: bytes, draw: Callable[[int], bytes]) -> None:
        self._folder, self._proof, self._draw = folder, proof, draw
        self._shoes: dict[str, Shoe] = {}
        open_folder(folder)
        self._delete_old()

    def open(self, binding: Binding) -> Shoe:
        """Draw the seed of a new shoe, or return the shoe that has this binding. Raises Expired, Foreign, OSError."""
        try:
            return self.of(binding)
        except Expired:
            seed = self._draw(SEED_BYTES)
        self._write(binding.id, {"seed": seed.hex(), "binding": binding.text}, is_new=True)
        return self._keep(Shoe(binding, seed))

    def cut(self, binding: Binding, value: str) -> Shoe:
        """Shuffle a shoe with its seed and a value, once. Raises Expired, Foreign, DealtOtherwise."""
        shoe = self.of(binding)
        if shoe.value is None:
            self._write(binding.id, {"value": value})
            shoe.shuffled(value)
        if shoe.value != value:
            raise DealtOtherwise("the shoe was shuffled with another value")
        return shoe

    def deal(self, binding: Binding, ticket: Ticket, proof: bytes) -> tuple[Shoe, int]:
        """Let cards leave a shoe; return it with their number. Raises Expired, Foreign, DealtOtherwise."""
        shoe = self.of(binding)
        self._demand(ticket.text(binding.id), proof)
        if (count := shoe.dealt.get(ticket)) is not None:
            return shoe, count
        if shoe.is_ended or not shoe.cards or ticket.first != shoe.gone:
            raise DealtOtherwise(f"{shoe.gone} cards have left the shoe, and not {ticket.first}")
        count = ticket.count or self._coup(shoe, ticket.first)
        if ticket.first + count > len(shoe.cards):
            raise Foreign("the shoe does not have that many cards")
        self._write(binding.id, {"dealt": [ticket.round, ticket.first, ticket.count, ticket.stakes, count]})
        shoe.note(ticket, count)
        return shoe, count

    def end(self, binding: Binding, proof: bytes) -> bytes:
        """End a shoe, which deals nothing more, and return its seed. Raises Expired, Foreign."""
        shoe = self.of(binding)
        self._demand(ending_text(binding.id), proof)
        if not shoe.is_ended:
            self._write(binding.id, ENDED)
            shoe.is_ended = True
        return shoe.seed

    def of(self, binding: Binding) -> Shoe:
        """Return the shoe of a binding. Raises Expired without one, Foreign if the shoe has another one."""
        shoe = self._shoes.get(binding.id) or self._keep(self._read(binding))
        if shoe.binding != binding:
            raise Foreign("the shoe is of another table, or of other rules")
        return shoe

    def _demand(self, text: str, proof: bytes) -> None:
        if not hmac.compare_digest(hmac.digest(self._proof, text.encode(), "sha256"), proof):
            raise Foreign("this is not a ticket of the database")

    @staticmethod
    def _coup(shoe: Shoe, first: int) -> int:
        try:
            return len(deal_coup(shoe.cards[first : first + 6]).cards)
        except TooFewCards as error:
            raise Foreign(str(error)) from error

    def _keep(self, shoe: Shoe) -> Shoe:
        if len(self._shoes) >= CACHED:
            del self._shoes[next(iter(self._shoes))]
        self._shoes[shoe.binding.id] = shoe
        return shoe

    def _read(self, binding: Binding) -> Shoe:
        """Read a shoe from its file. Raises Expired, Foreign."""
        try:
            lines = self._lines(binding.id)
        except FileNotFoundError as error:
            raise Expired("the dealer does not have this shoe") from error
        try:
            shoe = self._of_lines(binding, lines)
        except ValueError as error:
            raise Expired("the file of this shoe is damaged") from error
        if shoe is None:
            raise Expired("the file of this shoe is damaged")
        return shoe

    @staticmethod
    def _of_lines(binding: Binding, lines: list[bytes]) -> Shoe | None:
        """Return the shoe that the lines of a file describe. Raises Foreign, ValueError."""
        shoe: Shoe | None = None
        for line in lines:
            match json.loads(line):
                case {"seed": seed, "binding": text}:
                    if text != binding.text:
                        raise Foreign("the shoe is of another table, or of other rules")
                    shoe = Shoe(binding, bytes.fromhex(seed))
                case {"value": value} if shoe:
                    shoe.shuffled(value)
                case {"dealt": [round_id, first, count, stakes, taken]} if shoe:
                    shoe.note(Ticket(round_id, first, count, stakes), taken)
                case {"ended": True} if shoe:
                    shoe.is_ended = True
        return shoe

    def _lines(self, shoe: str) -> list[bytes]:
        """Return the lines of a file, without one that was written in part: nobody was answered. Raises OSError."""
        path = self._folder / shoe
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
        return content[:whole].splitlines()

    def _write(self, shoe: str, line: dict[str, Any], *, is_new: bool = False) -> None:
        """Append a line to the file of a shoe and sync it to disk.

        Raises Expired where a new shoe has lines already, OSError; then the file is as it was before.
        """
        content = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT if is_new else 0)
        descriptor = os.open(self._folder / shoe, flags, 0o600)
        try:
            before = os.fstat(descriptor).st_size
            if is_new and before:
                raise Expired("the file of this shoe is damaged")
            try:
                if os.write(descriptor, content) < len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)
        if is_new:
            sync(self._folder)

    def _delete_old(self) -> None:
        """Delete the files of shoes that ended long ago. Raises OSError."""
        last, oldest = json.dumps(ENDED, separators=(",", ":")).encode(), time.time() - KEPT
        for path in self._folder.iterdir():
            if path.stat().st_mtime < oldest and path.read_bytes().splitlines()[-1:] == [last]:
                path.unlink()
