"""Who may see any list, for pages that link to the lists.

This is apart from the lists, because their library renders a template on import and so loads the
template tags that use this module.
"""

from players.models import User

READERS: set[str] = set()  # permissions that any list accepts


def sees_lists(user: User) -> bool:
    """Return whether there is a list that *user* may see."""
    return not READERS.isdisjoint(user.get_all_permissions())
