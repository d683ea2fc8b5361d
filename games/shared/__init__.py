"""Shared tables: many players, one shoe, one clock. PostgreSQL decides everything; ticks and messages are hints."""
