"""Months that have gone by leave the database for files that prove themselves; what stays goes on to be verified."""
