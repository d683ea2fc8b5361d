"""What protects players: limits, exclusions, registers, and who may play."""
