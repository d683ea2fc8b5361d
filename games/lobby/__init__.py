"""The lobby: which tables there are, for whom, and what their cards show."""
