"""Chemin de Fer at the table: guests play each other, and the house keeps the table, the bank and the clock.

What may be done, and what comes of it, only the engine says (`games.engine.chemin`). Here it is carried out: rows,
money, clock, news.
"""
