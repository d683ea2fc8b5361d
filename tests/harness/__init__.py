"""What tests share: a database server of their own, clones of a migrated database, a real web server, real Chromium."""
