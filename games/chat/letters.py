"""The house's letter to a player about whom staff decided something in the chat. It lies among the player's messages,
in their language, and says what was done and why, never who had asked for it.

It is written from the template `NAME` as staff have worded it last, and as the house ships it where staff offer it no
more or ask more of it than the house knows by itself: nobody is left untold.
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
Words = Callable[[], str]  # a sentence in the active language


def write(*, player: Player, done: Sequence[Words], grounds: Grounds, by: Staff) -> Conversation | None:
    """Tell a player what was *done*; None where the account is closed, so that nobody reads it."""
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
