"""Lists of events, steps of significant events, approvals and checkpoints.

They are not in the app `audit`, because that app knows no staff.
"""

import json

from django.db.models import Q
from django.utils.translation import gettext_noop

from audit import approvals
from audit.models import (
    Approval,
    Checkpoint,
    Event,
    SignificantStep,
    Verdict,
)
from audit.reports.kinds import Column, Form
from audit.significant import detection, workflow
from backoffice.lists.filters import Filter, Find, kind, number, subject
from backoffice.lists.staff_list import NO_PLAYERS
from backoffice.lists.view import StaffListView
from players.staff import Section

NUMBER = Column("id", "No.", Form.NUMBER)
AT = Column("at", "When", Form.TIME)
BY = Column("by", "By")
ON = Column("on", "On")
KIND = Column("kind", "Kind")
BY_NUMBER = Find("number", "pk", number)
BY_SUBJECT = Find("player:12, table:3 …", "on", subject)
OTHER_VERDICTS = [(verdict.value, verdict.label) for verdict in Verdict if verdict is not Verdict.APPROVED]


class Events(StaffListView):
    """List of events. Personal values are shown as salted hashes."""

    model = Event
    section = Section.COMPLIANCE
    name = gettext_noop("Events")
    purpose = gettext_noop("Every recorded event: kind, actor and subject.")
    readers = ("audit.view_event",)
    players = ("by", "on")
    more_players = ("body",)
    columns = (NUMBER, AT, KIND, BY, ON)
    more = (Column("data", "Data"),)
    finds = (BY_NUMBER, Find("kind: round.voided", "kind", kind), BY_SUBJECT)
    filters = (
        Filter("kind", "Kind", lambda: [(each, each) for each in sorted(detection.kinds())], lambda kind: Q(kind=kind)),
    )
    period = "at"

    def of_data(self, event: Event) -> str:
        """Return the event's data as sealed."""
        return json.dumps(json.loads(bytes(event.body))["data"], ensure_ascii=False)


class SignificantSteps(StaffListView):
    """List of what staff decided about significant events, with their words."""

    model = SignificantStep
    section = Section.COMPLIANCE
    name = gettext_noop("Decisions on significant events")
    purpose = gettext_noop(
        "Acknowledgements, assignments, closures and reopenings of significant events, with reasons."
    )
    readers = (workflow.PERMISSION,)
    players = ("significant__on", "significant__title", "text")
    columns = (
        NUMBER,
        AT,
        Column("significant__title", "Event"),
        Column("significant__on", "On"),
        Column("step", "Decision"),
        BY,
        Column("text", "Reason"),
    )
    more = (Column("to", "Assigned to"),)
    file_columns = columns[:-1]  # what staff wrote may be about a person
    finds = (BY_NUMBER,)
    period = "at"
    related = ("significant",)
    links = {"significant__title": ("staff_significant_event", "significant_id", "significant_id")}
    accounts = ("by", "to")


class Approvals(StaffListView):
    """List of approvals. The content of a request is on its own page."""

    model = Approval
    section = Section.HOUSE
    name = gettext_noop("Approvals")
    purpose = gettext_noop("Requests made by one person and decided by another.")
    readers = ("audit.view_approval",)
    players = ("on", "by", "decision__by")
    columns = (
        NUMBER,
        AT,
        KIND,
        ON,
        BY,
        Column("expires_at", "Expires", Form.TIME),
        Column("verdict", "Decision"),
        Column("decider", "Decided by"),
    )
    more = (Column("sha256", "SHA-256 of the request"),)
    finds = (BY_NUMBER, BY_SUBJECT)
    filters = (
        Filter(
            "kind",
            "Kind",
            lambda: [(each, approvals.title_of(each)) for each in approvals.kinds()],
            lambda kind: Q(kind=kind),
        ),
        Filter("verdict", "Decision", lambda: OTHER_VERDICTS, lambda verdict: Q(decision__verdict=verdict)),
    )
    period = "at"
    related = ("decision",)
    links = {"id": ("staff_approval", "approval_id", "pk")}

    def show_kind(self, approval: Approval) -> str:
        """Return what was requested, in the reader's language."""
        return approvals.title_of(approval.kind)

    def of_sha256(self, approval: Approval) -> str:
        """Return the hash in hex."""
        return bytes(approval.sha256).hex()

    def of_verdict(self, approval: Approval) -> str:
        """Return the decision, "" while the request is open."""
        return approval.decision.get_verdict_display() if hasattr(approval, "decision") else ""

    def of_decider(self, approval: Approval) -> str:
        """Return who decided, "" while the request is open."""
        return approval.decision.by if hasattr(approval, "decision") else ""


class Checkpoints(StaffListView):
    """List of signed checkpoints of the event log."""

    model = Checkpoint
    section = Section.HOUSE
    name = gettext_noop("Checkpoints")
    purpose = gettext_noop("Signed states of the event log, with the number of events that each covers.")
    readers = ("audit.view_event",)
    players = NO_PLAYERS
    key = ("size",)
    columns = (Column("size", "Events", Form.NUMBER), AT, Column("note", "Signed note"))
    finds = (Find("number of events", "pk", number),)
    period = "at"
