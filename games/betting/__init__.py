"""What a player may stake: the slip, its limits, and who may bet."""
