"""The seamless wallet: games of one house on the wallet of another, as docs/seamless.md says (`signing`, `wire`).

Here the house is host: studios' games are paid from and into its players' balances (`host`).
"""
