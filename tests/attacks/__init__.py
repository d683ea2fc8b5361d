"""One attack on each guard of money, of the event log and of what protects players."""
