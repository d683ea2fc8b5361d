"""Common attacks on the web application; docs/security.md says what stops each."""
