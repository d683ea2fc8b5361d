"""Letters to players: the forms for answers and decisions, and the pages of reply templates.

A template is listed, added, written in a new version, or withdrawn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.staff_text import language_label
from players.access import StaffRequest, staff_required
from players.models import DECIDED, CaseOutcome, Conversation, Player, ReplyKind, ReplyTemplate, Topic, User
from players.support import staff_replies as replies
from players.support.complaints import outside
from players.support.conversations import LONGEST
from players.support.staff_replies import LANGUAGES, PLACEHOLDERS, WRITE, PlaceholdersForm, facts_of, fill, placeholders
from players.support.views import message_field

HIGHEST: Final = 2**63 - 1  # largest number that the column holds


class LetterForm(PlaceholdersForm):
    """Letter to a player, and the template it was begun from."""

    template = forms.ModelChoiceField(
        ReplyTemplate.objects.none(), required=False, label=gettext_lazy("Template"), empty_label=gettext_lazy("None")
    )
    text = message_field(gettext_lazy("Message"))

    def __init__(self, *args: Any, offered: Sequence[ReplyTemplate], **kwargs: Any) -> None:
        """Offer the given templates."""
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField", self.fields["template"])
        field.queryset = ReplyTemplate.objects.filter(pk__in=[each.pk for each in offered])
        field.choices = [("", gettext("None")), *((each.pk, replies.title_of(each)) for each in offered)]


class SeenForm(forms.Form):
    """Number of the last message that the author has read."""

    seen = forms.IntegerField(
        min_value=0,
        max_value=HIGHEST,
        widget=forms.HiddenInput,
        error_messages={"required": gettext_lazy("Not sent: a new message has arrived. Read it and send again.")},
    )


class AnswerForm(LetterForm, SeenForm):
    """Answer to a player; with a verdict, the reasons of a decision."""

    text = message_field(gettext_lazy("Answer"))
    verdict = forms.ChoiceField(
        label=gettext_lazy("Verdict (for a decision)"),
        required=False,
        choices=[("", gettext_lazy("None (answer only)")), *((each.value, each.label) for each in DECIDED)],
    )


# Templates that an answer may begin from, for complaints (True) and other conversations.
KINDS: Final = {True: (ReplyKind.COMPLAINT, ReplyKind.QUESTION), False: (ReplyKind.QUESTION,)}
Facts = Callable[[str, User], Mapping[str, str]]  # values of template markers in a language, for a letter by this user


@dataclass(frozen=True)
class Decision:
    """Preview of a decision: the reasons as the player reads them, and the external body.

    *is_unsure*: the decision was submitted without confirmation.
    """

    verdict: CaseOutcome
    reasons: str
    outside: str
    is_unsure: bool


def thread(request: StaffRequest, conversation: Conversation, form: AnswerForm | None = None) -> dict[str, Any]:
    """Return what the page of a conversation shows: its messages, and the form of an answer.

    The form holds the number of the last message shown, so an answer states what its author has read.
    """
    written = list(conversation.messages.select_related("staff").order_by("pk"))
    form = form or AnswerForm(offered=offered_for(conversation), player=conversation.player)
    return {
        "conversation": conversation,
        "written": written,
        "form": form,
        "seen": written[-1].pk if written else 0,
        "english": english_of(form, conversation.player, partial(facts_of, conversation), request.user),
    }


def decision_of(request: StaffRequest, conversation: Conversation, asked: Mapping[str, str]) -> Decision:
    """Return the preview of a decision."""
    verdict = CaseOutcome(asked["verdict"])
    return Decision(verdict, asked["text"], outside(conversation.player, verdict), is_unsure="decide" in request.POST)


def offered_for(conversation: Conversation) -> list[ReplyTemplate]:
    """Return the templates that an answer may begin from."""
    return list(replies.offered(KINDS[conversation.topic == Topic.COMPLAINT]))


def begun_from(
    request: StaffRequest, form: LetterForm, player: Player, facts: Facts
) -> tuple[str, ReplyTemplate | None]:
    """Return the letter's text with its markers filled in, and the chosen template.

    Unless only markers were to be filled in, the text of the template is appended in the player's
    language, with *facts* filled in.
    """
    form.is_valid()
    chosen: ReplyTemplate | None = form.cleaned_data.get("template")
    typed = form.filled(request.POST.get("text", ""))
    if chosen is None or request.POST["fill"] == "placeholders":
        return typed, chosen
    language = player.user.language
    said = fill(chosen.texts[language], facts(language, request.user))
    return "\n\n".join(filter(None, [typed.strip(), said])), chosen


def english_of(form: LetterForm, player: Player, facts: Facts, reader: User) -> str:
    """Return the chosen template in English, for staff who read no other language.

    It is "" if the player reads English.
    """
    asked = form.cleaned_data if form.is_bound else form.initial
    chosen: ReplyTemplate | None = asked.get("template")
    if chosen is None or player.user.language == "en":
        return ""
    return fill(chosen.texts["en"], facts("en", reader))


READ: Final = (WRITE, "players.answer_service", "games.moderate_chat")
RESERVED: Final = "new"  # part of a URL


class VersionForm(forms.Form):
    """Version of a template: a title for staff, and its text in every language."""

    kind = forms.ChoiceField(label=gettext_lazy("Purpose"), choices=ReplyKind.choices)
    title = forms.CharField(label=gettext_lazy("Internal title"), max_length=100)
    based_on = forms.IntegerField(min_value=0, max_value=2**15 - 2, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Add a text field for every language."""
        super().__init__(*args, **kwargs)
        for language in LANGUAGES:
            widget = forms.Textarea(attrs={"rows": 10, "lang": language})
            self.fields[language] = forms.CharField(label=language_label(language), max_length=LONGEST, widget=widget)

    def clean(self) -> dict[str, Any]:
        """Require known markers, and the same markers in all languages."""
        asked = super().clean() or {}
        wanted = placeholders(asked.get("en", ""))
        for language in LANGUAGES:
            if language not in asked:
                continue
            found = placeholders(asked[language])
            if unknown := sorted(found - set(PLACEHOLDERS)):
                self.add_error(
                    language, (gettext("No value is available for %(unknown)s.") % {"unknown": _written(unknown)})
                )
            elif language != "en" and "en" in asked and found != wanted:
                apart = sorted(found ^ wanted)
                self.add_error(
                    language,
                    (gettext("The placeholders differ from the English text: %(apart)s.") % {"apart": _written(apart)}),
                )
        return asked

    @property
    def texts(self) -> dict[str, str]:
        """Text in each language."""
        return {language: self.cleaned_data[language] for language in LANGUAGES}


