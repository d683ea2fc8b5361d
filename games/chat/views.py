"""Views of the chat of a shared table. They return fragments to htmx, and pages otherwise."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.backends.utils import csrf_token_lazy
from django.urls import path, reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from games import chat
from games.chat.panel import At, chat_view, read_log
from games.chat.rules import ChatError
from games.models import ChatMessage, LiveTable, ReportReason, Table
from games.tables.access import at_a_playable_table, demand_welcome
from games.tables.fragments import render_fragment
from games.tables.presentation import Notice
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login.current_user import session_id
from players.rates import at_a_human_pace
from wallet.models import Mode

AboutView = Callable[[PlayerRequest, LiveTable, int], HttpResponse]
WHOLE = "page"  # query parameter: a page of its own, for browsers without a script
OWN = "own"  # query parameter: the reader's options, for a page that was notified of a change
WAITING = "chat_waiting"  # session key: messages for the page after a redirect


class ReasonForm(forms.Form):
    """The reason of a report."""

    reason = forms.TypedChoiceField(choices=ReportReason.choices, coerce=ReportReason)


class BlockForm(forms.Form):
    """The block to remove."""

    block = forms.IntegerField(min_value=1, max_value=2**63 - 1)


def about_a_message(view: AboutView) -> Callable[[PlayerRequest, str, Mode, int], HttpResponse]:
    """Pass the view a table at which the player may play, and the id of a message."""

    @wraps(view)
    def asked(request: PlayerRequest, slug: str, mode: Mode, number: int) -> HttpResponse:
        @at_a_playable_table
        def there(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
            demand_welcome(request.player, mode, session_id(request))
            return view(request, _live_table(found, mode), number)

        return there(request, slug, mode)

    return asked


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_playable_table
def live_chat(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Return the latest messages, the reader's options, or a page of its own."""
    live = _live_table(found, mode)
    if OWN in request.GET:
        token = csrf_token_lazy(request)
        return HttpResponse(render_fragment("chat.html#say", chat=chat_view(request.player, live), csrf_token=token))
    if WHOLE not in request.GET:
        lines, at = read_log(request.player, live), At.of(request.player, live)
        return HttpResponse(render_fragment("chat.html#log", lines=lines, at=at))
    demand_welcome(request.player, mode, session_id(request))
    context = _of(live) | {"chat": chat_view(request.player, live, **_waiting(request))}
    return render(request, "games/chat.html", context)


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def live_chat_say(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Write a message; the first one also sets the chat name. Refused text is returned to the form."""
    live, session = _live_table(found, mode), session_id(request)
    demand_welcome(request.player, mode, session)
    text, name, message = request.POST.get("text", ""), request.POST.get("name", ""), None
    try:
        if name and not chat.name_of(request.player):
            chat.choose_name(player=request.player, name=name)
        message = chat.say(
            player=request.player, live_table=live, text=text, language=get_language() or "en", session=session
        )
        shown: dict[str, Any] = {}
    except ChatError as error:
        shown = {"said": Notice("error", str(error)), "draft": text[:1000], "name_draft": name[:100]}
    if not request.htmx:
        return _to_the_page(request, live, shown)
    view, token = chat_view(request.player, live, **shown), csrf_token_lazy(request)
    sent = message and {**vars(message), "player": message.player_id}
    return HttpResponse(render_fragment("chat.html#say", chat=view, csrf_token=token, sent=sent))


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def live_chat_name(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Change the chat name."""
    live, name = _live_table(found, mode), request.POST.get("name", "")
    demand_welcome(request.player, mode, session_id(request))
    try:
        chosen = chat.choose_name(player=request.player, name=name)
    except ChatError as error:
        return _answer(request, live, said=Notice("error", str(error)), name_draft=name[:100])
    return _answer(
        request, live, said=Notice("info", _("Your name in the chat is now %(name)s.") % {"name": chosen.name})
    )


@player_required
@require_safe
@never_cache
@about_a_message
def live_chat_message(request: PlayerRequest, live: LiveTable, number: int) -> HttpResponse:
    """Show the options for a message."""
    message = _message(live, number)
    template = "games/chat_message.html#choices" if request.htmx else "games/chat_message.html"
    context = _of(live) | {
        "message": message,
        "name": chat.shown_name(message),
        "is_own": message.player_id == request.player.pk,
        "reasons": _reasons(),
    }
    return render(request, template, context)


@player_required
@require_POST
@at_a_human_pace
@about_a_message
def live_chat_report(request: PlayerRequest, live: LiveTable, number: int) -> HttpResponse:
    """Report a message to staff."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _answer(request, live, said=Notice("error", _("Choose what is wrong with the message.")))
    try:
        chat.report(player=request.player, live_table=live, number=number, reason=form.cleaned_data["reason"])
    except ChatError as error:
        return _answer(request, live, said=Notice("error", str(error)))
    return _answer(request, live, said=Notice("info", _("Thank you. We will review this message.")))


@player_required
@require_POST
@at_a_human_pace
@about_a_message
def live_chat_block(request: PlayerRequest, live: LiveTable, number: int) -> HttpResponse:
    """Block the author of a message."""
    try:
        chat.block(player=request.player, live_table=live, number=number)
    except ChatError as error:
        return _answer(request, live, said=Notice("error", str(error)))
    return _answer(request, live, said=Notice("info", _("You will no longer see messages from this player.")))


@player_required
@require_POST
@at_a_human_pace
@at_a_playable_table
def live_chat_unblock(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Remove a block."""
    live, form = _live_table(found, mode), BlockForm(request.POST)
    demand_welcome(request.player, mode, session_id(request))
    if form.is_valid():
        chat.unblock(player=request.player, block_id=form.cleaned_data["block"])
    return _answer(request, live, said=Notice("info", _("You will see messages from this player again.")))


def _reasons() -> list[tuple[str, str]]:
    return [
        (ReportReason.ABUSE.value, _("Insult or threat")),
        (ReportReason.BEGGING.value, _("Begging or selling")),
        (ReportReason.PRIVATE.value, _("Another person’s private details")),
        (ReportReason.CHEATING.value, _("Collusion between players")),
        (ReportReason.OTHER.value, _("Something else")),
    ]


def _live_table(found: Table, mode: Mode) -> LiveTable:
    live = get_object_or_404(LiveTable, table=found, mode=mode)
    live.table = found
    return live


def _message(live: LiveTable, number: int) -> ChatMessage:
    try:
        return chat.message_at(live, number)
    except chat.NotThere as error:
        raise Http404 from error


def _of(live: LiveTable) -> dict[str, Any]:
    return {"table": live.table, "now_mode": Mode(live.mode)}


def _answer(request: PlayerRequest, live: LiveTable, **shown: Any) -> HttpResponse:
    """Return the whole chat after an action."""
    if request.htmx:
        view, token = chat_view(request.player, live, **shown), csrf_token_lazy(request)
        return HttpResponse(render_fragment("chat.html#chat", chat=view, csrf_token=token))
    return _to_the_page(request, live, shown)


def _to_the_page(request: PlayerRequest, live: LiveTable, shown: dict[str, Any]) -> HttpResponse:
    if shown:
        fields = {name: value for name, value in shown.items() if name != "said"}
        request.session[WAITING] = fields | {"said": vars(shown["said"])}
    return redirect(f"{reverse('live_chat', args=[live.table.slug, live.mode])}?{WHOLE}")


def _waiting(request: PlayerRequest) -> dict[str, Any]:
    waiting = request.session.pop(WAITING, None)
    return waiting | {"said": Notice(**waiting["said"])} if waiting else {}


urlpatterns = [
    path("", live_chat, name="live_chat"),
    path("say/", live_chat_say, name="live_chat_say"),
    path("name/", live_chat_name, name="live_chat_name"),
    path("unblock/", live_chat_unblock, name="live_chat_unblock"),
    path("<int:number>/", live_chat_message, name="live_chat_message"),
    path("<int:number>/report/", live_chat_report, name="live_chat_report"),
    path("<int:number>/block/", live_chat_block, name="live_chat_block"),
]
