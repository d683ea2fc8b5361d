"""Base of the HTTP API: authentication, strict parsing, idempotency, problems, and API tokens."""
