"""Views of the account pages: overview, sessions, terms, choice of language."""

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players.access import PlayerRequest, made_by_the_page, page_after, player_required
from players.account import registration, terms
from players.api import tokens
from players.datetime_format import written_day
from players.identity import requested_documents
from players.login import sessions
from players.login.current_user import session_id
from players.login.sessions import browser_label
from players.support import conversations


@dataclass(frozen=True)
class Card:
    """A link on the account page: name of the URL, title, one sentence."""

    page: str
    title: str | Promise
    message: str | Promise


CARDS: tuple[Card, ...] = (
    Card("cashier", gettext_lazy("Cashier"), gettext_lazy("Your balance, deposits and all transactions.")),
    Card(
        "cashier_withdraw",
        gettext_lazy("Withdraw"),
        gettext_lazy("Request a withdrawal and see the status of your requests."),
    ),
    Card("statement", gettext_lazy("Statement"), gettext_lazy("Exact figures for any period, to read or download.")),
    Card(
        "history",
        gettext_lazy("Game logs"),
        gettext_lazy("All rounds you have played with real money, with replays."),
    ),
    Card(
        "limits",
        gettext_lazy("Limits"),
        gettext_lazy("Limits on how much you deposit, bet and lose, and how long you play."),
    ),
    Card(
        "protection",
        gettext_lazy("Safer gambling"),
        gettext_lazy("Pause, time-out, self-exclusion and the reality check at tables."),
    ),
    Card(
        "identity",
        gettext_lazy("Identity"),
        gettext_lazy("Confirm who you are. This is required before you deposit or play for real money."),
    ),
    Card(
        "documents",
        gettext_lazy("Documents"),
        gettext_lazy("Send the documents that we have asked you for, and see whether we have accepted them."),
    ),
    Card(
        "account_security",
        gettext_lazy("Security"),
        gettext_lazy("Your log-in details: e-mail address, password, authenticator app and passkeys."),
    ),
    Card(
        "account_sessions",
        gettext_lazy("Sessions"),
        gettext_lazy("Where you are logged in. End sessions you no longer use."),
    ),
    Card(
        "account_api_tokens",
        gettext_lazy("API clients"),
        gettext_lazy("API tokens for your API clients, with their permissions and last use."),
    ),
    Card(
        "service",
        gettext_lazy("Customer service"),
        gettext_lazy("Write to us, read our answers, complain about a round."),
    ),
    Card("account_data", gettext_lazy("Your data"), gettext_lazy("Download everything we hold about you.")),
    Card("account_close", gettext_lazy("Close your account"), gettext_lazy("Permanently, with your balance paid out.")),
)


@player_required
@require_safe
def account(request: PlayerRequest) -> HttpResponse:
    """Show links to all account pages."""
    hidden = set() if tokens.may_have(request.user) else {"account_api_tokens"}
    if not requested_documents.of_player(request.player).exists():
        hidden.add("documents")
    context = {
        "cards": [card for card in CARDS if card.page not in hidden],
        "unread": conversations.unread(request.player),
        "is_waited_for": requested_documents.is_waited_for(request.player),
    }
    return render(request, "players/account.html", context)


@player_required
@require_safe
def account_sessions(request: PlayerRequest) -> HttpResponse:
    """Show the sessions and API sessions in which the player is logged in."""
    here = session_id(request)
    lines = [
        {
            "session": each,
            "words": browser_label(each.browser),
            "is_here": each.pk == here,
            "is_api_client": each.browser.startswith(sessions.API_CLIENT),
        }
        for each in sessions.running(request.user)
    ]
    lines.sort(key=lambda line: not line["is_here"])
    return render(request, "players/sessions.html", {"lines": lines, "others": len(lines) > 1})


@player_required
@require_POST
def account_session_end(request: PlayerRequest, session: UUID) -> HttpResponse:
    """End one of the player's sessions."""
    sessions.end_one_of(user=request.user, session_id=session, ip=_ip(request))
    messages.success(request, _("That session has ended."))
    return redirect("account_sessions")


@player_required
@require_POST
def account_sessions_end(request: PlayerRequest) -> HttpResponse:
    """End all of the player's sessions but this one."""
    sessions.end_others(user=request.user, here=session_id(request), ip=_ip(request))
    messages.success(request, _("All other sessions have ended."))
    return redirect("account_sessions")


@made_by_the_page
@require_safe
def session_status(request: HttpRequest, session: UUID) -> HttpResponse:
    """Return how many seconds a session has left, for the page that waits for its end.

    Only the pages of the session and the event log know its id. The answer says nothing else about
    the session.
    """
    return _status(session)


@require_POST
def session_stay(request: HttpRequest, session: UUID) -> HttpResponse:
    """Extend the session, as any action of the logged-in user does, and return the seconds left."""
    return _status(session)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def terms_agree(request: PlayerRequest) -> HttpResponse:
    """Show the new terms with their changes; on POST, record the agreement and return to the previous page."""
    onward = page_after(request) or reverse("lobby")
    if request.method == "POST":
        with suppress(terms.NotInForce):  # the page then shows the version in force
            terms.agree(player=request.player, version=request.POST.get("version", ""), ip=_ip(request))
    if not terms.outstanding(request.player):
        return redirect(onward)
    language = get_language() or "en"
    context = {
        "version": terms.VERSION,
        "dated": written_day(terms.DATED, language),
        "text": terms.text(language),
        "changes": terms.changes(language),
        "next": onward,
    }
    return render(request, "players/terms_agree.html", context)


def _status(session: UUID) -> HttpResponse:
    found = sessions.read_state(session)
    return JsonResponse({"left": found.left if found else 0, "why": found.why if found else ""})


def _ip(request: HttpRequest) -> str:
    return str(get_adapter().get_client_ip(request))


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
