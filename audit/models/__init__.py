"""Models of the event log, one module for each subject."""

from audit.models.approvals import Approval, Decision, Verdict
from audit.models.hours import Clock, Mark, Rolled
from audit.models.log import Checkpoint, Delivery, Event, Leaf, Pending, Personal, Tile
from audit.models.reports import Report, ReportPage, ReportPart, ReportState
from audit.models.retention import Kept, Retention
from audit.models.significant import (
    Category,
    Cursor,
    Muted,
    Pulse,
    Significant,
    SignificantStep,
    Step,
    Threshold,
    Weight,
    Work,
)

__all__ = [
    "Approval",
    "Category",
    "Checkpoint",
    "Clock",
    "Cursor",
    "Decision",
    "Delivery",
    "Event",
    "Kept",
    "Leaf",
    "Mark",
    "Muted",
    "Pending",
    "Personal",
    "Pulse",
    "Report",
    "ReportPage",
    "ReportPart",
    "ReportState",
    "Retention",
    "Rolled",
    "Significant",
    "SignificantStep",
    "Step",
    "Threshold",
    "Tile",
    "Verdict",
    "Weight",
    "Work",
]
