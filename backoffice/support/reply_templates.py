"""Reply templates: list, add, write a new version, withdraw."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from players.access import StaffRequest, staff_required
from players.models import ReplyKind, ReplyTemplate
from players.support import staff_replies as replies
from players.support.conversations import LONGEST
from players.support.staff_replies import LANGUAGES, PLACEHOLDERS, WRITE, placeholders

READ: Final = (WRITE, "players.answer_service", "games.moderate_chat")
NAMES: Final = {"en": "English", "sv": "Swedish", "da": "Danish", "ro": "Romanian", "de": "German"}
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
            self.fields[language] = forms.CharField(label=NAMES[language], max_length=LONGEST, widget=widget)

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
        "versions": [(each, [(NAMES[code], code, each.texts[code]) for code in LANGUAGES]) for each in versions],
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
