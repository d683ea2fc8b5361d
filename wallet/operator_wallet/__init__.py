"""Our tables on an operator's wallet (docs/seamless.md): here the house is guest, and keeps a player's money only while
a round is played with it.

The operator is asked for a round's stakes first (`bets`), over `client`; what the round leaves goes back with a message
that is sent until it is taken (`queue`). PostgreSQL is the truth of both.
"""
