"""Django's PostgreSQL backend with an embedded server that starts on first use, and the database roles."""
