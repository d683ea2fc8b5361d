"""Views of the terms page and the choice of language."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views import i18n
from django.views.decorators.http import require_POST, require_safe

from players import registration
from players.account import terms
from players.datetime_format import written_day


@require_safe
def terms_page(request: HttpRequest) -> HttpResponse:
    """Show the terms in force, in the reader's language."""
    language = get_language() or "en"
    context = {"version": terms.VERSION, "dated": written_day(terms.DATED, language), "text": terms.text(language)}
    return render(request, "players/terms.html", context)


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Show the same page in another language, and store the choice in a cookie and in the user's account.

    Only our five languages are accepted. Django itself would accept more.
    """
    chosen = request.POST.get("language", "")
    if chosen not in dict(settings.LANGUAGES):
        raise Http404
    if request.user.is_authenticated:
        registration.choose_language(user=request.user, language=chosen)
    return i18n.set_language(request)
