"""The session of programs: what one changes is an action, and actions stand in a session.

All programs of one person act in one session: else the time until a reality check would begin anew with each token.
It is one like those of browsers. It ends after the same time without an action, stands in its owner's list and is on
record; so limits of time, reality checks and rounds know it as they know any other.
"""

from uuid import UUID

from django.db import transaction

from players.api.problems import NO_TOKEN, Problem
from players.login import sessions
from players.login.sessions import Standing
from players.models import ApiToken, User
from players.protection import play_sessions, registers


def running(token: ApiToken) -> UUID | None:
    """Return the session in which the token's program acts, None where none runs: reading begins none."""
    found = _running(token)
    return found.id if found else None


def session_for(token: ApiToken, ip: str) -> UUID:
    """Return the session in which the token's program acts, which this keeps from ending, or begins from the address
    *ip*. Raises Problem where the token has been revoked by now.
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
    """Begin a session, unless a program of the same person has one: they come here one after another."""
    User.objects.select_for_update(no_key=True).get(pk=token.user_id)
    held = ApiToken.objects.select_for_update(no_key=True, of=("self",)).select_related("user").get(pk=token.pk)
    if held.revoked_at:
        raise Problem(NO_TOKEN)
    found = _running(held) or _of_others(held)
    is_new = found is None
    began = found.id if found else sessions.begin_for_program(user=token.user, ip=ip, name=held.name)
    if held.session_id and held.session_id != began:
        sessions.end_if_idle(held.session_id)
    ApiToken.objects.filter(pk=held.pk).update(session=began)
    if found:
        sessions.act(found)
    elif hasattr(held.user, "player"):
        play_sessions.sitting(held.user.player, began)  # no page does; without one no reality check would wait
    return began, is_new


def _of_others(token: ApiToken) -> Standing | None:
    """Return the session in which other programs of the same person act."""
    others = ApiToken.objects.filter(user=token.user_id, session__ended_at=None, session__isnull=False)
    acting = others.exclude(pk=token.pk).order_by("-session__acted_at").values_list("session", flat=True).first()
    found = sessions.standing(acting) if acting else None
    return found if found and found.left else None


def _running(token: ApiToken) -> Standing | None:
    found = sessions.standing(token.session_id) if token.session_id else None
    return found if found and found.left else None
