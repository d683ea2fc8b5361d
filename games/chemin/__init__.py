"""Chemin de Fer tables: players play against each other; the house runs the table, holds the money and keeps time.

Only the engine (`games.engine.chemin`) decides what is allowed and what follows from an action.
This package carries it out: rows, money, deadlines, notifications.
"""
