"""Template tags for the frame of every back office page (sidebar, alarms), and filters for
significant events.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from django import template
from django.template import RequestContext
from django.urls import reverse
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import get_language, gettext, pgettext_lazy

from accounts import banner
from audit.models import Significant
from audit.staff_text import in_sentence, language_label, recognised, translated, word
from backoffice.lists import cells
from backoffice.money.ledger import journal_name
from backoffice.navigation import FUNCTIONS, Function, duties, function_at
from backoffice.players.facts import SOURCES
from backoffice.shell import Shell, shell_of
from games.incidents import unruled
from games.shared.floor.rows import READERS as FLOOR_READERS
from players import staff
from players.access import may_open
from players.models import User
from players.support.staff_replies import title_of
from players.templatetags.fields import moment, role_names
from wallet import house_stop
from wallet.money import format_money

if TYPE_CHECKING:  # the lists behind the links can only be loaded after all templates and filters
    from backoffice.audit.significant import Subject, Subjects

RULE: Final = "games.supervise_table"
STOP_READERS: Final = ("wallet.stop_house", "audit.view_event")


@dataclass(frozen=True)
class Alarm:
    """One alarm: its text and a link. The link is "" where the reader may not see more."""

    text: str
    link: str = ""
    link_text: str = ""


def current_alarms(user: User) -> list[Alarm]:
    """Return the alarms that a member of staff sees on every page."""
    mine = user.get_all_permissions()
    return [*_house(mine), *_tables(mine)]


def _house(mine: set[str]) -> Iterator[Alarm]:
    stop = house_stop.current()
    if stop:
        text = gettext("House stop since %(at)s UTC: all stakes and deposits are blocked.") % {
            "at": f"{stop.at:%Y-%m-%d %H:%M}"
        }
        yield Alarm(text, "" if mine.isdisjoint(STOP_READERS) else reverse("staff_stop"), gettext("View house stop"))


def _tables(mine: set[str]) -> Iterator[Alarm]:
    if mine.isdisjoint(FLOOR_READERS):
        return
    incidents = list(unruled().select_related("table", "live_round__live_table"))
    tables = {}
    for incident in incidents:
        if incident.live_round:
            live_table = incident.live_round.live_table
            tables[live_table.pk] = gettext("%(name)s (%(mode)s money)") % {
                "name": incident.table.name,
                "mode": in_sentence(live_table.get_mode_display()),
            }
    if not tables:
        return
    stopped = (
        (gettext("%(values)s is stopped") % {"values": next(iter(tables.values()))})
        if len(tables) == 1
        else (gettext("%(tables)s tables are stopped") % {"tables": len(tables)})
    )
    if RULE not in mine:
        yield Alarm(f"{stopped}.", reverse("staff_floor"), gettext("View floor"))
    elif len(incidents) == 1:
        yield Alarm(
            (gettext("%(stopped)s: one incident awaits a ruling.") % {"stopped": stopped}),
            reverse("staff_incident", args=[incidents[0].pk]),
            gettext("View incident"),
        )
    else:
        waiting = gettext("%(stopped)s: %(incidents)s incidents await a ruling.") % {
            "stopped": stopped,
            "incidents": len(incidents),
        }
        yield Alarm(waiting, f"{reverse('staff_incidents')}?state=awaiting", gettext("View incidents"))


TABLE_STATES: Final = {
    "stopped": pgettext_lazy("table", "stopped"),
    "closing": pgettext_lazy("table", "closing"),
    "paused": pgettext_lazy("table", "paused"),
    "open": pgettext_lazy("table", "open"),
    "closed": pgettext_lazy("table", "closed"),
}
register = template.Library()
register.filter("in_sentence", in_sentence)
register.filter("role_names", role_names)
register.filter("translated", translated)
register.filter("word", word)
register.filter("journal_name", journal_name)
register.filter("recognised", recognised)
register.filter("reply_title", title_of)
register.simple_tag(moment)


@dataclass(frozen=True)
class Whose:
    """Owner of a page that the reader may not see.

    It holds the page's function, if any, the roles that have it, and the reader's own roles.
    """

    function: Function | None
    holders: list[str]
    roles: list[str]

    @property
    def is_theirs(self) -> bool:
        """True if the reader has the function, but not this page of it."""
        return not set(self.holders).isdisjoint(self.roles)


@register.simple_tag(takes_context=True)
def shell(context: RequestContext) -> Shell:
    """Return the frame of the page: sidebar, breadcrumbs, footer."""
    request = context["request"]
    return shell_of(request, request.user, request.user.staff)


@register.simple_tag(takes_context=True)
def whose_page(context: RequestContext) -> Whose:
    """Return the owner of a page that the reader may not see, and the reader's roles."""
    request = context["request"]
    holders = dict(duties())
    function = function_at(request.path, FUNCTIONS)
    roles = list(request.user.groups.order_by("name").values_list("name", flat=True))
    return Whose(function, holders[function] if function else [], roles)


@register.simple_tag(takes_context=True)
def alarms(context: RequestContext) -> list[Alarm]:
    """Return the alarms for the reader."""
    return current_alarms(context["request"].user)


@register.simple_tag
def notices_alone() -> str:
    """Render the public notices.

    The house stop is left out, because staff see it among the alarms.
    """
    return banner.on_this_page(says_stop=False)


@register.simple_tag(takes_context=True)
def reference(context: RequestContext, of: object, key: object = None) -> str:
    """Render a reference to *of*: a name as in events, a row with such a name, or a kind of row with its *key*."""
    name = str(of) if key is None else f"{of}:{key}"
    return cells.reference(name, context["request"].user, context["staff_names"])


@register.filter
def language(code: str) -> str:
    """Return the name of a language, in the reader's."""
    return language_label(code)


@register.simple_tag(takes_context=True)
def linked(context: RequestContext, text: object) -> str:
    """Render a text with a reference in place of each name of a row in it."""
    return cells.linked(str(text), context["request"].user, context["staff_names"])


@register.simple_tag(takes_context=True)
def history(context: RequestContext, of: object, key: object = None) -> str:
    """Render the link to all events about *of* (see `reference`), for those who may read the audit log."""
    name = str(of) if key is None else f"{of}:{key}"
    address = f"{reverse('staff_events')}?{urlencode({'on': name})}"
    if not may_open(context["request"].user, reverse("staff_events")):
        return ""
    return format_html('<a class="button" href="{}">{}</a>', address, gettext("History"))


@register.filter
def its_amount(found: Significant) -> str:
    """Return the amount of the event, "" if it has none."""
    return "" if found.amount is None else format_money(found.amount, found.currency, get_language() or "en")


@register.filter
def table_state(state: str) -> str:
    """Return the name of a state of the floor (`games.shared.floor.rows.STATES`) in the active language."""
    return str(TABLE_STATES.get(state, state))


@register.filter
def limit_source(source: str) -> str:
    """Return who set a limit, in the active language; "" stays empty."""
    return in_sentence(SOURCES[source]) if source else ""


@register.filter
def role(name: str) -> str:
    """Return the name of a role in the active language."""
    return staff.role_name(name)


@register.filter
def named(who: str, names: Mapping[str, str]) -> str:
    """Return the name from *names*, or *who* if it is not there."""
    return names.get(who, who)


@register.filter
def called(name: str, subjects: "Subjects") -> "Subject":
    """Return the label and URL of the subject *name*."""
    return subjects.of(name)


@register.filter
def waited(since: datetime) -> str:
    """Return how long ago *since* was, in the two largest units."""
    return timesince(since, depth=2)
