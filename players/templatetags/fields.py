"""Template filters for form fields, and for labels and stored sentences in mails: ``{% load fields %}``."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.forms import BaseForm, BoundField
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit import staff_text
from players import staff

register = template.Library()
register.filter("in_sentence", staff_text.in_sentence)
register.filter("translated", staff_text.translated)


@register.simple_tag
def moment(at: datetime, form: str = "Y-m-d H:i") -> SafeString:
    """Render a time in UTC as a value of a sentence: ``{% moment at as since %}``."""
    return format_html('<time class="num" datetime="{}">{} UTC</time>', at.isoformat(), date_format(at, form))


@register.filter
def role_names(names: Iterable[str]) -> str:
    """Return the names of roles in the active language, separated by commas."""
    return ", ".join(map(staff.role_name, names))


@register.filter
def control(field: BoundField, described_by: str = "") -> SafeString:
    """Render the input of a field. The first field with an error gets the focus.

    If only the form as a whole has an error, the first empty field gets it: after a wrong password,
    the password. *described_by* is the id of an element that describes the field.
    """
    attributes: dict[str, str | bool] = {}
    if field.form.errors and field.name == _to_mend(field.form):
        attributes["autofocus"] = True
    if described_by:
        error = f"{field.auto_id}_error" if field.errors else ""
        attributes["aria-describedby"] = f"{described_by} {error}".strip()
    return field.as_widget(attrs=attributes)


def _to_mend(form: BaseForm) -> str | None:
    """Return the name of the field to focus in a form with errors."""
    wrong = (field.name for field in form if field.errors)
    empty = (field.name for field in form.visible_fields() if field.widget_type == "password" or not field.value())
    return next(wrong, None) or next(empty, None)
