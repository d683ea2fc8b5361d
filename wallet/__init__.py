"""Accounts, the ledger (the one door for money), the cashier."""
