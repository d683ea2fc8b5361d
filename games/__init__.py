"""The games: the mathematics of baccarat, the variants, the tables and their rounds."""
