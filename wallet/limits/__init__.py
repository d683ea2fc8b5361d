"""Limits on deposits, losses and stakes: what is left of them, and their pages."""
