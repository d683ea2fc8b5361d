"""Round codes: short codes that a player reads out to customer service."""

from uuid import UUID

# Crockford's base 32: without I, L, O and U, so that characters are not confused.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MISTAKEN = str.maketrans("OIL", "011")
LETTERS = 12


def round_code(round_id: UUID) -> str:
    """Return the last 60 bits of a round id as three groups of four characters.

    All of these bits are random in a version 4 UUID.
    """
    bits = round_id.int & (1 << 60) - 1
    return _in_groups("".join(ALPHABET[bits >> shift & 31] for shift in range(55, -1, -5)))


def read_code(text: str) -> str | None:
    """Normalise a typed code to its stored form; None if it is not a code.

    Accepts any case, with or without hyphens, O for zero and I or L for one (as Crockford's base 32
    does).
    """
    letters = "".join(text.split()).replace("-", "").upper().translate(MISTAKEN)
    if len(letters) != LETTERS or not set(letters) <= set(ALPHABET):
        return None
    return _in_groups(letters)


def _in_groups(letters: str) -> str:
    return "-".join(letters[start : start + 4] for start in range(0, LETTERS, 4))
