"""Whether a player has shown who they are. The latest submission is what counts: a change asks for a review anew."""

from players.models import Player, Submission, SubmissionStatus


def latest(player: Player) -> Submission | None:
    """Return what the player sent in last, or None where nothing has been."""
    return Submission.objects.filter(player=player).order_by("-id").first()


def is_verified(player: Player) -> bool:
    """Return whether staff have confirmed who the player is, from what was sent in last."""
    submission = latest(player)
    return submission is not None and submission.status == SubmissionStatus.VERIFIED
