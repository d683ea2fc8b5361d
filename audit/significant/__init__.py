"""Significant events (GLI-19 v3.0, 2.8.8): finding recorded events that staff must look at, and handling them."""
