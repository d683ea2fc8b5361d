"""Seals events into the tree and has its checkpoints signed; the signer, its keys, and where checkpoints are sent."""
