"""Where the rows behind a number of the dashboard are: in a report of the very same interval, if one was made, else in
the one that a form asks for, filled in. A report is kept for ever, so none is made for a look.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse

from audit.models import Report, ReportState
from audit.reports.intervals import Period
from audit.reports.kinds import Kind
from backoffice.dashboard.period import Span

LISTED: Final = "%Y-%m-%dT%H:%M"  # how forms read a moment


class Behind(NamedTuple):
    """An address, and what is there, in words."""

    address: str
    leads_to: str


@dataclass(frozen=True)
class Reports:
    """The reports of a span, the newest first. Those that failed are none."""

    span: Span
    made: Sequence[Report]

    @classmethod
    def of(cls, span: Span, kinds: Sequence[Kind]) -> Self:
        """Read them."""
        found = Report.objects.filter(
            kind__in=[kind.name for kind in kinds],
            since=span.interval.since,
            until=span.interval.until,
            choices__zone=span.zone,
        )
        return cls(span, list(found.exclude(state=ReportState.FAILED).order_by("-pk").defer("head")))

    def behind(self, kind: Kind, /, **choices: str) -> Behind:
        """Return the report that tells of just what is chosen; failing that, one that tells of more; else the form."""
        wanted = {choice.name: choices.get(choice.name, "") for choice in kind.choices}
        of_kind = [report for report in self.made if report.kind == kind.name]
        for has_more in (False, True):
            for report in of_kind:
                if all(_fits(report.choices.get(name, ""), value, has_more) for name, value in wanted.items()):
                    address = reverse("staff_report", args=[report.pk])
                    return Behind(address, f"report {report.pk}, “{kind.title}”")
        return Behind(self._form(kind, choices), f"asks for the report “{kind.title}”")

    def _form(self, kind: Kind, choices: dict[str, str]) -> str:
        zone = ZoneInfo(self.span.zone)
        asked = {
            "period": str(Period.OWN),
            "since": f"{self.span.interval.since.astimezone(zone):{LISTED}}",
            "until": f"{self.span.interval.until.astimezone(zone):{LISTED}}",
            "zone": self.span.zone,
            **choices,
        }
        return f"{reverse('staff_report_ask', args=[kind.name])}?{urlencode(asked)}"


def _fits(told: str, wanted: str, has_more: bool) -> bool:
    return told == wanted or (has_more and not told)
