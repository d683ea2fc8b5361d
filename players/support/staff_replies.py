"""Reply templates in five languages: built-in ones, versions by staff, and placeholders."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.db import IntegrityError, transaction
from django.utils.translation import gettext, gettext_lazy, gettext_noop, override

from audit import log
from audit.staff_text import language_label
from players import cases
from players.datetime_format import written_day, written_until
from players.models import (
    Conversation,
    Player,
    ReplyKind,
    ReplyTemplate,
    ReplyWithdrawal,
    Staff,
    Submission,
    SubmissionStatus,
    User,
)
from players.search import NAMES

HELP: Final = {
    "SE": "Stödlinjen, 020-81 91 00, stodlinjen.se",
    "DK": "StopSpillet, 70 22 28 25, stopspillet.dk",
    "RO": "Joc Responsabil, 0800 800 099, jocresponsabil.ro",
    "DE": "0800 1 37 27 00, check-dein-spiel.de",
    "GB": "National Gambling Helpline, 0808 8020 133, gamcare.org.uk",
}
TURN_TO: Final = {
    "SE": "Allmänna reklamationsnämnden (ARN), arn.se",
    "DK": "Center for Klageløsning, naevneneshus.dk",
    "RO": "ANPC, anpc.ro",
    "DE": "Universalschlichtungsstelle des Bundes, universalschlichtungsstelle.de",
    "GB": "Independent Betting Adjudication Service (IBAS), ibas-uk.com",
}


PLACEHOLDER: Final = re.compile(r"\{([a-z_]*)\}")
PLACEHOLDERS: Final = {
    "hello": gettext_lazy("greeting, with the player’s first name if verified"),
    "round": gettext_lazy("code of the round"),
    "due": gettext_lazy("due date of the complaint"),
    "help": gettext_lazy("gambling help line in the player’s country"),
    "turn_to": gettext_lazy("complaints body for a complaint that was not upheld"),
    "amount": gettext_lazy("amount, entered by staff"),
    "reason": gettext_lazy("reason, entered by staff"),
    "action": gettext_lazy("measures taken, entered by staff"),
    "until": gettext_lazy("end, with its preposition (“until 21 November 2026, 14:05”), entered by staff"),
    "table": gettext_lazy("table, entered by staff"),
}
UNFILLED: Final = re.compile(r"\[(?:" + "|".join(PLACEHOLDERS) + r")\]")
GREETINGS: Final = {
    "en": ("Hello,", "Hello {name},"),
    "sv": ("Hej,", "Hej {name},"),
    "da": ("Hej", "Hej {name}"),
    "ro": ("Bună ziua,", "Bună ziua, {name},"),
    "de": ("Guten Tag,", "Guten Tag {name},"),
}


def placeholders(text: str) -> set[str]:
    """Return the placeholders in a text."""
    return set(PLACEHOLDER.findall(text))


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Replace the placeholders of a text. Those without a value are left in brackets."""
    return PLACEHOLDER.sub(lambda placeholder: facts.get(placeholder[1]) or f"[{placeholder[1]}]", text)


