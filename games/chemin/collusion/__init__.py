"""Whether players at Chemin de Fer play together against others."""
