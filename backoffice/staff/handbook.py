"""Staff handbook: instructions for all staff and for each role, from `docs/handbook.md`.

A level-two heading there is a part, named after a role. A level-three heading is a job.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from players.access import StaffRequest, staff_required
from players.staff import ROLE_DESCRIPTIONS, ROLE_NAMES

READ: Final = "players.work"
HANDBOOK: Final = Path(settings.BASE_DIR) / "docs" / "handbook.md"
EVERYBODY: Final = "everybody"
ADDRESS: Final = re.compile(r"<code>(/staff/[a-z/-]*)</code>")


@dataclass(frozen=True)
class Job:
    """One job and its instructions: ``body`` with links, ``plain`` without."""

    title: str
    anchor: str
    body: SafeString
    plain: SafeString


@dataclass(frozen=True)
class Part:
    """The jobs of a role."""

    role: str
    about: SafeString
    jobs: tuple[Job, ...]


class RoleForm(forms.Form):
    """Choice of the role whose jobs are shown."""

    role = forms.ChoiceField(
        required=False,
        choices=[("", gettext_lazy("My roles")), *((role, ROLE_NAMES[role]) for role in sorted(ROLE_DESCRIPTIONS))],
    )


@staff_required(READ)
@require_safe
def staff_handbook(request: StaffRequest) -> HttpResponse:
    """Show the jobs for everybody and for the reader's roles, or those of the chosen role."""
    form = RoleForm(request.GET)
    asked = form.cleaned_data["role"] if form.is_valid() else ""
    mine = set(request.user.groups.values_list("name", flat=True))
    shown = [asked] if asked else [EVERYBODY, *sorted(mine)]
    found = parts()
    context = {"form": form, "parts": [(found[role], role == EVERYBODY or role in mine) for role in shown]}
    return render(request, "staff/handbook.html", context)


@cache
def parts() -> dict[str, Part]:
    """Return the parts of the handbook by role."""
    _title, *sections = re.split(r"^## ", HANDBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.role: part for part in map(_part, sections)}


def _part(text: str) -> Part:
    name, _newline, rest = text.partition("\n")
    about, *jobs = re.split(r"^### ", rest, flags=re.MULTILINE)
    role = name.strip().lower()
    return Part(role, _rendered(about), tuple(_job(role, job) for job in jobs))


def _job(role: str, text: str) -> Job:
    title, _newline, body = text.partition("\n")
    plain = _rendered(body)
    leading = mark_safe(ADDRESS.sub(r'<a href="\1">\1</a>', plain))  # noqa: S308  (our own text)
    return Job(title.strip(), slugify(f"{role}-{title}"), leading, plain)


def _rendered(source: str) -> SafeString:
    from markdown_it import MarkdownIt  # imported here because loading it would slow down every management command

    return mark_safe(MarkdownIt("commonmark", {"html": False}).render(source))  # noqa: S308  (our own text, HTML in it is escaped)
