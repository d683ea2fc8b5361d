"""Error codes of the seamless wallet (docs/seamless.md), registered as API problems."""

from http import HTTPStatus
from typing import Final

from django.utils.translation import gettext_lazy as _

from players.api.problems import register

UNAUTHORIZED, FORBIDDEN, CONFLICT = HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT

BAD_SIGNATURE: Final = register("bad-signature", UNAUTHORIZED, _("The request is not signed, or not rightly"))
OUTSIDE_WINDOW: Final = register("outside-window", UNAUTHORIZED, _("The request was signed for another time"))
CODES: Final = (
    register("partner-off", FORBIDDEN, _("The house has ended this partnership")),
    register("barred", FORBIDDEN, _("Something keeps you from playing")),
    register("limit-reached", FORBIDDEN, _("A limit of yours would be passed")),
    register("unknown-player", HTTPStatus.NOT_FOUND, _("There is no such player here")),
    register("session-over", CONFLICT, _("The game session is over")),
    register("house-stopped", CONFLICT, _("Play is stopped in the whole house")),
    register("insufficient-funds", CONFLICT, _("The balance does not cover it")),
    register("wrong-currency", CONFLICT, _("The balance is in another currency")),
    register("transaction-conflict", CONFLICT, _("This transaction was another one before")),
    register("already-rolled-back", CONFLICT, _("This transaction was taken back")),
    register("no-bet", CONFLICT, _("No bet stands in this round")),
    register("round-conflict", CONFLICT, _("The round was begun with other money")),
    register("round-won", CONFLICT, _("The round has been won: the win is taken back first")),
    register("cannot-take-back", CONFLICT, _("This transaction cannot be taken back like that")),
)
"""Refusals of `host`."""
