"""The staff handbook: correct page names, reachable links, a task for every function, and the right
part for each role.
"""

import html
import re
from pathlib import Path

import pytest
from django.urls import resolve, reverse

from backoffice.navigation import FUNCTIONS, duties
from backoffice.staff.handbook import EVERYBODY, HANDBOOK, parts
from players.staff import ROLE_DESCRIPTIONS
from tests.harness.product import modules
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(ROLE_DESCRIPTIONS)
NAMED = re.compile(r"\*\*([^*]+)\*\* \(`(/staff/[^`]*)`\)")
ADDRESS = re.compile(r"`(/staff/[^`]*)`")
LABEL = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
NO_FUNCTIONS = {"Bold", "Back office", "Security"}  # the word itself, the first page, and the page of every login
JOBS = re.compile(r"^### (.+)$", re.MULTILINE)
FEWEST, MOST = 5, 12


def source() -> str:
    return HANDBOOK.read_text(encoding="utf-8")


def text_of(role: str) -> str:
    """Return the text of a role's part."""
    found = re.search(rf"^## {role.capitalize()}\n(.*?)(?=^## |\Z)", source(), re.MULTILINE | re.DOTALL)
    assert found, role
    return found[1]


def shown() -> str:
    """Return the source of all staff pages."""
    pages = [
        re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))
        for folder in ("templates", "fragments")
        for path in (ROOT / folder).rglob("*.html")
    ]
    code = [path.read_text(encoding="utf-8") for _, path in modules()]
    return html.unescape(" ".join(" ".join([*pages, *code]).split()))


class TestWords:
    def test_every_page_is_named_correctly_with_its_address(self):
        known = {function.name: reverse(function.page) for function in FUNCTIONS}
        for name, address in NAMED.findall(source()):
            assert known.get(name, name) == (address if name in known else "Back office"), name
        assert set(re.findall(r"\*\*([^*]+)\*\*", source())) <= {*known, *NO_FUNCTIONS}

    @pytest.mark.parametrize("address", sorted(set(ADDRESS.findall(HANDBOOK.read_text(encoding="utf-8")))))
    def test_every_address_is_one(self, address):
        assert resolve(address)

    @pytest.mark.sweep
    def test_every_button_and_field_is_called_as_on_its_page(self):
        on_pages = shown()
        assert [label for label in LABEL.findall(source()) if label != "slanted" and label not in on_pages] == []

    @pytest.mark.parametrize("role", ROLES)
    def test_every_role_has_jobs_enough_for_a_day(self, role):
        assert FEWEST <= len(JOBS.findall(text_of(role))) <= MOST

    @pytest.mark.django_db
    def test_every_function_has_a_job_in_the_part_of_somebody_who_has_it(self):
        of_all = text_of(EVERYBODY)
        without = [
            str(function.name)
            for function, holders in duties()
            if not any(f"**{function.name}**" in of_all + text_of(role) for role in holders)
        ]
        assert without in ([], ["Handbook"])  # the page being read


@pytest.mark.django_db
class TestThePage:
    @pytest.mark.parametrize("role", sample(ROLES, 2))
    def test_shows_what_everybody_does_and_the_jobs_of_ones_own_role(self, role):
        reader = as_staff(role)
        page = html.unescape(reader.get("/staff/handbook/").text)
        assert re.findall(r'<h2 id="part-(\w+)"', page) == [EVERYBODY, role]
        for job in (*parts()[EVERYBODY].jobs, *parts()[role].jobs):
            assert f'<h3 id="{job.anchor}">{job.title}</h3>' in page
            assert f'href="#{job.anchor}"' in page

    @pytest.mark.sweep
    @pytest.mark.parametrize("role", sample(ROLES, 2))
    def test_leads_nowhere_that_is_shut(self, role):
        reader = as_staff(role)
        main = reader.get("/staff/handbook/").text.partition("<main")[2]
        addresses = set(re.findall(r'href="(/staff/[^"?#]+)"', main))
        assert len(addresses) > 3
        for address in addresses:
            assert reader.get(address).status_code == 200, address

    @pytest.mark.sweep
    @pytest.mark.parametrize("role", ROLES)
    def test_leads_to_no_file(self, role):
        main = as_staff(role).get("/staff/handbook/").text.partition("<main")[2]
        assert [each for each in re.findall(r'href="([^"]*)"', main) if not each.startswith(("/", "#", "?"))] == []

    def test_shows_another_role_where_that_is_asked_for(self):
        page = as_staff("administrator").get("/staff/handbook/?role=finance").text
        assert re.findall(r'<h2 id="part-(\w+)"', page) == ["finance"]
        assert 'href="/staff/withdrawals/"' not in page

    def test_of_nobody_else_is_one_s_own(self):
        page = as_staff("support").get("/staff/handbook/?role=owner").text
        assert re.findall(r'<h2 id="part-(\w+)"', page) == [EVERYBODY, "support"]

    def test_is_on_the_first_page_of_the_back_office(self):
        assert 'href="/staff/handbook/"' in as_staff("operator").get("/staff/").text


def as_staff(role):
    reader = a_visitor()
    reader.force_login(a_member_of_staff(role).user)
    return reader
