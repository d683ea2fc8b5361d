"""Server-sent events: live updates for open pages and API streams."""
