"""Form fields in templates: ``{% load fields %}{{ field|control }}``."""

from django import template
from django.forms import BaseForm, BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def control(field: BoundField, described_by: str = "") -> SafeString:
    """Write what a field is filled in with; the first of a form that is wrong gets the focus. Where the form
    as a whole is wrong, that is the first one that came back empty: after a wrong password, the password.

    *described_by* is the id of what stands beside the field and says more about it.
    """
    attributes: dict[str, str | bool] = {}
    if field.form.errors and field.name == _to_mend(field.form):
        attributes["autofocus"] = True
    if described_by:
        error = f"{field.auto_id}_error" if field.errors else ""
        attributes["aria-describedby"] = f"{described_by} {error}".strip()
    return field.as_widget(attrs=attributes)


def _to_mend(form: BaseForm) -> str | None:
    """Return the name of the field to begin with in a form that has errors."""
    wrong = (field.name for field in form if field.errors)
    empty = (field.name for field in form.visible_fields() if field.widget_type == "password" or not field.value())
    return next(wrong, None) or next(empty, None)
