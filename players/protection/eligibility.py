"""Eligibility: whether a player may start to play or deposit, with all reasons in one place; and which streams may
stay open.

Eligibility is checked before any stake, also in free mode, and never during a round: a round in progress concludes
(GLI-19 v3.0, 2.4.1).

Streams are checked by SQL for many sessions in one query, on a connection outside Django. A check is not an action: it
neither extends nor ends a session.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from players.account import terms
from players.datetime_format import written_moment
from players.login.second_factor import FACTORS
from players.models import ExclusionKind, Outcome, Player, RegisterCheck, Scope
from players.protection import exclusions, limits
from players.support.staff_replies import HELP


class Code(StrEnum):
    """Reasons why a player may not play or deposit."""

    LOCKED = "locked"
    EXCLUDED = "excluded"
    REGISTER = "register"
    UNREACHABLE = "unreachable"
    CLOSING = "closing"
    TERMS = "terms"
    LIMITS = "limits"
    OFFER = "offer"
    LICENCE = "licence"
    USED_UP = "used_up"  # a limit of the player that is not money
    CHECK = "check"
    OPERATOR_PLAYER = "operator_player"
    OTHER_ACCOUNT = "other_account"
    IDENTITY = "identity"
    BORROWED = "borrowed"


@dataclass(frozen=True)
class Ineligibility:
    """Reason why a player may not start: a sentence in the active language, and the page (a URL name) to go on."""

    code: Code
    message: str
    page: str


# SQL that returns the code of the first reason, or NULL, by the database's clock. It waits for exclusions that are
# being made, and later ones wait until the transaction ends. Free mode skips limits of money.
REASON = """players_ineligibility(%(player)s::bigint, %(terms)s::text, %(is_real)s::boolean, %(session)s::uuid,
    %(minutes)s::integer)"""
REASON_TO_DEPOSIT = "players_ineligibility_to_deposit(%(player)s::bigint, %(terms)s::text, %(is_real)s::boolean)"


def parameters(player: Player, session: UUID | None, *, real: bool) -> dict[str, int | str | bool | UUID | None]:
    """Return the parameters of `REASON`. The cashier checks limits on deposits."""
    minutes, is_real = settings.REALITY_CHECK_MINUTES, real and not player.uses_operator_wallet
    return {"player": player.pk, "session": session, "terms": terms.VERSION, "minutes": minutes, "is_real": is_real}


def check_play(player: Player, *, real: bool, session: UUID | None = None) -> Ineligibility | None:
    """Return the reason why the player may not play, or None. Free mode skips only limits of money."""
    return _check(f"SELECT {REASON}", player, session, real=real)


def check_deposit(player: Player) -> Ineligibility | None:
    """Return the reason why the player may not deposit, or None.

    Players of an operator wallet never deposit here.
    """
    if player.uses_operator_wallet:
        return explain(player, Code.OPERATOR_PLAYER)
    return _check(f"SELECT {REASON_TO_DEPOSIT}", player, None, real=True)


def _check(question: str, player: Player, session: UUID | None, *, real: bool) -> Ineligibility | None:
    with connection.cursor() as cursor:
        cursor.execute(question, parameters(player, session, real=real))
        (code,) = cursor.fetchone()
    return explain(player, Code(code)) if code else None


def store_licence(cursor: CursorWrapper) -> None:
    """Store `settings.LAND_LICENCE` in the jurisdictions that ask for one, where the database reads it."""
    cursor.execute("UPDATE players_jurisdiction SET licence = %s WHERE asks_licence", [settings.LAND_LICENCE])


def explain(player: Player, code: Code) -> Ineligibility:
    """Return the bar with this code, with its text."""
    match code:
        case Code.LOCKED:
            text = _("We have locked your account. You cannot log in until we unlock it.")
            return Ineligibility(code, text, "account_login")
        case Code.EXCLUDED:
            return Ineligibility(code, exclusion_message(player), "protection")
        case Code.OTHER_ACCOUNT:
            # Unreviewed papers can name anybody, so nobody learns of an exclusion from them.
            if not _is_confirmed(player):
                return explain(player, Code.IDENTITY)
            return Ineligibility(code, _excluded_elsewhere(player), "protection")
        case Code.REGISTER:
            return Ineligibility(code, _registered(player), "protection")
        case Code.IDENTITY:
            text = _("Confirm who you are before you deposit or play for real money. It takes a minute.")
            return Ineligibility(code, text, "identity")
        case Code.UNREACHABLE:
            text = _("We cannot reach an exclusion register that we must check before you play. Try again later.")
            return Ineligibility(code, text, "protection")
        case Code.TERMS:
            text = _("The terms have changed. Read and agree to the new terms to continue playing.")
            return Ineligibility(code, text, "terms_agree")
        case Code.CLOSING:
            text = _("You are closing your account, so you can no longer play or deposit here.")
            return Ineligibility(code, text, "account_close")
        case Code.LIMITS:
            return Ineligibility(code, _("Set your deposit limits before you play."), "limits")
        case Code.OFFER:
            text = _("Would you like to set deposit limits? Set them or choose “Not now” to play.")
            return Ineligibility(code, text, "limits")
        case Code.LICENCE:
            text = _("We have no licence to offer these games for real money in your country. You can play for free.")
            return Ineligibility(code, text, "help")
        case Code.USED_UP:
            return Ineligibility(code, limits.used_up_message(player), "limits")
        case Code.OPERATOR_PLAYER:
            text = _("You are playing with your balance at the site you came from. Deposit and withdraw on that site.")
            return Ineligibility(code, text, "cashier")
        case Code.BORROWED:
            text = _(
                "We have been told that you deposit borrowed money, so you cannot deposit. If this is not right, write "
                "to customer service. Free and anonymous help: %(helpline)s."
            )
            return Ineligibility(code, text % {"helpline": HELP.get(player.jurisdiction_id, HELP["GB"])}, "service")
        case Code.CHECK:
            return Ineligibility(
                code, _("Check your time and money first, then decide whether to continue playing."), "protection"
            )


def exclusion_message(player: Player) -> str:
    """Return the text that says until when the player is excluded and who excluded them."""
    exclusion = exclusions.in_force(player)
    if exclusion is None:  # it has just ended
        return _("Your pause has ended. You can play again.")
    if exclusion.until is None:
        if exclusion.kind == ExclusionKind.STAFF:
            return _("We have excluded you from play until further notice.")
        return _("You have permanently self-excluded.")
    values = {"when": written_moment(exclusion.until, get_language() or "en", player.jurisdiction.time_zone)}
    match exclusion.kind:
        case ExclusionKind.PAUSE if exclusion.is_by_house:
            return _("We have paused your play until %(when)s.") % values
        case ExclusionKind.PAUSE:
            return _("Your play is paused until %(when)s.") % values
        case ExclusionKind.TIME_OUT:
            return _("You have taken a time-out until %(when)s.") % values
        case ExclusionKind.SELF:
            return _("You have self-excluded until %(when)s.") % values
        case _other:
            return _("We have excluded you from play until %(when)s.") % values


def _is_confirmed(player: Player) -> bool:
    """Return whether the player's identity is confirmed, as far as the jurisdiction demands it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reason IS NULL FROM players_identity_due(%s)", [player.pk])
        (is_confirmed,) = cursor.fetchone()
    return bool(is_confirmed)


