"""The event log: append-only record of what happened. Lowest app: all others may call it, it imports none of them."""
