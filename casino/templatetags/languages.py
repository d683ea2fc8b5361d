"""Where a page stands in the other languages: ``{% alternates as links %}`` in the head."""

from typing import Any, Final

from django import template
from django.conf import settings
from django.template import Context
from django.urls import translate_url

register = template.Library()

# What everyone may read, and a search engine may find. All else belongs to someone, or is a form.
PUBLIC: Final = frozenset({"lobby", "fair", "terms", "help", "rules"})


@register.simple_tag(takes_context=True)
def alternates(context: Context) -> list[dict[str, str]]:
    """Return each language's address of a public page, this one's included; nothing for other pages."""
    request: Any = context.get("request")
    if request is None or request.resolver_match is None or request.resolver_match.view_name not in PUBLIC:
        return []
    here = request.build_absolute_uri(request.path)
    return [{"language": code, "address": translate_url(here, code)} for code, _name in settings.LANGUAGES]
