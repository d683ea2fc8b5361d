"""Form fields in templates: ``{% load fields %}{{ field|control }}``."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def control(field: BoundField, described_by: str = "") -> SafeString:
    """Write what a field is filled in with; the first of a form that is wrong gets the focus.

    *described_by* is the id of what stands beside the field and says more about it.
    """
    attributes: dict[str, str | bool] = {}
    first_wrong = next((name for name in field.form.fields if name in field.form.errors), None)
    if field.name == first_wrong:
        attributes["autofocus"] = True
    if described_by:
        error = f"{field.auto_id}_error" if field.errors else ""
        attributes["aria-describedby"] = f"{described_by} {error}".strip()
    return field.as_widget(attrs=attributes)
