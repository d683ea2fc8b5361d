#!/usr/bin/env python3
"""Play baccarat at a Sabot house from the command line.

    export SABOT_TOKEN=sabot_…                    # made on the page “Programs” of your account, to read and play
    python examples/play.py https://casino.example                                   # which tables there are
    python examples/play.py https://casino.example baccarat                          # asks for bets: player 50
    python examples/play.py https://casino.example baccarat --bet player=50 --rounds 3

It plays with play money unless you say --real. At a solo table a round is dealt as soon as you have bet, and its seed
is held to what the house had committed to. At a shared table you watch, and --bet is laid in so many rounds as soon as
they take bets; each card of them is held to the root of the shoe that was there before you bet. When the next shoe is
cut, random bytes of yours go into its shuffle. Needs nothing but Python 3.11.
"""

import argparse
import hashlib
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import uuid4

SUITS = str.maketrans("SHDC", "♠♥♦♣")


class Refused(Exception):
    """The house refuses, in a sentence."""


class House:
    """The API of a house, asked with a token."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address.rstrip("/") + "/api/v1/", token

    def open(self, path: str, body: Any = None, key: str = "") -> Any:
        """Ask, or do what *body* says, once for each *key*. Raises Refused."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Idempotency-Key": key}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers)  # noqa: S310  (the user names the house)
        try:
            return urllib.request.urlopen(request, timeout=60)  # noqa: S310
        except urllib.error.HTTPError as error:
            problem: Any = json.load(error) if "json" in error.headers["Content-Type"] else {"title": str(error)}
            fields = [f"{field['pointer']}: {field['detail']}" for field in problem.get("errors", ())]
            raise Refused(" ".join([problem.get("detail") or problem["title"], *fields])) from error

    def get(self, path: str) -> Any:
        """Return what the house answers."""
        with self.open(path) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> Any:
        """Do something. Where the line breaks, it is asked again under the same key, which does nothing twice."""
        key = str(uuid4())
        for last in (False, False, True):
            try:
                with self.open(path, body, key) as answer:
                    return json.load(answer)
            except (OSError, json.JSONDecodeError):
                if last:
                    raise
        raise AssertionError


def money(amount: int, currency: str) -> str:
    """Write an amount of minor units."""
    return f"{amount / 100:,.2f} {currency}"


def stake(text: str, sign: str = "=") -> tuple[str, int]:
    """Read "player=50". Raises Refused."""
    bet, _, amount = text.strip().partition(sign)
    try:
        minor = Decimal(amount) * 100
        if minor != int(minor):
            raise ValueError("less than the smallest coin")
        return bet, int(minor)
    except (InvalidOperation, ValueError, OverflowError) as error:
        raise Refused(f"{text!r} is no bet: write player{sign}50") from error


def hand(name: str, side: dict[str, Any]) -> str:
    """Write the cards of one side."""
    cards = " ".join(card.replace("T", "10").translate(SUITS) for card in side["cards"])
    return f"{name} {cards} ({side['total']})" if cards else f"{name} –"


def commitment(seat: dict[str, Any], seed: str) -> str:
    """Return the commitment of a seat to the seed of its next round."""
    named = {"purpose": "solo", "id": seat["round_id"], "table": seat["table_id"], "decks": seat["decks"]}
    named |= {"rules": seat["rules_digest"], "seed": seed}
    lines = ["sabot commitment v2", *(f"{name}={value}" for name, value in named.items())]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def node(left: bytes, right: bytes) -> bytes:
    """Return a hash of the tree over the cards of a shoe, that of RFC 6962 (2.1)."""
    return hashlib.sha256(b"\1" + left + right).digest()


def climb(place: int, size: int, leaf: bytes, path: list[str]) -> bytes:
    """Return the root to which a path leads from the leaf at *place* of *size*; b"" if it has another length."""
    if size == 1 or not path:
        return leaf if size == 1 and not path else b""
    left, other = 1 << (size - 1).bit_length() - 1, bytes.fromhex(path[-1])
    if place < left:
        return node(climb(place, left, leaf, path[:-1]), other)
    return node(other, climb(place - left, size - left, leaf, path[:-1]))


def is_committed(card: dict[str, Any], decks: int, root: str) -> bool:
    """Return whether a card with its salt and path leads to the root of its shoe."""
    text = f"sabot card v1\nplace={card['place']}\ncard={card['card']}\nsalt={card['salt']}\n"
    leaf = hashlib.sha256(b"\0" + text.encode()).digest()
    return climb(card["place"], 52 * decks, leaf, card["path"]).hex() == root


def check(played: dict[str, Any], root: str) -> None:
    """Hold the cards of a round to the root that was there before the bet. Ends the program if they do not fit."""
    cards, result = played["shoe"]["cards"], played["result"]
    are_right = all(is_committed(card, played["decks"], root) for card in cards)
    are_in_row = [card["place"] for card in cards] == [played["shoe"]["card"] - 1 + at for at in range(len(cards))]
    if result is None:
        return  # voided
    if not (are_right and are_in_row and [card["card"] for card in cards] == result["cards"]):
        sys.exit("The cards are not those that the house had committed to.")
    print(f"Round {played['code']}: its cards are as committed.")


