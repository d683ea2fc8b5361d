"""Sessions of API clients. A call that changes something is an action and needs a session.

All API clients of one person share one session. Otherwise each token would restart the time until a
reality check. It behaves like a browser session: it ends after the same time without an action,
appears in its owner's list, and is in the event log. Time limits, reality checks and rounds treat
it like any other session.
"""

from uuid import UUID

from django.db import transaction

from players.api.problems import NO_TOKEN, Problem
from players.login import sessions
from players.login.who_asks import SessionState
from players.models import ApiToken, User
from players.protection import play_sessions, registers


def running(token: ApiToken) -> UUID | None:
    """Return the token's running session, or None. Reading starts no session."""
    found = _running(token)
    return found.id if found else None


def session_for(token: ApiToken, ip: str) -> UUID:
    """Return the token's session and extend it, or start one from the IP address *ip*.

    Raises Problem if the token has been revoked since.
    """
    found = _running(token)
    if found:
        sessions.act(found)
        return found.id
    began, is_new = _begin(token, ip)
    if is_new and hasattr(token.user, "player"):
        registers.ask(token.user.player)  # as at every log-in
    return began


@transaction.atomic
def _begin(token: ApiToken, ip: str) -> tuple[UUID, bool]:
    """Start a session, or join one of the same person's other tokens.

    The lock on the user serialises concurrent calls. Returns the session and whether it is new.
    """
    User.objects.select_for_update(no_key=True).get(pk=token.user_id)
    held = ApiToken.objects.select_for_update(no_key=True, of=("self",)).select_related("user").get(pk=token.pk)
    if held.revoked_at:
        raise Problem(NO_TOKEN)
    found = _running(held) or _of_others(held)
    is_new = found is None
    began = found.id if found else sessions.begin_for_api_client(user=token.user, ip=ip, name=held.name)
    if held.session_id and held.session_id != began:
        sessions.end_if_idle(held.session_id)
    ApiToken.objects.filter(pk=held.pk).update(session=began)
    if found:
        sessions.act(found)
    elif hasattr(held.user, "player"):
        play_sessions.read_session(held.user.player, began)  # no page does this; the reality check needs it
    return began, is_new


def _of_others(token: ApiToken) -> SessionState | None:
    """Return the running session that another token of the same person uses."""
    others = ApiToken.objects.filter(user=token.user_id, session__ended_at=None, session__isnull=False)
    acting = others.exclude(pk=token.pk).order_by("-session__acted_at").values_list("session", flat=True).first()
    found = sessions.read_state(acting) if acting else None
    return found if found and found.left else None


def _running(token: ApiToken) -> SessionState | None:
    found: SessionState | None = token.state
    if found is None and token.session_id:
        found = sessions.read_state(token.session_id)
    return found if found and found.left else None
