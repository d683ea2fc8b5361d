"""Deposit, loss and stake limits: what remains of them, and the pages for players."""
