"""Verification: deals any stored round again from its seed and compares it with the records."""
