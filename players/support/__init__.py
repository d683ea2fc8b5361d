"""Customer service: conversations, complaints and templates of replies."""
