"""Writing to customer service. It may be about a round, and only the games know whose that is."""

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from games.lobby.selectors import find_round
from games.models import Participation
from players.access import PlayerRequest, player_required
from players.models import Player, Topic
from players.rates import now_and_then
from players.support import conversations
from players.support.forms import MessageForm


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def service_new(request: PlayerRequest) -> HttpResponseBase:
    """Write to the house; ``?round=`` names a round to complain about."""
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
            form.add_error("round", _("None of your rounds has this code."))
        else:
            try:
                begun = conversations.begin(
                    player=request.player, topic=Topic(asked["topic"]), text=asked["text"], about=about
                )
            except conversations.TooManyOpen as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, _("Your message has been sent."))
                return redirect("service_thread", conversation_id=begun.pk)
    return render(request, "players/service_new.html", {"form": form})


def _own_round(player: Player, named: str) -> conversations.RoundNamed | None:
    """Return the round with this code or id if *player* had a part in it."""
    round_id = find_round(named)
    if round_id is None:
        return None
    part = Participation.objects.filter(player=player, round_id=round_id).select_related("round").first()
    return conversations.RoundNamed(part.round_id, part.round.code) if part else None
