"""Letters and messages to players about decisions of staff in the chat.

A letter appears among the player's messages, in their language. It gives the decision and the kind
of reason, but not who asked for it; times are in the player's time zone. It uses the template
`NAME` as staff last worded it. If staff no longer offer that template, or it needs facts that are
not known, the default text is used, so every player is notified.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import override

from games.models import ChatBan, ChatMessage, ChatNameTaken, Grounds
from players.datetime_format import written_until
from players.models import Conversation, Player, ReplyKind, ReplyTemplate, Staff, Topic
from players.support import conversations
from players.support import staff_replies as replies
from players.support.staff_replies import Given, facts_about, fill, placeholders


def because(grounds: str) -> str:
    """Return the reason as a sentence. Notes of staff are not shown to the player."""
    return _("Reason: %(why)s.") % {"why": reason(grounds)}


def reason(grounds: str) -> str:
    """Return the reason, to follow a colon."""
    return {
        Grounds.ABUSE.value: _("insults or threats"),
        Grounds.SPAM.value: _("repeated messages (spam)"),
        Grounds.ADVERTISING.value: _("begging, selling or advertising"),
        Grounds.PRIVATE.value: _("another person’s private details"),
        Grounds.CHEATING.value: _("collusion between players"),
        Grounds.IMPOSTOR.value: _("impersonating someone else"),
        Grounds.OTHER.value: _("inappropriate content"),
    }[grounds]


def removed(table: str) -> str:
    """Return the message that a message of the reader was removed at a table."""
    return _("We have removed a message that you wrote in the chat at table %(table)s.") % {"table": table}


def banned(until: datetime | None, player: Player) -> str:
    """Return the message that a player may not write at any table."""
    return _("You cannot write in any chat %(until)s. You can still read the chats.") % {
        "until": written_until(until, player.jurisdiction.time_zone)
    }


def muted(table: str, until: datetime | None, player: Player) -> str:
    """Return the message that a player may not write at one table."""
    message = _("You cannot write in the chat at table %(table)s %(until)s. You can still read it.")
    return message % {"table": table, "until": written_until(until, player.jurisdiction.time_zone)}


def nameless() -> str:
    """Return the message that a name was taken away."""
    return _("We have removed your name in the chat. Choose another one before you write again.")


NAME: Final = "decided"
ActionText = Callable[[], str]  # returns a sentence in the active language


def write(*, player: Player, done: Sequence[ActionText], grounds: Grounds, by: Staff) -> Conversation | None:
    """Write to a player what was *done*; return None where the account is closed and nobody would read it."""
    if not player.user.is_active:
        return None
    language = player.user.language
    with override(language):
        said = {
            "action": " ".join(each() for each in done),
            "reason": reason(grounds),
        }
    facts = {**facts_about(player, language, by.user), **said}
    known = {placeholder for placeholder, fact in facts.items() if fact}
    template = next((each for each in replies.offered([ReplyKind.CHAT]) if each.name == NAME), None)
    if template is None or not placeholders(template.texts[language]) <= known:
        template = None
    return conversations.lay_down(
        staff=by,
        player=player,
        topic=Topic.OTHER,
        text=fill(_text(template, language), facts),
        template=template,
    )


def _text(template: ReplyTemplate | None, language: str) -> str:
    message: str = (template.texts if template else replies.texts(NAME))[language]
    return message


def register() -> None:
    """Register the sources of facts."""
    replies.register("chat_message", _message)
    replies.register("chat_ban", _ban)
    replies.register("chat_name", _name)


def _message(player: Player, number: str) -> Given | None:
    removed = ChatMessage.objects.filter(pk=number, player=player).exclude(removed_for="").first()
    return Given("removed", {"reason": reason(removed.removed_for)}) if removed else None


def _ban(player: Player, number: str) -> Given | None:
    ban = ChatBan.objects.select_related("live_table__table").filter(pk=number, player=player).first()
    if ban is None:
        return None
    facts = {
        "reason": reason(ban.grounds),
        "until": written_until(ban.until, player.jurisdiction.time_zone),
    }
    return Given("mute", facts | {"table": ban.live_table.table.name}) if ban.live_table else Given("ban", facts)


def _name(player: Player, number: str) -> Given | None:
    taken = ChatNameTaken.objects.filter(pk=number, player=player).first()
    return Given("name", {"reason": reason(taken.grounds)}) if taken else None
