"""``manage.py find_duplicates``: compare all players again, after the normalisation of names has
changed.
"""

from typing import Any

from django.core.management.base import BaseCommand

from players import search
from players.identity import duplicates


class Command(BaseCommand):
    """Flag likely duplicates, print the number of new flags, and rebuild the search words."""

    help = "Compare what all players sent in, and flag those who may be one person."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run both searches."""
        found = duplicates.search_all()
        search.keep_all_words()
        self.stdout.write(f"{found} new {'flag' if found == 1 else 'flags'}")
