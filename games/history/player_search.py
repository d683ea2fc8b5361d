"""How staff find players by what they played and how they are called at tables."""

from collections.abc import Sequence
from typing import Final

from django.db.models import Q
from django.db.models.functions import Lower

from games.models import OPEN_PHASES, ChatName, CheminSeat, LiveRound, LiveSeat, Participation, Round
from games.rounds.codes import read_code
from players.search import SEE, Finder, Hit, read_uuid

LONGEST_NAME: Final = 20  # characters of a name in the chat


def _round(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    code, round_id = read_code(typed), read_uuid(typed, "round")
    if code is None and round_id is None:
        return None
    which = Q(code=code) if code else Q(pk=round_id)
    played = Round.objects.filter(which).first()
    if played:
        parts = Participation.objects.filter(round=played, player__gt=after).order_by("player_id")[:limit]
        return [Hit(part.player_id, f"{played.code}, {played.at:%Y-%m-%d %H:%M} UTC") for part in parts]
    # Rounds in progress are as few as tables.
    going = LiveRound.objects.filter(which, phase__in=OPEN_PHASES).first()
    if going is None:
        return []
    betting = LiveSeat.objects.filter(round_id=going.pk).exclude(stakes={}).values_list("player_id", flat=True)
    seated = CheminSeat.objects.filter(live_table=going.live_table_id, left_at=None, player__isnull=False)
    there = {*betting, *(number for number in seated.values_list("player_id", flat=True) if number)}
    return [Hit(number, f"{going.code}, in progress") for number in sorted(there) if number > after][:limit]


def _chat_name(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if not 2 <= len(typed) <= LONGEST_NAME or "@" in typed:
        return None
    known = ChatName.objects.alias(lower=Lower("name")).filter(lower=typed.lower(), player__gt=after)
    return [Hit(each.player_id, each.name) for each in known[:limit]]


FINDERS: Final = (
    Finder("round", "round", (SEE,), _round),
    Finder("chat", "name in the chat", (SEE,), _chat_name),
)