class NewForm(VersionForm):
    """New template."""

    name = forms.SlugField(label=gettext_lazy("Short name, used in URLs and in the audit log"), max_length=40)
    field_order = ("name", "kind", "title")

    def clean_name(self) -> str:
        """Require a name that is not taken or reserved."""
        name: str = self.cleaned_data["name"]
        if name == RESERVED or ReplyTemplate.objects.filter(name=name).exists():
            raise forms.ValidationError(gettext("This short name is already in use."))
        return name


class WithdrawForm(forms.Form):
    """Reason for withdrawing a template."""

    number = forms.IntegerField(min_value=1, max_value=2**15 - 1, widget=forms.HiddenInput)
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=300)


@staff_required(*READ)
@require_safe
def staff_replies(request: StaffRequest) -> HttpResponse:
    """List all templates by kind."""
    context = {"templates": replies.newest(), "may_write": request.user.has_perm(WRITE)}
    return render(request, "staff/replies.html", context)


@staff_required(WRITE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_reply_new(request: StaffRequest) -> HttpResponse:
    """Add a template."""
    form = NewForm(request.POST or None, initial={"based_on": 0})
    if request.method == "POST" and form.is_valid() and _write(request, form, form.cleaned_data["name"], 0):
        return redirect("staff_reply", form.cleaned_data["name"])
    return render(request, "staff/reply_new.html", {"form": form, "placeholders": PLACEHOLDERS})


@staff_required(*READ)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_reply(request: StaffRequest, name: str) -> HttpResponse:
    """Show one template with its versions. On POST, write the next version."""
    versions = replies.versions(name)
    if not versions:
        raise Http404
    may_write, newest = request.user.has_perm(WRITE), versions[0]
    form = VersionForm(
        request.POST or None,
        initial={"kind": newest.kind, "title": newest.title, "based_on": newest.number, **newest.texts},
    )
    if request.method == "POST":
        if not may_write:
            raise PermissionDenied
        if form.is_valid() and _write(request, form, name, form.cleaned_data["based_on"]):
            return redirect("staff_reply", name)
    context = {
        "versions": [
            (each, [(language_label(code), code, each.texts[code]) for code in LANGUAGES]) for each in versions
        ],
        "newest": newest,
        "form": form,
        "withdraw_form": WithdrawForm(initial={"number": newest.number}),
        "may_write": may_write,
        "placeholders": PLACEHOLDERS,
    }
    return render(request, "staff/reply.html", context)


@staff_required(WRITE)
@require_POST
def staff_reply_withdraw(request: StaffRequest, name: str) -> HttpResponse:
    """Withdraw a template."""
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_reply", name)
    asked = form.cleaned_data
    try:
        replies.withdraw(name=name, number=asked["number"], reason=asked["reason"], by=request.staff)
    except ReplyTemplate.DoesNotExist as error:
        raise Http404 from error
    except replies.TemplateChanged as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, gettext("Template withdrawn. Messages that were already sent are unchanged."))
    return redirect("staff_reply", name)


def _write(request: StaffRequest, form: VersionForm, name: str, based_on: int) -> bool:
    """Write the version that a valid form asks for, or add an error to the form."""
    asked = form.cleaned_data
    try:
        made = replies.write(
            name=name,
            based_on=based_on,
            kind=ReplyKind(asked["kind"]),
            title=asked["title"],
            texts=form.texts,
            by=request.staff,
        )
    except replies.TemplateChanged as error:
        form.add_error(
            None,
            (gettext("%(error)s Your text is still here. Copy it and open the template again.") % {"error": error}),
        )
        return False
    messages.success(request, (gettext("Version %(number)s is now the current version.") % {"number": made.number}))
    return True


def _written(names: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
