"""The project: settings, addresses, servers."""
