"""View of the identity verification page.

Submitted documents are listed but never served. Otherwise a person at an unattended session could
copy a passport.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from players.access import PlayerRequest, player_required
from players.identity import verification
from players.identity.forms import IdentityForm
from players.identity.messages import DOCUMENT_KINDS, PARTS, REASONS
from players.identity.uploads import SHORTEST_EDGE, TOO_MUCH
from players.identity.verification import Standing
from players.models import DocumentKind, Part, RefusalReason, Submission
from players.rates import now_and_then


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def identity(request: PlayerRequest) -> HttpResponseBase:
    """Show the verification state and the form; on POST, submit it."""
    return _take_in(request) if request.method == "POST" else _render(request)


@now_and_then
def _take_in(request: PlayerRequest) -> HttpResponse:
    """Submit the form, or show its errors."""
    latest = verification.latest(request.player)
    form = IdentityForm(request.POST, request.FILES, player=request.player, latest=latest)
    if not form.is_valid():
        return _render(request, form)
    try:
        verification.submit(player=request.player, details=form.details, evidence=form.evidence)
    except verification.AlreadySubmitted:
        messages.error(request, _("We are still looking at what you sent before. Nothing was sent again."))
    else:
        messages.success(request, _("We have got everything. You will get an e-mail as soon as we have looked at it."))
    return redirect("identity")


def _render(request: PlayerRequest, form: IdentityForm | None = None) -> HttpResponse:
    latest = verification.latest(request.player)
    standing = verification.standing(latest)
    if form is None and standing is not Standing.SUBMITTED:
        form = IdentityForm(player=request.player, latest=latest)
    context = {
        "latest": latest,
        "standing": standing.name.lower(),
        "form": form,
        "sent": _sent(latest) if latest else None,
        "too_much": TOO_MUCH in request.GET,
        "shortest_edge": SHORTEST_EDGE,
    }
    return render(request, "players/identity.html", context)


def _sent(submission: Submission) -> dict[str, object]:
    """Return a summary of a submission, in the reader's language."""
    parts = submission.document_set.values_list("part", flat=True)
    return {
        "kind": DOCUMENT_KINDS[DocumentKind(submission.document_kind)],
        "parts": [PARTS[part] for part in Part if part in parts],
        "reason": REASONS[RefusalReason(submission.reason)] if submission.reason else "",
    }
