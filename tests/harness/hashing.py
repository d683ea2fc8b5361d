"""Passwords that cost a test next to nothing."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """The house's own way of keeping passwords, with none of the work that makes guessing expensive."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
