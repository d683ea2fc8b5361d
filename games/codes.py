"""The code of a round: what a player reads out to customer service."""

from uuid import UUID

# Crockford's base 32: no I, L, O or U, so that nothing is mistaken for anything else.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def round_code(round_id: UUID) -> str:
    """Return the last 60 bits of a random round id, all of them random in a version 4 UUID, as three groups of four
    characters.
    """
    bits = round_id.int & (1 << 60) - 1
    letters = [ALPHABET[bits >> shift & 31] for shift in range(55, -1, -5)]
    return "-".join("".join(letters[start : start + 4]) for start in (0, 4, 8))
