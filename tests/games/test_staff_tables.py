"""Opening, pausing and closing tables in the back office, and what its pages hide."""

import html
import re

import pytest

from audit.models import Event
from games.betting.limits import Limits
from games.errors import TableClosed
from games.models import LiveTable, Phase, Status, Table
from games.shared import malfunction, phases
from games.tables.checks import TableError
from games.tables.status import pause_table
from games.tables.versions import set_chat_language
from tests.builders import a_player, a_seat, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at
from tests.people import a_member_of_staff, a_visitor, events
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

pytestmark = pytest.mark.django_db
REASON = "The cloth is torn."


@pytest.fixture
def operator():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("operator").user)
    return visitor


def a_table_that_is(status: Status) -> Table:
    """Return a solo table with this status."""
    table = a_table(is_open=status != Status.CLOSED)
    if status == Status.PAUSED:
        table = pause_table(table_id=table.pk, reason="for a test", by="staff:test")
    return table


def turn(visitor, table: Table, action: str, **form: str) -> str:
    """Send the form of a table; return the next page."""
    sent = {"action": action} | form
    return html.unescape(visitor.post(f"/staff/tables/{table.pk}/status/", sent, follow=True).text)


@pytest.mark.parametrize(
    ("stood", "action", "status", "kind"),
    sample(
        [
            (Status.OPEN, "pause", Status.PAUSED, "paused"),
            (Status.OPEN, "close", Status.CLOSED, "closed"),
            (Status.PAUSED, "continue", Status.OPEN, "went_on"),
            (Status.PAUSED, "close", Status.CLOSED, "closed"),
            (Status.CLOSED, "open", Status.OPEN, "opened"),
        ],
        1,
    ),
)
def test_a_table_is_turned_with_the_reason(operator, stood, action, status, kind):
    table = a_table_that_is(stood)
    page = turn(operator, table, action, reason=REASON)
    assert f"Baccarat: {status}." in page
    table.refresh_from_db()
    assert table.status == status
    event = events(f"table.{kind}")[-1]
    assert (event["on"], event["data"]["reason"]) == (f"table:{table.pk}", REASON)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("status", "action"),
    sample([(Status.OPEN, "open"), (Status.OPEN, "continue"), (Status.PAUSED, "pause"), (Status.CLOSED, "close")], 1),
)
def test_a_repeated_change_is_reported_as_not_recorded(operator, status, action):
    table = a_table_that_is(status)
    before = Event.objects.filter(kind__startswith="table.").count()
    page = turn(operator, table, action, reason=REASON)
    assert f"Baccarat is already {status}. Your reason was not recorded." in page
    assert "notice--success" not in page
    assert Event.objects.filter(kind__startswith="table.").count() == before


@pytest.mark.parametrize(
    ("status", "action"), sample([(Status.CLOSED, "pause"), (Status.CLOSED, "continue"), (Status.PAUSED, "open")], 1)
)
def test_what_was_meant_for_a_table_that_stood_otherwise_is_refused(operator, status, action):
    """Pressing "go on" on an outdated page does not open a table that was closed in the meantime."""
    table = a_table_that_is(status)
    before = Event.objects.filter(kind__startswith="table.").count()
    assert f"Baccarat is {status}. This action is not possible in this state." in turn(
        operator, table, action, reason=REASON
    )
    table.refresh_from_db()
    assert table.status == status
    assert Event.objects.filter(kind__startswith="table.").count() == before


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("status", "offered"),
    sample(
        [
            (Status.OPEN, {"Pause Baccarat", "Close Baccarat"}),
            (Status.PAUSED, {"Resume Baccarat", "Close Baccarat"}),
            (Status.CLOSED, {"Open Baccarat"}),
        ],
        1,
    ),
)
def test_the_page_offers_what_the_state_of_the_table_allows(operator, status, offered):
    table = a_table_that_is(status)
    page = operator.get(f"/staff/floor/solo-{table.pk}/").text
    labels = {f"{verb} Baccarat" for verb in ("Pause", "Resume", "Open", "Close")}
    assert {label for label in labels if f">{label}</button>" in page} == offered


@pytest.mark.parametrize("wrong", [{"reason": " "}, {"action": "sell"}], ids=str)
def test_no_reason_or_an_unknown_action_changes_nothing(operator, wrong):
    table = a_table()
    assert "Enter a reason." in turn(operator, table, **{"action": "pause", "reason": REASON} | wrong)
    assert Table.objects.get().is_open


