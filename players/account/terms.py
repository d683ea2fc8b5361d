"""Terms and conditions: the text in five languages, its version, and the agreements of players.

The texts are whole documents in ``texts/``, because a player agrees to the whole text. A new
version needs a new ``VERSION`` and ``DATED`` here, and ``changes.*.md`` for players who agreed to
the previous version.
"""

from datetime import date
from functools import cache
from pathlib import Path

from django.db import transaction
from django.utils.safestring import SafeString, mark_safe

from audit import log
from players.models import Agreement, Player

VERSION = "4"
DATED = date(2026, 11, 29)

TEXTS = Path(__file__).parent / "texts"


class NotInForce(Exception):
    """The player was shown a version of the terms that is no longer in force."""


def outstanding(player: Player) -> bool:
    """Return whether the player has not yet agreed to the terms in force, which play demands (GLI-19 v3.0, 2.8.5)."""
    return not Agreement.objects.filter(player=player, terms_version=VERSION).exists()


@transaction.atomic
def agree(*, player: Player, version: str, ip: str) -> None:
    """Record that the player agrees to this *version* of the terms. Idempotent. Raises NotInForce."""
    if version != VERSION:
        raise NotInForce
    _, is_new = Agreement.objects.get_or_create(player=player, terms_version=version)
    if is_new:
        log.record("terms.agreed", by=str(player), on=str(player), data={"terms": version}, personal={"ip": ip})


@cache
def changes(language: str) -> SafeString:
    """Return the changes of this version as HTML. Raises FileNotFoundError for an unsupported language."""
    return _rendered(f"changes.{language}.md")


@cache
def text(language: str) -> SafeString:
    """Return the terms as HTML. Raises FileNotFoundError for an unsupported language."""
    return _rendered(f"terms.{language}.md")


def _rendered(name: str) -> SafeString:
    from markdown_it import MarkdownIt  # slow to import; every management command would wait for it

    source = (TEXTS / name).read_text(encoding="utf-8")
    return mark_safe(MarkdownIt("commonmark", {"html": False}).render(source))  # noqa: S308  (our own text, HTML in it is escaped)
