"""Proof that one event is in the log, as a self-contained file (C2SP tlog-proof)."""

from base64 import b64encode
from collections.abc import Iterable

from audit import tree
from audit.models import Leaf
from audit.sealing import checkpoints
from audit.tree.tiles import StoredTiles


class NotSealed(Exception):
    """No signed tree contains the event yet, or it does not exist."""


def sealed(events: Iterable[int]) -> set[int]:
    """Return which of these event IDs are leaves of the last signed tree."""
    signed = checkpoints.size()
    return set(Leaf.objects.filter(event__in=events, leaf__lt=signed).values_list("event", flat=True))


def proof_of(event_id: int) -> str:
    """Return the proof that an event is a leaf of the last signed tree, with its checkpoint. Raises
    NotSealed; Unproven where tiles lack hashes.
    """
    leaf = Leaf.objects.filter(event=event_id).values_list("leaf", flat=True).first()
    last = checkpoints.last()
    if leaf is None or last is None or leaf >= last.size:
        raise NotSealed(f"event {event_id} is in no signed tree")
    hashes = tree.inclusion_proof(StoredTiles(), leaf, last.size)
    lines = ["c2sp.org/tlog-proof@v1", f"index {leaf}", *(b64encode(each).decode() for each in hashes)]
    return "\n".join([*lines, "", last.note])
