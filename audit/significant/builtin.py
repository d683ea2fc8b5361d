"""The significant and ordinary event kinds of the `audit` app."""

from typing import Final

from audit.models import Category, Weight
from audit.reports import verification
from audit.sealing import key_announcement
from audit.significant import clock, detection, rescan, thresholds, workflow

KINDS: Final[dict[str, detection.Significance]] = {
    "log.refused": (Category.ERROR, Weight.ALERT, "The signer refuses to sign the event log"),
    "log.lags": (Category.ERROR, Weight.ALERT, "The signed event log lags behind"),
    key_announcement.ANNOUNCED: (Category.PARAMETER, Weight.NOTICE, "The event log is to be signed by other keys"),
    "retention.changed": (Category.PARAMETER, Weight.NOTICE, "For how long something is kept was changed"),
    "personal.erased": (Category.PERSONAL, Weight.NOTICE, "Personal data was erased"),
    "report.failed": (Category.ERROR, Weight.NOTICE, "A report could not be made"),
    "approval.not_decided": (Category.ERROR, Weight.NOTICE, "A second person's decision was not taken"),
    "approval.not_withdrawn": (Category.ERROR, Weight.NOTICE, "A request could not be withdrawn"),
    verification.DIFFERS: (Category.ERROR, Weight.ALERT, "A report is not what the log says of it"),
    rescan.MISSED: (Category.ERROR, Weight.ALERT, "Significant events were passed over, or stand as something else"),
    "sums.failed": (Category.ERROR, Weight.ALERT, "Something cannot be summed up"),
    "sums.differ": (Category.ERROR, Weight.ALERT, "Sums are not what their rows say"),
    thresholds.CHANGED: (Category.PARAMETER, Weight.NOTICE, "From when on something is significant was changed"),
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
