"""Letter to a player about a decision of staff in the chat.

It appears among the player's messages, in their language, and says what was done and why, but not
who asked for it. It uses the template `NAME` as staff last worded it. If staff no longer offer that
template, or it needs facts that are not known, the default text is used, so that every player is
told.
"""

from collections.abc import Callable, Sequence
from typing import Final

from django.utils.translation import override

from games.chat import messages
from games.models import Grounds
from players.models import Conversation, Player, ReplyKind, ReplyTemplate, Staff, Topic
from players.support import conversations
from players.support.replies import default_templates, templates
from players.support.replies.filling import facts_about, fill, marks

NAME: Final = "decided"
Words = Callable[[], str]  # returns a sentence in the active language


def write(*, player: Player, done: Sequence[Words], grounds: Grounds, by: Staff) -> Conversation | None:
    """Write to a player what was *done*; return None where the account is closed and nobody would read it."""
    if not player.user.is_active:
        return None
    language = player.user.language
    with override(language):
        said = {
            "action": " ".join(each() for each in done),
            "reason": messages.reason(grounds),
        }
    facts = {**facts_about(player, language, by.user), **said}
    known = {mark for mark, fact in facts.items() if fact}
    template = next((each for each in templates.offered([ReplyKind.CHAT]) if each.name == NAME), None)
    if template is None or not marks(template.texts[language]) <= known:
        template = None
    return conversations.lay_down(
        staff=by,
        player=player,
        topic=Topic.OTHER,
        text=fill(_text(template, language), facts),
        template=template,
    )


def _text(template: ReplyTemplate | None, language: str) -> str:
    words: str = (template.texts if template else default_templates.texts(NAME))[language]
    return words
