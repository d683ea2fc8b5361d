"""Shared test infrastructure: database server, cloned databases, web server and Chromium."""
