"""How people log in: names, passwords, second factors, sessions and locks."""
