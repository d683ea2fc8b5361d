"""Staff pages about staff: accounts and roles, API tokens, handbook."""
