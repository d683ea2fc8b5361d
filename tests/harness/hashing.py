"""A fast password hasher for tests."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """The real hasher with the lowest cost."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
