"""The dealer: a separate process that draws the seeds of rounds and shoes, keeps them secret and deals them.

It has no Django and no database. ``python -m games.dealer`` starts it; `docs/randomness.md`
describes what it promises.
"""

from typing import ClassVar, Final


class Refusal(Exception):
    """The dealer does not deal this; the message says why.

    *proof* is for the database, of `games.engine.commitments.refusal_text`; shoes have none.
    """

    reason: ClassVar[str]
    proof: bytes = b""


class Expired(Refusal):
    """The dealer does not have this seed: the commitment is of an earlier epoch or too old, or the shoe is lost."""

    reason = "expired"


class DealtOtherwise(Refusal):
    """It was dealt for another request: other stakes, another value of the player, or another round."""

    reason = "dealt"


class Foreign(Refusal):
    """The commitment is not the dealer's, or not for this round, table, decks and rules; or nothing allows the deal."""

    reason = "foreign"


REFUSALS: Final[dict[str, type[Refusal]]] = {each.reason: each for each in (Expired, DealtOtherwise, Foreign)}
"""The refusals by their reasons."""
