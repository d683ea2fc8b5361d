"""Server-sent events: what open pages are told as it happens."""
