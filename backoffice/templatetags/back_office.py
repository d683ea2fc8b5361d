"""The way around the back office, the same on each of its pages."""

from collections.abc import Iterable
from dataclasses import dataclass

from django import template
from django.template import RequestContext
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts import banner
from audit.significant import workflow
from backoffice import alarms as staff_alarms
from backoffice.approvals import waiting_for
from backoffice.lists.framework import roles as readers
from backoffice.navigation import FUNCTIONS, Function, duties, functions_of
from games.chat import moderation_queue
from games.chemin.collusion import player_reports
from players.login import browsers
from players.staff.sections import Section

register = template.Library()


@dataclass(frozen=True)
class Whose:
    """A page that is not the reader's: the function it belongs to, if any, the roles that have it, the reader's own."""

    function: Function | None
    holders: list[str]
    roles: list[str]

    @property
    def is_theirs(self) -> bool:
        """Whether the function is the reader's, and this page of it is not."""
        return not set(self.holders).isdisjoint(self.roles)


@register.simple_tag(takes_context=True)
def functions(context: RequestContext) -> list[tuple[Section, list[Function]]]:
    """Return what whoever reads the page may do, by what it is about."""
    return functions_of(context["request"].user)


@register.simple_tag(takes_context=True)
def function_here(context: RequestContext) -> Function | None:
    """Return the function that the page belongs to: the one whose address the page's own begins with, the longest."""
    return _of(context["request"].path, [function for _, pages in functions(context) for function in pages])


@register.simple_tag(takes_context=True)
def whose_page(context: RequestContext) -> Whose:
    """Return whose page it is that whoever asked for it may not see, and in which roles they are."""
    request = context["request"]
    holders = dict(duties())
    function = _of(request.path, FUNCTIONS)
    roles = list(request.user.groups.order_by("name").values_list("name", flat=True))
    return Whose(function, holders[function] if function else [], roles)


@register.simple_tag(takes_context=True)
def sees_lists(context: RequestContext) -> bool:
    """Say whether there is a list that whoever reads the page may see."""
    return readers.sees_lists(context["request"].user)


@register.simple_tag(takes_context=True)
def waiting(context: RequestContext, function: Function) -> int:
    """Return how much waits on the page of a function, where that is counted."""
    counts = {
        "staff_approvals": lambda: waiting_for(context["request"].staff),
        "staff_chat": moderation_queue.waiting_count,
        "staff_play": player_reports.waiting().count,
        "staff_significant": workflow.waiting,
    }
    return counts[function.page]() if function.page in counts else 0


@register.simple_tag(takes_context=True)
def alarms(context: RequestContext) -> list[staff_alarms.Alarm]:
    """Return what whoever reads the page is told on every page until it is over."""
    return staff_alarms.alarms(context["request"].user)


@register.simple_tag
def notices_alone() -> SafeString:
    """Render the notices that everybody is shown; that play is stopped stands among the alarms of staff."""
    return banner.on_this_page(says_stop=False)


@register.filter
def breaking_address(address: str) -> SafeString:
    """Write an e-mail address that breaks before its “@” where there is no room for it in one line."""
    name, at, host = address.rpartition("@")
    return format_html("{}<wbr>{}{}", name, at, host)


@register.filter
def browser_name(called: str) -> str:
    """Return what a browser and its device are called, from how the browser calls itself."""
    return browsers.words(called)


def _of(path: str, among: Iterable[Function]) -> Function | None:
    found = [function for function in among if path.startswith(reverse(function.page))]
    return max(found, key=lambda function: len(reverse(function.page)), default=None)
