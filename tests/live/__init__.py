"""Shared tables: their clock, their bets, their money, and what players see of them."""
