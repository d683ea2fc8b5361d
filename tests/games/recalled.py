"""Rounds recalled in a test."""

from games.models import Round
from games.verification.service import recall


def differences(played: Round) -> list[tuple[str, str, str | None]]:
    """What of a finished round is not what it has to be: what, as stored, recomputed."""
    found = recall(played.pk)
    assert found
    assert not found.deal.obstacle, found.deal.obstacle
    return [(fact.what, fact.stored, fact.again) for fact in found.differences]
