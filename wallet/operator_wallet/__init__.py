"""The operator wallet: operators' players play with their operator's balance.

The protocol is in docs/seamless.md. The house holds such a player's money only during a round.
`bets` first requests the round's stakes from the operator through `client`. What is left after the
round goes back with a message that `queue` sends until it is accepted. The state of both is in
PostgreSQL.
"""
