"""The games: the mathematics of baccarat, its variants, and the tables they are played at."""
