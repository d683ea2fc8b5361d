"""The sandbox bank: an embedded fake bank for trying out deposits and payouts. No real money moves.

It behaves like a bank. It has its own page where the payer approves, declines or leaves. It sends
signed HTTP webhooks that may be prompt, late, duplicated, out of order or lost. It answers status
queries. It knows nothing of players, payments and ledgers, and the house knows only its messages.
"""
