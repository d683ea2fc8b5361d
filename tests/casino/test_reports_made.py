"""Every kind of report, made as by a worker, in a house with data of every kind."""

import csv
from io import BytesIO, StringIO

import pytest
from openpyxl import load_workbook

from audit.models import ReportPart, ReportState
from audit.reports import kinds
from audit.reports.kinds import Interval
from players.models import LimitKind, Period
from players.protection import limits
from tests import reports_history
from tests.audit.reporting import asked, made_here

MONEY = 100_000  # minor units

pytestmark = pytest.mark.django_db


@pytest.mark.sweep
def test_every_kind_can_be_made_and_each_of_its_files_opened():
    history = reports_history.make()
    limits.set_limit(player=history.swede, kind=LimitKind.STAKE, period=Period.DAY, amount=MONEY, by=str(history.swede))
    life = Interval(history.before.since, reports_history.clock())
    choices = {"statement": {"player": str(history.swede.pk)}}
    for name in (kind.name for kind in kinds.all_kinds()):
        report = made_here(asked(name, interval=life, choices=choices.get(name, {})))
        assert report.state == ReportState.READY, f"{name}: {report.failure}"
        assert report.done, f"{name} tells of nothing"
        lines = list(csv.reader(StringIO(_file(report.pk, "csv").decode())))
        assert {len(line) for line in lines} == {len(lines[0])}
        assert len(lines) == 1 + report.done
        workbook = load_workbook(BytesIO(_file(report.pk, "xlsx")), read_only=True)
        assert sum(1 for _row in workbook["Rows"].iter_rows()) == report.done + 1


def _file(report_id: int, name: str) -> bytes:
    parts = ReportPart.objects.filter(report_id=report_id, format=name).order_by("number")
    return b"".join(bytes(part) for part in parts.values_list("content", flat=True))
