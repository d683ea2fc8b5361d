"""Registers of excluded people: one interface, the house's own register behind it, a place for each national one.

Which register serves which jurisdiction is configured by dotted path (``SABOT_REGISTERS``); see ``docs/registers.md``.
"""

from players.protection.registers.interface import CLEAR, Finding, Person, Register, RegisterUnreachable
from players.protection.registers.queries import ask, ask_where_due, ask_where_stale, serving

__all__ = [
    "CLEAR",
    "Finding",
    "Person",
    "Register",
    "RegisterUnreachable",
    "ask",
    "ask_where_due",
    "ask_where_stale",
    "serving",
]
