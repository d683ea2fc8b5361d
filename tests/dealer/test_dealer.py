"""The deals and the refusals of the dealer."""

from base64 import urlsafe_b64decode
from dataclasses import replace
from hashlib import sha256
from hmac import digest
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.key_folder import CannotStart
from games.dealer import DealtOtherwise, Expired, Foreign
from games.dealer.dealer import Committed, Dealer, Dealt, Forgotten, Memory
from games.dealer.keys import Keys
from games.engine.commitments import Binding, Purpose, digest_of_entropy, digest_of_stakes, refusal_text
from games.engine.coup import deal
from games.engine.shoe import shuffle
from tests.engine.test_commitments import BINDING, OTHERS

KEYS = Keys.new()
STAKES = digest_of_stakes({"banker": 1000})


def dealt(
    dealer: Dealer, made: Committed, binding: Binding = BINDING, *, value: str = "", stakes: str = STAKES
) -> Dealt:
    return dealer.deal(binding, commitment=made.commitment, sealed=made.sealed, player_value=value, stakes=stakes)


@pytest.fixture
def dealer(tmp_path: Path) -> Dealer:
    return Dealer(KEYS, tmp_path / "shoes")


@pytest.mark.parametrize("value", ["", "my own words", "mărțișor ♣"])
@pytest.mark.parametrize("decks", [1, 8])
def test_it_deals_the_cards_of_the_seed_that_it_committed_to(dealer: Dealer, decks: int, value: str) -> None:
    binding = replace(BINDING, decks=decks)
    made = dealer.commit(binding)
    stated = dealt(dealer, made, binding, value=value)
    coup = deal(shuffle(stated.seed, decks, value))
    assert binding.commitment(stated.seed) == made.commitment
    assert stated.statement.cards == " ".join(card.code for card in coup.cards)
    assert stated.statement.outcome == coup.outcome.value
    assert (stated.statement.binding, stated.statement.commitment) == (binding, made.commitment)
    assert (stated.statement.entropy, stated.statement.stakes) == (digest_of_entropy(value), STAKES)


def test_it_signs_what_it_dealt_and_proves_it_to_the_database(dealer: Dealer) -> None:
    stated = dealt(dealer, dealer.commit(BINDING))
    text = stated.statement.text.encode()
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(dealer.key)).verify(stated.signature, text)
    assert stated.proof == digest(KEYS.proof, text + f"signature={stated.signature.hex()}\n".encode(), "sha256")


def test_gli19_3_3_2_every_seed_is_another_and_none_can_be_read(dealer: Dealer) -> None:
    made = [dealer.commit(BINDING) for _ in range(100)]
    seeds = {dealt(dealer, each).seed for each in made}
    assert len(seeds) == len({each.commitment for each in made}) == 100
    assert not [seed for seed in seeds for each in made if seed in each.sealed]


def test_gli19_b_4_4_it_deals_once_and_repeats_the_answer(dealer: Dealer) -> None:
    made = dealer.commit(BINDING)
    assert dealt(dealer, made, value="mine") == dealt(dealer, made, value="mine")
    assert dealer.deals == 1


@pytest.mark.parametrize("other", [{"value": "another"}, {"stakes": digest_of_stakes({"player": 1000})}])
def test_after_the_cards_are_known_neither_bets_nor_value_can_be_chosen(dealer: Dealer, other: dict[str, Any]) -> None:
    made = dealer.commit(BINDING)
    first = dealt(dealer, made)
    with pytest.raises(DealtOtherwise):
        dealt(dealer, made, **other)
    assert dealt(dealer, made) == first


@pytest.mark.parametrize("name", OTHERS)
def test_a_sealed_seed_deals_no_other_round_table_decks_or_rules(dealer: Dealer, name: str) -> None:
    made = dealer.commit(BINDING)
    other: Binding = replace(BINDING, **{name: OTHERS[name]})
    with pytest.raises(Foreign):
        dealt(dealer, made, other)
    with pytest.raises(Foreign):
        dealt(dealer, Committed(dealer.commit(other).commitment, made.sealed), other)
    assert dealer.deals == 0


def test_a_seed_is_not_swapped_for_another_one_after_its_commitment_was_shown(dealer: Dealer) -> None:
    shown, other = dealer.commit(BINDING), dealer.commit(BINDING)
    with pytest.raises(Foreign):
        dealt(dealer, Committed(shown.commitment, other.sealed))
    with pytest.raises(Foreign):
        dealt(dealer, Committed(other.commitment, shown.sealed))


@pytest.mark.parametrize("place", [16, 27, 28, 59, 60, 75])
def test_a_sealed_seed_that_was_changed_deals_nothing(dealer: Dealer, place: int) -> None:
    made = dealer.commit(BINDING)
    broken = bytearray(made.sealed)
    broken[place] ^= 1
    with pytest.raises(Foreign):
        dealt(dealer, Committed(made.commitment, bytes(broken)))
    with pytest.raises((Foreign, Expired)):
        dealt(dealer, Committed(made.commitment, made.sealed[:place]))


