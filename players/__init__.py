"""Who plays and who works here."""
