#!/usr/bin/env python3
"""Deal a finished round or a whole shoe again, and check that the house kept its commitment.

Needs Python 3.9 or later and no other file, so that it can be read quickly and run anywhere. The
arguments are shown with every round under "Game logs". A round of a solo table, whose commitment
names the round, its table, the number of decks and the rules:

    python3 verify_round.py SEED COMMITMENT --round ID --table N --decks N --rules HEX [--player-value TEXT]

A demo round in the same way, with --purpose demo. A round of a shared table was dealt from the
middle of a shoe: give its first card, counted from 1. Here the commitment is the SHA-256 of the seed:

    python3 verify_round.py SEED COMMITMENT --decks N --first-card N

All rounds of a shoe, to compare with its page:

    python3 verify_round.py SEED COMMITMENT --decks N --shoe

At Chemin de Fer the players decide how many cards a coup takes, and the seed only determines the
order of the cards:

    python3 verify_round.py SEED COMMITMENT --decks 6 --cards

Exit status 0: the seed matches the commitment; 1: it does not; 2: an argument is invalid.
"""

import argparse
import hashlib
import hmac
import sys
from collections.abc import Iterator

# Card number 0 is the ace of clubs, 12 the king of clubs, 13 the ace of diamonds, 51 the king of
# spades.
DECK = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
POINTS = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0, **{str(points): points for points in range(2, 10)}}

CUT_CARD = 14  # cards behind it in a shoe
LINE = 10  # cards per line of output

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


def commitment(seed: bytes, given: argparse.Namespace) -> str:
    """Return the commitment to the seed of a round, or that of a shoe if no round is given."""
    if given.round is None:
        return hashlib.sha256(seed).hexdigest()
    lines = [
        "sabot commitment v2",
        f"purpose={given.purpose}",
        f"id={given.round.strip().lower()}",
        f"table={given.table}",
        f"decks={given.decks}",
        f"rules={given.rules.strip().lower()}",
        f"seed={seed.hex()}",
    ]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def numbers(seed: bytes, decks: int, player_value: str) -> Iterator[int]:
    """Yield the numbers of a seed: HKDF with SHA-256 (RFC 5869), read two bytes at a time,
    big-endian.
    """
    info = f"sabot shuffle v1, decks={decks}".encode()
    key = hmac.new(player_value.encode(), seed, hashlib.sha256).digest()
    block = b""
    for count in range(1, 256):
        block = hmac.new(key, block + info + bytes([count]), hashlib.sha256).digest()
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
    parser = argparse.ArgumentParser(description="Check a finished round, or a shoe that has ended.")
    parser.add_argument("seed", help="shown after the round: 64 hex digits")
    parser.add_argument("commitment", help="shown before it: 64 hex digits")
    parser.add_argument("--round", metavar="ID", help="of a solo table: what the commitment names")
    parser.add_argument("--table", type=int, default=0, metavar="N", help="its number")
    parser.add_argument("--rules", default="", metavar="HEX", help="the SHA-256 of its rules")
    parser.add_argument("--purpose", choices=["solo", "demo"], default="solo", help="demo for a round of the demo game")
    parser.add_argument("--player-value", default="", metavar="TEXT", help="what you had mixed in, if anything")
    parser.add_argument("--decks", type=int, default=1, metavar="N", help="1 unless the game says otherwise")
    parser.add_argument(
        "--first-card", type=int, default=1, metavar="N", help="of its shoe, with which the round began"
    )
    parser.add_argument("--shoe", action="store_true", help="deal the whole shoe, round by round")
    parser.add_argument("--cards", action="store_true", help="print the cards of the shoe in their order")
    given = parser.parse_args()
    try:
        seed = bytes.fromhex(given.seed)
    except ValueError:
        parser.error("the seed is not written in hex digits")
    if len(seed) != 32:
        parser.error("the seed must be 64 hex digits")
    if not 1 <= given.decks <= 8:
        parser.error("a game is played with one to eight decks")
    if not 1 <= given.first_card <= len(DECK) * given.decks - 5:
        parser.error("no round begins with this card")

    cards = shuffled(seed, given.decks, given.player_value)
    if given.shoe:
        print_shoe(cards)
    elif given.cards:
        print_cards(cards)
    else:
        print_round(cards[given.first_card - 1 :])
    kept = hmac.compare_digest(commitment(seed, given), given.commitment.strip().lower())
    print("commitment ", "matches" if kept else "DOES NOT MATCH")
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
