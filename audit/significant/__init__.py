"""Significant events (GLI-19 v3.0, 2.8.8): what of all that is recorded somebody has to look at, and the work on it."""
