"""Texts of Django that players can see and that Django lacks in one of the languages.

Listed here, they are extracted, and the project's translation takes precedence over Django's.
"""

from django.utils.translation import ngettext_lazy

BORROWED = (
    # django.contrib.auth.password_validation.MinimumLengthValidator: not in Romanian as of 5.2.
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
