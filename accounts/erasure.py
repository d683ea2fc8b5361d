"""Forgetting people: what the law has the house keep about a closed account is kept that long, and then no longer.

How long that is stands in `audit.retention`; what was written to customer service goes in its own time. What was played
and paid stays for good, as do the events, which hold salted hashes of personal values only; from then on nothing says
whose it was.
"""

from django.db import connection, transaction
from django.db.models import Q

from games.chat import moderation
from games.models import ChipSet, FavouriteBet, FavouriteTable, NextRound
from players.account import closures
from players.api import tokens
from players.models import DocumentContent, Duplicate, Mail, Player, SearchWord, Submission, Trait
from players.staff import notes
from wallet.operator_wallet import operators
from wallet.payouts import accounts

NOTHING = ""


def erase_due() -> int:
    """Erase who they were of all whose accounts have been closed for long enough; return how many."""
    due = closures.to_erase()
    for player in due:
        erase(player)
    return len(due)


@transaction.atomic
def erase(player: Player) -> None:
    """Forget whose account this was. The database refuses where it has not been closed for long enough."""
    closures.forget(player)
    notes.forget(player)
    tokens.forget(player)
    accounts.forget(player)
    operators.forget(player)
    moderation.forget(player)
    _forget_reports(player)
    DocumentContent.objects.filter(document__submission__player=player).delete()
    for found_by in (Trait, SearchWord):
        found_by.objects.filter(player=player).delete()
    Submission.objects.filter(player=player).update(
        given_names=NOTHING,
        family_name=NOTHING,
        street=NOTHING,
        postal_code=NOTHING,
        city=NOTHING,
        phone=NOTHING,
        document_number=NOTHING,
        note=NOTHING,
    )
    Duplicate.objects.filter(Q(first=player) | Q(second=player)).update(note=NOTHING)
    Mail.objects.filter(user=player.user_id).update(address=NOTHING, subject=NOTHING, body=NOTHING)
    NextRound.objects.filter(player=player).update(player_value=NOTHING)
    for arranged in (FavouriteBet, FavouriteTable, ChipSet):
        arranged.objects.filter(player=player).delete()


def _forget_reports(player: Player) -> None:
    """Forget in what words the player reported how others play, and others reported them, and what staff noted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_forget_reports(%s)", [player.pk])
