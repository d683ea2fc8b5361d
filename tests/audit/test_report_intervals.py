"""Report intervals of GLI-19 2.9.1 in local time, and the daily reports."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, connection, transaction

from audit import log
from audit.models import Report
from audit.reports import requests
from audit.reports.kinds import NAMES, Period, began, interval_of, midnight
from audit.reports.requests import clock
from tests.audit.reporting import SHOP, a_kind, registered
from tests.hours import settle

STOCKHOLM = "Europe/Stockholm"
A_WEEK = timedelta(days=7)
A_SUNDAY = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)  # a Monday in Stockholm


def days(period: Period, zone: str = "UTC", now: datetime = A_SUNDAY) -> tuple[str, str]:
    """Return start and end in local time; "now" if it ends now."""
    interval = interval_of(period, now=now, zone=zone)
    assert interval.since.utcoffset() == timedelta(0)
    ends = "now" if interval.until == now else f"{interval.until.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
    return f"{interval.since.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}", ends


@pytest.mark.parametrize(
    ("period", "since", "until"),
    [
        (Period.TODAY, "2026-11-22 00:00", "now"),
        (Period.YESTERDAY, "2026-11-21 00:00", "2026-11-22 00:00"),
        (Period.THIS_WEEK, "2026-11-16 00:00", "now"),
        (Period.LAST_WEEK, "2026-11-09 00:00", "2026-11-16 00:00"),
        (Period.THIS_MONTH, "2026-11-01 00:00", "now"),
        (Period.LAST_MONTH, "2026-10-01 00:00", "2026-11-01 00:00"),
        (Period.THIS_YEAR, "2026-01-01 00:00", "now"),
        (Period.LAST_YEAR, "2025-01-01 00:00", "2026-01-01 00:00"),
    ],
)
def test_gli19_2_9_1_has_days_weeks_months_and_years(period, since, until):
    assert days(period) == (since, until)


def test_days_begin_by_the_clocks_that_are_asked_for():
    assert days(Period.TODAY, STOCKHOLM) == ("2026-11-23 00:00", "now")
    assert days(Period.THIS_WEEK, STOCKHOLM) == ("2026-11-23 00:00", "now")
    assert days(Period.LAST_WEEK, STOCKHOLM) == ("2026-11-16 00:00", "2026-11-23 00:00")


def test_the_day_on_which_clocks_are_put_back_has_an_hour_more():
    interval = interval_of(Period.YESTERDAY, now=datetime(2026, 10, 26, 12, tzinfo=UTC), zone=STOCKHOLM)
    assert interval.until - interval.since == timedelta(hours=25)


@pytest.mark.django_db
def test_gli19_2_9_1_has_the_life_of_the_house_to_date():
    log.record("test.happened", by="system", on="test:1", data={})
    now = clock()
    interval = interval_of(Period.LIFE, now=now, zone="UTC")
    assert (interval.since, interval.until) == (began(), now)


def test_every_period_has_a_name():
    assert set(NAMES) == set(Period)


@pytest.fixture
def now(db, settings) -> datetime:
    """The current time of a house in Stockholm."""
    settings.OPERATOR_TIME_ZONE = STOCKHOLM
    return clock()


def daily_ones() -> list[tuple[str, datetime, datetime]]:
    return list(Report.objects.filter(by="system").order_by("since", "kind").values_list("kind", "since", "until"))


class TestTheHouse:
    def test_gli19_2_9_1_asks_for_each_kind_on_each_day_that_is_over_once(self, now):
        with registered(a_kind("one"), a_kind("two", choices=[SHOP]), a_kind("never", is_daily=False)):
            requests.ask_between(now - A_WEEK, now)
            asked = daily_ones()
            requests.ask_between(now - A_WEEK, now)
        assert daily_ones() == asked
        today = now.astimezone(ZoneInfo(STOCKHOLM)).date()
        began = (now - A_WEEK).astimezone(ZoneInfo(STOCKHOLM)).date()
        days = [began + timedelta(days=n) for n in range((today - began).days)]
        whole = [(midnight(day, STOCKHOLM), midnight(day + timedelta(days=1), STOCKHOLM)) for day in days]
        for kind in ("one", "two"):
            assert [(since, until) for name, since, until in asked if name == kind] == whole
        assert len(asked) == 2 * len(whole)
        assert Report.objects.filter(kind="two").values_list("choices", flat=True)[0] == {
            "zone": STOCKHOLM,
            "period": "yesterday",
            "shop": "",
        }

    def test_asks_for_no_day_of_which_something_may_not_be_in_sight(self, now):
        today = midnight(now.astimezone(ZoneInfo(STOCKHOLM)).date(), STOCKHOLM)
        with registered(a_kind("one")):
            requests.ask_between(now - A_WEEK, today - timedelta(microseconds=1))
        assert max(until for _, _, until in daily_ones()) == midnight(
            (today - timedelta(hours=1)).astimezone(ZoneInfo(STOCKHOLM)).date(), STOCKHOLM
        )

    def test_makes_up_for_two_weeks_and_no_more(self, now):
        with registered(a_kind("one")):
            requests.ask_between(now - timedelta(days=400), now)
        assert len(daily_ones()) == requests.MOST_DAYS

    def test_asks_for_nothing_on_the_day_it_began_nor_before_anything_has_settled(self, now):
        log.record("table.opened", by="staff:1", on="table:1", data={})
        with registered(a_kind("one")):
            requests.ask_due()
            settle(now)
            requests.ask_due()
        assert daily_ones() == []

    def test_has_one_of_a_kind_a_day_for_every_writer(self, now):
        with registered(a_kind("one")):
            requests.ask_between(now - A_WEEK, now)
        with pytest.raises(IntegrityError, match="audit_report_daily"), transaction.atomic(), connection.cursor() as c:
            c.execute(
                "INSERT INTO audit_report (kind, since, until, choices, by, state, tries, done, failure, digests)"
                " SELECT kind, since, until, choices, by, state, tries, done, failure, digests FROM audit_report"
                " LIMIT 1"
            )