def test_what_an_earlier_epoch_committed_to_is_dealt_by_none(dealer: Dealer, tmp_path: Path) -> None:
    made, later = dealer.commit(BINDING), Dealer(KEYS, tmp_path / "later")
    assert dealer.epoch != later.epoch
    with pytest.raises(Expired):
        dealt(later, made)
    as_if_new = bytes.fromhex(later.epoch) + made.sealed[16:]
    with pytest.raises(Foreign):
        dealt(later, Committed(made.commitment, as_if_new))


def test_deals_are_numbered_without_gaps(dealer: Dealer) -> None:
    made = [dealer.commit(BINDING) for _ in range(5)]
    assert [dealt(dealer, each).statement.number for each in reversed(made)] == [1, 2, 3, 4, 5]
    assert [dealt(dealer, each).statement.number for each in made] == [5, 4, 3, 2, 1]


def test_demo_rounds_are_counted_apart(dealer: Dealer) -> None:
    demo = replace(BINDING, purpose=Purpose.DEMO)
    for _ in range(3):
        dealt(dealer, dealer.commit(demo), demo)
    assert dealt(dealer, dealer.commit(BINDING)).statement.number == 1
    assert dealer.deals == 1


def test_a_refusal_is_proven_to_the_database(dealer: Dealer) -> None:
    made = dealer.commit(BINDING)
    dealt(dealer, made)
    expired = Committed(made.commitment, bytes(16) + made.sealed[16:])
    foreign = Committed("0" * 64, made.sealed)
    for asked, stakes, kind in (
        (made, "0" * 64, DealtOtherwise),
        (expired, STAKES, Expired),
        (foreign, STAKES, Foreign),
    ):
        with pytest.raises(kind) as refused:
            dealt(dealer, asked, stakes=stakes)
        text = refusal_text(kind.reason, BINDING, asked.commitment, asked.sealed)
        assert refused.value.proof == digest(KEYS.proof, text.encode(), "sha256")


def test_shoes_are_not_dealt_in_one_go(dealer: Dealer) -> None:
    shoe = replace(BINDING, purpose=Purpose.SHOE)
    with pytest.raises(Foreign):
        dealt(dealer, dealer.commit(shoe), shoe)


def test_a_commitment_that_is_too_old_expires_dealt_or_not(tmp_path: Path) -> None:
    dealer = Dealer(KEYS, tmp_path, capacity=8)
    played, waiting = dealer.commit(BINDING), dealer.commit(BINDING)
    dealt(dealer, played)
    later = [dealer.commit(BINDING) for _ in range(8)]
    for old in (played, waiting):
        with pytest.raises(Expired):
            dealt(dealer, old)
    assert dealt(dealer, later[-1]).statement.number == 2


def test_memory_keeps_a_bounded_number() -> None:
    memory = Memory(100)
    numbers = [memory.add() for _ in range(1000)]
    assert numbers == list(range(1000))
    memory.note(999, 7, sha256(b"request").digest())
    assert memory.dealt(999) == (7, sha256(b"request").digest()[:20])
    assert memory.dealt(998) is None
    with pytest.raises(Forgotten):
        memory.dealt(500)
    with pytest.raises(LookupError):
        memory.dealt(1000)


def test_the_draw_can_be_replaced_only_in_its_process(dealer: Dealer) -> None:
    dealer.draw = bytes
    assert dealt(dealer, dealer.commit(BINDING)).seed == bytes(32)


class TestKeys:
    def test_are_made_once_and_only_for_their_user(self, tmp_path):
        folder = tmp_path / "dealer"
        keys = Keys.opened(folder)
        again = Keys.opened(folder)
        assert (again.public, again.proof) == (keys.public, keys.proof)
        assert (folder / "dealer.pub").read_text() == f"{keys.public}\n"
        assert urlsafe_b64decode((folder / "proof.key").read_text()) == keys.proof
        assert [(folder / file).stat().st_mode & 0o777 for file in ("dealer.key", "proof.key")] == [0o600, 0o600]
        assert folder.stat().st_mode & 0o777 == 0o700

    @pytest.mark.parametrize("file", ["dealer.key", "proof.key"])
    def test_that_others_may_read_are_refused(self, tmp_path, file):
        Keys.opened(tmp_path / "dealer")
        (tmp_path / "dealer" / file).chmod(0o640)
        with pytest.raises(CannotStart, match="others than its owner may read"):
            Keys.opened(tmp_path / "dealer")

    @pytest.mark.parametrize(("file", "content"), [("dealer.key", "zz"), ("dealer.key", "00"), ("proof.key", "AAAA")])
    def test_that_are_damaged_are_refused(self, tmp_path, file, content):
        Keys.opened(tmp_path / "dealer")
        (tmp_path / "dealer" / file).write_text(content)
        with pytest.raises(CannotStart, match="is damaged"):
            Keys.opened(tmp_path / "dealer")
