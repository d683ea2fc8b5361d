"""Documents that staff ask a player for in a case about the source of funds: ask, send, review, remind.

A request belongs to a case. Functions of the database write it, and the history of the case with it
(``players/sql/functions/cases.sql``). The player sends a file on a page of their own, which shows the state of each
request and the deadline of the case, and nothing else of the case. Files are inspected and encrypted as identity
documents are.

Error messages for staff and players are sentences in the active language.
"""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from players import cases, mail
from players.access import PlayerRequest, player_required
from players.datetime_format import written_day
from players.encryption import Purpose, seal
from players.identity.uploads import SHORTEST_EDGE, TOO_MUCH, Evidence
from players.identity.views import EvidenceField
from players.models import (
    Case,
    Document,
    DocumentContent,
    Paper,
    PaperState,
    Player,
    RequestedDocument,
    Staff,
)
from players.rates import now_and_then

ASK: Final = "SELECT players_ask_document(%s, %s, %s, %s)"
RECEIVE: Final = "SELECT players_receive_document(%s, %s)"
REVIEW: Final = "SELECT players_review_document(%s, %s, %s, %s)"
REMIND: Final = "SELECT players_remind_of_documents()"
TO_SEND: Final = (PaperState.ASKED, PaperState.REFUSED)
"""The states in which the player can send a file."""


class PaperForm(forms.Form):
    """A file for a request."""

    number = forms.IntegerField(min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    file = EvidenceField(label=gettext_lazy("Picture or PDF"))


@transaction.atomic
def ask(*, case: Case, paper: Paper, note: str, by: Staff) -> None:
    """Ask the player of a case for a document, and mail them. *note* is for the player. Raises CaseError."""
    cases.call(ASK, case.pk, by.pk, paper.value, note)
    mail.write(user=case.player.user, template="documents_asked", context=_day(case))


@transaction.atomic
def receive(*, player: Player, number: int, file: Evidence) -> None:
    """Store a file that the player sends for their own request. Raises CaseError if none is needed now."""
    made = Document.objects.create(request_id=number, media_type=file.media_type, size=len(file.content))
    sealed = seal(Purpose.DOCUMENT, player.pk, made.pk, file.content)
    try:
        with transaction.atomic():
            DocumentContent.objects.create(document=made, sealed=sealed)
    except IntegrityError as error:  # the request does not wait for one
        raise cases.AlreadyDone from error
    cases.call(RECEIVE, number, str(made.pk))


@transaction.atomic
def review(*, asked: RequestedDocument, accepts: bool, reason: str, by: Staff) -> None:
    """Accept or refuse what the player sent. The player is mailed a refusal, and reads its *reason*.

    Raises CaseError.
    """
    cases.call(REVIEW, asked.pk, by.pk, accepts, reason)
    if not accepts:
        mail.write(user=asked.case.player.user, template="documents_refused", context={"reason": reason})


@transaction.atomic
def remind() -> int:
    """Mail the players whose documents are still missing shortly before the deadline, once for each deadline.

    Return the number.
    """
    with connection.cursor() as cursor:
        cursor.execute(REMIND)
        late = [number for (number,) in cursor.fetchall()]
    for case in Case.objects.filter(pk__in=late).select_related("player__user"):
        mail.write(user=case.player.user, template="documents_reminder", context=_day(case))
    return len(late)


def _day(case: Case) -> dict[str, str]:
    """Return the deadline of a case as a day in the player's language, for a mail."""
    return {"day": written_day(case.due_at, case.player.user.language)}


def of_player(player: Player) -> QuerySet[RequestedDocument]:
    """Return the requests that the player's page shows: of open cases, and those that ended with an answer."""
    found = RequestedDocument.objects.filter(case__player=player).select_related("case").order_by("-pk")
    return found.exclude(case__closed_at__isnull=False, state__in=TO_SEND)


def is_waited_for(player: Player) -> bool:
    """Return whether the player has documents to send."""
    return of_player(player).filter(state__in=TO_SEND).exists()


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def documents(request: PlayerRequest) -> HttpResponseBase:
    """Show the documents that the player was asked for; on POST, send one."""
    return _send(request) if request.method == "POST" else _page(request)


@now_and_then
def _send(request: PlayerRequest) -> HttpResponse:
    form = PaperForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form)
    said: dict[str, Any] = form.cleaned_data
    if not of_player(request.player).filter(pk=said["number"]).exists():
        raise Http404
    try:
        receive(player=request.player, number=said["number"], file=said["file"])
    except cases.CaseError:
        messages.warning(request, _("We have this document already, or do not need it any more. Nothing was sent."))
    else:
        messages.success(request, _("We have received your document and will review it."))
    return redirect("documents")


def _page(request: PlayerRequest, form: PaperForm | None = None) -> HttpResponse:
    asked = list(of_player(request.player))
    faulty = form["number"].value() if form else None
    context = {
        "asked": [(each, form if str(each.pk) == str(faulty) else PaperForm()) for each in asked],
        "to_send": TO_SEND,
        "is_waited_for": any(each.state in TO_SEND for each in asked),
        "too_much": TOO_MUCH in request.GET,
        "shortest_edge": SHORTEST_EDGE,
    }
    return render(request, "players/documents.html", context)
