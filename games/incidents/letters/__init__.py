"""Letters of the house to everybody who was in the round of an incident, each in their own language."""
