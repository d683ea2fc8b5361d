"""The significant and ordinary event kinds of the `audit` app."""

from typing import Final

from audit.models import Category, Weight
from audit.reports import verification
from audit.sealing import signing
from audit.significant import clock, detection, rescan, thresholds, workflow

KINDS: Final[dict[str, detection.Significance]] = {
    "log.refused": (Category.ERROR, Weight.ALERT, "Signer refuses the audit log"),
    "log.lags": (Category.ERROR, Weight.ALERT, "Audit log signing delayed"),
    signing.ANNOUNCED: (Category.PARAMETER, Weight.NOTICE, "New audit log signing keys announced"),
    "retention.changed": (Category.PARAMETER, Weight.NOTICE, "Retention period changed"),
    "personal.erased": (Category.PERSONAL, Weight.NOTICE, "Personal data erased"),
    "report.failed": (Category.ERROR, Weight.NOTICE, "Report failed"),
    "approval.not_decided": (Category.ERROR, Weight.NOTICE, "Approval could not be recorded"),
    "approval.not_withdrawn": (Category.ERROR, Weight.NOTICE, "Request could not be withdrawn"),
    verification.DIFFERS: (Category.ERROR, Weight.ALERT, "Report differs from the audit log"),
    rescan.MISSED: (Category.ERROR, Weight.ALERT, "Significant events missing or changed"),
    "sums.failed": (Category.ERROR, Weight.ALERT, "Hourly totals failed"),
    "sums.differ": (Category.ERROR, Weight.ALERT, "Hourly totals differ from their rows"),
    thresholds.CHANGED: (Category.PARAMETER, Weight.NOTICE, "Threshold changed"),
}
ORDINARY: Final = (
    "approval.asked",  # has its own queue
    "approval.decided",  # its effect is an event of its own
    "approval.expired",
    "approval.withdrawn",  # has no effect
    "data.seen",  # the access log shows these
    detection.FAILED,  # recorded as significant where it fails
    "log.accepted",
    "log.caught_up",
    "log.exported",
    "report.made",
    *workflow.KINDS,
    workflow.MUTED,
    "personal.expired",  # regular deletion under the retention rules
)


def register() -> None:
    """Register the kinds and finders of this app."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register("kinds", detection.by_kind, is_always=True)
    detection.register("clock", clock.gone_back, is_always=True)
