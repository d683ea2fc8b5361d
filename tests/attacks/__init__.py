"""One attack on each guard of money, of the event log and of player protection."""
