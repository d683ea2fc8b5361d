"""Migrations of a version that is still to come, under the name of an app whose own they begin with."""
