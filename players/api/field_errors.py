"""Messages of Django REST framework that are translated in our own catalogues.

The framework has no translation of them in some of our languages. A test checks every field that
the API reads.
"""

from django.utils.translation import gettext_noop as _

OF_THE_FRAMEWORK = (
    _("Must be a valid UUID."),
    _("Must be a valid boolean."),
    _("Not a valid string."),
    _("Datetime value out of range."),
    _("This dictionary may not be empty."),
    _("Ensure this field has at least {min_length} elements."),
    _("Ensure this field has no more than {max_length} elements."),
    _("Surrogate characters are not allowed: U+{code_point:X}."),
)
