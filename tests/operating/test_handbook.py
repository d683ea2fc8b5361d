"""What the handbook tells people to type and to open is there: every command with its arguments, every page, every
setting, every section it leads to.
"""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.urls import Resolver404, resolve, reverse

from casino import checks
from casino.embedded import binaries
from players.roles import WORDS

PROJECT = Path(__file__).resolve().parents[2]
HANDBOOK = PROJECT / "docs" / "operating.md"
TEXT = HANDBOOK.read_text()
LINES = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S) for line in block.splitlines()]
TYPED = sorted({*LINES, *(each for each in re.findall(r"`([^`\n]+)`", TEXT) if " " in each or each in ("dropdb",))})
COMMANDS = [each for each in TYPED if each.startswith("manage.py ")]
PROGRAMS = [each for each in TYPED if re.match(r"(pg_\w+|dropdb|createdb|psql) ", each)]
PAGES = sorted(set(re.findall(r"`(/(?:staff|healthz|readyz)[\w/-]*)`", TEXT)))
SETTINGS = sorted(set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", TEXT)))


@pytest.mark.parametrize("typed", COMMANDS)
def test_a_command_is_there_and_takes_what_it_is_given(typed):
    _, name, *arguments = shlex.split(typed)
    command = load_command_class(get_commands()[name], name)
    assert command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("typed", PROGRAMS)
def test_a_program_of_postgresql_is_there(typed):
    assert binaries.client(typed.split()[0]).exists()


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_there_and_has_that_address(address):
    assert reverse(resolve(address).view_name) == address


def test_what_is_not_there_would_be_found():
    with pytest.raises(Resolver404):
        resolve("/staff/no-such-page/")
    parser = load_command_class("casino", "restore").create_parser("manage.py", "restore")
    parser.called_from_command_line = False
    with pytest.raises(CommandError):
        parser.parse_args(["FILE", "--no-such-option"])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_written_down(name):
    assert (
        f"`{name}`" in (PROJECT / "docs" / "settings.md").read_text()
        or name in (PROJECT / "casino" / "management" / "commands" / "create_roles.py").read_text()
    )


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", TEXT))))
def test_a_link_leads_somewhere(link):
    file, _, anchor = link.partition("#")
    text = (HANDBOOK.parent / file).read_text()
    assert not anchor or anchor in anchors(text)


def anchors(text):
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def rows_below(title, first):
    """Return the rows of the table in a section that begins with this cell, each a list of its cells."""
    section = TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    table = section.partition(f"| {first} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines()[2:]]


REPLACED = rows_below("Keys, and how each is replaced", "secret")
LEAKED = rows_below("A key leaks", "what leaked")


def names_of(secret):
    """What a row of the keys is about: settings, or its first words where it names none."""
    return re.findall(r"`([A-Z_]+)`", secret) or [secret]


@pytest.mark.parametrize(("name", "how"), [(name, row[2]) for row in REPLACED for name in names_of(row[0])])
def test_whoever_s_key_leaks_is_told_what_replaces_it(name, how):
    if name == "SANDBOX_BANK_KEY":  # opens nothing in production
        return
    (row,) = [row for row in LEAKED if name in row[0]]
    told = row[2]
    if name == "SEED_KEY":  # which has a section of its own, for the first minutes
        told += TEXT.partition("**A seed key is known.**")[2].partition("\n## ")[0]
    for section in re.findall(r"\*([A-Z][^*]+)\*", how):
        assert f"*{section}*" in told


def test_there_are_keys_and_none_is_called_one_that_cannot_be_replaced():
    assert len(REPLACED) > 10
    assert len(LEAKED) > 10
    emergency = TEXT.partition("\n## A key leaks\n")[2].partition("\n## ")[0]
    assert not re.search(r"cannot be changed|later release|works today", emergency)


SECTIONS = re.findall(r"^#+ (.+)$", TEXT, re.M) + re.findall(r"^\*\*([^*]+?)\.\*\*", TEXT, re.M)
NAMED = {" ".join(each.split()) for each in re.findall(r"(?<![*\w])\*([A-Z][^*:]+)\*(?!\*)", TEXT)}
PLACES = [PROJECT / each for each in ("templates", "casino", "games", "players", "wallet")]


@pytest.fixture(scope="module")
def said():
    """Return every word that templates and modules of the house say."""
    files = [file for place in PLACES for file in place.rglob("*") if file.suffix in (".html", ".py", ".md")]
    return " ".join(" ".join(file.read_text() for file in sorted(files)).split())


@pytest.mark.parametrize("words", sorted(NAMED - set(SECTIONS)))
def test_what_is_named_is_a_section_or_said_so_in_the_house(words, said):
    assert re.search(r"[^.]{0,80}?".join(map(re.escape, words.split(" … "))), said)


@pytest.mark.parametrize("number", sorted(set(re.findall(r"sabot\.E\d+", TEXT))))
def test_a_fault_is_one_that_the_house_names(number):
    assert f'id="{number}"' in Path(checks.__file__).read_text()


def test_every_role_is_told_what_is_theirs():
    assert set(re.findall(r"^\| (\w+) \|", TEXT, re.M)) >= set(WORDS)


def test_the_other_documents_lead_there():
    for name in ("README.md", "docs/settings.md", "docs/audit.md"):
        assert "operating.md" in (PROJECT / name).read_text()
