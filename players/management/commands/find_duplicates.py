"""``manage.py find_duplicates``: compare everyone with everyone anew, after the way names are compared has changed."""

from typing import Any

from django.core.management.base import BaseCommand

from players import search
from players.identity import duplicates


class Command(BaseCommand):
    """Flag players who may be one person, and say how many flags are new; have staff find players by the same words."""

    help = "Compare what all players sent in, and flag those who may be one person."

    def handle(self, *args: Any, **options: Any) -> None:
        """Search."""
        found = duplicates.search_all()
        search.keep_all_words()
        self.stdout.write(f"{found} new {'flag' if found == 1 else 'flags'}")
