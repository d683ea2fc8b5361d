"""What the event log says about the deals of solo rounds: whether the commitment was in it before the
bets, and whether the dealer signed the deal.

The commitment to a round is in the event of the round before (``next`` of ``round.settled``), or in
an event of its own (``seat.committed``).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit.models import Event
from games.deals import trusted_keys
from games.engine.commitments import Binding, Purpose, Statement, digest_of_entropy, digest_of_stakes
from games.models import Round
from games.rounds.redeal import NOTHING, VALID, Evidence

SETTLED, COMMITTED = "round.settled", "seat.committed"


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


def _events(subjects: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the data of the first event of each kind and subject."""
    found = Event.objects.filter(on__in=subjects, kind__in=[SETTLED, COMMITTED]).order_by("-pk")
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
    return "not of a dealer in DEALER_KEYS" if statements else "DEALER_KEYS is not set"