class TestClosingSeveralAtOnce:
    @pytest.fixture
    def supervisor(self):
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("supervisor").user)
        return visitor

    @pytest.fixture
    def house(self) -> dict[str, Table]:
        """Two tables of one game, a shared one of another, and a closed one."""
        shared = a_live_table().table
        return {
            "one": a_table(),
            "other": a_table("other"),
            "shared": shared,
            "closed": a_table("third", is_open=False),
        }

    def close(self, visitor, **form: str) -> str:
        sent = {"reason": REASON, "sure": "on", "game": "all"} | form
        return html.unescape(visitor.post("/staff/tables/close/", sent, follow=True).text)

    def closed_with_reason(self, house: dict[str, Table]) -> set[str]:
        stated = {event["on"] for event in events("table.closed") if event["data"]["reason"] == REASON}
        return {name for name, table in house.items() if f"table:{table.pk}" in stated}

    def still_open(self, house: dict[str, Table]) -> set[str]:
        return {name for name, table in house.items() if Table.objects.get(pk=table.pk).is_open}

    def test_gli19_2_4_1_one_game_is_disabled_with_the_reason_on_record(self, supervisor, house):
        assert "Closed: " in self.close(supervisor, game="baccarat")
        assert self.still_open(house) == {"shared"}
        assert self.closed_with_reason(house) == {"one", "other"}
        assert "already closed" in self.close(supervisor, game="baccarat")

    def test_gli19_4_15_1_everything_is_disabled_at_once_and_what_is_in_progress_concludes(self, supervisor, house):
        live_table, player = LiveTable.objects.get(table=house["shared"], mode=Mode.REAL), a_player(real=100_000)
        bet(player, live_table, player=25_000)
        self.close(supervisor, game="all")
        assert self.still_open(house) == set()
        assert self.closed_with_reason(house) == {"one", "other", "shared"}
        done = advance_to(live_table, Phase.SETTLED)
        part = player.participation_set.get(round_id=done.pk)
        assert accounts.balance(player.pk, Mode.REAL) == 100_000 - part.staked + part.paid
        hurry(live_table)
        assert not phases.advance(live_table.pk)  # no further round comes
        with pytest.raises(TableClosed):
            a_seat(player, house["one"], player=1000)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "wrong", sample([{"reason": " "}, {"sure": ""}, {"game": ""}, {"game": "roulette"}], 1), ids=str
    )
    def test_takes_a_reason_a_confirmation_and_a_game_there_is(self, supervisor, house, wrong):
        assert "Enter a reason and tick the confirmation." in self.close(supervisor, **wrong)
        assert self.still_open(house) == {"one", "other", "shared"}

    def test_is_not_the_operators_to_do(self, operator, house):
        assert operator.post("/staff/tables/close/", {"reason": REASON, "sure": "on"}).status_code == 403
        assert "Close tables" not in operator.get("/staff/floor/").text
        assert self.still_open(house) == {"one", "other", "shared"}

    @pytest.mark.sweep
    def test_says_how_many_tables_each_choice_closes(self, supervisor, house):
        page = supervisor.get("/staff/floor/").text
        assert '<option value="">Choose …</option>' in page
        assert '<option value="all">All games: 3 tables</option>' in page
        assert '<option value="baccarat">Baccarat: 2 tables</option>' in page
        assert 'href="#close-tables"' in page.partition('id="floor-tables"')[0]


class TestTheListOfTables:
    """The status for each kind of money, and the limits."""

    @pytest.mark.sweep
    def test_tells_a_stop_for_its_kind_of_money(self, operator):
        live_table = a_live_table()
        pause_table(table_id=live_table.table_id, reason=REASON, by="staff:test")
        malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
        page = " ".join(re.sub(r"<[^>]+>", " ", operator.get("/staff/tables/").text).split())
        assert "stopped real paused free" in page

    @pytest.mark.sweep
    def test_tells_its_limits(self, operator):
        table = a_table()
        assert table.version
        main = Limits.of(table.version.limits, "SEK").main
        said = [format_money(amount, "SEK", "en") for amount in (main.minimum, main.maximum)]
        assert " to ".join(said) in operator.get("/staff/tables/").text


class TestTheLanguageOfAChat:
    """Staff set the chat language of a shared table, shown in lobby and chat."""

    def choose(self, visitor, table: Table, language: str) -> str:
        answer = visitor.post(f"/staff/tables/{table.pk}/chat/", {"chat_language": language}, follow=True)
        return html.unescape(answer.text)

    @pytest.mark.sweep
    def test_is_chosen_and_taken_back_once_each_on_record(self, operator):
        table = a_live_table().table
        for language, name in (("sv", "Svenska"), ("sv", "Svenska"), ("", "any language")):
            assert f"Chat language of {table.name}: {name}." in self.choose(operator, table, language)
            table.refresh_from_db()
            assert table.chat_language == language
        bodies = [bytes(each.body).decode() for each in Event.objects.filter(kind="table.chat_language").order_by("pk")]
        assert ['"after":"sv"' in body for body in bodies] == [True, False]

    @pytest.mark.sweep
    def test_is_one_of_the_house(self, operator):
        table = a_live_table().table
        assert "Unknown language." in self.choose(operator, table, "fr")
        table.refresh_from_db()
        assert table.chat_language == ""
        with pytest.raises(TableError, match="Unknown language"):
            set_chat_language(table_id=table.pk, language="fr", by="staff:1")

    @pytest.mark.sweep
    def test_does_not_exist_at_a_solo_table(self, operator):
        table = a_table()
        answer = operator.post(f"/staff/tables/{table.pk}/chat/", {"chat_language": "sv"})
        assert answer.status_code == 404
        assert "/chat/" not in operator.get("/staff/tables/").text
