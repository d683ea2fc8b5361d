"""The files in which the dealer keeps its shoes: they outlive it, and nothing is dealt twice or lost with them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from hmac import digest
from pathlib import Path

import pytest

from audit.key_folder import CannotStart
from games.dealer import DealtOtherwise, Expired, Foreign, client
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.protocol import written
from games.dealer.shoes import KEPT, Ticket
from games.engine.commitments import Binding, Purpose, digest_of_stakes, ending_text
from tests.dealer.test_process import process
from tests.engine.test_commitments import BINDING

KEYS = Keys.new()
SHOE = replace(BINDING, purpose=Purpose.SHOE, decks=8)
STAKES = digest_of_stakes({"1 banker": 1000})
VALUE = "of the house"


def a_round(number: int) -> str:
    return f"0198c5f2-3c4d-7e8f-9a0b-{number:012x}"


def proof(text: str, keys: Keys = KEYS) -> bytes:
    return digest(keys.proof, text.encode(), "sha256")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shoes"


@pytest.fixture
def dealer(folder: Path) -> Dealer:
    dealer = Dealer(KEYS, folder)
    dealer.open_shoe(SHOE)
    dealer.cut_shoe(SHOE, VALUE)
    return dealer


def next_round(dealer: Dealer, number: int, binding: Binding = SHOE) -> str:
    """Have the cards of a round dealt, and return them."""
    return dealt(dealer, Ticket(a_round(number), dealer.shoes.of(binding).gone, 0, STAKES), binding)


def dealt(dealer: Dealer, ticket: Ticket, binding: Binding = SHOE) -> str:
    return dealer.deal_cards(binding, ticket, proof(ticket.text(binding.id))).statement.cards


def end(dealer: Dealer, binding: Binding = SHOE) -> bytes:
    return dealer.shoes.end(binding, proof(ending_text(binding.id)))


def lines(folder: Path) -> list[bytes]:
    return (folder / SHOE.id).read_bytes().splitlines()


class TestAfterAnotherStart:
    def test_a_shoe_goes_on_where_it_was_and_repeats_what_it_dealt(self, dealer: Dealer, folder: Path) -> None:
        begins = dealer.shoes.of(SHOE).gone
        first, second = next_round(dealer, 1), next_round(dealer, 2)
        again = Dealer(KEYS, folder)
        assert dealt(again, Ticket(a_round(1), begins, 0, STAKES)) == first
        gone = begins + len(f"{first} {second}".split())
        assert again.shoes.of(SHOE).gone == gone
        with pytest.raises(DealtOtherwise):
            dealt(again, Ticket(a_round(3), begins, 0, STAKES))
        assert next_round(again, 3) == next_round(dealer, 3)
        assert again.open_shoe(SHOE) == dealer.open_shoe(SHOE) == SHOE.commitment(end(again))

    @pytest.mark.parametrize("cut", [1, 20])
    def test_a_line_that_was_written_in_part_was_no_answer_and_the_shoe_goes_on(
        self, dealer: Dealer, folder: Path, cut: int
    ) -> None:
        next_round(dealer, 1)
        gone, whole = dealer.shoes.of(SHOE).gone, lines(folder)
        next_round(dealer, 2)
        file = folder / SHOE.id
        file.write_bytes(file.read_bytes()[:-cut])
        again = Dealer(KEYS, folder)
        assert again.shoes.of(SHOE).gone == gone
        assert lines(folder) == whole
        cards = next_round(again, 3)  # a different round from the lost one
        assert next_round(Dealer(KEYS, folder), 4) == next_round(again, 4)
        assert again.shoes.of(SHOE).of_round(a_round(3)) == (gone, len(cards.split()))

    @pytest.mark.parametrize("left", [b"", b'{"seed":"00'])
    def test_a_shoe_of_which_not_even_the_seed_was_written_is_opened_again(self, folder: Path, left: bytes) -> None:
        Dealer(KEYS, folder)
        (folder / SHOE.id).write_bytes(left)
        dealer = Dealer(KEYS, folder)
        committed = dealer.open_shoe(SHOE)
        assert Dealer(KEYS, folder).open_shoe(SHOE) == committed

    def test_a_shoe_that_has_ended_deals_nothing_more(self, dealer: Dealer, folder: Path) -> None:
        seed = end(dealer)
        again = Dealer(KEYS, folder)
        with pytest.raises(DealtOtherwise):
            next_round(again, 1)
        assert end(again) == seed


def lost(file: Path) -> None:
    file.unlink()


def damaged(file: Path) -> None:
    file.write_bytes(b"\x00" * 40 + b"\n" + file.read_bytes())


@pytest.mark.parametrize("happened", [lost, damaged])
def test_a_shoe_whose_file_is_lost_is_refused_as_expired(
    dealer: Dealer, folder: Path, happened: Callable[[Path], None]
) -> None:
    happened(folder / SHOE.id)
    again = Dealer(KEYS, folder)
    asked: list[Callable[[], object]] = [
        lambda: again.cut_shoe(SHOE, VALUE),
        lambda: next_round(again, 1),
        lambda: end(again),
        lambda: again.prove_coup(SHOE, a_round(1)),
    ]
    for ask in asked:
        with pytest.raises(Expired):
            ask()


def test_a_damaged_file_is_not_written_to(dealer: Dealer, folder: Path) -> None:
    damaged(folder / SHOE.id)
    before = lines(folder)
    with pytest.raises(Expired):
        Dealer(KEYS, folder).open_shoe(SHOE)
    assert lines(folder) == before


def test_a_file_of_another_shoe_is_refused(dealer: Dealer, folder: Path) -> None:
    with pytest.raises(Foreign):
        Dealer(KEYS, folder).open_shoe(replace(SHOE, table=SHOE.table + 1))


def test_nobody_but_its_user_may_read_a_shoe(dealer: Dealer, folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / SHOE.id).stat().st_mode & 0o777 == 0o600
    folder.chmod(0o750)
    with pytest.raises(CannotStart, match="others than its owner may open"):
        Dealer(KEYS, folder)


class TestOldFiles:
    OTHER = replace(SHOE, id=a_round(77))

    @pytest.mark.parametrize(("days", "is_kept"), [(29, True), (31, False)])
    def test_an_ended_shoe_is_deleted_at_the_start_thirty_days_later(
        self, dealer: Dealer, folder: Path, days: int, is_kept: bool
    ) -> None:
        end(dealer)
        ended_days_ago(folder / SHOE.id, days)
        Dealer(KEYS, folder)
        assert (folder / SHOE.id).exists() == is_kept

    @pytest.mark.parametrize("left", [b"", b'{"ended":tr'])
    def test_no_other_is_deleted_however_old(self, dealer: Dealer, folder: Path, left: bytes) -> None:
        next_round(dealer, 1)
        with (folder / SHOE.id).open("ab") as file:
            file.write(left)
        ended_days_ago(folder / SHOE.id, 400)
        again = Dealer(KEYS, folder)
        assert next_round(again, 2)

    def test_an_empty_file_is_no_reason_not_to_start(self, dealer: Dealer, folder: Path) -> None:
        (folder / self.OTHER.id).touch()
        ended_days_ago(folder / self.OTHER.id, 400)
        assert next_round(Dealer(KEYS, folder), 1)


def ended_days_ago(file: Path, days: int) -> None:
    assert KEPT == 30 * 24 * 3600
    then = time.time() - days * 24 * 3600
    os.utime(file, (then, then))


FULL = """
import resource, signal, sys
from pathlib import Path
from games.dealer.dealer import Dealer
from games.dealer.keys import Keys
from games.dealer.protocol import answer

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder, request = Path(sys.argv[1]), sys.stdin.buffer.readline()
dealer = Dealer(Keys.opened(folder), folder / "shoes")
(file,) = (folder / "shoes").iterdir()
resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + int(sys.argv[2]), resource.RLIM_INFINITY))
print(answer(dealer, request).decode(), end="")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(answer(dealer, request).decode(), end="")
"""


@pytest.mark.parametrize("room", [0, 9])
def test_where_the_disk_is_full_nothing_is_dealt_and_the_file_stays_as_it_was(tmp_path: Path, room: int) -> None:
    """Nine bytes are written of a line that is longer; once there is room again, the same request is answered."""
    dealer = Dealer(Keys.opened(tmp_path / "dealer"), tmp_path / "dealer" / "shoes")
    committed = dealer.open_shoe(SHOE)
    request = json.dumps({"do": "cut_shoe", "binding": written(SHOE), "value": VALUE})
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "dealer", str(room)],
        cwd=Path(__file__).parents[2],
        input=f"{request}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    refused, answered = map(json.loads, done.stdout.splitlines())
    assert refused["refused"] == "disk"
    assert "A shoe could not be written: " in done.stderr
    assert answered["commitment"] == committed
    assert len(lines(tmp_path / "dealer" / "shoes")) == 2


def test_a_shoe_outlives_the_process_and_a_second_one_does_not_touch_its_folder(tmp_path: Path) -> None:
    at, keys = str(tmp_path / "socket"), Keys.opened(tmp_path / "dealer")
    ticket = Ticket(a_round(1), 0, 0, STAKES)
    with process(tmp_path / "dealer", at) as running:
        committed = client.open_shoe(at, SHOE)
        cut = client.cut_shoe(at, SHOE, VALUE)
        ticket = replace(ticket, first=cut.burned)
        allowed = proof(ticket.text(SHOE.id), keys)
        first = client.deal_cards(
            at, SHOE, round_id=ticket.round, first=ticket.first, count=0, stakes=STAKES, ticket=allowed
        )
        file = tmp_path / "dealer" / "shoes" / SHOE.id
        before = file.read_bytes()
        second = subprocess.run(
            [sys.executable, "-m", "games.dealer", "--folder", tmp_path / "dealer", "--socket", tmp_path / "other"],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "another dealer works in" in second.stderr
        assert file.read_bytes() == before
        running.kill()
        running.wait()
    with process(tmp_path / "dealer", at):
        again = client.deal_cards(
            at, SHOE, round_id=ticket.round, first=ticket.first, count=0, stakes=STAKES, ticket=allowed
        )
        assert (again, client.open_shoe(at, SHOE)) == (first, committed)
        assert client.cards_gone(at, SHOE) == cut.burned + len(first.cards.split())
