"""API for play: the services and queries of the pages, as JSON."""
