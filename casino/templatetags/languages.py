"""Template tag for the URLs of a page in all languages: ``{% alternates as links %}`` in the head."""

from typing import Any, Final

from django import template
from django.conf import settings
from django.template import Context
from django.urls import reverse
from django.utils.translation import override

register = template.Library()

# Public pages that search engines may index. Other pages belong to a user, or are forms.
PUBLIC: Final = frozenset({"lobby", "fair", "terms", "help", "rules"})


@register.simple_tag(takes_context=True)
def alternates(context: Context) -> list[dict[str, str]]:
    """Return the URL of a public page in each language, including the current one; nothing for other pages."""
    request: Any = context.get("request")
    if request is None or request.resolver_match is None or request.resolver_match.view_name not in PUBLIC:
        return []
    match, found = request.resolver_match, []
    for code, _name in settings.LANGUAGES:
        with override(code):
            path = reverse(match.view_name, args=match.args, kwargs=match.kwargs)
        found.append({"language": code, "address": request.build_absolute_uri(path)})
    return found
