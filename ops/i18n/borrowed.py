"""Texts of Django that a player can meet and that Django lacks in one of our languages.

Named here they are extracted, and our translation goes before Django's.
"""

from django.utils.translation import ngettext_lazy

BORROWED = (
    # django.contrib.auth.password_validation.MinimumLengthValidator: not in Romanian as of 5.2.
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
