"""API tokens of staff: a token reads what its owner's roles allow.

Staff who manage staff accounts see the tokens of all staff and may revoke any of them.
"""

from typing import Final

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players import staff
from players.access import StaffRequest, staff_required
from players.api import tokens
from players.api.token_views import ONCE, NewTokenForm, make, scope_labels

OVERSEERS: Final = (staff.ASK, staff.DECIDE)
READERS: Final = (tokens.USE, *OVERSEERS)


class RevokeForm(forms.Form):
    """Reason for revoking a token."""

    reason = forms.CharField(max_length=300, strip=True)


@staff_required(*READERS)
@require_safe
def staff_api_tokens(request: StaffRequest) -> HttpResponse:
    """List the reader's own tokens, or the tokens of all staff for those who manage staff accounts."""
    sees_all = any(map(request.user.has_perm, OVERSEERS))
    found = tokens.of_staff()
    lines = found if sees_all else found.filter(user=request.user)
    context = {
        "lines": [(token, scope_labels(token), tokens.may_use(token.user)) for token in lines],
        "sees_all": sees_all,
        "may_make": request.user.has_perm(tokens.USE),
    }
    return render(request, "staff/api_tokens.html", context)


@staff_required(tokens.USE)
@reauthentication_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def staff_api_token_new(request: StaffRequest) -> HttpResponse:
    """Create a token. Its key is shown once."""
    form = NewTokenForm(request.user, request.POST or None)
    if not form.is_valid():
        return render(request, "staff/api_token_new.html", {"form": form})
    ip = str(get_adapter().get_client_ip(request))
    try:
        made = make(request.user, form.cleaned_data, ip=ip)
    except tokens.TooMany:
        messages.error(
            request,
            (gettext("You have %(most)s tokens, which is the maximum. Revoke one first.") % {"most": tokens.MOST}),
        )
        return redirect("staff_api_tokens")
    if made is None:
        messages.warning(request, ONCE)
        return redirect("staff_api_tokens")
    token, key = made
    return render(request, "staff/api_token_made.html", {"token": token, "key": key, "words": scope_labels(token)})


@staff_required(*READERS)
@require_POST
def staff_api_token_revoke(request: StaffRequest, token_id: int) -> HttpResponse:
    """Revoke an own token. Those who manage staff accounts may revoke any token."""
    found = tokens.of_staff().filter(pk=token_id).first()
    if found is None or not (found.user == request.user or any(map(request.user.has_perm, OVERSEERS))):
        raise Http404
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
    elif tokens.revoke(token_id=found.pk, by=str(request.staff), reason=form.cleaned_data["reason"]):
        messages.success(request, gettext("Token revoked. All further calls with it are refused."))
    else:
        messages.warning(request, gettext("This token is already revoked."))
    return redirect("staff_api_tokens")
