"""The staff pages about returns: figures, bands and labels are computed from the totals, and missing without totals."""

import html
import re
from datetime import timedelta

import pytest

from games.engine.evidence import bet_test, half_width
from games.fairness.returns.monitor import check_returns
from games.models import ReturnsAlarm, StopPolicy, Table, TableVersion
from games.variants import VARIANTS
from tests.builders import a_chemin_live_table, a_golden_table, a_table
from tests.harness.owner import one_as_owner, update_as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.returns.sums import HOUR, ROUNDS, STAKE, summed_up

pytestmark = pytest.mark.django_db


@pytest.fixture
def supervisor():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("supervisor").user)
    return visitor


def read(visitor, address: str) -> str:
    """Return a page as it reads: its text alone, on one line."""
    answer = visitor.get(address)
    assert answer.status_code == 200
    main = re.search(r"<main.*</main>", answer.text, re.DOTALL)
    assert main
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main[0])).split())


def test_a_line_says_what_follows_from_its_sums(supervisor):
    summed_up(a_table(), paid=49_000_000)
    test = bet_test(VARIANTS["baccarat"], "banker")
    width = half_width(test.variance, staked=ROUNDS * STAKE, squares=ROUNDS * STAKE**2)
    band = f"{100 * (0.9898825 - width):.2f} – {100 * (0.9898825 + width):.2f}"
    text = read(supervisor, "/staff/returns/")
    assert f"Banker, SEK 10,000 500,000 490,000 98.00 98.99 {band}" in text
    assert "Inside the band. A deviation of two percentage points would be detected within 81,012 more rounds." in text
    assert "no alarm" in text


@pytest.mark.sweep
@pytest.mark.parametrize("address", ["returns/", "returns/baccarat/", "randomness/"])
@pytest.mark.parametrize("day", sample(["0001-01-01", "9999-12-31"], 1))
def test_any_day_there_is_can_be_asked_for(supervisor, address, day):
    for name in ("since", "until"):
        read(supervisor, f"/staff/{address}?{name}={day}")


