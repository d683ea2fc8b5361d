"""The pages of an account, its closure, and the terms agreed to."""
