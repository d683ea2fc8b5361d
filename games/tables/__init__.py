"""Parts that all tables have in common: rules and limits, state, and the common parts of their pages."""
