"""Reconciliation: what a provider's statement says beside what the house has. `reading` makes lines of a file,
`comparing` holds them against payments and withdrawals, `keeping` stores what was confirmed, `export` writes the result
as files. No money moves here: a correction is an adjustment that two people decide, or the provider's own word.
"""
