"""A fault drill: people play and pay while programs are killed and connections are cut."""
