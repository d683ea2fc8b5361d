"""A fault drill: people play and pay while processes are killed and connections are cut."""
