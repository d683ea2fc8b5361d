#!/usr/bin/env python3
"""Deal a finished round or a whole shoe again, and check that the house kept its commitment.

Needs Python 3.9 or later and no other file, so that it can be read quickly and run anywhere. Only the
signature of a public beacon, where one went into a shoe, needs the library pyblst.

The arguments are shown with every round under "Game logs", and on the page of every shoe. A round of a
solo table, whose commitment names the round, its table, the number of decks and the rules:

    python3 verify_round.py SEED COMMITMENT --id ID --table N --decks N --rules HEX [--player-value TEXT]

A demo round in the same way, with --purpose demo. A shoe that has ended, with its own id: all its
rounds, or that which begins with one of its cards, counted from 1:

    python3 verify_round.py SEED COMMITMENT --purpose shoe --id ID --table N --decks N --rules HEX \\
        [--player-value TEXT] [--root HEX] [--first-card N]

With --purpose chemin all cards in their order, because at Chemin de Fer the players decide how many
of them a coup takes.

With --proof FILE, the file that "Save the proof" gives for a round or a shoe, a page or JSON. Each card of a
shoe, which may be in play, is compared with the root that was committed to before the first bet. A round as the
house's API gives it is checked in the same way. The signature of the dealer is not: it needs Ed25519, which
Python does not have.

    python3 verify_round.py --proof FILE [--root HEX]

Exit status 0: all matches; 1: something does not; 2: an argument is invalid.
"""

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Card number 0 is the ace of clubs, 12 the king of clubs, 13 the ace of diamonds, 51 the king of
# spades.
DECK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
POINTS = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0, **{str(points): points for points in range(2, 10)}}

CUT_CARD = 14  # cards behind it in a shoe
LINE = 10  # cards per line of output

# The public key of drand's chain quicknet, and the generator of G2, compressed.
QUICKNET = (
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
G2_GENERATOR = (
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
)

# Banker's two-card total -> points of Player's third card for which Banker draws.
BANKER_DRAWS = {
    0: "0123456789",
    1: "0123456789",
    2: "0123456789",
    3: "012345679",
    4: "234567",
    5: "4567",
    6: "67",
    7: "",
}


def commitment(seed: bytes, named: dict[str, Any]) -> str:
    """Return the commitment to a seed, by what it names."""
    lines = [f"{name}={named[name]}" for name in ("purpose", "id", "table", "decks", "rules")]
    lines = ["sabot commitment v2", *lines, f"seed={seed.hex()}"]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def hkdf(seed: bytes, player_value: str, info: str) -> Iterator[bytes]:
    """Yield what HKDF with SHA-256 (RFC 5869) makes of a seed, in blocks of 32 bytes."""
    key = hmac.new(player_value.encode(), seed, hashlib.sha256).digest()
    block = b""
    for count in range(1, 256):
        block = hmac.new(key, block + info.encode() + bytes([count]), hashlib.sha256).digest()
        yield block


def numbers(seed: bytes, decks: int, player_value: str) -> Iterator[int]:
    """Yield the numbers of a seed, read two bytes at a time, big-endian."""
    for block in hkdf(seed, player_value, f"sabot shuffle v1, decks={decks}"):
        for place in range(0, 32, 2):
            yield block[place] * 256 + block[place + 1]


def shuffled(seed: bytes, decks: int, player_value: str) -> list[str]:
    """Shuffle with Fisher-Yates; skip numbers that would make some positions more likely than
    others.
    """
    cards = DECK * decks
    stream = numbers(seed, decks, player_value)
    for last in range(len(cards) - 1, 0, -1):
        choices = last + 1
        number = next(stream)
        while number >= 65536 // choices * choices:
            number = next(stream)
        other = number % choices
        cards[last], cards[other] = cards[other], cards[last]
    return cards


def total(hand: list[str]) -> int:
    """Return the last digit of the sum of the points."""
    return sum(POINTS[card[0]] for card in hand) % 10


def deal(cards: list[str]) -> tuple[list[str], list[str]]:
    """Deal Player, Banker, Player, Banker, and third cards by the rules."""
    player, banker, rest = [cards[0], cards[2]], [cards[1], cards[3]], iter(cards[4:])
    if total(player) >= 8 or total(banker) >= 8:
        return player, banker
    if total(player) <= 5:
        player.append(next(rest))
        banker_draws = str(POINTS[player[2][0]]) in BANKER_DRAWS[total(banker)]
    else:
        banker_draws = total(banker) <= 5
    if banker_draws:
        banker.append(next(rest))
    return player, banker


def in_order(player: list[str], banker: list[str]) -> list[str]:
    """Return the cards of a round in dealing order."""
    return [player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]]


