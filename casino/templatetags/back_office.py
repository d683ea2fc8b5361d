"""The way around the back office, the same on each of its pages."""

from django import template
from django.template import RequestContext

from casino.staff import Function, functions_of

register = template.Library()


@register.simple_tag(takes_context=True)
def functions(context: RequestContext) -> list[Function]:
    """Return what whoever reads the page may do."""
    return functions_of(context["request"].user)
