"""Damages a shared table as only the owner of the database tables can."""

from uuid import UUID

import psycopg

from tests.harness.owner import OwnerWithin

# Damage -> the statement that does it. Its parameter is the round's id.
SPOILT = {
    "leaves": r"UPDATE games_shoeleaves SET leaves = '\x00' WHERE shoe_id = {shoe}",
    "leaves, in one bit": """UPDATE games_shoeleaves
        SET leaves = set_bit(leaves, 99, 1 - get_bit(leaves, 99)) WHERE shoe_id = {shoe}""",
    "root": "UPDATE games_shoe SET root = repeat('0', 64) WHERE id = {shoe}",
    "commitment": "UPDATE games_shoe SET commitment = repeat('0', 64) WHERE id = {shoe}",
    "cards gone": "UPDATE games_shoe SET gone = gone + 1 WHERE id = {shoe}",
    "cards dealt": "UPDATE games_dealtcards SET cards = '9H 9D KS QC', sealed = NULL WHERE round_id = %(round)s",
    "cards dealt, none": "DELETE FROM games_dealtcards WHERE round_id = %(round)s",
    "cards drawn": "UPDATE games_liveround SET cards = '9H 9D KS QC' WHERE id = %(round)s",
    "cards drawn that there are not": "UPDATE games_liveround SET cards = '9H XX' WHERE id = %(round)s",
    "slip": """UPDATE games_liveseat SET stakes = '{{"player": 6000}}' WHERE round_id = %(round)s""",
    "slip, as it was": """UPDATE games_liveseat SET stakes = '{{"player": 5000}}' WHERE round_id = %(round)s""",
    "cards stored": "UPDATE games_round SET cards = '9H 9D KS QC' WHERE id = %(round)s",
    "first card stored": "UPDATE games_round SET first_card = first_card + 6 WHERE id = %(round)s",
    "payout stored": """UPDATE games_wager SET payout = payout + 1
        WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %(round)s)""",
    "part stored": "DELETE FROM games_wager USING games_participation AS part WHERE part.id = participation_id"
    " AND part.round_id = %(round)s",
}
GUARDED = ("games_shoe", "games_shoeleaves", "games_dealtcards", "games_liveround", "games_liveseat")


def spoil(owner: psycopg.Connection | OwnerWithin, round_id: UUID, what: str) -> None:
    """Damage a shared round or its shoe, with all guards disabled."""
    shoe = "(SELECT shoe_id FROM games_liveround WHERE id = %(round)s)"
    for each in GUARDED:
        owner.execute(f"ALTER TABLE {each} DISABLE TRIGGER USER")
    done = owner.execute(SPOILT[what].format(shoe=shoe), {"round": round_id})
    for each in GUARDED:
        owner.execute(f"ALTER TABLE {each} ENABLE TRIGGER USER")
    assert done.rowcount
