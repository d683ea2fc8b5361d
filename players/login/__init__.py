"""Log-in: passwords, second factors, sessions and locks."""
