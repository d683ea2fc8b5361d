"""Who sees any list at all, for pages that lead there. It stands apart from the lists, whose library renders a template
when it is imported, and so loads the tags that ask this.
"""

from players.models import User

READERS: set[str] = set()  # permissions, each of which some list asks for


def sees_lists(user: User) -> bool:
    """Say whether there is a list that *user* may see."""
    return not READERS.isdisjoint(user.get_all_permissions())
