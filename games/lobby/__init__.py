"""The lobby: the tables a player can choose from, and their cards."""
