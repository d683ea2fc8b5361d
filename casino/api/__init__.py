"""The API as a whole: its addresses, how it describes itself, and what compliance staff read through it."""
