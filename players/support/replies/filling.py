"""Marks in templates of replies, and what stands for them in a letter to one player.

A mark whose fact the conversation has is filled in; every other one is left in brackets, in English, for whoever
answers, and nothing is sent in which one still stands.
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
    """Return the marks in a text."""
    return set(MARK.findall(text))


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Return a text with its marks filled in; those without a fact in brackets."""
    return MARK.sub(lambda mark: facts.get(mark[1]) or f"[{mark[1]}]", text)


def facts_of(conversation: Conversation, language: str, reader: User) -> dict[str, str]:
    """Return what a letter in *language* can say of this conversation; the name only where *reader* may read names."""
    player = conversation.player
    return facts_about(player, language, reader) | {
        "round": conversation.round_code,
        "due": written_day(conversation.due_at, language) if conversation.due_at else "",
    }


def facts_about(player: Player, language: str, reader: User) -> dict[str, str]:
    """Return what a letter can say of the player alone."""
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
