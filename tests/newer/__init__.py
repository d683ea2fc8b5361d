"""Migrations of a future version, under the name of an app and after its own migrations."""
