"""Coups of Chemin de Fer: in progress, settled, void, stored, and verified."""
