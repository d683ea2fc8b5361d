"""Helpers for the chat of a shared table."""

from itertools import count

import psycopg

from games import chat
from games.chat.moderation import Why
from games.models import ChatMessage, ChatName, Grounds, LiveTable
from players.models import Player
from tests.builders import a_player

_names = count(1)
RUDE = Why(Grounds.ABUSE)


def a_talker(name: str = "", *, law: str = "RO") -> Player:
    """Return a player with a chat name and money."""
    player = a_player(law, real=1_000_000)
    ChatName.objects.create(player=player, name=name or f"Talker {next(_names)}")
    return player


def say(
    live_table: LiveTable, text: str = "Good evening", by: Player | None = None, language: str = "en"
) -> ChatMessage:
    """Post a message, each time by another player by default, because of the rate limit."""
    return chat.say(player=by or a_talker(), live_table=live_table, text=text, language=language)


def wait(owner: psycopg.Connection, time: str = "1 minute") -> None:
    """Move all messages and names into the past."""
    owner.execute("ALTER TABLE games_chatmessage DISABLE TRIGGER USER")
    owner.execute("ALTER TABLE games_chatname DISABLE TRIGGER USER")
    owner.execute("UPDATE games_chatmessage SET at = at - %s::interval", [time])
    owner.execute("UPDATE games_chatname SET chosen_at = chosen_at - %s::interval", [time])
    owner.execute("ALTER TABLE games_chatmessage ENABLE TRIGGER USER")
    owner.execute("ALTER TABLE games_chatname ENABLE TRIGGER USER")
