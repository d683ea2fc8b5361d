"""The messages between the dealer and its clients: a JSON object in a line, each answered by another.

A connection carries any number of requests, one after another. A request names what to do:

- ``{"do": "status"}``
- ``{"do": "commit", "binding": {…}}``
- ``{"do": "deal", "binding": {…}, "commitment": "…", "sealed": "…", "player_value": "…", "stakes": "…", "next": {…}}``,
  where *stakes* is their digest and *next* the binding to commit to for the next round, or null
- ``{"do": "open_shoe", "binding": {…}}``
- ``{"do": "cut_shoe", "binding": {…}, "value": "…"}``
- ``{"do": "deal_cards", "binding": {…}, "round": "…", "first": 7, "count": 0, "stakes": "…", "ticket": "…"}``: cards of
  a shoe, 0 for those of a whole round
- ``{"do": "prove_coup", "binding": {…}, "round": "…"}``
- ``{"do": "end_shoe", "binding": {…}, "ticket": "…"}``
- ``{"do": "look_at_shoe", "binding": {…}}``
- ``{"do": "sign_receipt", "said": "…", "ticket": "…"}``

An answer has the result, or ``{"refused": "expired" | "dealt" | "foreign", "why": "…", "proof": "…"}``, or
``{"refused": "invalid" | "disk", "why": "…"}``: what is no request, and what could not be written to a file now.
"""

import json
import sys
from typing import Any, Final

from games.dealer import Refusal
from games.dealer.dealer import Committed, Dealer
from games.dealer.shoes import Ticket
from games.engine.commitments import Binding, Purpose

LONGEST: Final = 4096  # bytes of a request; an answer to `cut_shoe` is longer
LONGEST_VALUE: Final = 200  # characters of the player's value
MOST_DECKS: Final = 8
MOST_CARDS: Final = 52 * MOST_DECKS
DIGEST: Final = 64  # hex digits

Json = dict[str, Any]


class InvalidRequest(ValueError):
    """The message is not a request."""


def answer(dealer: Dealer, line: bytes) -> bytes:
    """Answer one request."""
    try:
        said = _answer(dealer, line)
    except Refusal as refusal:
        said = {"refused": refusal.reason, "why": str(refusal), "proof": refusal.proof.hex()}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        said = {"refused": "invalid", "why": f"{type(error).__name__}: {error}"[:200]}
    except OSError as error:  # the disk is full, for example: rounds of one player need none
        print(f"A shoe could not be written: {error}", file=sys.stderr, flush=True)
        said = {"refused": "disk", "why": str(error)[:200]}
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


def written(binding: Binding) -> Json:
    """Return a binding as JSON."""
    return {
        "purpose": binding.purpose.value,
        "id": binding.id,
        "table": binding.table,
        "decks": binding.decks,
        "rules": binding.rules,
    }


def _answer(dealer: Dealer, line: bytes) -> Json:
    """Raises Refusal, ValueError, TypeError, KeyError."""
    asked = json.loads(line)
    match asked["do"]:
        case "status":
            return {
                "epoch": dealer.epoch,
                "key": dealer.key,
                "deals": dealer.deals,
                "proof": dealer.proof.hex(),
            }
        case "commit":
            return _committed(dealer.commit(_binding(asked["binding"])))
        case "deal":
            return _deal(dealer, asked)
        case "sign_receipt":
            signature = dealer.sign_receipt(
                _text(asked["said"], LONGEST), bytes.fromhex(_text(asked["ticket"], DIGEST))
            )
            return {"key": dealer.key, "signature": signature.hex()}
    return _of_shoe(dealer, asked, _binding(asked["binding"]))


