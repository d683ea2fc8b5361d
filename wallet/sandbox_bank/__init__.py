"""The sandbox bank: another firm, played by the house so that deposits can be tried out. Nobody pays here.

It behaves like a bank: a page of its own where the payer approves, declines or leaves; signed messages to the payee, by
HTTP, that may come at once, late, twice, out of order or never; and an answer to whoever asks how a payment stands. It
knows nothing of players, payments and ledgers, and the house knows nothing of it but its messages.
"""
