"""References of docs/security.md exist, so the document cannot name a defence that was removed."""

import re
from pathlib import Path

from ops import checks
from tests.architecture.test_documents import PROJECT

PAGE = PROJECT / "docs" / "security.md"
TEXT = PAGE.read_text()
QUOTED = re.compile(r"`([^`\n]+)`")
TEST = re.compile(r"^ *def (test_\w+)", re.MULTILINE)
LINKS = re.compile(r"\]\(([^)]+)\)")
FOLDERS = {path.name for path in PROJECT.iterdir() if path.is_dir()}
STOLEN = (
    "player's password",
    "account of staff",
    "login role",
    "worker",
    "owner role",
    "backup",
    "partner",
    "provider",
)


def quoted(text: str = TEXT) -> set[str]:
    """Return the files and folders that it names."""
    return {each for each in QUOTED.findall(text) if "/" in each and each.partition("/")[0] in FOLDERS}


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_file_is_there_and_every_test_tests():
    named = sorted(quoted())
    assert [name for name in named if not (PROJECT / name).exists()] == []
    tests = [PROJECT / name for name in named if Path(name).name.startswith("test_")]
    assert tests
    assert [path for path in tests if not re.search(r"^\s*def test_", path.read_text(), re.MULTILINE)] == []


def test_every_test_that_is_named_is_in_a_file():
    pages = TEXT + (PAGE.parent / "randomness.md").read_text()
    named = {each for each in QUOTED.findall(pages) if each.startswith("test_")}
    tests = {name for path in (PROJECT / "tests").rglob("test_*.py") for name in TEST.findall(path.read_text())}
    assert len(named) > 25
    assert named - tests == set()


def leads_somewhere(link: str) -> bool:
    """Return whether the page of a link exists and has the heading that the link names."""
    place, _, anchor = link.partition("#")
    page = PAGE.parent / place if place else PAGE
    return page.is_file() and (not anchor or anchor in anchors(page))


def test_every_link_leads_somewhere():
    assert [link for link in sorted(set(LINKS.findall(TEXT))) if not leads_somewhere(link)] == []


def test_what_is_not_there_would_be_found():
    named = quoted("It is stopped by `tests/security/test_nothing.py` and `wallet/nowhere.py`.")
    assert named == {"tests/security/test_nothing.py", "wallet/nowhere.py"}
    assert not any((PROJECT / name).exists() for name in named)


def test_every_test_of_this_folder_is_listed():
    ours = {f"tests/security/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert ours - quoted() == set()


def test_every_fault_is_one_that_the_house_names():
    known = Path(checks.__file__).read_text()
    assert [fault for fault in sorted(set(re.findall(r"sabot\.E\d+", TEXT))) if fault not in known] == []


def test_what_something_stolen_can_do_is_in_one_table():
    table = TEXT.split("## What a stolen something can do")[1].split("\n## ")[0]
    (heading, *_), *rows = (row.strip("|").split("|") for row in table.splitlines() if row.startswith("|"))
    assert heading.strip() == "stolen"
    assert [what for what in STOLEN if not any(what in row[0] for row in rows[1:])] == []


def test_every_threat_says_what_is_not_stopped():
    threats = TEXT.split("## Threats one by one")[1].split("\n## ")[0].split("\n### ")[1:]
    assert [threat.partition("\n")[0] for threat in threats if not re.search(r"\*Not\s+stopped\*", threat)] == []


def test_the_other_pages_lead_there():
    for name in ("README.md", "CONTRIBUTING.md", "docs/operating.md"):
        assert "security.md" in (PROJECT / name).read_text(), name
