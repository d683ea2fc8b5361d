"""Exclusion registers: a common interface, our own register, and national ones.

``SABOT_REGISTERS`` configures the register of each jurisdiction by dotted path; see
``docs/registers.md``.
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