def _excluded_elsewhere(player: Player) -> str:
    """Return the text for a player who is excluded under another account."""
    until = exclusions.until_elsewhere(player)
    if until is None:
        return _("You are excluded from play on another of your accounts. This applies to all your accounts.")
    values = {"when": written_moment(until, get_language() or "en", player.jurisdiction.time_zone)}
    return (
        _("You are excluded from play until %(when)s on another of your accounts. This applies to all your accounts.")
        % values
    )


def _registered(player: Player) -> str:
    until: datetime | None = (
        RegisterCheck.objects.filter(player=player, outcome=Outcome.EXCLUDED).order_by("-id").first() or RegisterCheck()
    ).until
    if until is None:
        return _("You are listed in an exclusion register, so you cannot play here.")
    values = {"when": written_moment(until, get_language() or "en", player.jurisdiction.time_zone)}
    return _("You are listed in an exclusion register until %(when)s, so you cannot play here.") % values


# The same rule as `players.login.sessions.read_state`, `players.protection.exclusions.all_in_force` and
# `players.login.locks.lock_of`.
STILL_WATCHING: Final = """
    SELECT session.id
    FROM players_session session
    JOIN players_player player ON player.user_id = session.user_id
    WHERE session.id = ANY(%(sessions)s::uuid[])
      AND session.ended_at IS NULL
      AND session.acted_at > clock_timestamp() - make_interval(secs => %(idle)s)
      AND NOT players_is_locked(player.id)
      AND NOT EXISTS (
        SELECT FROM players_exclusion exclusion
        WHERE exclusion.player_id = player.id
          AND (exclusion.until IS NULL OR exclusion.until > clock_timestamp())
          AND NOT EXISTS (SELECT FROM players_exclusionlift lift WHERE lift.exclusion_id = exclusion.id))
"""

