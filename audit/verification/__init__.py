"""Verification of the event log, in the database and in an auditor's export."""
