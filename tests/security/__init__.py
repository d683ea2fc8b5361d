"""What an attacker would try first; docs/security.md says what stops it."""
