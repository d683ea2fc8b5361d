"""A fault drill: a house in which people play and pay while its programs are killed and its lines are cut."""
