"""Player and house accounts, the ledger, deposits, withdrawals and partner wallets."""
