"""Form to create an API token."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.core.cache import cache
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from players.api import tokens
from players.models import ApiToken, Scope, User

USUAL_DAYS: Final = 90
REMEMBERED: Final = 7 * 24 * 3600  # seconds for which a form creates no second token
NAME_LENGTH: Final = ApiToken._meta.get_field("name").max_length

ONCE: Final = _(
    "This token has already been created, and its key is shown only once. If you did not "
    "save the key, revoke the token and create a new one."
)

# What a token permits, as its owner reads it. Scopes of staff are shown on staff pages, in English.
SCOPE_LABELS: Final[dict[Scope, str | Promise]] = {
    Scope.READ: _("View tables and your balance, rounds and limits"),
    Scope.PLAY: _("Play for you, with your money"),
    Scope.LIMITS: pgettext_lazy("a program", "Set your limits"),
    Scope.EVENTS: "Read the audit log, with proofs",
    Scope.ROUNDS: "Read rounds, with verification data",
    Scope.REPORTS: "Read reports",
    Scope.CHECKPOINTS: "Read signed checkpoints of the log",
}


def scope_labels(token: ApiToken) -> list[str]:
    """Return labels of the token's scopes, in the order of the form."""
    return [str(said) for scope, said in SCOPE_LABELS.items() if scope in token.scopes]


class NewTokenForm(forms.Form):
    """Name, scopes and lifetime of a new token."""

    name = forms.CharField(
        label=_("Name"),
        max_length=NAME_LENGTH,
        help_text=_("A name to recognise the API client by, for example “My results chart”."),
    )
    scopes = forms.TypedMultipleChoiceField(
        coerce=Scope,
        label=_("What the API client can do"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Select at least one.")},
    )
    days = forms.IntegerField(
        label=_("Valid for (days)"),
        min_value=1,
        max_value=tokens.LONGEST,
        initial=USUAL_DAYS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text=_("At most 365. After that, the API client needs a new token."),
    )

    once = forms.UUIDField(required=False, initial=uuid4, widget=forms.HiddenInput)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        """Offer the scopes that *user* may give to a token."""
        super().__init__(*args, **kwargs)
        choices = [(scope.value, SCOPE_LABELS[scope]) for scope in tokens.scopes_for(user)]
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
