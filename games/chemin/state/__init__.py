"""The state of a Chemin de Fer table, from rows and from the ledger, and queries of it."""
