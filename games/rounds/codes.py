"""The code of a round: what a player reads out to customer service."""

from uuid import UUID

# Crockford's base 32: no I, L, O or U, so that nothing is mistaken for anything else.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MISTAKEN = str.maketrans("OIL", "011")
LETTERS = 12


def round_code(round_id: UUID) -> str:
    """Return the last 60 bits of a random round id, all of them random in a version 4 UUID, as three groups of four
    characters.
    """
    bits = round_id.int & (1 << 60) - 1
    return _in_groups("".join(ALPHABET[bits >> shift & 31] for shift in range(55, -1, -5)))


def read_code(text: str) -> str | None:
    """Return a code as it is stored, from however someone has typed it: any case, with or without hyphens, O for zero
    and I or L for one (as Crockford reads them). None where this is no code.
    """
    letters = "".join(text.split()).replace("-", "").upper().translate(MISTAKEN)
    if len(letters) != LETTERS or not set(letters) <= set(ALPHABET):
        return None
    return _in_groups(letters)


def _in_groups(letters: str) -> str:
    return "-".join(letters[start : start + 4] for start in range(0, LETTERS, 4))
