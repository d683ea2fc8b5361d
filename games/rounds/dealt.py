"""Evidence in the event log about deals: whether the commitment was in it before the bets, and whether the
dealer signed the deal.

The commitment to a solo round is in the event of the round before (``next`` of ``round.settled``), or in
an event of its own (``seat.committed``); that to a shoe is in ``shoe.opened``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.models import Event
from games.deals import trusted_keys
from games.engine.commitments import (
    Binding,
    CardsStatement,
    Purpose,
    ShoeStatement,
    Statement,
    digest_of_entropy,
    digest_of_stakes,
)
from games.models import Round, Shoe
from games.rounds.redeal import NOTHING, VALID, Evidence

SETTLED, COMMITTED, OPENED = "round.settled", "seat.committed", "shoe.opened"


def binding_of(played: Round, decks: int, rules: str) -> Binding:
    """Return what the commitment of a solo round names."""
    return Binding(Purpose.SOLO, str(played.pk), played.table_version.table_id, decks, rules)


def read_evidence(rounds: Mapping[UUID, int]) -> dict[UUID, Evidence]:
    """Return what the event log says about solo rounds; *rounds* gives the number of decks by id.

    Uses a fixed number of queries.
    """
    events = _events([f"round:{each}" for each in rounds])
    before = {data["follows"] for (kind, _), data in events.items() if kind == SETTLED and data.get("follows")}
    events |= _events([f"round:{each}" for each in before])
    return {each: _evidence(each, decks, events) for each, decks in rounds.items()}


def read_settled(round_id: UUID) -> dict[str, Any] | None:
    """Return the data of the event of a settled solo round, which has the dealer's signature; None without one."""
    return _events([f"round:{round_id}"]).get((SETTLED, f"round:{round_id}"))


def _events(subjects: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the data of the first event of each kind and subject."""
    found = Event.objects.filter(on__in=subjects, kind__in=[SETTLED, COMMITTED, OPENED]).order_by("-pk")
    return {(row.kind, row.on): json.loads(bytes(row.body))["data"] | {"event": row.pk} for row in found}


def _evidence(round_id: UUID, decks: int, events: Mapping[tuple[str, str], dict[str, Any]]) -> Evidence:
    settled = events.get((SETTLED, f"round:{round_id}"))
    if settled is None:
        return Evidence(NOTHING, "no event")
    return Evidence(_committed(round_id, settled, events), signature_of(str(round_id), decks, settled))


def _committed(round_id: UUID, settled: Mapping[str, Any], events: Mapping[tuple[str, str], dict[str, Any]]) -> str:
    """Return the commitment that was recorded before the round."""
    own = events.get((COMMITTED, f"round:{round_id}"))
    if own is not None and own["event"] < settled["event"]:
        return str(own["commitment"])
    before = events.get((SETTLED, f"round:{settled.get('follows')}"))
    if before is not None and before["event"] < settled["event"]:
        following = before.get("next") or {}
        if following.get("round") == str(round_id):
            return str(following["commitment"])
    return NOTHING


def read_shoe_evidence(rounds: Mapping[UUID, Shoe]) -> dict[UUID, Evidence]:
    """Return what the event log says about rounds from shoes: whether the commitment to the shoe and the root of its
    cards were in the log before the bets, and whether the dealer signed the shoe and the deal.

    Uses one query.
    """
    shoes = {shoe.pk for shoe in rounds.values()}
    events = _events([*(f"round:{each}" for each in rounds), *(f"shoe:{each}" for each in shoes)])
    return {each: _shoe_evidence(each, shoe, events) for each, shoe in rounds.items()}


def _shoe_evidence(round_id: UUID, shoe: Shoe, events: Mapping[tuple[str, str], dict[str, Any]]) -> Evidence:
    opened, settled = events.get((OPENED, f"shoe:{shoe.pk}")), events.get((SETTLED, f"round:{round_id}"))
    if settled is None:
        return Evidence(NOTHING, "no event")
    signature = signature_of_cards(str(shoe.pk), opened, settled | {"round": str(round_id)})
    is_before = opened is not None and opened["event"] < settled["event"] and opened["root"] == shoe.root
    return Evidence(opened["commitment"] if opened and is_before else NOTHING, signature)


def signature_of_shoe(shoe_id: str, opened: Mapping[str, Any]) -> str:
    """Return "valid" if a trusted dealer signed how the shoe begins that the event describes, otherwise why not."""
    try:
        said = ShoeStatement(
            key=opened["dealer"],
            binding=binding_of_shoe(shoe_id, opened),
            commitment=opened["commitment"],
            entropy=digest_of_entropy(opened["entropy"]),
            root=opened["root"],
            burn_card=opened["burn_card"],
            burned=opened["burned"],
            cut=opened["cut"],
        )
        return _signature(said.key, said.text, opened["signature"])
    except (KeyError, TypeError, ValueError) as error:
        return f"no signature: {type(error).__name__}"


def signature_of_cards(shoe_id: str, opened: Mapping[str, Any] | None, settled: Mapping[str, Any]) -> str:
    """Return "valid" if a trusted dealer signed all cards of the round that the event describes, otherwise why not."""
    if opened is None:
        return "no shoe"
    if (of_shoe := signature_of_shoe(shoe_id, opened)) != VALID:
        return of_shoe
    try:
        dealt = settled["dealt"]
        if " ".join(each["cards"] for each in dealt) != settled["cards"] or not dealt:
            return "for other cards"
        for each in dealt:
            said = CardsStatement(
                key=each["dealer"],
                binding=binding_of_shoe(shoe_id, opened),
                commitment=opened["commitment"],
                round=settled["round"],
                first=each["first_card"],
                stakes=each["stakes"],
                cards=each["cards"],
                salts=each["salts"],
            )
            if (of_cards := _signature(said.key, said.text, each["signature"])) != VALID:
                return of_cards
    except (KeyError, TypeError, ValueError) as error:
        return f"no signature: {type(error).__name__}"
    return VALID


def binding_of_shoe(shoe_id: str, opened: Mapping[str, Any]) -> Binding:
    """Return what the commitment to a shoe names, by its event. Raises KeyError, ValueError."""
    return Binding(Purpose(opened["purpose"]), shoe_id, opened["table"], opened["decks"], opened["rules"])


def _signature(key: str, text: str, signature: str) -> str:
    if key not in trusted_keys():
        return "not by a dealer in DEALER_KEYS"
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), text.encode())
    except InvalidSignature:
        return "not for this text"
    return VALID


def signature_of(round_id: str, decks: int, settled: Mapping[str, Any]) -> str:
    """Return "valid" if a trusted dealer signed the deal that the event describes, otherwise why not."""
    try:
        said = settled["dealer"]
        signature = bytes.fromhex(said["signature"])
        statements = [
            Statement(
                key,
                said["epoch"],
                said["deal"],
                Binding(Purpose.SOLO, round_id, settled["table"], decks, settled["rules"]),
                settled["commitment"],
                digest_of_entropy(settled["player_value"]),
                digest_of_stakes({each["bet"]: each["stake"] for each in settled["wagers"]}),
                settled["cards"],
                settled["outcome"],
            )
            for key in trusted_keys()
        ]
    except (KeyError, TypeError, ValueError) as error:
        return f"no signature: {type(error).__name__}"
    for statement in statements:
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(statement.key)).verify(signature, statement.text.encode())
        except (InvalidSignature, ValueError):
            continue
        return VALID
    return "not by a dealer in DEALER_KEYS" if statements else "DEALER_KEYS is not set"
