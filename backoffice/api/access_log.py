"""Base view of the compliance API that writes to the access log before it sends player data."""

from typing import Any, ClassVar, Final

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from players.api.views import StaffApiView
from players.staff import access_log

SEE_LOG: Final = "audit.view_event"


class AccessLoggedView(StaffApiView):
    """View whose answer may show players.

    The view declares the players with `show`, and the answer is recorded in the access log. *what*
    names the data that was shown. A view that sends a file records its own access.
    """

    what: ClassVar[str]

    def show(self, *subjects: object) -> None:
        """Declare the players that the answer shows.

        Takes what `players.staff.access_log.shown` takes.
        """
        access_log.shown(self.request, *subjects)

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> Response:
        """Render the answer and record the access.

        An answer whose access cannot be recorded is not sent.
        """
        answer = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(answer, Response) and not answer.exception:
            answer.render()
            access_log.note_list(request, access_log.declared(request), what=self.what)
        return answer
