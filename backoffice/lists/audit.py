"""Lists of events, significant events, approvals and checkpoints.

They are not in the app `audit`, because that app knows no staff.
"""

import json
from typing import ClassVar

from django.db.models import Q

from audit import approvals
from audit.models import Approval, Category, Checkpoint, Event, Significant, Verdict, Weight, Work
from audit.reports.kinds import Column, Form
from audit.significant import detection, workflow
from backoffice.lists.actions import Action, Plan
from backoffice.lists.filters import Filter, Find, chosen, kind, number, subject
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
    name = "Events"
    purpose = "Every recorded event: its kind, its author and its subject."
    readers = ("audit.view_event",)
    players = ("by", "on")
    more_players = ("body",)
    columns = (NUMBER, AT, KIND, BY, ON)
    more = (Column("data", "What was said"),)
    finds = (BY_NUMBER, Find("kind: round.voided", "kind", kind), BY_SUBJECT)
    filters = (
        Filter("kind", "Kind", lambda: [(each, each) for each in sorted(detection.kinds())], lambda kind: Q(kind=kind)),
    )
    period = "at"

    def of_data(self, event: Event) -> str:
        """Return the event's data as sealed."""
        return json.dumps(json.loads(bytes(event.body))["data"], ensure_ascii=False)


def _acknowledge(found: Significant) -> Plan:
    if found.state != Work.NEW:
        return Plan(f"Somebody has seen to it: it is {Work(found.state).label.lower()}.", is_skipped=True)
    return Plan(f"“{found.title}” is acknowledged, and is no longer among the new ones.")


class SignificantEvents(StaffListView):
    """List of significant events."""

    model = Significant
    section = Section.COMPLIANCE
    name = "Significant events"
    purpose = "What somebody has to look at, and how far that is; acknowledge many at once."
    readers = ("audit.handle_significant",)
    players = ("on", "title")
    more_players = ("because",)
    columns = (
        NUMBER,
        Column("at", "Found", Form.TIME),
        Column("category", "Category"),
        Column("weight", "Weight"),
        Column("state", "State"),
        Column("title", "What"),
        ON,
        Column("amount", "Amount", Form.MONEY),
        Column("currency", "Currency"),
        Column("assigned_to", "Whose"),
    )
    more = (
        Column("happened_at", "Happened", Form.TIME),
        Column("because", "Because"),
        Column("event_id", "Event", Form.NUMBER),
    )
    finds = (BY_NUMBER, BY_SUBJECT)
    filters = (chosen("state", "State", Work), chosen("category", "Category", Category))
    together = (frozenset({"state", "category"}),)
    period = "at"
    links = {"id": ("staff_significant_event", "significant_id", "pk")}
    actions: ClassVar[tuple[Action, ...]] = (
        Action(
            name="acknowledge",
            label="Acknowledge",
            permission="audit.handle_significant",
            meaning="You have seen them, and they need no more. What is closed with words is done one by one.",
            plan=_acknowledge,
            do=lambda found, reason, by: workflow.acknowledge(significant_ids=[found.pk], by=by, text=reason),
            reason_help="It stands with each of them as what you said of it. The event log does not have it.",
        ),
    )

    def of_weight(self, found: Significant) -> str:
        """Return the weight as a word."""
        return Weight(found.weight).name.capitalize()


class Approvals(StaffListView):
    """List of approvals. The content of a request is on its own page."""

    model = Approval
    section = Section.HOUSE
    name = "Approvals"
    purpose = "What one person asked for and another decided."
    readers = ("audit.view_approval",)
    players = ("on", "by", "decision__by")
    columns = (
        NUMBER,
        AT,
        KIND,
        ON,
        BY,
        Column("expires_at", "Expires", Form.TIME),
        Column("verdict", "Decided"),
        Column("decider", "Decided by"),
    )
    more = (Column("sha256", "SHA-256 of the request"),)
    finds = (BY_NUMBER, BY_SUBJECT)
    filters = (
        Filter("kind", "Kind", lambda: [(each, each) for each in approvals.kinds()], lambda kind: Q(kind=kind)),
        Filter("verdict", "Decided", lambda: OTHER_VERDICTS, lambda verdict: Q(decision__verdict=verdict)),
    )
    period = "at"
    related = ("decision",)
    links = {"id": ("staff_approval", "approval_id", "pk")}

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
    name = "Checkpoints"
    purpose = "Signed states of the event log: how many events each one vouches for."
    readers = ("audit.view_event",)
    players = NO_PLAYERS
    key = ("size",)
    columns = (Column("size", "Events", Form.NUMBER), AT, Column("note", "Signed note"))
    finds = (Find("number of events", "pk", number),)
    period = "at"
