"""Placeholders ("marks") in reply templates, and their values for one player.

A placeholder with a known value is replaced. Every other one is left in brackets, in English, for
staff. A reply that still has one cannot be sent.
"""

import re
from collections.abc import Mapping
from typing import Final

from players.datetime_format import written_day
from players.models import Conversation, Player, Submission, SubmissionStatus, User
from players.search import NAMES
from players.support.replies.help_places import HELP, TURN_TO

MARK: Final = re.compile(r"\{([a-z_]*)\}")
MARKS: Final = {
    "hello": "a greeting, with the player’s first name where it is confirmed",
    "round": "the code of the round that it is about",
    "due": "the day by which a complaint is answered",
    "help": "where there is help with gambling where the player lives",
    "turn_to": "where a player turns to with a complaint that was not upheld",
    "amount": "an amount, which whoever answers fills in",
    "reason": "why, which whoever answers fills in",
    "action": "what is done about it, which whoever answers fills in",
    "until": "until when, with its word (“until 21 November 2026, 14:05”), which whoever answers fills in",
    "table": "the table that it is about, which whoever answers fills in",
}
UNFILLED: Final = re.compile(r"\[(?:" + "|".join(MARKS) + r")\]")
GREETINGS: Final = {
    "en": ("Hello,", "Hello {name},"),
    "sv": ("Hej,", "Hej {name},"),
    "da": ("Hej", "Hej {name}"),
    "ro": ("Bună ziua,", "Bună ziua, {name},"),
    "de": ("Guten Tag,", "Guten Tag {name},"),
}


def marks(text: str) -> set[str]:
    """Return the placeholders in a text."""
    return set(MARK.findall(text))


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Replace the placeholders of a text. Those without a value are left in brackets."""
    return MARK.sub(lambda mark: facts.get(mark[1]) or f"[{mark[1]}]", text)


def facts_of(conversation: Conversation, language: str, reader: User) -> dict[str, str]:
    """Return the values for a reply in *language*. The name is included only if *reader* may read names."""
    player = conversation.player
    return facts_about(player, language, reader) | {
        "round": conversation.round_code,
        "due": written_day(conversation.due_at, language) if conversation.due_at else "",
    }


def facts_about(player: Player, language: str, reader: User) -> dict[str, str]:
    """Return the values that depend only on the player."""
    name = _first_name(player) if any(map(reader.has_perm, NAMES)) else ""
    nameless, named = GREETINGS[language]
    return {
        "hello": named.format(name=name) if name else nameless,
        "help": HELP.get(player.jurisdiction_id, ""),
        "turn_to": TURN_TO.get(player.jurisdiction_id, ""),
    }


def _first_name(player: Player) -> str:
    confirmed = Submission.objects.filter(player=player, status=SubmissionStatus.VERIFIED).order_by("-pk")
    names = confirmed.values_list("given_names", flat=True).first() or ""
    return names.split()[0] if names.split() else ""