def facts_of(conversation: Conversation, language: str, reader: User) -> dict[str, str]:
    """Return the values for a reply in *language*. The name is included only if *reader* may read names."""
    player, case = conversation.player, cases.of_conversation(conversation)
    return facts_about(player, language, reader) | {
        "round": conversation.round_code,
        "due": written_day(case.due_at, language) if case else "",
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


UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
ABOUT: Final = re.compile(rf"([a-z_]{{1,20}}):([0-9]{{1,18}}|{UUID})")  # the subject in the URL of a new message


@dataclass(frozen=True)
class Given:
    """A template's name, and values for its placeholders in the active language."""

    template: str
    facts: Mapping[str, str]


Source = Callable[[Player, str], Given | None]  # (player, id) -> template and values in the active language

_sources: Final[dict[str, Source]] = {}


def register(kind: str, source: Source) -> None:
    """Register the source for a *kind* of subject. *source* must return None for subjects of other players."""
    _sources[kind] = source


def given(about: str, player: Player) -> Given | None:
    """Return the template and values for a subject, or None if the player has no such subject."""
    found = ABOUT.fullmatch(about)
    source = _sources.get(found[1]) if found else None
    return source(player, found[2]) if found and source else None


WRITE: Final = "players.write_replies"


class TemplateChanged(Exception):
    """Another staff member has written the next version, or withdrawn this one. The message is for staff."""


@transaction.atomic
def write(
    *, name: str, based_on: int, kind: ReplyKind, title: str, texts: Mapping[str, str], by: Staff
) -> ReplyTemplate:
    """Write the version of a template after *based_on* (0: the first version). Raises `TemplateChanged`."""
    try:
        with transaction.atomic():
            made = ReplyTemplate.objects.create(
                name=name, number=based_on + 1, kind=kind, title=title, texts=dict(texts), by=by
            )
    except IntegrityError as error:
        raise TemplateChanged(gettext("This template was changed by another person.")) from error
    log.record("reply.written", by=str(by), on=str(made), data={"version": made.number, "kind": kind.value})
    return made


@transaction.atomic
def withdraw(*, name: str, number: int, reason: str, by: Staff) -> ReplyTemplate:
    """Withdraw a template whose newest version is *number*. Raises `TemplateChanged`, ReplyTemplate.DoesNotExist."""
    newest = ReplyTemplate.objects.filter(name=name).order_by("-number").first()
    if newest is None:
        raise ReplyTemplate.DoesNotExist
    if newest.number != number:
        raise TemplateChanged(gettext("There is now a version %(number)s. Check it first.") % {"number": newest.number})
    _, is_new = ReplyWithdrawal.objects.get_or_create(template=newest, defaults={"by": by, "reason": reason})
    if not is_new:
        raise TemplateChanged(gettext("This template is already withdrawn."))
    log.record("reply.withdrawn", by=str(by), on=str(newest), data={"version": number, "reason": reason})
    return newest


def newest() -> list[ReplyTemplate]:
    """Return the newest version of every template, withdrawn or not, by kind and title."""
    found = ReplyTemplate.objects.order_by("name", "-number").distinct("name").select_related("by", "withdrawal")
    return sorted(found, key=lambda each: (list(ReplyKind).index(ReplyKind(each.kind)), title_of(each)))


def offered(kinds: Collection[ReplyKind]) -> list[ReplyTemplate]:
    """Return the templates of *kinds* that are not withdrawn."""
    return [each for each in newest() if each.kind in kinds and not hasattr(each, "withdrawal")]


def versions(name: str) -> list[ReplyTemplate]:
    """Return all versions of a template, newest first."""
    return list(ReplyTemplate.objects.filter(name=name).order_by("-number").select_related("by", "withdrawal__by"))


TEXTS: Final = Path(__file__).parent / "texts"
LANGUAGES: Final = ("en", "sv", "da", "ro", "de")  # English first: staff read it
HEAD: Final = re.compile(r"^## (\w+)\n", re.MULTILINE)

SHIPPED: Final = {
    "deposit": ("question", gettext_noop("A deposit has not arrived")),
    "withdrawal": ("question", gettext_noop("A withdrawal is being checked")),
    "identity": ("question", gettext_noop("Identity verification needed")),
    "round": ("question", gettext_noop("Explanation of a round")),
    "voided": ("question", gettext_noop("A round was voided")),
    "limits": ("question", gettext_noop("Limits and pauses")),
    "exclusion": ("question", gettext_noop("Self-exclusion and gambling help")),
    "locked": ("question", gettext_noop("Account locked")),
    "received": ("complaint", gettext_noop("Complaint received")),
    "upheld": ("complaint", gettext_noop("Complaint upheld")),
    "rejected": ("complaint", gettext_noop("Complaint not upheld, with complaints body")),
    "removed": ("chat", gettext_noop("Chat message removed")),
    "ban": ("chat", gettext_noop("The player may not write in the chat")),
    "mute": ("chat", gettext_noop("Chat ban at one table")),
    "name": ("chat", gettext_noop("Chat name removed")),
    "decided": ("chat", gettext_noop("Chat decision, as in the automatic message")),
}


def title_of(template: ReplyTemplate) -> str:
    """Return the title of a template: a built-in one in the active language, another as it was written."""
    built_in = SHIPPED.get(template.name)
    return gettext(template.title) if built_in and built_in[1] == template.title else template.title


def templates() -> list[dict[str, Any]]:
    """Return the first version of each template."""
    said = {language: _texts(language) for language in LANGUAGES}
    return [
        {
            "name": name,
            "kind": kind,
            "title": title,
            "texts": {language: said[language][name] for language in LANGUAGES},
        }
        for name, (kind, title) in SHIPPED.items()
    ]


def texts(name: str) -> dict[str, str]:
    """Return the text of a template in each language."""
    return {language: _texts(language)[name] for language in LANGUAGES}


def _texts(language: str) -> dict[str, str]:
    parts = HEAD.split((TEXTS / f"replies.{language}.md").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


LONGEST: Final = 1000  # characters per input


@dataclass(frozen=True)
class Input:
    """Form field for a placeholder, and the function that writes its value in the active language."""

    field: Callable[[Player], forms.Field]
    write: Callable[[Any, Player], str]


def _words(name: str) -> Input:
    def field(player: Player) -> forms.Field:
        label = gettext("%(placeholder)s, as the player reads it (%(language)s)") % {
            "placeholder": f"[{name}]",
            "language": language_label(player.user.language),
        }
        return forms.CharField(label=label, max_length=LONGEST, required=False)

    return Input(field, lambda value, player: str(value))


def _until_field(player: Player) -> forms.Field:
    return forms.DateTimeField(
        label=(gettext("Until, by the player’s clock (%(time_zone)s)") % {"time_zone": player.jurisdiction.time_zone}),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )


def _until(value: datetime, player: Player) -> str:
    zone = player.jurisdiction.time_zone
    return written_until(value.replace(tzinfo=ZoneInfo(zone)), zone)  # the form reads it in its own time zone


_inputs: Final[dict[str, Input]] = {placeholder: _words(placeholder) for placeholder in PLACEHOLDERS} | {
    "until": Input(_until_field, _until)
}


def register_input(placeholder: str, asked: Input) -> None:
    """Replace the plain-text input of a placeholder."""
    _inputs[placeholder] = asked


class PlaceholdersForm(forms.Form):
    """A form with a ``text`` and an input for each placeholder that is still open in it."""

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        """Add an input for each open placeholder of the reply to *player*."""
        super().__init__(*args, **kwargs)
        self.player = player
        text = str((self.data if self.is_bound else self.initial).get("text") or "")
        self.open_placeholders = [placeholder for placeholder in PLACEHOLDERS if f"[{placeholder}]" in text]
        for placeholder in self.open_placeholders:
            self.fields[_field(placeholder)] = _inputs[placeholder].field(player)

    @property
    def placeholder_fields(self) -> list[forms.BoundField]:
        """Return the inputs of the open placeholders."""
        return [self[_field(placeholder)] for placeholder in self.open_placeholders]

    def filled(self, text: str) -> str:
        """Return *text* with the given values. The form must have been cleaned."""
        with override(self.player.user.language):
            for placeholder in self.open_placeholders:
                value = self.cleaned_data.get(_field(placeholder))
                if value not in (None, ""):
                    text = text.replace(f"[{placeholder}]", _inputs[placeholder].write(value, self.player))
        return text

    def clean(self) -> dict[str, Any]:
        """Insert the given values. Refuse a text with open placeholders."""
        asked = super().clean() or {}
        if "text" in asked:
            asked["text"] = self.filled(asked["text"])
            if open_placeholders := sorted(set(UNFILLED.findall(asked["text"]))):
                self.add_error(
                    "text",
                    (gettext("Fill in the remaining placeholders: %(join)s.") % {"join": ", ".join(open_placeholders)}),
                )
        return asked


def _field(placeholder: str) -> str:
    return f"mark_{placeholder}"
