"""A player's money and limits for other programs."""
