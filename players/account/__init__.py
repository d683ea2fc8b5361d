"""Account pages, account closure, and acceptance of the terms."""
