"""Access control and content security policy of the lists."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, cast

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.views.decorators.http import require_http_methods

from players.access import StaffRequest, StaffView, View, staff_required

Args = ParamSpec("Args")

# Unfold's scripts evaluate attributes of its pages, and its pages contain inline styles. Apart from
# that, the site-wide policy holds: nothing is loaded from another host. Only the lists have this
# policy.
POLICY: Final = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


def fenced(
    view: Callable[Concatenate[StaffRequest, Args], HttpResponseBase],
    *permissions: str,
    methods: tuple[str, ...] = ("GET", "HEAD"),
) -> View[Args]:
    """Wrap *view* as a page of the lists.

    It needs a staff member with one of *permissions* and one of these *methods*. The page is
    rendered in English under the policy of the lists. Anyone else gets the same answer as at any
    staff page.
    """

    @wraps(view)
    def rendered(request: StaffRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        answer = view(request, *args, **kwargs)
        if isinstance(answer, TemplateResponse):
            answer.render()  # render while English is active; Django would render after the decorators have returned
        return answer

    inside = csp_replace(POLICY)(require_http_methods(methods)(cast("Any", rendered)))
    return staff_required(*permissions)(cast("StaffView[Args]", inside))
