"""What compliance programs read is a look like any on a page: on record before it leaves the house."""

from typing import Any, ClassVar, Final

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from players.api.views import StaffApiView
from players.staff import access_log

SEE_LOG: Final = "audit.view_event"


class LookedAt(StaffApiView):
    """A view whose answer may show players: it declares them (`show`), and they are on record as seen. *what* says what
    of them it shows. A file is put on record by its own view.
    """

    what: ClassVar[str]

    def show(self, *whom: object) -> None:
        """Declare players that the answer shows, as `players.staff.access_log.shown` takes them."""
        access_log.shown(self.request, *whom)

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> Response:
        """Write the answer and put it on record: what cannot be recorded is not sent."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(answer, Response) and not answer.exception:
            answer.render()
            access_log.note_list(request, access_log.declared(request), what=self.what)
        return answer
