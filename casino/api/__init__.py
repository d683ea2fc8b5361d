"""The API as a whole: URLs, OpenAPI description, and errors outside of views."""
