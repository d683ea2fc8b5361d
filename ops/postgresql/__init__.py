"""Django's PostgreSQL backend over a server that is started when it is first asked for, and the roles of the house."""
