"""The keys with which the dealer proves to the database what it dealt (``sql/functions/dealer.sql``).

``manage.py migrate`` stores them as the owner. Web and workers never have them.
"""

from typing import Final

from django.conf import settings
from django.db.backends.utils import CursorWrapper

from audit.key_folder import CannotStart
from games.dealer.keys import Keys, proof_key
from players import key_rotation
from players.credentials import padded

STORE: Final = "INSERT INTO games_dealer_key (number, inner_pad, outer_pad) VALUES (%s, %s, %s)"


class WrongKey(Exception):
    """A key of DEALER_PROOF_KEY is not valid; the message says why."""


def store(cursor: CursorWrapper) -> int:
    """Store the keys of DEALER_PROOF_KEY, and no others; return how many the database has.

    Without the setting, a demo stores the key of its own dealer, and other houses keep those that they
    have. Raises WrongKey.
    """
    keys = _keys()
    if not keys:
        cursor.execute("SELECT count(*) FROM games_dealer_key")
        (stored,) = cursor.fetchone()
        return int(stored)
    cursor.execute("DELETE FROM games_dealer_key")
    cursor.executemany(STORE, [(number, *padded(key)) for number, key in enumerate(keys)])
    return len(keys)


def _keys() -> list[bytes]:
    try:
        if given := key_rotation.keys_of(settings.DEALER_PROOF_KEY):
            return [proof_key(key) for key in given]
        return [] if settings.DEALER_DIR is None else [Keys.opened(settings.DEALER_DIR).proof]
    except ValueError as error:
        raise WrongKey(f"DEALER_PROOF_KEY: {error}.") from error
    except CannotStart as error:
        raise WrongKey(f"The key of the dealer cannot be read: {error}.") from error
