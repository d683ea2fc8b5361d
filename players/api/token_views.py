"""The page of API tokens, and its forms."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from players.access import PlayerRequest, player_required
from players.api import tokens
from players.login.current_user import actor_of
from players.models import ApiToken, Player, Scope, User

USUAL_DAYS: Final = 90
REMEMBERED: Final = 7 * 24 * 3600  # seconds for which a form creates no second token
NAME_LENGTH: Final = ApiToken._meta.get_field("name").max_length

ONCE: Final = gettext_lazy(
    "This token has already been created, and its key is shown only once. If you did not "
    "save the key, revoke the token and create a new one."
)

# Description of each scope for the owner of a token.
SCOPE_LABELS: Final[dict[Scope, str | Promise]] = {
    Scope.READ: gettext_lazy("View tables and your balance, rounds and limits"),
    Scope.PLAY: gettext_lazy("Play for you, with your money"),
    Scope.LIMITS: pgettext_lazy("an API client", "Set your limits"),
    Scope.EVENTS: gettext_lazy("Read the audit log, with proofs"),
    Scope.ROUNDS: gettext_lazy("Read rounds, with verification data"),
    Scope.REPORTS: gettext_lazy("Read reports"),
    Scope.CHECKPOINTS: gettext_lazy("Read signed checkpoints of the log"),
}


def scope_labels(token: ApiToken) -> list[str]:
    """Return labels of the token's scopes, in the order of the form."""
    return [str(_label(scope, token.user)) for scope in SCOPE_LABELS if scope in token.scopes]


def _label(scope: Scope, user: User) -> str | Promise:
    """Return what a scope permits to the API clients of *user*, whose jurisdiction may leave them play money alone."""
    player = Player.objects.filter(user=user).select_related("jurisdiction").first()
    if scope is Scope.PLAY and player and not player.jurisdiction.api_clients_may_play:
        return _("Play for you, with play money")
    return SCOPE_LABELS[scope]


class NewTokenForm(forms.Form):
    """Name, scopes and lifetime of a new token."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=NAME_LENGTH,
        help_text=gettext_lazy("A name to recognise the API client by, for example “My results chart”."),
    )
    scopes = forms.TypedMultipleChoiceField(
        coerce=Scope,
        label=gettext_lazy("What the API client can do"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Select at least one.")},
    )
    days = forms.IntegerField(
        label=gettext_lazy("Valid for (days)"),
        min_value=1,
        max_value=tokens.LONGEST,
        initial=USUAL_DAYS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text=gettext_lazy("At most 365. After that, the API client needs a new token."),
    )

    once = forms.UUIDField(required=False, initial=uuid4, widget=forms.HiddenInput)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        """Offer the scopes that *user* may give to a token."""
        super().__init__(*args, **kwargs)
        choices = [(scope.value, _label(scope, user)) for scope in tokens.scopes_for(user)]
        self.fields["scopes"].choices = choices  # type: ignore[attr-defined]  # of the field declared above


def make(user: User, said: Mapping[str, Any], *, ip: str) -> tuple[ApiToken, str] | None:
    """Create the token of a valid form and return it with its key; None if this form has created one already.

    So reloading the page that shows the key creates no second token. Raises tokens.TokenError.
    """
    asked = dict(said)
    once = asked.pop("once")
    cache_key = f"token-form:{user.pk}:{once}"
    if once and not cache.add(cache_key, 1, timeout=REMEMBERED):
        return None
    try:
        return tokens.make(user=user, ip=ip, **asked)
    except tokens.TokenError:
        cache.delete(cache_key)
        raise


@player_required
@require_safe
def account_api_tokens(request: PlayerRequest) -> HttpResponse:
    """List the player's valid tokens."""
    _demand_theirs(request)
    lines = [(token, scope_labels(token)) for token in tokens.running(request.user)]
    return render(request, "players/api_tokens.html", {"lines": lines, "is_full": len(lines) >= tokens.MOST})


@player_required
@reauthentication_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account_api_token_new(request: PlayerRequest) -> HttpResponse:
    """Create a token and show its key once."""
    _demand_theirs(request)
    form = NewTokenForm(request.user, request.POST or None)
    if not form.is_valid():
        return render(request, "players/api_token_new.html", {"form": form})
    try:
        made = make(request.user, form.cleaned_data, ip=_ip(request))
    except tokens.TooMany:
        messages.error(
            request, _("You have reached the maximum number of tokens. First revoke one that you no longer use.")
        )
        return redirect("account_api_tokens")
    if made is None:
        messages.warning(request, ONCE)
        return redirect("account_api_tokens")
    token, key = made
    return render(request, "players/api_token_made.html", {"token": token, "key": key, "words": scope_labels(token)})


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_api_token_revoke(request: PlayerRequest, token_id: int) -> HttpResponse:
    """Ask for confirmation and revoke a token of the player."""
    token = get_object_or_404(tokens.running(request.user), pk=token_id)
    if request.method != "POST":
        return render(request, "players/api_token_revoke.html", {"token": token})
    tokens.revoke(token_id=token.pk, by=actor_of(request.user), ip=_ip(request))
    messages.success(request, _("The token is revoked. No API client can use it any more."))
    return redirect("account_api_tokens")


def _demand_theirs(request: PlayerRequest) -> None:
    """Raises Http404 if the player may have no tokens."""
    if not tokens.may_have(request.user):
        raise Http404


def _ip(request: HttpRequest) -> str:
    return str(get_adapter().get_client_ip(request))
