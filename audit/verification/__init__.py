"""Verifies the event log, here and at an auditor’s."""
