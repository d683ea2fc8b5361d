"""Who gets to the lists, and what their pages may load."""

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

# Unfold's scripts evaluate what stands in attributes of its pages, and its styles stand in them. Everything else is as
# the whole house has it: nothing comes from another host here either, and no other page has this policy.
POLICY: Final = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


def fenced(
    view: Callable[Concatenate[StaffRequest, Args], HttpResponseBase],
    *permissions: str,
    methods: tuple[str, ...] = ("GET", "HEAD"),
) -> View[Args]:
    """Return *view* as pages of lists are answered: to staff who have one of *permissions*, by these *methods*, in
    English to its last word, under the policy of the lists. Everyone else meets what they meet at every page of staff.
    """

    @wraps(view)
    def rendered(request: StaffRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        answer = view(request, *args, **kwargs)
        if isinstance(answer, TemplateResponse):
            answer.render()  # while English is spoken: Django would do so when the fence has been left
        return answer

    inside = csp_replace(POLICY)(require_http_methods(methods)(cast("Any", rendered)))
    return staff_required(*permissions)(cast("StaffView[Args]", inside))
