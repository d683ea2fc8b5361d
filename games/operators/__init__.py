"""The addresses where operators announce their players and send them in."""