def rounds(cards: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Deal a shoe through.

    Yield the number of cards dealt before each round, and the round's cards.

    The first card is burned, and as many more as its value, ten for tens and pictures. The last
    round follows the one in which the cut card appeared.
    """
    gone, is_last = 1 + (POINTS[cards[0][0]] or 10), False
    while not is_last:
        is_last = gone > len(cards) - CUT_CARD
        dealt = in_order(*deal(cards[gone:]))
        yield gone, dealt
        gone += len(dealt)


def leaf(place: int, card: str, salt: str) -> bytes:
    """Return the leaf of a card in the tree of its shoe. *place* counts from 0, *salt* is in hex."""
    text = f"sabot card v1\nplace={place}\ncard={card}\nsalt={salt}\n"
    return hashlib.sha256(b"\0" + text.encode()).digest()


def leaves_of(seed: bytes, cards: list[str], player_value: str) -> list[bytes]:
    """Return the leaves of all cards of a shoe; each salt is half a block."""
    salts = [half for block in hkdf(seed, player_value, "sabot salts v1") for half in (block[:16], block[16:])]
    return [leaf(place, card, salts[place].hex()) for place, card in enumerate(cards)]


def node(left: bytes, right: bytes) -> bytes:
    """Return a hash of the tree, which is that of RFC 6962 (2.1)."""
    return hashlib.sha256(b"\1" + left + right).digest()


def split(size: int) -> int:
    """Return how many leaves are on the left: the largest power of two below *size*."""
    return 1 << (size - 1).bit_length() - 1


def root_of(leaves: list[bytes]) -> bytes:
    """Return the root over leaves."""
    if len(leaves) == 1:
        return leaves[0]
    left = split(len(leaves))
    return node(root_of(leaves[:left]), root_of(leaves[left:]))


def climb(place: int, size: int, start: bytes, path: list[str]) -> bytes:
    """Return the root to which a path leads from the leaf at *place* of *size*. Raises IndexError."""
    if size == 1:
        return start if not path else b""
    left, other = split(size), bytes.fromhex(path[-1])
    if place < left:
        return node(climb(place, left, start, path[:-1]), other)
    return node(other, climb(place - left, size - left, start, path[:-1]))


def is_committed(card: dict[str, Any], shoe: dict[str, Any]) -> bool:
    """Return whether a card with its salt, and its path where there are no leaves, leads to the root."""
    made = leaf(card["place"], card["card"], card["salt"])
    if "leaves" in shoe:
        return bool(shoe["leaves"][card["place"]] == made.hex())
    try:
        return climb(card["place"], len(DECK) * shoe["decks"], made, card["path"]).hex() == shoe["root"]
    except IndexError:
        return False


def entropy_of(chances: list[str]) -> str:
    """Return what goes into the shuffle of a shoe in addition to its seed, from what players added when they cut it.

    Each is "digest value"; the line of a public beacon comes last. Empty if there is none, or if a value is not the one
    its player was bound to.
    """
    values = chances[:-1] if chances and chances[-1].startswith("beacon ") else chances
    is_right = values == sorted(values) and all(
        digest == hashlib.sha256(value.encode()).hexdigest() for digest, _, value in (v.partition(" ") for v in values)
    )
    lines = "".join(f"{each}\n" for each in ["sabot cut v1", *chances])
    return hashlib.sha256(lines.encode()).hexdigest() if chances and is_right else ""


def check_beacon(shoe: dict[str, Any], key: str) -> Iterator[bool]:
    """Check the round of a public beacon (drand) that went into a shoe, with the public key of its network.

    Raises ImportError without the library pyblst.
    """
    beacon, lines = shoe.get("beacon"), [line for line in shoe["chances"] if line.startswith("beacon ")]
    if not beacon or not beacon["signature"]:
        if beacon:
            print("beacon      round", beacon["round"], "did not come in time")
        yield not lines
        return
    chain, number, signature = (beacon[name] for name in ("chain", "round", "signature"))
    is_in = lines == [f"beacon {chain} {number} {signature}"]
    print("beacon      round", number, "of", chain)
    yield said("its network", is_in and is_signed(number, signature, key))


def is_signed(number: int, signature: str, key: str) -> bool:
    """Return whether a signature is that of drand's network for a round (bls-unchained-g1-rfc9380)."""
    import pyblst

    try:
        signed = pyblst.BlstP1Element().uncompress(bytes.fromhex(signature))
        of_network = pyblst.BlstP2Element().uncompress(bytes.fromhex(key))
    except ValueError:
        return False
    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    expected = pyblst.BlstP1Element().hash_to_group(message, b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_")
    generator = pyblst.BlstP2Element().uncompress(bytes.fromhex(G2_GENERATOR))
    pairs = pyblst.miller_loop(signed, generator), pyblst.miller_loop(expected, of_network)
    return bool(pyblst.final_verify(*pairs)) and signature == signature.lower()


def said(what: str, is_right: bool) -> bool:
    """Print whether something matches, and return it."""
    print(f"{what:<11}", "matches" if is_right else "DOES NOT MATCH")
    return is_right


def check_proof(proof: dict[str, Any], root: str, key: str) -> bool:
    """Check the rounds in the file of a shoe, or one round of the API; print the result and return it.

    *root*: as it was shown before; empty to believe the file. *key*: of the beacon's network.
    """
    if "player_value" in proof and "shoe" not in proof:
        return check_solo(proof)
    shoe = proof
    if "shoe" in proof:  # of the API
        shoe = {**proof, **proof["shoe"]}
        shoe |= {"table": shoe["table_id"], "rules": shoe["rules_digest"], "root": shoe["cards_root"]}
        shoe["rounds"] = [{"number": shoe["round_number"], "cards": shoe["cards"]}]
    right = [said("root", root in ("", shoe["root"]))]
    if "chances" in shoe:
        print("cut by     ", sum(not line.startswith("beacon ") for line in shoe["chances"]), "players")
        right.append(said("entropy", entropy_of(shoe["chances"]) == shoe["entropy"]))
        right += check_beacon(shoe, key)
    if "leaves" in shoe:
        leaves = [bytes.fromhex(each) for each in shoe["leaves"]]
        right.append(said("leaves", len(leaves) == len(DECK) * shoe["decks"] and root_of(leaves).hex() == shoe["root"]))
        if shoe["burn"]:
            right.append(said("burn card", shoe["burn"]["place"] == 0 and is_committed(shoe["burn"], shoe)))
    for played in shoe["rounds"]:
        cards = played["cards"]
        is_row = all(card["place"] == place for place, card in enumerate(cards, cards[0]["place"])) if cards else True
        right.append(is_row and all(is_committed(card, shoe) for card in cards))
        verdict = "matches" if right[-1] else "DOES NOT MATCH"
        print(f"{played['number']:<5}{cards[0]['place'] + 1 if cards else '':<7}", *(c["card"] for c in cards), verdict)
    if shoe["seed"]:
        right += check_seed(shoe)
    return all(right)


def read_proof(text: str) -> Any:
    """Return the proof in JSON, or in a page that was saved. Raises ValueError, IndexError."""
    if text.lstrip().startswith("<"):
        text = text.split('id="proof">')[1].split("</script>")[0]
    return json.loads(text)


def check_solo(played: dict[str, Any]) -> bool:
    """Check the proof of a solo round; print the result and return it."""
    seed = bytes.fromhex(played["seed"])
    dealt = in_order(*deal(shuffled(seed, played["decks"], played["player_value"])))
    is_committed_to = len(seed) == 32 and commitment(seed, played) == played["commitment"]
    return said("commitment", is_committed_to) & said("cards", " ".join(dealt) == played["cards"])


def check_seed(shoe: dict[str, Any]) -> Iterator[bool]:
    """Check that commitment, root and rounds of a shoe follow from its seed."""
    seed = bytes.fromhex(shoe["seed"])
    cards = shuffled(seed, shoe["decks"], shoe["entropy"])
    yield said("commitment", len(seed) == 32 and commitment(seed, shoe) == shoe["commitment"])
    yield said("shuffle", root_of(leaves_of(seed, cards, shoe["entropy"])).hex() == shoe["root"])
    if "leaves" not in shoe:
        return
    played = [" ".join(card["card"] for card in each["cards"]) for each in shoe["rounds"] if each["cards"]]
    if shoe["purpose"] == "shoe":
        yield said("rounds", played == [" ".join(each) for _, each in rounds(cards)][: len(played)])
    else:
        together = " ".join(played)
        yield said("rounds", " ".join(cards).startswith(together))


def print_round(cards: list[str]) -> None:
    """Deal and print the round that starts with these cards."""
    player, banker = deal(cards)
    outcome = "tie" if total(player) == total(banker) else "player" if total(player) > total(banker) else "banker"
    print("cards      ", *in_order(player, banker))
    print("player     ", total(player), "with", *player)
    print("banker     ", total(banker), "with", *banker)
    print("outcome    ", outcome)


def print_shoe(cards: list[str]) -> None:
    """Print every round of a shoe: its number, its first card counted from 1, its cards."""
    for number, (gone, dealt) in enumerate(rounds(cards), start=1):
        if number == 1:
            print("burned     ", gone, "beginning with", cards[0])
        print(f"{number:<5}{gone + 1:<7}", *dealt)


def print_cards(cards: list[str]) -> None:
    """Print all cards in dealing order, each line with the number of its first card."""
    for place in range(0, len(cards), LINE):
        print(f"{place + 1:<7}", *cards[place : place + LINE])


def main() -> None:
    """Parse the arguments, deal, compare and print."""
    parser = argparse.ArgumentParser(description="Check a finished round, or a shoe.")
    parser.add_argument("seed", nargs="?", help="shown after the round, or when the shoe has ended: 64 hex digits")
    parser.add_argument("commitment", nargs="?", help="shown before it: 64 hex digits")
    parser.add_argument("--purpose", choices=["solo", "demo", "shoe", "chemin"], default="solo", help="what was dealt")
    parser.add_argument("--id", default="", help="of the round, or of the shoe: what the commitment names")
    parser.add_argument("--table", type=int, default=0, metavar="N", help="its number")
    parser.add_argument("--rules", default="", metavar="HEX", help="the SHA-256 of its rules")
    parser.add_argument("--player-value", default="", metavar="TEXT", help="what was mixed in, if anything")
    parser.add_argument("--decks", type=int, default=1, metavar="N", help="1 unless the game says otherwise")
    parser.add_argument("--first-card", type=int, metavar="N", help="of its shoe, with which the round began")
    parser.add_argument(
        "--root", default="", metavar="HEX", help="over the cards of the shoe, shown before its first bet"
    )
    parser.add_argument("--beacon-key", default=QUICKNET, metavar="HEX", help="of the beacon's network: drand quicknet")
    parser.add_argument("--proof", metavar="FILE", help="a file that was saved, or a round of the API")
    given = parser.parse_args()
    root = given.root.strip().lower()
    if given.proof:
        try:
            proof = read_proof(Path(given.proof).read_text(encoding="utf-8"))
            right = check_proof(proof, root, given.beacon_key)
        except ImportError:
            parser.error("a beacon went into this shoe: install pyblst, which verifies its signature")
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            parser.error(f"{given.proof} is no proof: {error!r}")
        sys.exit(0 if right else 1)
    if given.seed is None or given.commitment is None:
        parser.error("a seed and a commitment are missing, or --proof")
    try:
        seed = bytes.fromhex(given.seed)
    except ValueError:
        parser.error("the seed is not written in hex digits")
    if len(seed) != 32:
        parser.error("the seed must be 64 hex digits")
    if not 1 <= given.decks <= 8:
        parser.error("a game is played with one to eight decks")
    if given.first_card is not None and not 1 <= given.first_card <= len(DECK) * given.decks - 5:
        parser.error("no round begins with this card")

    cards = shuffled(seed, given.decks, given.player_value)
    if given.purpose == "chemin":
        print_cards(cards)
    elif given.purpose == "shoe" and given.first_card is None:
        print_shoe(cards)
    else:
        print_round(cards[(given.first_card or 1) - 1 :])
    right = True
    if given.purpose in ("shoe", "chemin"):
        made = root_of(leaves_of(seed, cards, given.player_value)).hex()
        print("root       ", made)
        right = root in ("", made) or said("root", False)
    named = {**vars(given), "id": given.id.strip().lower(), "rules": given.rules.strip().lower()}
    right &= said("commitment", commitment(seed, named) == given.commitment.strip().lower())
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