def test_after_one_round_there_is_nothing_to_say(supervisor):
    summed_up(a_table(), rounds=1, paid=STAKE * 195 // 100)
    text = read(supervisor, "/staff/returns/")
    assert "98.99 –" in text
    assert "Too few rounds." in text
    text = read(supervisor, "/staff/returns/baccarat/")
    assert "too few rounds 195.00 % , rounds: 1;" in text


def test_a_band_ends_where_nothing_can_be_returned_beyond(supervisor):
    summed_up(a_table(), rounds=6, paid=6 * STAKE)
    assert re.search(r"98\.99 \d+\.\d\d – 195\.00 ", read(supervisor, "/staff/returns/"))


def test_a_return_outside_its_band_needs_a_review(supervisor):
    summed_up(a_table(), paid=47_000_000)
    assert "check Outside the band, as one figure in a hundred is by chance." in read(supervisor, "/staff/returns/")


def test_what_was_never_to_be_paid_is_an_alarm_on_the_page(supervisor):
    summed_up(a_table(), other=1)
    check_returns()
    text = read(supervisor, "/staff/returns/")
    assert "Alarm Baccarat, real money" in text
    assert "the evidence against its RTP was without end" in text
    assert "Impossible payout. Check the rounds of this bet." in text
    assert ReturnsAlarm.objects.count() == 1


@pytest.mark.sweep
def test_filters_leave_out_what_was_not_asked_for(supervisor):
    table, golden = a_table(), a_golden_table()
    summed_up(table)
    summed_up(golden, HOUR + timedelta(days=3), currency="EUR")
    summed_up(golden, mode="F", currency="DKK")
    everything = read(supervisor, "/staff/returns/")
    assert "Banker, SEK" in everything
    assert "Banker, EUR" in everything
    assert "Banker, DKK" not in everything
    for query in (
        "game=golden",
        f"table={golden.pk}",
        "currency=EUR",
        "since=2026-03-04",
        "until=2999-12-31&game=golden",
    ):
        text = read(supervisor, f"/staff/returns/?{query}")
        assert "Banker, EUR" in text
        assert "Banker, SEK" not in text
    assert "Banker, SEK" in read(supervisor, "/staff/returns/?until=2026-03-01")
    assert "Banker, DKK" in read(supervisor, "/staff/returns/?mode=F")
    assert "No hourly totals match this filter." in read(supervisor, "/staff/returns/?currency=GBP")
    assert "Banker, SEK" in read(supervisor, "/staff/returns/?table=x&since=never")


def test_only_tables_of_the_game_can_be_chosen(supervisor):
    table, golden = a_table(), a_golden_table()
    for page in ("/staff/returns/?game=golden", "/staff/returns/golden/"):
        text = supervisor.get(page).content.decode()
        assert f'<option value="{golden.pk}"' in text
        assert f'<option value="{table.pk}"' not in text


@pytest.mark.sweep
def test_tables_are_distinguished_on_request(supervisor):
    for slug in ("one", "two"):
        table = a_table(slug)
        update_as_owner(Table.objects.filter(pk=table.pk), name=f"Table {slug}")
        summed_up(table)
    assert "Banker, SEK 20,000" in read(supervisor, "/staff/returns/")
    apart = read(supervisor, "/staff/returns/?apart=on")
    assert "Table one Banker, SEK 10,000" in apart
    assert "Table two Banker, SEK 10,000" in apart


def test_rules_of_the_past_have_money_and_no_judgement(supervisor):
    table = a_table(is_open=False)
    table.version = one_as_owner(
        TableVersion(
            table=table,
            number=2,
            rules_version="0.9",
            rules_digest="0" * 64,
            limits={},
            jurisdictions=["SE"],
            modes=["R"],
        )
    )
    summed_up(table)
    text = read(supervisor, "/staff/returns/")
    assert "Baccarat, rules 0.9 earlier rules" in text
    assert "Rules no longer installed; no comparison possible." in text


class TestHowAReturnWent:
    """One chart for each bet, with every figure in a table."""

    def test_the_line_and_the_band_are_drawn_and_described(self, supervisor):
        table = a_table()
        for hours, paid in ((0, 49_000_000), (1, 50_000_000), (2, 49_500_000)):
            summed_up(table, HOUR + timedelta(hours=hours), paid=paid)
        answer = supervisor.get("/staff/returns/baccarat/")
        (line,) = re.findall(r'<polyline class="chart__curve" points="([^"]+)"', answer.text)
        (band,) = re.findall(r'<polygon class="chart__area" points="([^"]+)"', answer.text)
        assert [point.split(",")[0] for point in line.split()] == ["0.00", "50.00", "100.00"]
        assert len(band.split()) == 6
        text = read(supervisor, "/staff/returns/baccarat/")
        assert "inside the band 99.00 % , rounds: 30,000; theoretical 98.99 %" in text
        assert "2026-03-01 13:00 20,000 99.00" in text

    def test_one_hour_is_drawn_too(self, supervisor):
        summed_up(a_table(), paid=47_000_000)
        assert "outside the band 94.00 % , rounds: 10,000" in read(supervisor, "/staff/returns/baccarat/")

    def test_the_currency_played_most_represents_the_others(self, supervisor):
        table = a_table()
        summed_up(table, currency="EUR", paid=40_000_000)
        for hours in (1, 2):
            summed_up(table, HOUR + timedelta(hours=hours))
        assert "real money, SEK" in read(supervisor, "/staff/returns/baccarat/")
        assert "rounds: 10,000" in read(supervisor, "/staff/returns/baccarat/?currency=EUR")

    def test_years_are_drawn_in_few_points(self, supervisor):
        table = a_table()
        for days in range(0, 800, 40):
            summed_up(table, HOUR + timedelta(days=days))
        assert "End of month" in read(supervisor, "/staff/returns/baccarat/")

    def test_does_not_exist_for_a_game_without_a_house(self, supervisor):
        a_chemin_live_table()
        assert supervisor.get("/staff/returns/chemin_de_fer/").status_code == 404
        assert "No hourly totals match this filter." in read(supervisor, "/staff/returns/pairs/")


class TestWhatAnAlarmDoes:
    """A supervisor says so, with a reason."""

    def send(self, visitor, **form: str) -> str:
        return html.unescape(visitor.post("/staff/returns/pairs/stop/", form, follow=True).text)

    def test_it_is_said_on_the_page(self, supervisor):
        page = self.send(supervisor, stops="1", reason="We look first.")
        assert "An alarm closes the tables of Baccarat with Pairs." in page
        assert "We look first." in page
        assert StopPolicy.objects.get().stops
        assert "This was already set; your reason was not recorded." in self.send(
            supervisor, stops="1", reason="Again."
        )
        assert "An alarm closes no tables of Baccarat with Pairs." in self.send(supervisor, reason="Enough.")
        assert not StopPolicy.objects.get().stops

    def test_it_takes_a_reason(self, supervisor):
        assert "Enter a reason." in self.send(supervisor, stops="1", reason=" ")
        assert not StopPolicy.objects.exists()

    def test_compliance_reads_and_does_not_choose(self):
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("compliance").user)
        assert "Close tables on alarm" not in read(visitor, "/staff/returns/")
        assert visitor.post("/staff/returns/pairs/stop/", {"stops": "1", "reason": "x"}).status_code == 403
