"""Accounts of players and staff."""
