"""Requests for a table or a new version in the back office: form, preview, request, errors.

Errors are shown at their field, and no input is lost.
"""

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from audit import approvals
from audit.models import Approval
from backoffice.tables.change_request_views import most_of_one_player
from games.betting.limits import Limits
from games.change_requests import rules
from games.change_requests.differences import fraction
from games.engine.odds import exact
from games.models import Shape, Table
from games.tables.default_tables import load_tables
from games.variants import VARIANTS
from tests.builders import a_chemin_live_table, a_shared_table, a_table, approve, other_limits, put_live
from tests.harness.owner import one_as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from wallet.models import Currency, Mode

pytestmark = pytest.mark.django_db
NEW = "/staff/tables/new/"


@pytest.fixture
def supervisor() -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("supervisor").user)
    return visitor


class Fields(HTMLParser):
    """The fields that a browser sends for the last form of a page with a reason or a step."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[dict[str, list[str]]] = []
        self._select = self._area = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append({})
        if tag == "select":
            self._select = given["name"]
        if tag == "option" and self.forms and ("selected" in given):
            self.forms[-1][self._select] = [given["value"]]
        if tag == "textarea":
            self._area = given["name"]
        if tag != "input" or not self.forms or "name" not in given:
            return
        if given.get("type") != "checkbox" or "checked" in given:
            self.forms[-1].setdefault(given["name"], []).append(given.get("value", ""))

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1][self._area] = [data.removeprefix("\n")]

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""


def form_of(page: str) -> dict[str, Any]:
    """Return the fields of the request form as a browser sends them."""
    (found,) = (each for each in Fields(page).forms if "like" in each)
    return {name: value for name, value in found.items() if name != "csrfmiddlewaretoken"}


def filled(visitor: Client, page: str, **changes: Any) -> dict[str, Any]:
    """Return the offered form with a reason and changes.

    Two underscores in a name mean a hyphen.
    """
    changes = {name.replace("__", "-"): value for name, value in changes.items()}
    return form_of(visitor.get(page).text) | {"reason": "more players"} | changes


def words(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page))).replace("\xa0", " ")


def error_at(page: str, field: str) -> str:

    found = re.search(rf'id="id_{field}_error"[^>]*>(.*?)</ul>', page, re.DOTALL)
    assert found, f"no error at {field}: {re.findall(r'id=.id_([^ ]*)_error', page)}"
    return words(found[1]).strip()


def new_like(table: Table) -> str:
    assert table.version
    return f"{NEW}?like=version:{table.version.pk}"


def change_of(table: Table) -> str:
    return f"/staff/tables/{table.pk}/change/"


class TestANewTable:
    @pytest.mark.sweep
    def test_begins_with_every_table_and_every_game(self, supervisor):
        load_tables()
        page = words(supervisor.get(NEW).text)
        assert "Live Baccarat 2 NC, version 1" in page
        assert "Chemin de Fer: players against each other" in page

    def test_has_its_limits_as_a_matrix_of_bets_and_currencies(self, supervisor):
        page = supervisor.get(new_like(a_table())).text.partition("limits-matrix")[2].partition("</table>")[0]
        assert re.findall(r'<th scope="col">(\w+)', page) == ["Bet", *Currency.values]
        rows = {words(row).split()[0]: row for row in page.split('<th scope="row">')[1:]}
        for code, cell in zip(Currency.values, rows["Tie"].split("<td ")[1:], strict=True):
            assert f'data-label="{code}"' in cell
            assert re.findall(r'name="([\w-]+)"', cell) == [f"{code}-tie-minimum", f"{code}-tie-maximum"]

    @pytest.mark.parametrize(
        "like", sample(["version:0", "whist:solo", "baccarat:chemin", "chemin_de_fer:solo", "nonsense"], 1)
    )
    def test_begins_again_where_nothing_similar_exists(self, supervisor, like):
        assert "Template" in supervisor.get(NEW, {"like": like}).text

    @pytest.mark.parametrize("shape", sample(list(Shape), 1))
    def test_like_another_is_shown_with_what_it_comes_to_and_asked_for(self, supervisor, shape):
        makers: dict[Shape, Callable[[], Table]]
        makers = {Shape.SOLO: a_table, Shape.SHARED: a_shared_table, Shape.CHEMIN: a_chemin_live_table}
        other = makers[shape]()
        given = filled(supervisor, new_like(other), name="The Second", slug="", jurisdictions=["SE", "DE"], modes=["F"])
        shown = supervisor.post(NEW, given).text
        assert "Create table The Second" in shown
        assert "Germany, Sweden" in words(shown)
        assert not Approval.objects.exists(), "nothing is asked for by looking"
        answer = supervisor.post(NEW, form_of(shown) | {"step": "ask"})
        asked = Approval.objects.get()
        assert (answer.status_code, answer["Location"]) == (302, f"/staff/approvals/{asked.pk}/")
        stated = words(supervisor.get(answer["Location"]).text)
        facts = dict(approvals.kind(asked.kind).describe(approvals.thaw(asked)).facts)
        assert all(words(f"{what} {text}") in words(shown) for what, text in facts.items())
        assert "Jurisdictions Germany, Sweden" in stated
        assert "Money free money" in stated
        approve(asked)
        table = Table.objects.select_related("version").get(slug="the-second")
        assert table.version
        assert other.version
        assert (table.variant, table.shape) == (other.variant, shape)
        assert table.version.limits == other.version.limits
        assert table.version.clock == other.version.clock
        assert (table.version.jurisdictions, table.version.modes) == (["DE", "SE"], ["F"])
        assert {each.mode for each in table.live.all()} == ({"F"} if shape is not Shape.SOLO else set())

    @pytest.mark.sweep
    def test_from_nothing_takes_what_is_typed_in_the_house_s_english(self, supervisor):
        given = filled(supervisor, f"{NEW}?like=baccarat:solo", name="Plain", slug="plain", currencies=["EUR"])
        bets = {
            f"EUR-{bet}-{end}": amount
            for bet in ("player", "banker", "tie")
            for end, amount in (("minimum", "5"), ("maximum", "€1,000"))
        }
        given |= bets | {"EUR-step": "5.00", "EUR-chips": "50; 5;1,000 "}
        supervisor.post(NEW, form_of(supervisor.post(NEW, given).text) | {"step": "ask"})
        request = approvals.thaw(Approval.objects.get())
        assert request["limits"] == {
            "EUR": {
                "step": 500,
                "chips": [500, 5000, 100_000],
                "bets": {bet: [500, 100_000] for bet in ("player", "banker", "tie")},
            }
        }

    def test_gli19_4_7_1_is_shown_with_exact_returns_at_the_worst_stake_and_its_maximum_cost(self, supervisor):
        table = a_shared_table()
        given = filled(supervisor, new_like(table), name="Other", currencies=["EUR"])
        page = words(supervisor.post(NEW, given).text)
        odds = exact(VARIANTS["no_commission"])["tie"]
        assert words(fraction(odds.rtp)) in page
        assert "Maximum house loss per round, all players together: €100,000.00." in page
        assert table.version
        most = most_of_one_player(VARIANTS["no_commission"], Limits.of(table.version.limits, "EUR"))
        assert f"Maximum win per player: €{most / 100:,.2f}" in page
        assert len(re.findall(r" complete\b", page)) == 5
        assert "No players hold a currency of this table in: Sweden" in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "field", "message"),
        sample(
            [
                ({"name": ""}, "name", "This field is required."),
                ({"slug": "two words"}, "slug", "A URL name may contain only letters, digits, hyphens and underscores"),
                ({"slug": "baccarat"}, "slug", "This URL name is already in use."),
                ({"name": "...", "slug": ""}, "slug", "A URL name may contain only letters"),
                ({"jurisdictions": []}, "jurisdictions", "Choose at least one jurisdiction."),
                ({"jurisdictions": ["XX"]}, "jurisdictions", "XX is not one of the available choices."),
                ({"modes": []}, "modes", "Choose real money, free money or both."),
                ({"currencies": []}, "currencies", "Choose at least one currency."),
                ({"reason": " "}, "reason", "This field is required."),
                ({"goes_live_at": "2020-01-01T12:00"}, "goes_live_at", "must be in the future and within one year"),
                ({"goes_live_at": "soon"}, "goes_live_at", "Enter a valid date/time."),
                ({"chat_language": "fr"}, "chat_language", "fr is not one of the available choices."),
                ({"SEK-step": "7"}, "SEK-chips", "Every chip must be a multiple of the step."),
                ({"SEK-step": "ten"}, "SEK-step", "This is not a valid amount."),
                ({"SEK-chips": "10; x"}, "SEK-chips", "Separate amounts with semicolons."),
                ({"SEK-chips": ""}, "SEK-chips", "This field is required."),
                ({"SEK-tray": "70"}, "SEK-tray", "Chips in the tray must be chips of the table"),
                (
                    {"SEK-tie-maximum": "15"},
                    "SEK-tie-maximum",
                    "From SEK 10 to SEK 15 in steps of SEK 10 cannot be staked.",
                ),
                ({"SEK-tie-minimum": ""}, "SEK-tie-minimum", "Enter an amount"),
                (
                    {"SEK-step": "0.01", "SEK-chips": "0.01", "SEK-banker-minimum": "0.01"},
                    "SEK-banker-minimum",
                    "the minimum is 75 %.",
                ),
            ],
            7,
        ),
        ids=str,
    )
    def test_an_error_is_at_its_field_and_nothing_typed_is_lost(self, supervisor, changes, field, message):
        given = filled(supervisor, new_like(a_table()), name="Second", slug="second") | changes
        answer = supervisor.post(NEW, given | {"step": "ask"})
        assert answer.status_code == 200
        assert message in error_at(answer.text, field)
        again = form_of(answer.text)
        kept = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
        invalid = {"jurisdictions", "chat_language"} & changes.keys()
        assert {name: again.get(name, []) for name in kept if name not in invalid} == {
            name: value for name, value in kept.items() if name not in invalid
        }
        assert not Approval.objects.exists()

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "field", "message"),
        sample(
            [
                ({"EUR-liability": "1"}, "EUR-player-maximum", "more than the maximum house loss of €1."),
                ({"EUR-liability": ""}, "EUR-liability", "Enter an amount"),
                ({"pace-betting": "0.01"}, "pace-betting", "greater than or equal to 0.1"),
                ({"pace-card": ""}, "pace-card", "This field is required."),
            ],
            2,
        ),
        ids=str,
    )
    def test_of_a_shared_table_too(self, supervisor, changes, field, message):
        given = filled(supervisor, new_like(a_shared_table("pairs")), name="Second") | changes
        assert message in error_at(supervisor.post(NEW, given).text, field)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "field", "message"),
        sample(
            [
                (
                    {"chemin-house_players": "3"},
                    "modes",
                    "A table with house players can only be for free money.",
                ),
                ({"chemin-seat_count": "1"}, "chemin-seat_count", "greater than or equal to"),
                ({"chemin-tender": "USD"}, "chemin-tender", "USD is not one of the available choices."),
                ({"chemin-minimum": "none"}, "chemin-minimum", "This is not a valid amount."),
            ],
            1,
        ),
        ids=str,
    )
    def test_and_of_a_chemin_table(self, supervisor, changes, field, message):
        given = filled(supervisor, new_like(a_chemin_live_table()), name="Second") | changes
        assert message in error_at(supervisor.post(NEW, given).text, field)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("changes", "message"),
        sample(
            [
                ({"chemin-minimum": "2,000"}, "its smallest bank must be above 0 and not above its largest"),
                ({"pace-house_player": "600"}, "the response time must be shorter than the time to act"),
            ],
            1,
        ),
        ids=str,
    )
    def test_an_error_of_several_fields_is_above_them(self, supervisor, changes, message):
        given = filled(supervisor, new_like(a_chemin_live_table()), name="Second") | changes
        assert message in words(supervisor.post(NEW, given).text)

    @pytest.mark.sweep
    def test_a_game_that_lacks_a_language_is_refused_where_players_are_chosen(self, supervisor, monkeypatch):
        given = filled(supervisor, new_like(a_table()), name="Second")
        labels = {code: dict(texts) for code, texts in VARIANTS["baccarat"].labels.items()}
        labels["ro"]["bet.tie"] = " "
        monkeypatch.setitem(vars(VARIANTS["baccarat"]), "labels", labels)
        assert rules.missing("baccarat")
        assert "lacks texts (ro: bet.tie)" in error_at(supervisor.post(NEW, given).text, "jurisdictions")

    def test_is_not_asked_for_twice(self, supervisor):
        shown = supervisor.post(NEW, filled(supervisor, new_like(a_table()), name="Second")).text
        given = form_of(shown) | {"step": "ask"}
        assert supervisor.post(NEW, given).status_code == 302
        assert "The same request is already pending." in words(supervisor.post(NEW, given).text)
        assert Approval.objects.count() == 1

    def test_is_asked_for_by_nobody_who_has_not_seen_what_it_comes_to(self, supervisor):
        given = filled(supervisor, new_like(a_table()), name="Second")
        shown = supervisor.post(NEW, given | {"step": "ask"})
        assert "Nothing has been requested yet." in shown.text
        changed = form_of(shown.text) | {"SEK-tie-maximum": "50", "step": "ask"}
        again = supervisor.post(NEW, changed)
        assert "The table or the software has changed since your preview." in again.text
        assert "SEK: Tie SEK 10 – SEK 50" in words(again.text)
        assert not Approval.objects.exists()
        assert supervisor.post(NEW, form_of(again.text) | {"step": "ask"}).status_code == 302

    @pytest.mark.sweep
    def test_is_changed_once_more_with_all_fields_filled_in(self, supervisor):
        shown = supervisor.post(NEW, filled(supervisor, new_like(a_table()), name="Second", slug="s")).text
        back = supervisor.post(NEW, form_of(shown) | {"step": "mend"}).text
        assert "Some values are invalid." not in back
        assert form_of(back) | {"seen": form_of(shown)["seen"]} == form_of(shown)

    @pytest.mark.sweep
    def test_goes_live_at_the_moment_that_was_typed_in_universal_time(self, supervisor, settings):
        settings.TIME_ZONE = "Europe/Stockholm"
        moment = "2027-01-15T18:30"
        given = filled(supervisor, new_like(a_table()), name="Second", goes_live_at=moment)
        page = words(supervisor.post(NEW, given).text)
        assert "Goes live 2027-01-15 18:30 UTC" in page


class TestAnotherVersion:
    @pytest.mark.sweep
    def test_begins_with_what_is_in_force_and_is_shown_with_what_it_changes(self, supervisor):
        table = a_table()
        given = filled(supervisor, change_of(table), SEK__tie__maximum="50", jurisdictions=["SE", "DK"], modes=["R"])
        assert "name" not in given
        shown = supervisor.post(change_of(table), given).text
        page = words(shown)
        assert "SEK: Tie SEK 10 – SEK 2,500 → SEK 10 – SEK 50" in page
        assert "Money real money and free money → real money" in page
        assert "SEK: Player" not in page.partition("RTP in")[0]
        supervisor.post(change_of(table), form_of(shown) | {"step": "ask"})
        approve(Approval.objects.get())
        table.refresh_from_db()
        assert table.version
        assert table.version.limits == other_limits()
        assert (table.version.number, table.version.jurisdictions, table.version.modes) == (2, ["DK", "SE"], ["R"])

    def test_takes_back_nothing_unseen_that_went_live_after_it_was_shown(self, supervisor):
        """The form has the whole version and would undo changes that others approved in the meantime."""
        table = a_table()
        shown = supervisor.post(change_of(table), filled(supervisor, change_of(table), SEK__player__maximum="500")).text
        assert "SEK: Tie" not in words(shown).partition("RTP in")[0]
        put_live(table_id=table.pk, limits=other_limits())
        again = supervisor.post(change_of(table), form_of(shown) | {"step": "ask"})
        assert "The table or the software has changed since your preview." in again.text
        assert "SEK: Tie SEK 10 – SEK 50 → SEK 10 – SEK 2,500" in words(again.text)
        before = Approval.objects.count()
        assert supervisor.post(change_of(table), form_of(again.text) | {"step": "ask"}).status_code == 302
        assert Approval.objects.count() == before + 1

    @pytest.mark.sweep
    def test_begins_with_an_earlier_one_of_the_table_where_asked(self, supervisor):
        table, another = a_table(), a_table("another")
        first = table.version
        assert first
        put_live(table_id=table.pk, limits=other_limits())
        offered = form_of(supervisor.get(f"{change_of(table)}?like=version:{first.pk}").text)
        assert offered["SEK-tie-maximum"] == ["2,500"]
        assert another.version
        offered = form_of(supervisor.get(f"{change_of(table)}?like=version:{another.version.pk}").text)
        assert offered["SEK-tie-maximum"] == ["50"], "a version of another table is not used"

    @pytest.mark.sweep
    def test_that_changes_nothing_is_refused(self, supervisor):
        table = a_table()
        page = supervisor.post(change_of(table), filled(supervisor, change_of(table))).text
        assert "These values are already in force. Nothing would change." in words(page)

    @pytest.mark.sweep
    def test_takes_the_table_from_nobody_with_its_currency(self, supervisor):
        table = a_table()
        page = supervisor.post(change_of(table), filled(supervisor, change_of(table), currencies=["EUR"])).text
        assert "would lose access to the table. Close the table instead." in error_at(page, "currencies")

    @pytest.mark.sweep
    def test_of_a_table_that_was_never_live_is_not_asked_for(self, supervisor):
        table = one_as_owner(Table(slug="t", name="T", variant="baccarat"))
        assert supervisor.get(change_of(table)).status_code == 404


@pytest.mark.sweep
def test_only_who_may_ask_is_led_there(supervisor):
    table = a_table()
    compliance, operator = a_visitor(), a_visitor()
    compliance.force_login(a_member_of_staff("compliance").user)
    operator.force_login(a_member_of_staff("operator").user)
    for page, others in (("/staff/tables/", operator), ("/staff/games/", compliance)):
        assert NEW in supervisor.get(page).text
        assert NEW not in others.get(page).text
    page = f"/staff/games/tables/{table.pk}/"
    assert change_of(table) in supervisor.get(page).text
    assert change_of(table) not in compliance.get(page).text
    assert compliance.get(change_of(table)).status_code == 403
    assert operator.get(NEW).status_code == 403


def test_the_most_one_player_can_win_counts_no_bets_that_exclude_each_other():
    version = a_table("golden-like", limits=None).version
    assert version
    limits = Limits.of(version.limits, "SEK")
    game = VARIANTS["baccarat"]
    most = max(limits.bets[bet].maximum for bet in ("player", "banker"))
    assert most_of_one_player(game, limits) >= most
    assert Mode.REAL in version.modes
