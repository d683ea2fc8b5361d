"""The pages of staff: all of /staff/ and the compliance API."""
