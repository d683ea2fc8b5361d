"""The seamless wallet: games of one company on the wallet of another (docs/seamless.md).

Here the house is the host: studios' games take bets from its players' balances and pay wins into
them (`host`). `signing` and `messages` serve both sides.
"""
