"""Views of Game logs: the list of rounds, one round, the CSV file, and messages about a round.

A message to customer service may name a round, and the round must be the player's own.
"""

from typing import Any, Final, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.timezone import get_current_timezone
from django.utils.translation import get_language, gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from audit.raw_rows import fetch_all
from audit.sealing import checkpoints
from games import history as logs
from games.deals import trusted_keys
from games.history import card_proofs, csv_export
from games.history.search import LONGEST_TOTALS, Ending, Search, every, totals
from games.lobby.selectors import find_round
from games.models import Participation
from games.rounds import unseen
from games.solo.page import participation
from players.access import PlayerRequest, player_required
from players.datetime_format import Day
from players.models import Player, Topic
from players.rates import now_and_then, one_at_a_time
from players.support import conversations
from players.support.views import MessageForm

PLAYED: Final = """
SELECT slug, name FROM games_table AS game_table
WHERE EXISTS (SELECT FROM games_participation WHERE player_id = %s AND mode = 'R' AND table_id = game_table.id)
ORDER BY id
"""


TOTALS: Final = "totals"  # query parameter: with the totals by day and game
LOG: Final = "/log/"  # its files have no language (casino.public_log)


class SearchForm(forms.Form):
    """The search form of Game logs. An empty field matches everything."""

    since = Day(pgettext_lazy("first day of a period", "From"))
    until = Day(pgettext_lazy("last day of a period", "To"))
    table = forms.ChoiceField(required=False, label=pgettext_lazy("label", "Table"))
    ending = forms.ChoiceField(
        required=False,
        label=pgettext_lazy("label", "Result"),
        choices=[
            ("", _("All results")),
            (Ending.WON, pgettext_lazy("rounds", "Won")),
            (Ending.LOST, pgettext_lazy("rounds", "Lost")),
            (Ending.EVEN, pgettext_lazy("rounds", "Broke even")),
            (Ending.VOID, pgettext_lazy("rounds", "Void")),
        ],
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        """Offer only the tables at which *player* has played for real money."""
        super().__init__(*args, **kwargs)
        choices = [("", _("All tables")), *((slug, name) for slug, name in fetch_all(PLAYED, [player.pk]))]
        cast("forms.ChoiceField", self.fields["table"]).choices = choices

    @property
    def asked(self) -> dict[str, str]:
        """The values typed or chosen, by field."""
        return {name: self.data.get(name, "") for name in self.fields}

    def clean(self) -> None:
        """Reject a period that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            raise forms.ValidationError(_("The start date is after the end date. All rounds are shown."))

    @property
    def search(self) -> Search:
        """The search criteria; an empty search if the form is not valid."""
        if not self.is_valid():
            return Search()
        asked = self.cleaned_data
        return Search(
            since=asked["since"],
            until=asked["until"],
            table=asked["table"] or None,
            ending=Ending(asked["ending"]) if asked["ending"] else None,
            zone=get_current_timezone(),
        )

    @property
    def fault(self) -> str:
        """The error message of an invalid form, or ""."""
        if self.is_valid():
            return ""
        if "__all__" in self.errors:
            return str(self.errors["__all__"][0])
        return str(_("This filter is not valid. All rounds are shown."))

    @property
    def query(self) -> str:
        """The search as a URL query string; empty if it matches everything."""
        asked = self.data if self.is_valid() else {}
        return urlencode({name: asked[name] for name in self.fields if asked.get(name)})


@player_required
@require_safe
def history(request: PlayerRequest) -> HttpResponse:
    """Show the player's real-money rounds, newest first."""
    before_id = request.GET.get("before", "")
    before = int(before_id) if before_id.isascii() and before_id.isdigit() and len(before_id) < 19 else None
    form = SearchForm(request.GET, player=request.player)
    page = logs.history(request.player, before=before, language=get_language() or "en", search=form.search)
    context = {
        "playing": logs.playing(request.player, get_language() or "en") if before is None and not form.query else (),
        "rounds": page.rounds,
        "older": page.older,
        "first": before is None,
        "form": form,
        "filtered": bool(form.query),
        "totals": totals(request.player, form.search) if TOTALS in request.GET else None,
        "most_days": LONGEST_TOTALS,
        "currency": request.player.currency,
        "log_address": LOG,
        "log_keys": " ".join(key.vkey for key in checkpoints.house_keys()),
    }
    if request.htmx and TOTALS in request.GET:
        return render(request, "games/history.html#totals", context)
    whole = not request.htmx or request.htmx.history_restore_request
    response = render(request, "games/history.html" if whole else "games/history.html#logs", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@player_required
@require_safe
@one_at_a_time
def history_csv(request: PlayerRequest) -> HttpResponseBase:
    """Return all rounds that match the search as a CSV file."""
    form = SearchForm(request.GET, player=request.player)
    if form.fault:
        return redirect(f"{reverse('history')}?{request.GET.urlencode()}")
    player = request.player
    lines = csv_export.lines(
        every(player, form.search), get_language() or "en", uses_operator_wallet=player.uses_operator_wallet
    )
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="sabot.csv"'
    return response


@player_required
@require_safe
def round_replay(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Show one of the player's own rounds, dealt again from the records and marked as a replay."""
    found = logs.round_of(request.player, round_id, get_language() or "en")
    if found is None:
        playing = logs.playing(request.player, get_language() or "en", round_id=round_id)
        if not playing:
            raise Http404
        return render(request, "games/round_playing.html", {"round": playing[0]})
    spots = logs.replay_spots(request.player, round_id, get_language() or "en") if found.status == "complete" else ()
    context = {"round": found, "spots": spots, "dealer_keys": " ".join(trusted_keys())}
    response = render(request, "games/round.html", context)
    unseen.remember(response, request, [round_id])
    return response


@player_required
@require_safe
def round_proof(request: PlayerRequest, round_id: UUID) -> JsonResponse:
    """Return the proof of one of the player's own rounds, as their browser reads it."""
    return JsonResponse(_proof(request.player, round_id))


@player_required
@require_safe
def round_checker(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Return the proof of one of the player's own rounds as a page that verifies itself without a network."""
    proof = _proof(request.player, round_id)
    name = proof["code"] if "code" in proof else proof["rounds"][0]["code"]
    return card_proofs.saved(f"round-{name}", proof)


def _proof(player: Player, round_id: UUID) -> dict[str, Any]:
    """Return the proof of a round. Raises Http404."""
    part = participation(round_id, player.pk)
    found = card_proofs.file_of_round(part, logs.decks_of(part)) if part else None
    if found is None:
        raise Http404
    return found


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def service_new(request: PlayerRequest) -> HttpResponseBase:
    """Send a message to customer service. ``?round=`` names a round for a complaint."""
    if request.method == "POST":
        return _send(request)
    named = request.GET.get("round", "")
    form = MessageForm(initial={"round": named[:100], "topic": Topic.COMPLAINT} if named else {})
    return render(request, "players/service_new.html", {"form": form})


@now_and_then
def _send(request: PlayerRequest) -> HttpResponse:
    form = MessageForm(request.POST)
    if form.is_valid():
        asked = form.cleaned_data
        about = _own_round(request.player, asked["round"]) if asked["round"] else None
        if asked["round"] and about is None:
            form.add_error("round", gettext("You have no round with this code."))
        else:
            try:
                begun = conversations.begin(
                    player=request.player, topic=Topic(asked["topic"]), text=asked["text"], about=about
                )
            except conversations.TooManyOpen as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, gettext("Your message has been sent."))
                return redirect("service_thread", conversation_id=begun.pk)
    return render(request, "players/service_new.html", {"form": form})


def _own_round(player: Player, named: str) -> conversations.RoundNamed | None:
    """Return the round with this code or id if *player* took part in it."""
    round_id = find_round(named)
    if round_id is None:
        return None
    part = Participation.objects.filter(player=player, round_id=round_id).select_related("round").first()
    return conversations.RoundNamed(part.round_id, part.round.code) if part else None
