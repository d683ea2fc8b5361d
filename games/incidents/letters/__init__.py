"""Letters to all players of the round of an incident, each in the player's language."""
