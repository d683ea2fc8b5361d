"""Facts for letters about chat decisions: the template, the reason, the end and the table."""

from games.chat import messages
from games.models import ChatBan, ChatMessage, ChatNameTaken
from players.datetime_format import written_until
from players.models import Player
from players.support.replies import letter_facts
from players.support.replies.letter_facts import Given


def register() -> None:
    """Register the sources of facts."""
    letter_facts.register("chat_message", _message)
    letter_facts.register("chat_ban", _ban)
    letter_facts.register("chat_name", _name)


def _message(player: Player, number: str) -> Given | None:
    removed = ChatMessage.objects.filter(pk=number, player=player).exclude(removed_for="").first()
    return Given("removed", {"reason": messages.reason(removed.removed_for)}) if removed else None


def _ban(player: Player, number: str) -> Given | None:
    ban = ChatBan.objects.select_related("live_table__table").filter(pk=number, player=player).first()
    if ban is None:
        return None
    facts = {
        "reason": messages.reason(ban.grounds),
        "until": written_until(ban.until, player.jurisdiction.time_zone),
    }
    return Given("mute", facts | {"table": ban.live_table.table.name}) if ban.live_table else Given("ban", facts)


def _name(player: Player, number: str) -> Given | None:
    taken = ChatNameTaken.objects.filter(pk=number, player=player).first()
    return Given("name", {"reason": messages.reason(taken.grounds)}) if taken else None
