"""Monitoring of returns: hourly counts of how bets ended, the evidence against them, and alarms.

The mathematics is in `games.engine.evidence`.
"""
