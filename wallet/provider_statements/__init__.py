"""Reconciliation of provider statements with the house's payments and withdrawals.

`parser` reads a file, `comparison` compares its lines, `drafts` stores what staff confirm, and
`export` writes the result as a file. No money moves here. A correction is an adjustment approved by
two people, or a notification from the provider.
"""