def play_alone(house: House, table: str, bets: dict[str, int], rounds: int) -> None:
    """Play at a solo table: the given bets so many times, or what is typed, until an empty line."""
    seat = house.post(table + "solo-seat/", {})
    currency = seat["currency"]
    print(f"Balance {money(seat['balance'], currency)}. Bets: {', '.join(seat['minimum'])}.")
    while rounds if bets else True:
        rounds -= 1
        try:
            asked = bets or dict(stake(part, " ") for part in input("bet> ").split(",") if part.strip())
            if not asked:
                return
            body = {"round_id": seat["round_id"], "table_version": seat["table_version"], "bets": asked}
            played = house.post(table + "rounds/", body)
        except Refused as refusal:
            if bets:
                raise
            print(refusal)
            continue
        ended = played["round"]
        result = ended["result"]
        print(f"{hand('Player', result['player'])}   {hand('Banker', result['banker'])}   {result['announcement']}")
        for bet in ended["bets"]:
            print(f"  {bet['name']}: {money(bet['stake'], currency)} → {money(bet['payout'], currency)}")
        if commitment(seat, ended["seed"]) != seat["commitment"]:
            sys.exit("The seed is not the one that the house had committed to.")
        print(f"Balance {money(ended['balance_after'], currency)}. Round {ended['code']}: its seed is as committed.")
        seat = played["solo_seat"]


class Cutting:
    """This program's contribution to the shuffle of the next shoe: at first its digest, then the value."""

    def __init__(self, house: House, table: str) -> None:
        self.house, self.table = house, table
        self.shoe, self.line = "", ""

    def add(self, cut: dict[str, Any]) -> None:
        """Draw a value for a shoe that is being cut, unless that was done; be bound to it, and open it in time."""
        if cut["shoe"] == self.shoe:
            return
        self.shoe, value = cut["shoe"], secrets.token_hex(16)
        digest = hashlib.sha256(value.encode()).hexdigest()
        try:
            now = self.house.post(self.table + "cut/digest/", {"shoe": self.shoe, "digest": digest})
            time.sleep(now["seconds_to_bind"] + 0.2)
            self.house.post(self.table + "cut/value/", {"shoe": self.shoe, "value": value})
        except Refused as refusal:
            print(f"Nothing was added to the next shoe: {refusal}")
        else:
            self.line = f"{digest} {value}"

    def check(self, shoe: dict[str, Any]) -> None:
        """Hold the shoe on the table to what was added. Ends the program if that is not in it."""
        if shoe["id"] != self.shoe or not self.line:
            return
        lines = "".join(f"{line}\n" for line in ["sabot cut v1", *shoe["chances"]])
        if self.line not in shoe["chances"] or hashlib.sha256(lines.encode()).hexdigest() != shoe["entropy"]:
            sys.exit("What was added to the shoe is not in it.")
        print(f"Shoe {shoe['number']}: what you added is in it.")
        self.line = ""


def follow(house: House, table: str, bets: dict[str, int], rounds: int) -> None:
    """Watch a shared table; lay the bets in so many rounds, and end when the last of them is over."""
    laid, root, shown, name = "", "", None, ""
    cutting = Cutting(house, table)
    for line in map(bytes.decode, house.open(table + "stream/")):
        kind, _, value = line.rstrip("\n").partition(": ")
        name = value if kind == "event" else name
        if kind != "data" or name not in ("state", "round"):
            continue
        said = json.loads(value)
        if name == "round":
            print(
                f"{hand('Player', said['player'])}   {hand('Banker', said['banker'])}   {said['outcome'] or 'voided'}"
            )
            if said["id"] == laid:
                check(house.get(f"rounds/{laid}/"), root)
                print(f"Balance {money((own := house.get(table + 'state/')['own'])['balance'], own['currency'])}.")
                if rounds == 0:
                    return
            continue
        now = (said["phase"], said["player"]["cards"], said["banker"]["cards"])
        if now != shown:
            print(f"{said['phase']:<9} {hand('Player', said['player'])}   {hand('Banker', said['banker'])}")
            shown = now
        if said["cut"]:
            cutting.add(said["cut"])
        elif said["shoe"]:
            cutting.check(said["shoe"])
        if bets and rounds and said["takes_bets"] and laid != said["round"]["id"]:
            laid, root, rounds = said["round"]["id"], said["shoe"]["cards_root"], rounds - 1
            own = house.post(
                table + "bets/slip/", {"round_id": laid, "table_version": said["table_version"], "bets": bets}
            )
            print(f"Bet {money(own['staked'], own['currency'])}; {money(own['balance'], own['currency'])} left.")


def main() -> None:
    """Say which tables there are, or play at one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("house", help="its address: https://casino.example")
    parser.add_argument("table", nargs="?", help="the table's name in its address")
    parser.add_argument("--real", action="store_true", help="play with real money instead of play money")
    parser.add_argument("--bet", action="append", default=[], metavar="NAME=AMOUNT", help="bet this each round")
    parser.add_argument("--rounds", type=int, default=1, help="how many rounds to bet in (1)")
    given = parser.parse_args()
    mode = "real" if given.real else "free"
    try:
        house = House(given.house, os.environ.get("SABOT_TOKEN", ""))
        bets = dict(map(stake, given.bet))
        tables = {table["slug"]: table for table in house.get(f"tables/?mode={mode}")["items"]}
        if given.table is None:
            print("\n".join(f"{slug:<24} {each['shape']:<8} {each['name']}" for slug, each in tables.items()))
        elif given.table not in tables or tables[given.table]["shape"] == "chemin":
            raise Refused(f"There is no table {given.table!r} to play at; without a name you are told which there are.")
        else:
            way = play_alone if tables[given.table]["shape"] == "solo" else follow
            way(house, f"tables/{given.table}/{mode}/", bets, given.rounds)
    except Refused as refusal:
        sys.exit(str(refusal))
    except (OSError, json.JSONDecodeError) as error:
        sys.exit(f"The house cannot be reached: {error}")
    except (KeyboardInterrupt, EOFError):
        print("\nGoodbye.")


if __name__ == "__main__":
    main()
