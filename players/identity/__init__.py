"""Who players are: documents, what staff find in them, likely duplicates."""
