"""Player API for balances and limits."""
