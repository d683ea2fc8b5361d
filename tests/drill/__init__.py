"""A fault drill: a house with players at a shared table, of which one program after another is killed."""
