"""Tests of shared tables: clock, bets, money, and what players see."""
