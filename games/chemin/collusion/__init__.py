"""Detection of collusion: players at Chemin de Fer who play together against others."""
