"""Staff pages of money: ledger, deposits, withdrawals, provider statements, partners."""