def _of_shoe(dealer: Dealer, asked: Json, binding: Binding) -> Json:
    """Answer a request about a shoe."""
    if binding.purpose not in (Purpose.SHOE, Purpose.CHEMIN):
        raise InvalidRequest("not a shoe")
    match asked["do"]:
        case "open_shoe":
            return {"commitment": dealer.open_shoe(binding)}
        case "cut_shoe":
            value = _text(asked["value"], LONGEST_VALUE)
            value.encode()  # refuses lone surrogates
            shoe, cut = dealer.cut_shoe(binding, value)
            return {
                "key": dealer.key,
                "commitment": cut.statement.commitment,
                "root": cut.statement.root,
                "leaves": b"".join(shoe.leaves).hex(),
                "burn_card": shoe.burn_card,
                "burn_salt": shoe.salts[0].hex() if shoe.burned else "",
                "burned": shoe.burned,
                "cut": shoe.cut,
                "signature": cut.signature.hex(),
                "proof": cut.proof.hex(),
            }
        case "deal_cards":
            ticket = Ticket(
                _uuid(asked["round"]),
                _number(asked["first"], MOST_CARDS),
                _number(asked["count"], MOST_CARDS),
                _digest(asked["stakes"]),
            )
            dealt = dealer.deal_cards(binding, ticket, bytes.fromhex(_text(asked["ticket"], DIGEST)))
            return {
                "key": dealer.key,
                "cards": dealt.statement.cards,
                "salts": dealt.statement.salts,
                "signature": dealt.signature.hex(),
                "proof": dealt.proof.hex(),
            }
        case "prove_coup":
            first, cards, proof = dealer.prove_coup(binding, _uuid(asked["round"]))
            return {"first": first, "cards": cards, "proof": proof.hex()}
        case "end_shoe":
            return {"seed": dealer.shoes.end(binding, bytes.fromhex(_text(asked["ticket"], DIGEST))).hex()}
        case "look_at_shoe":
            shoe = dealer.shoes.of(binding)
            return {"gone": shoe.gone, "is_ended": shoe.is_ended}
    raise InvalidRequest("unknown request")


def _deal(dealer: Dealer, asked: Json) -> Json:
    player_value = _text(asked["player_value"], LONGEST_VALUE)
    player_value.encode()  # refuses lone surrogates
    following = None if asked["next"] is None else _binding(asked["next"])
    dealt = dealer.deal(
        _binding(asked["binding"]),
        commitment=_digest(asked["commitment"]),
        sealed=bytes.fromhex(_text(asked["sealed"], LONGEST)),
        player_value=player_value,
        stakes=_digest(asked["stakes"]),
    )
    said = dealt.statement
    return {
        "key": said.key,
        "epoch": said.epoch,
        "deal": said.number,
        "cards": said.cards,
        "outcome": said.outcome,
        "seed": dealt.seed.hex(),
        "signature": dealt.signature.hex(),
        "proof": dealt.proof.hex(),
        "next": None if following is None else _committed(dealer.commit(following)),
    }


def _committed(committed: Committed) -> Json:
    return {"commitment": committed.commitment, "sealed": committed.sealed.hex()}


def _binding(asked: Any) -> Binding:
    """Parse a binding. Raises InvalidRequest, ValueError, TypeError, KeyError."""
    table, decks = asked["table"], asked["decks"]
    if type(table) is not int or type(decks) is not int or table < 1 or not 1 <= decks <= MOST_DECKS:
        raise InvalidRequest("no such table or decks")
    return Binding(Purpose(asked["purpose"]), _uuid(asked["id"]), table, decks, _digest(asked["rules"]))


def _number(asked: Any, most: int) -> int:
    if type(asked) is not int or not 0 <= asked <= most:
        raise InvalidRequest("no such number of cards")
    return asked


def _uuid(asked: Any) -> str:
    text = _text(asked, 36)
    if [len(part) for part in text.split("-")] != [8, 4, 4, 4, 12] or not _is_hex(text.replace("-", "")):
        raise InvalidRequest("no such id")
    return text


def _digest(asked: Any) -> str:
    text = _text(asked, DIGEST)
    if len(text) != DIGEST or not _is_hex(text):
        raise InvalidRequest("no such digest")
    return text


def _is_hex(text: str) -> bool:
    return not text.strip("0123456789abcdef")


def _text(asked: Any, longest: int) -> str:
    if not isinstance(asked, str) or len(asked) > longest:
        raise InvalidRequest("not a text of this length")
    return asked
