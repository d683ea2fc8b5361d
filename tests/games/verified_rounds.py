"""Helpers for verified rounds."""

from games.models import Round
from games.verification.service import verify_round


def differences(played: Round) -> list[tuple[str, str, str | None]]:
    """Return the differences of a finished round: name, stored value, recomputed value."""
    found = verify_round(played.pk)
    assert found
    assert not found.deal.obstacle, found.deal.obstacle
    return [(fact.what, fact.stored, fact.again) for fact in found.differences]