# The same rule as `players.api.views.ByToken`, and the exclusions of `STILL_WATCHING`.
STILL_CONNECTED: Final = """
    SELECT token.id
    FROM players_api_token token
    JOIN players_user account ON account.id = token.user_id
    JOIN players_player player ON player.user_id = account.id
    WHERE token.id = ANY(%(tokens)s::bigint[])
      AND token.revoked_at IS NULL
      AND token.ends_at > clock_timestamp()
      AND %(scope)s = ANY(token.scopes)
      AND account.is_active
      AND NOT players_is_locked(player.id)
      AND NOT EXISTS (
        SELECT FROM players_exclusion exclusion
        WHERE exclusion.player_id = player.id
          AND (exclusion.until IS NULL OR exclusion.until > clock_timestamp())
          AND NOT EXISTS (SELECT FROM players_exclusionlift lift WHERE lift.exclusion_id = exclusion.id))
"""

# The same rule as `players.login.sessions.read_state` and `players.access.staff_required`. Roles are read each
# time.
STILL_ON_DUTY: Final = """
    SELECT session.id
    FROM players_session session
    JOIN players_user account ON account.id = session.user_id
    JOIN players_staff staff ON staff.user_id = account.id
    WHERE session.id = ANY(%(sessions)s::uuid[])
      AND session.ended_at IS NULL
      AND session.acted_at > clock_timestamp() - make_interval(secs => %(idle)s)
      AND account.is_active
      AND EXISTS (SELECT FROM mfa_authenticator factor
        WHERE factor.user_id = account.id AND factor.type = ANY(%(factors)s::text[]))
      AND EXISTS (
        SELECT FROM players_user_groups member
        JOIN auth_group_permissions granted ON granted.group_id = member.group_id
        JOIN auth_permission permission ON permission.id = granted.permission_id
        JOIN django_content_type kind ON kind.id = permission.content_type_id
        WHERE member.user_id = account.id
          AND kind.app_label || '.' || permission.codename = ANY(%(permissions)s::text[]))
"""


def asked(sessions: Iterable[UUID]) -> dict[str, Any]:
    """Return the parameters of `STILL_WATCHING`.

    It returns the running sessions of players who may play.
    """
    return {"sessions": list(sessions), "idle": settings.PLAYER_IDLE_SECONDS}


def asked_of_api_clients(tokens: Iterable[int]) -> dict[str, Any]:
    """Return the parameters of `STILL_CONNECTED`.

    It returns the valid tokens with the scope to read, of players who may play.
    """
    return {"tokens": list(tokens), "scope": Scope.READ.value}


def asked_of_staff(sessions: Iterable[UUID], permissions: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of `STILL_ON_DUTY`.

    It returns the running sessions of staff whose role has one of *permissions* (``app.codename``).
    """
    return {
        "sessions": list(sessions),
        "idle": settings.STAFF_IDLE_SECONDS,
        "factors": [str(factor) for factor in FACTORS],
        "permissions": list(permissions),
    }
