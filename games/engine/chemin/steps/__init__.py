"""Steps of a table: what each action does to a state, and the order of the phases."""
