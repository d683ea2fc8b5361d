"""Templates of replies, in five languages: what the house ships, what staff make of it, and how facts are filled in."""
