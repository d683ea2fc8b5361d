"""Customer service: conversations, complaints and reply templates."""
