"""Erasure of personal data of closed accounts after the legal retention period.

`audit.retention` holds the periods. Customer service conversations have their own. Games, payments
and events are kept forever; events contain only salted hashes of personal values. After erasure
nothing tells whose they were.
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
    """Erase the personal data of all accounts closed for long enough. Return how many there were."""
    due = closures.to_erase()
    for player in due:
        erase(player)
    return len(due)


@transaction.atomic
def erase(player: Player) -> None:
    """Erase the personal data of an account. The database refuses if it was not closed for long enough."""
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
    """Erase texts of play reports by and about the player, and staff's notes on them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_forget_reports(%s)", [player.pk])
